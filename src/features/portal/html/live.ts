/**
 * What `live.js` finds on a page: the place from which it follows the changes, how numbers are
 * written, and what is shown once something happened. Elements inside it that stand for a member
 * of a product carry its name as `data-live`, within one that carries the id as `data-product`.
 */
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { PageRequest } from '../route.ts';
import { type Content, html, type Html } from './html.ts';

/** `position` is where the catalogue stood when the content was read. */
export function followChanges(request: PageRequest, position: number, content: Content): Html {
  const { account, link } = request;
  const { locale, timeZone, currency, lowStock } = account;
  return html`<div data-live-from="${link('/live')}" data-live-after="${position}"
    data-locale="${locale}" data-time-zone="${timeZone}" data-currency="${currency.code}"
    data-decimals="${currency.decimals}" data-low-stock="${lowStock}">${content}
    <p class="hidden" role="status" data-live-status></p></div>`;
}

/**
 * Hidden until changes of these types came: of any product, or of the one in whose element it
 * stands. What carries `data-live-count` in it says how many.
 */
export function showOnChange(types: readonly ChangeType[], content: Content): Html {
  return html`<div class="notice low" data-live-show="${types.join(' ')}" hidden>${content}</div>`;
}

/** How low a stock is: nothing where it is not. */
export function stockLevel(stock: number, { account }: PageRequest): Content {
  const [tag, text] = stock === 0 ? ['bad', 'sold out']
    : stock <= account.lowStock ? ['low', 'low'] : ['', ''];
  return html`<span data-live="level"${tag !== '' && html` class="tag ${tag}"`}>${text}</span>`;
}
