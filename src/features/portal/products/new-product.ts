/** Making a product. */
import { PORTAL_KEY_ID } from '../../../domain/id.ts';
import { parseNewProduct } from '../../../domain/catalogue/product.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type Form, isDuplicateSubmission, readNonce } from '../forms/form.ts';
import { redirect } from '../html/page.ts';
import { renderNewProduct } from './new-product-form.ts';
import {
  NO_TEXTS, parseTexts, type ProductTexts, readTaken, readTexts, SENT_BEFORE,
} from './product-form.ts';
import { pathOf } from './product-path.ts';
import type { DraftRoute, Portal, PageRequest } from '../route.ts';

/** GET /portal/products/new: 200 */
export async function showNewProduct(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderNewProduct(request, portal, NO_TEXTS);
}

/** POST /portal/products/new: 303, 400, 409, 422 */
export async function createProduct(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const texts = readNewTexts(form);
  const read = parseTexts(texts, request, parseNewProduct);
  if (read.errors) {
    return renderNewProduct(request, portal, texts, { status: 422, errors: read.errors });
  }
  const { sellerId } = request.account;
  const write = { sellerId, keyId: PORTAL_KEY_ID, idempotency: readNonce(form) };
  try {
    const { id } = await portal.store.createProduct(write, read.value);
    return redirect(request.link(`${pathOf({ sellerId, id })}?done=created`));
  } catch (error) {
    if (isDuplicateSubmission(error)) {
      return renderNewProduct(request, portal, texts, { status: 409, detail: SENT_BEFORE });
    }
    const errors = readTaken(error);
    return renderNewProduct(request, portal, texts, { status: 422, errors });
  }
}

export const newProductDraft: DraftRoute = {
  fields: Object.keys(NO_TEXTS),
  show: async (request, portal, form) => renderNewProduct(request, portal, readNewTexts(form)),
};

function readNewTexts(form: Form): ProductTexts {
  return { ...readTexts(form), stock: form.getTrimmed('stock') };
}
