/** One product: its page, and how it is edited and deleted. */
import { parseProductPatch } from '../../../domain/catalogue/product.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { AppError } from '../../../domain/error.ts';
import { parseProductId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { postForm } from '../forms/fields.ts';
import { type Form, nonceField, toWriteContext } from '../forms/form.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { facts } from '../html/elements.ts';
import { html } from '../html/html.ts';
import { redirect, renderPage } from '../html/page.ts';
import { EDIT_ATTEMPTS_LIMIT } from '../limits.ts';
import type { DraftRoute, PageRequest, Portal } from '../route.ts';
import { renderGoneProduct } from './new-product.ts';
import { CHOICE_FIELDS, readChoices, renderConflict } from './product-conflict.ts';
import {
  describeTexts, parseTexts, type ProductTexts, readTaken, readTexts,
} from './product-form.ts';
import {
  EDITED_FIELDS, formatBase, type MergeBase, mergeProduct, parseBase, type SubmittedEdit,
} from './product-merge.ts';
import { pathOf } from './product-path.ts';
import { type ProductEdit, renderProduct } from './product-view.ts';

/** GET /portal/products/{id}: 200, 404 */
export async function showProduct(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderProduct(request, portal, await getProduct(request, portal));
}

/** POST /portal/products/{id}: 303, 404, 409, 422, 503 */
export async function editProduct(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const submitted = readSubmitted(form);
  for (let attempt = 0; attempt < EDIT_ATTEMPTS_LIMIT; attempt += 1) {
    const product = await findProduct(request, portal);
    if (!product) return renderGoneProduct(request, portal, submitted.texts);
    const reply = await saveEdit(request, portal, product, submitted);
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
async function saveEdit(
  request: PageRequest, portal: Portal, product: Product, { choices, ...edit }: Submitted,
): Promise<Reply | undefined> {
  const { id, position } = product;
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
  // Nothing to save, as after a double click.
  if (formatBase(merged) === formatBase(product)) return saved;
  try {
    const precondition = { ifMatch: [position] };
    await portal.store.patchProduct(toWriteContext(request), { id }, merged, precondition);
    return saved;
  } catch (error) {
    const isStale = error instanceof AppError
      && (error.code === 'precondition_failed' || error.code === 'not_found');
    if (isStale) return undefined;
    const errors = readTaken(error);
    const retry = { texts: describeTexts(merged, request.format), base: formatBase(product) };
    return renderProduct(request, portal, product, { status: 422, errors, edit: retry });
  }
}

/** Keeps white space around a text from the API, unless the user enters another text. */
function keepSpaces(texts: ProductTexts, { name, category }: MergeBase): ProductTexts {
  const keep = (typed: string, was: string): string => (was.trim() === typed ? was : typed);
  return { ...texts, name: keep(texts.name, name), category: keep(texts.category, category) };
}

/** GET /portal/products/{id}/delete: 200, 404 */
export async function showDeletion(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderDeletion(request, portal, false);
}

/** POST /portal/products/{id}/delete: 303, 400, 404, 409, 422 */
export async function deleteProduct(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const id = parseProductId(request.account.sellerId, request.parameters['id'] ?? '');
  if (id === undefined) throw noProduct();
  const position = findWholeNumber(form.get('position'));
  try {
    const ifMatch = position === undefined ? [] : [position];
    await portal.store.deleteProduct(toWriteContext(request, form), { id }, { ifMatch });
  } catch (error) {
    const isChanged = error instanceof AppError && error.code === 'precondition_failed';
    if (isChanged) return renderDeletion(request, portal, true);
    throw error;
  }
  return redirect(request.link('/products?done=deleted'));
}

async function renderDeletion(
  request: PageRequest, portal: Portal, isChanged: boolean,
): Promise<Reply> {
  const { format, link } = request;
  const product = await getProduct(request, portal);
  const { name, sku, category, priceMinor, stock, position, updatedAt } = product;
  const here = link(pathOf(product));
  return renderPage(request, portal, {
    title: 'Delete this product?',
    status: isChanged ? 409 : 200,
    content: html`${isChanged && html`<div class="notice low" role="alert" tabindex="-1" autofocus>
        <p>The product has changed, so it was not deleted. This is the current version.</p>
      </div>`}
      <section class="card">
        ${facts([
    ['Name', html`<bdi>${name}</bdi>`],
    ['SKU', html`<bdi>${sku}</bdi>`],
    ['Category', html`<bdi>${category}</bdi>`],
    ['Price', format.money(priceMinor)],
    ['Stock', format.number(stock)],
    ['Updated', format.timeElement(updatedAt)],
  ])}
        <p>This cannot be undone. The SKU becomes available again, and the history of the product
          is kept.</p>
        ${postForm(request, `${here}/delete`, html`${nonceField()}
          <input type="hidden" name="position" value="${position}">
          <button class="danger">Delete product</button>
          <a class="button" href="${here}">Cancel</a>`, 'actions')}
      </section>`,
  });
}
