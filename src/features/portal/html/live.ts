/**
 * Markup for `live.js`: the position from which a page follows changes, the number format, and
 * notices. An element with a live value names the member in `data-live`. It is inside an element
 * with the product's id in `data-product`, or in a table row that begins with the product's link.
 */
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { toRevision } from '../../../domain/revision.ts';
import type { PageRequest } from '../route.ts';
import { type Content, html, type Html } from './html.ts';

/** @param position The catalogue's position when the content was read. */
export function followChanges(request: PageRequest, position: number, content: Content): Html {
  const { account, generation, link } = request;
  const { locale, timeZone, currency, lowStock } = account;
  const after = toRevision(generation, position);
  return html`<div data-live-from="${link('/live')}" data-live-after="${after}"
    data-locale="${locale}" data-time-zone="${timeZone}" data-currency="${currency.code}"
    data-decimals="${currency.decimals}" data-low-stock="${lowStock}">${content}
    <p class="hidden" role="status" data-live-status></p></div>`;
}

/**
 * Hidden until a change of these types arrives, for any product or, inside a product's element, for
 * that product. An inner element with `data-live-count` shows the number of changes.
 */
export function showOnChange(types: readonly ChangeType[], content: Content): Html {
  return html`<div class="notice low" data-live-show="${types.join(' ')}" hidden>${content}</div>`;
}

/** A tag for low or sold-out stock; empty otherwise. */
export function stockLevel(
  { stock, lowStock }: Pick<Product, 'stock' | 'lowStock'>, { account }: PageRequest,
): Content {
  const [tag, text] = stock === 0 ? ['bad', 'sold out']
    : stock <= (lowStock ?? account.lowStock) ? ['low', 'low'] : ['', ''];
  return html`<span data-live="level"${
    typeof lowStock === 'number' && html` data-low-stock="${lowStock}"`}${
    tag !== '' && html` class="tag ${tag}"`}>${text}</span>`;
}
