/** Creating a product: a new one, or one that was deleted while it was edited. */
import { parseNewProduct } from '../../../domain/catalogue/product.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { errorSummary, postForm } from '../forms/fields.ts';
import {
  type FieldErrors, type Form, isDuplicateSubmission, NO_ERRORS, nonceField, toWriteContext,
} from '../forms/form.ts';
import { html, type Html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import type { DraftRoute, PageRequest, Portal } from '../route.ts';
import {
  NO_TEXTS, parseTexts, PRODUCT_LABELS, productFields, type ProductTexts, readTaken, readTexts,
  ALREADY_SUBMITTED,
} from './product-form.ts';
import { pathOf } from './product-path.ts';

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
  const write = toWriteContext(request, form);
  try {
    const { id } = await portal.store.createProduct(write, read.value);
    return redirect(request.link(`${pathOf({ sellerId: write.sellerId, id })}?done=created`));
  } catch (error) {
    if (isDuplicateSubmission(error)) {
      return renderNewProduct(request, portal, texts, { status: 409, detail: ALREADY_SUBMITTED });
    }
    return renderNewProduct(request, portal, texts, { status: 422, errors: readTaken(error) });
  }
}

export const newProductDraft: DraftRoute = {
  fields: Object.keys(NO_TEXTS),
  show: async (request, portal, form) => renderNewProduct(request, portal, readNewTexts(form)),
};

function readNewTexts(form: Form): ProductTexts {
  return { ...readTexts(form), stock: form.getTrimmed('stock') };
}

interface Rejection {
  readonly status?: number;
  readonly errors?: FieldErrors;
  readonly detail?: string;
}

function renderNewProduct(
  request: PageRequest, portal: Portal, texts: ProductTexts,
  { status = 200, errors = NO_ERRORS, detail }: Rejection = {},
): Reply {
  return renderPage(request, portal, {
    title: 'New product',
    status,
    content: html`${errorSummary(errors, detail, PRODUCT_LABELS)}
      <section class="card">${renderForm(request, texts, errors)}</section>`,
  });
}

/** The answer to an edit of a product that was deleted. */
export function renderGoneProduct(
  request: PageRequest, portal: Portal, texts: ProductTexts,
): Reply {
  return renderPage(request, portal, {
    title: 'Someone else deleted this product',
    status: 404,
    content: html`<div class="notice low" role="alert" tabindex="-1" autofocus>
        <p>Your changes were not saved. The form below has what you entered: create a new product
          from it, or cancel.</p>
      </div>
      <section class="card">${renderForm(request, { ...texts, stock: '0' }, NO_ERRORS)}</section>`,
  });
}

function renderForm(request: PageRequest, texts: ProductTexts, errors: FieldErrors): Html {
  return postForm(request, request.link('/products/new'), html`${nonceField()}
    ${productFields(request, texts, errors)}
    <div class="actions"><button>Create product</button>
      <a href="${request.link('/products')}">Cancel</a></div>`);
}
