/** Deleting a product: a page that asks, and the deletion of what that page showed. */
import { AppError } from '../../../domain/error.ts';
import { parseProductId, PORTAL_KEY_ID } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { postForm } from '../forms/fields.ts';
import { type Form, nonceField, readNonce } from '../forms/form.ts';
import { html } from '../html/html.ts';
import { facts } from '../html/elements.ts';
import { redirect, renderPage } from '../html/page.ts';
import { pathOf } from './product-path.ts';
import type { Portal, PageRequest } from '../route.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { getProduct, noProduct } from './product.ts';

/** GET /portal/products/{id}/delete: 200, 404 */
export async function showDeletion(request: PageRequest, portal: Portal): Promise<Reply> {
  return renderDeletion(request, portal, false);
}

/** POST /portal/products/{id}/delete: 303, 400, 404, 409, 422 */
export async function deleteProduct(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
  const { sellerId } = request.account;
  const id = parseProductId(sellerId, request.parameters['id'] ?? '');
  if (id === undefined) throw noProduct();
  const write = { sellerId, keyId: PORTAL_KEY_ID, idempotency: readNonce(form) };
  const position = findWholeNumber(form.get('position'));
  try {
    const ifMatch = position === undefined ? [] : [position];
    await portal.store.deleteProduct(write, { id }, { ifMatch });
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
        <p>Someone else edited this product, so it was not deleted. This is the current version.</p>
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
