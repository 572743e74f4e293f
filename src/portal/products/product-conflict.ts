/**
 * An edit of what somebody else has changed meanwhile: both versions side by side, and the choice
 * between them. Nothing is saved before that.
 */
import type { Product } from '../../domain/product.ts';
import type { Reply } from '../../http/reply.ts';
import { NO_FAULTS } from '../form.ts';
import { type Content, html } from '../html.ts';
import { cell, headCell, table } from '../list.ts';
import { renderPage } from '../page.ts';
import type { Portal, Visit } from '../route.ts';
import {
  describeTexts, formatVersion, PRODUCT_LABELS, type ProductTexts,
} from './product-form.ts';
import { pathOf } from './product-path.ts';
import { editForm } from './product-view.ts';

const MEMBERS = ['name', 'category', 'sku', 'price'] as const;

/** `product` is as it stands now; `texts` are what was typed, and are in order. */
export function renderConflict(
  visit: Visit, portal: Portal, product: Product, texts: ProductTexts,
): Reply {
  const { link } = visit;
  const stands = describeTexts(product, visit.format);
  return renderPage(visit, portal, {
    title: 'This product was changed meanwhile',
    status: 409,
    content: html`<div class="notice low" role="alert">
      <p>Somebody else changed it after you opened its page, or you did in another window. Nothing
        of what you typed was saved yet: look at both, and choose.</p>
    </div>
    <div class="compare">${table({
    caption: 'Both versions',
    columns: [{ label: 'What' }, { label: 'Now' }, { label: 'Yours' }],
    rows: MEMBERS.map((member) => compare(member, stands[member], texts[member])),
    empty: undefined,
  })}</div>
    <section class="card" aria-labelledby="yours">
      <h2 id="yours">Your version</h2>
      ${editForm(visit, product, { texts, version: formatVersion(product) }, NO_FAULTS, html`
        <button>Save mine over it</button>
        <a class="button" href="${link(pathOf(product))}">Keep the other one</a>`)}
    </section>`,
  });
}

function compare(member: typeof MEMBERS[number], now: string, typed: string): Content {
  const isDifferent = now !== typed;
  return [
    headCell(PRODUCT_LABELS[member]),
    cell(html`<bdi>${now}</bdi>`),
    cell(html`<bdi>${typed}</bdi>${isDifferent && html` <span class="tag low">different</span>`}`),
  ];
}
