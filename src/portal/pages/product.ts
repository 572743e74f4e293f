/** One product: its page, and what is edited there. */
import { AppError } from '../../domain/error.ts';
import { parseProductId, PORTAL_KEY_ID } from '../../domain/id.ts';
import { parseProductPatch, type Product } from '../../domain/product.ts';
import type { Reply } from '../../http/reply.ts';
import type { Form } from '../form.ts';
import { EDIT_TRIES_LIMIT } from '../limits.ts';
import { redirect } from '../page.ts';
import { renderGoneProduct } from '../products/new-product.ts';
import { renderConflict } from '../products/product-conflict.ts';
import {
  describeTexts, formatVersion, parseTexts, type ProductTexts, readTaken, readTexts,
} from '../products/product-form.ts';
import { pathOf } from '../products/product-path.ts';
import { renderProduct } from '../products/product-view.ts';
import type { Portal, Visit } from '../route.ts';

/** GET /portal/products/{id}: 200, 404 */
export async function showProduct(visit: Visit, portal: Portal): Promise<Reply> {
  return renderProduct(visit, portal, await getProduct(visit, portal));
}

/** POST /portal/products/{id}: 303, 404, 409, 422, 503 */
export async function editProduct(visit: Visit, portal: Portal, form: Form): Promise<Reply> {
  const texts = { ...readTexts(form), stock: undefined };
  for (let tries = 0; tries < EDIT_TRIES_LIMIT; tries += 1) {
    const product = await findProduct(visit, portal);
    if (!product) return renderGoneProduct(visit, portal, texts);
    const reply = await tryEdit(visit, portal, product, { texts, version: form.get('version') });
    if (reply) return reply;
  }
  throw new AppError('unavailable', 'The stock of this product moves all the time. Try again.');
}

/** The product that the path names. @throws AppError `not_found` */
export async function getProduct(visit: Visit, portal: Portal): Promise<Product> {
  const product = await findProduct(visit, portal);
  if (product) return product;
  throw noProduct();
}

export function noProduct(): AppError {
  return new AppError('not_found', 'You have no product with this id.');
}

async function findProduct(
  { account: { sellerId }, parameters }: Visit, { store }: Portal,
): Promise<Product | undefined> {
  const id = parseProductId(sellerId, parameters['id'] ?? '');
  return id === undefined ? undefined : store.findProduct(sellerId, { id });
}

interface Edit {
  readonly texts: ProductTexts;
  /** What it was made from. */
  readonly version: string;
}

/**
 * Undefined where the product changed between the look at it and the edit. Movements of the stock
 * are no conflict: an edit leaves it as it is, and it moves all day in a shop that sells.
 */
async function tryEdit(
  visit: Visit, portal: Portal, product: Product, edit: Edit,
): Promise<Reply | undefined> {
  const { sellerId, id, position } = product;
  const texts = keepSpaces(edit.texts, product);
  const read = parseTexts(texts, visit, parseProductPatch);
  if (read.faults) {
    return renderProduct(visit, portal, product, { status: 422, faults: read.faults, edit });
  }
  const version = formatVersion(product);
  const saved = redirect(visit.link(`${pathOf(product)}?done=saved`));
  // As it is after a double click, too.
  if (formatVersion({ ...product, ...read.value }) === version) return saved;
  if (edit.version !== version) {
    const typed = describeTexts({ ...product, ...read.value }, visit.format);
    return renderConflict(visit, portal, product, typed);
  }
  const write = { sellerId, keyId: PORTAL_KEY_ID };
  try {
    await portal.store.patchProduct(write, { id }, read.value, { ifMatch: [position] });
    return saved;
  } catch (error) {
    const isMoved = error instanceof AppError
      && (error.code === 'precondition_failed' || error.code === 'not_found');
    if (isMoved) return undefined;
    const faults = readTaken(error);
    return renderProduct(visit, portal, product, { status: 422, faults, edit });
  }
}

/** White space around a text that came by the API stays, unless somebody types another text. */
function keepSpaces(texts: ProductTexts, { name, category }: Product): ProductTexts {
  const keep = (typed: string, stands: string): string =>
    stands.trim() === typed ? stands : typed;
  return { ...texts, name: keep(texts.name, name), category: keep(texts.category, category) };
}
