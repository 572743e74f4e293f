/** One product: its page, and what is edited there. */
import { AppError } from '../../../domain/error.ts';
import { parseProductId, PORTAL_KEY_ID } from '../../../domain/id.ts';
import { parseProductPatch } from '../../../domain/catalogue/product.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Form } from '../forms/form.ts';
import { EDIT_ATTEMPTS_LIMIT } from '../limits.ts';
import { redirect } from '../html/page.ts';
import { renderGoneProduct } from './new-product-form.ts';
import { CHOICE_FIELDS, readChoices, renderConflict } from './product-conflict.ts';
import {
  describeTexts, parseTexts, type ProductTexts, readTaken, readTexts,
} from './product-form.ts';
import {
  EDITED_FIELDS, formatBase, type MergeBase, mergeProduct, parseBase, type SubmittedEdit,
} from './product-merge.ts';
import { pathOf } from './product-path.ts';
import { type ProductEdit, renderProduct } from './product-view.ts';
import type { DraftRoute, Portal, PageRequest } from '../route.ts';

/** GET /portal/products/{id}: 200, 404 */
export async function showProduct(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderProduct(request, portal, await getProduct(request, portal));
}

/** POST /portal/products/{id}: 303, 404, 409, 422, 503 */
export async function editProduct(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const submitted = readSubmitted(form);
  for (let tries = 0; tries < EDIT_ATTEMPTS_LIMIT; tries += 1) {
    const product = await findProduct(request, portal);
    if (!product) return renderGoneProduct(request, portal, submitted.texts);
    const reply = await tryEdit(request, portal, product, submitted);
    if (reply) return reply;
  }
  throw new AppError('unavailable', 'The stock of this product keeps changing. Try again.');
}

export const editDraft: DraftRoute = {
  fields: ['base', ...EDITED_FIELDS, ...CHOICE_FIELDS],
  async show(request, portal, form) {
    const { texts, base, choices } = readSubmitted(form);
    const product = await findProduct(request, portal);
    if (!product) return renderGoneProduct(request, portal, texts);
    const read = parseTexts(texts, request, (body, currency) =>
      parseProductPatch(body, currency, product.sku));
    if (choices.size === 0 || read.errors) {
      return renderProduct(request, portal, product, { status: 200, edit: { texts, base } });
    }
    const mine = { ...product, ...read.value };
    return renderConflict(request, portal, product, { base: parseBase(base), choices, mine });
  },
};

/** The product that the path names. @throws AppError `not_found` */
export async function getProduct(request: PageRequest, portal: Portal): Promise<Product> {
  const product = await findProduct(request, portal);
  if (product) return product;
  throw noProduct();
}

export function noProduct(): AppError {
  return new AppError('not_found', 'You have no product with this id.');
}

async function findProduct(
  { account: { sellerId }, parameters }: PageRequest, { store }: Portal,
): Promise<Product | undefined> {
  const id = parseProductId(sellerId, parameters['id'] ?? '');
  return id === undefined ? undefined : store.findProduct(sellerId, { id });
}

interface Submitted extends ProductEdit, Pick<SubmittedEdit, 'choices'> {}

function readSubmitted(form: Form): Submitted {
  return {
    texts: { ...readTexts(form), stock: undefined }, base: form.get('base'),
    choices: readChoices(form),
  };
}

/**
 * Saves the edit if it collides with nothing. Undefined if the product changed between the read and
 * the save. Stock movements are no conflict: an edit does not touch the stock, which changes all
 * day in a busy shop.
 */
async function tryEdit(
  request: PageRequest, portal: Portal, product: Product, { choices, ...edit }: Submitted,
): Promise<Reply | undefined> {
  const { sellerId, id, position } = product;
  const base = parseBase(edit.base);
  const texts = keepSpaces(edit.texts, base ?? product);
  const read = parseTexts(texts, request, (body, currency) =>
    parseProductPatch(body, currency, product.sku));
  if (read.errors) {
    return renderProduct(request, portal, product, { status: 422, errors: read.errors, edit });
  }
  const submitted = { base, choices, mine: { ...product, ...read.value } };
  const { merged, collisions, kept } = mergeProduct(submitted, product);
  if (collisions.length > 0) return renderConflict(request, portal, product, submitted);
  const done = new URLSearchParams(kept.length === 0
    ? { done: 'saved' } : kept.map((field) => ['theirs', field]));
  const saved = redirect(request.link(`${pathOf(product)}?${done}`));
  // As it is after a double click, too.
  if (formatBase(merged) === formatBase(product)) return saved;
  const write = { sellerId, keyId: PORTAL_KEY_ID };
  try {
    await portal.store.patchProduct(write, { id }, merged, { ifMatch: [position] });
    return saved;
  } catch (error) {
    const isMoved = error instanceof AppError
      && (error.code === 'precondition_failed' || error.code === 'not_found');
    if (isMoved) return undefined;
    const errors = readTaken(error);
    const retry = { texts: describeTexts(merged, request.format), base: formatBase(product) };
    return renderProduct(request, portal, product, { status: 422, errors, edit: retry });
  }
}

/** White space around a text that came by the API stays, unless somebody types another text. */
function keepSpaces(texts: ProductTexts, { name, category }: MergeBase): ProductTexts {
  const keep = (typed: string, was: string): string => (was.trim() === typed ? was : typed);
  return { ...texts, name: keep(texts.name, name), category: keep(texts.category, category) };
}
