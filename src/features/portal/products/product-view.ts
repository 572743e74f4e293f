/**
 * The page of a product: its fields, its stock over time, and the forms that change both. A
 * rejected form is shown again on the same page, with what was entered.
 */
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { formatProductId } from '../../../domain/id.ts';
import { REASON_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { followChanges, showOnChange, stockLevel } from '../html/live.ts';
import { errorSummary, postForm, textField } from '../forms/fields.ts';
import { type FieldErrors, NO_ERRORS, nonceField } from '../forms/form.ts';
import { facts, flashNotice, notice } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { describeTexts, PRODUCT_LABELS, productFields, type ProductTexts } from './product-form.ts';
import { EDITED_FIELDS, formatBase } from './product-merge.ts';
import { pathOf } from './product-path.ts';
import { readLedger, renderLedger, type StockLedger } from './stock-ledger.ts';
import { stockPlot } from './stock-plot.ts';

/** An edit form: its texts, and the base that it was opened with. */
export interface ProductEdit {
  readonly texts: ProductTexts;
  readonly base: string;
}

/** Entered values, by field name. */
export type StockTexts = Readonly<Record<string, string>>;

const STOCK_LABELS: Readonly<Record<string, string>> = {
  amount: 'Quantity', amount_reason: 'Reason', set: 'Counted quantity', set_reason: 'Reason',
};

/** A form to show again with its entered values, and why it was rejected. */
export interface RejectedForm {
  readonly status: number;
  readonly errors?: FieldErrors;
  readonly detail?: string;
  readonly edit?: ProductEdit;
  readonly stock?: StockTexts;
}

const FLASH = new Map([
  ['created', 'Product created.'],
  ['saved', 'Changes saved.'],
  ['stock', 'Stock updated.'],
  ['same', 'The stock already had this value. Nothing was changed.'],
  ['repeated', 'This change was already made. It was not made again.'],
]);

export async function renderProduct(
  request: PageRequest, portal: Portal, product: Product, rejected?: RejectedForm,
): Promise<Reply> {
  const { status = 200, errors = NO_ERRORS, detail } = rejected ?? {};
  const ledger = await readLedger(request, portal, product);
  const id = formatProductId(product.sellerId, product.id);
  return renderPage(request, portal, {
    title: product.name,
    heading: html`<bdi data-product="${id}"><span data-live="name">${product.name}</span></bdi>`,
    status,
    content: followChanges(request, Math.max(request.position, product.position), html`
      ${!rejected && [flashNotice(request, FLASH), mergedNotice(request)]}
      ${errorSummary(errors, detail, { ...PRODUCT_LABELS, ...STOCK_LABELS })}
      <div data-product="${id}">
        ${showOnChange(['deleted'], html`<p>Someone else deleted this product.
          <a href="${request.link('/products')}">See the others</a></p>`)}
        ${renderFacts(request, product, id)}
        ${renderCards(request, portal, product, ledger, rejected)}
        <section id="movements" aria-labelledby="movements-title">
          <h2 id="movements-title">Stock movements</h2>
          ${renderLedger(request, product, ledger)}
        </section>
      </div>`),
    scripts: ['live.js'],
  });
}

/** After a merged edit; the query parameter `theirs` names the fields kept from the other one. */
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

function renderCards(
  request: PageRequest, { clock }: Portal, product: Product, ledger: StockLedger,
  { errors = NO_ERRORS, stock = {}, edit }: Partial<RejectedForm> = {},
): Html {
  const { format } = request;
  const { texts, base } = edit
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
        ${renderStaleNotice(request, product, ['stock'], 'The stock has changed.')}
        ${stockForms(request, product, stock, errors)}
      </section>
    </div>
    <section class="card" aria-labelledby="edit-heading">
      <h2 id="edit-heading">Edit</h2>
      ${renderStaleNotice(request, product, ['updated'], 'Someone else edited this product.')}
      ${postForm(request, request.link(pathOf(product)), html`
        <input type="hidden" name="base" value="${base}">
        ${productFields(request, texts, errors)}
        <button>Save</button>`)}
    </section>
  </div>`;
}

function renderStaleNotice(
  { link }: PageRequest, product: Product, types: readonly ChangeType[], what: string,
): Html {
  return showOnChange(types, html`<p>${what}
    <a href="${link(pathOf(product))}">Show the current version</a></p>`);
}

/** A stocktake is rejected if the stock is no longer the one shown, which `expect` carries. */
function stockForms(
  request: PageRequest, product: Product, texts: StockTexts, errors: FieldErrors,
): Html {
  const here = request.link(pathOf(product));
  const number = (name: string): Html => textField({
    name, label: STOCK_LABELS[name] ?? '', value: texts[name] ?? '', errors, isRequired: true,
    inputMode: 'numeric',
  });
  const reason = (name: string): Html => textField({
    name, label: `${STOCK_LABELS[name]} (optional)`, value: texts[name] ?? '', errors,
    maxLength: 2 * REASON_LIMIT_CODE_POINTS, // in UTF-16 code units, up to two per code point
  });
  return html`<h3>Adjust stock</h3>
    ${postForm(request, `${here}/adjust`, html`${nonceField()}
      ${number('amount')}
      ${reason('amount_reason')}
      <div class="actions"><button name="way" value="add">Add</button>
        <button name="way" value="take" class="plain">Remove</button></div>`)}
    <hr>
    <h3>Stocktake</h3>
    ${postForm(request, `${here}/stock`, html`${nonceField()}
      <input type="hidden" name="expect" value="${product.stock}" data-live="expect">
      ${number('set')}
      ${reason('set_reason')}
      <div class="actions"><button>Set stock</button></div>`)}`;
}
