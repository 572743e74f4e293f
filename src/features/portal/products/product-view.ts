/**
 * The page of a product: what it is, what its stock did, and the forms that change it. A form that
 * is refused comes back on the same page, with what was typed.
 */
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { formatProductId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { followChanges, showOnChange, stockLevel } from '../html/live.ts';
import { errorSummary, postForm } from '../forms/fields.ts';
import { type FieldErrors, NO_ERRORS } from '../forms/form.ts';
import { facts, flashNotice, notice } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { describeTexts, PRODUCT_LABELS, productFields, type ProductTexts } from './product-form.ts';
import { EDITED_FIELDS, formatBase } from './product-merge.ts';
import { pathOf } from './product-path.ts';
import { STOCK_LABELS, stockForms, type StockTexts } from './stock-forms.ts';
import { readLedger, renderLedger, type StockLedger } from './stock-ledger.ts';
import { stockPlot } from './stock-plot.ts';

/** What was typed, and the text of the base that the form was opened with. */
export interface ProductEdit {
  readonly texts: ProductTexts;
  readonly base: string;
}

/** A form that was refused, and why. */
export interface Refused {
  readonly status: number;
  readonly errors?: FieldErrors;
  readonly detail?: string;
  readonly edit?: ProductEdit;
  readonly stock?: StockTexts;
}

const DONE = new Map([
  ['created', 'Product created.'],
  ['saved', 'Changes saved.'],
  ['stock', 'Stock updated.'],
  ['same', 'The stock already had this value. Nothing was changed.'],
  ['repeated', 'This change was already made. It was not made again.'],
]);

export async function renderProduct(
  request: PageRequest, portal: Portal, product: Product, refused?: Refused,
): Promise<Reply> {
  const { errors = NO_ERRORS, detail } = refused ?? {};
  const ledger = await readLedger(request, portal, product);
  const id = formatProductId(product.sellerId, product.id);
  return renderPage(request, portal, {
    title: product.name,
    heading: html`<bdi data-product="${id}"><span data-live="name">${product.name}</span></bdi>`,
    ...(refused && { status: refused.status }),
    content: followChanges(request, Math.max(request.position, product.position), html`
      ${!refused && [flashNotice(request, DONE), mergedNotice(request)]}
      ${errorSummary(errors, detail, { ...PRODUCT_LABELS, ...STOCK_LABELS })}
      <div data-product="${id}">
        ${showOnChange(['deleted'], html`<p>Someone else deleted this product.
          <a href="${request.link('/products')}">See the others</a></p>`)}
        ${renderFacts(request, product, id)}
        ${renderCards(request, portal, product, { ledger, refused })}
        <section id="movements" aria-labelledby="movements-title">
          <h2 id="movements-title">Stock movements</h2>
          ${renderLedger(request, product, ledger)}
        </section>
      </div>`),
    scripts: ['live.js'],
  });
}

/** The form for all but the stock. */
function editForm(
  request: PageRequest, product: Product, edit: ProductEdit, errors: FieldErrors,
): Html {
  return postForm(request, request.link(pathOf(product)), html`
    <input type="hidden" name="base" value="${edit.base}">
    ${productFields(request, edit.texts, errors)}
    <button>Save</button>`);
}

/** After an edit that was merged with someone else's; `theirs` in the address names the fields. */
function mergedNotice({ query }: PageRequest): Content {
  const kept = EDITED_FIELDS.filter((field) => query.getAll('theirs').includes(field));
  const names = kept.map((field) => PRODUCT_LABELS[field]).join(', ');
  return kept.length > 0 && notice(html`<p>Saved. Someone else edited this product while your form
    was open. Their changes were kept: ${names}.</p>`);
}

function renderFacts(request: PageRequest, product: Product, id: string): Html {
  const { format, link } = request;
  const { sku, category, priceMinor, stock, createdAt, updatedAt } = product;
  const number = html`<span data-live="stock">${format.number(stock)}</span>`;
  return html`<section class="card" aria-label="The product">
    ${facts([
    ['SKU', html`<bdi data-live="sku">${sku}</bdi>`],
    ['Category', html`<bdi data-live="category">${category}</bdi>`],
    ['Price', html`<span data-live="price">${format.money(priceMinor)}</span>`],
    ['Stock', html`${number} ${stockLevel(stock, request)}`],
    ['Created', format.timeElement(createdAt)],
    ['Updated', html`<span data-live="updated_at">${format.timeElement(updatedAt)}</span>`],
    ['ID', html`<code>${id}</code>`],
  ])}
    <p class="actions"><a class="button" href="${link(`${pathOf(product)}/delete`)}">Delete</a></p>
  </section>`;
}

interface Shown {
  readonly ledger: StockLedger;
  readonly refused: Refused | undefined;
}

function renderCards(
  request: PageRequest, { clock }: Portal, product: Product, { ledger, refused }: Shown,
): Html {
  const { format } = request;
  const errors = refused?.errors ?? NO_ERRORS;
  const edit = refused?.edit
    ?? { texts: describeTexts(product, format), base: formatBase(product) };
  const plot = stockPlot({ product, movements: ledger.newest, now: clock() }, format);
  return html`<div class="columns">
    <div>
      <section class="card" aria-labelledby="plot-heading">
        <h2 id="plot-heading">Stock over time</h2>
        ${plot ?? html`<p class="quiet">No stock movements yet.</p>`}
      </section>
      <section class="card" aria-labelledby="stock-heading">
        <h2 id="stock-heading">Update stock</h2>
        ${changedMeanwhile(request, product, ['stock'], 'The stock has changed.')}
        ${stockForms(request, product, refused?.stock ?? {}, errors)}
      </section>
    </div>
    <section class="card" aria-labelledby="edit-heading">
      <h2 id="edit-heading">Edit</h2>
      ${changedMeanwhile(request, product, ['updated'], 'Someone else edited this product.')}
      ${editForm(request, product, edit, errors)}
    </section>
  </div>`;
}

function changedMeanwhile(
  { link }: PageRequest, product: Product, types: readonly ChangeType[], what: string,
): Html {
  return showOnChange(types, html`<p>${what}
    <a href="${link(pathOf(product))}">Show the current version</a></p>`);
}
