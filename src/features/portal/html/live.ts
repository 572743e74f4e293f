/**
 * Markup for `live.js`: the position from which a page follows the changes, the number format, and
 * notices for changes. An element with a live value of a product has the member as `data-live`,
 * inside an element with the product's id as `data-product`.
 */
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { PageRequest } from '../route.ts';
import { type Content, html, type Html } from './html.ts';

/** `position` is that of the catalogue when the content was read. */
export function followChanges(request: PageRequest, position: number, content: Content): Html {
  const { account, link } = request;
  const { locale, timeZone, currency, lowStock } = account;
  return html`<div data-live-from="${link('/live')}" data-live-after="${position}"
    data-locale="${locale}" data-time-zone="${timeZone}" data-currency="${currency.code}"
    data-decimals="${currency.decimals}" data-low-stock="${lowStock}">${content}
    <p class="hidden" role="status" data-live-status></p></div>`;
}

/**
 * Hidden until changes of these types arrive: of any product, or of the one that contains it. An
 * element with `data-live-count` in it shows their number.
 */
export function showOnChange(types: readonly ChangeType[], content: Content): Html {
  return html`<div class="notice low" data-live-show="${types.join(' ')}" hidden>${content}</div>`;
}

/** A tag for low stock; empty otherwise. */
export function stockLevel(stock: number, { account }: PageRequest): Content {
  const [tag, text] = stock === 0 ? ['bad', 'sold out']
    : stock <= account.lowStock ? ['low', 'low'] : ['', ''];
  return html`<span data-live="level"${tag !== '' && html` class="tag ${tag}"`}>${text}</span>`;
}
