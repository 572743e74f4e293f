/**
 * A product's page: its fields, its stock over time, and the forms that change, archive or restore
 * it. A rejected form is shown again on the same page with the user's input.
 */
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import { readMetadata } from '../../../domain/catalogue/metadata.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { formatProductId } from '../../../domain/id.ts';
import { REASON_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { type Field, postForm, renderFields } from '../forms/fields.ts';
import {
  Form, type FormState, hiddenField, initialState, nonceField, toWriteContext,
} from '../forms/form.ts';
import { changeToast, didChange } from '../history/undo.ts';
import { card, details, type Facts, facts, flashNotice, notice } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { followChanges, showOnChange, stockLevel } from '../html/live.ts';
import { redirect, renderPage } from '../html/page.ts';
import { hasPage, type PageRequest, type Portal, type Submit } from '../route.ts';
import { formatBase } from './product-conflict.ts';
import { describeFields, EDITED_FIELDS, type EditedValues, toText } from './product-form.ts';
import { getProduct, pathOf } from './product-path.ts';
import { readLedger, renderLedger, type StockLedger } from './stock-ledger.ts';
import { stockPlot } from './stock-plot.ts';

/** Fields of the two stock forms, named after each form's number field. */
export const STOCK_FIELDS = {
  amount: listStockFields('amount', 'Quantity'), set: listStockFields('set', 'Counted quantity'),
};

const FLASH = new Map([
  ['saved', 'All changes are saved.'],
  ['same', 'The stock already had this value. Nothing was changed.'],
  ['repeated', 'You already submitted this change. It was made once.'],
]);

/** @param rejected State of a rejected form on the page. */
export async function renderProduct(
  request: PageRequest, portal: Portal, product: Product, rejected?: FormState,
): Promise<Reply> {
  const state = rejected ?? initialState();
  const ledger = await readLedger(request, portal, product);
  const fields = describeFields(request, EDITED_FIELDS);
  const id = formatProductId(product.sellerId, product.id);
  return renderPage(request, portal, {
    title: product.name,
    heading: html`<bdi data-product="${id}"><span data-live="name">${product.name}</span></bdi>
      ${archivedTag(product)}`,
    state, fields: [...fields, ...STOCK_FIELDS.amount, ...STOCK_FIELDS.set],
    content: followChanges(request, Math.max(request.position, product.position), html`
      ${!rejected && [
    flashNotice(request, FLASH), await changeToast(request, portal), mergedNotice(request),
  ]}
      <div data-product="${id}">
        ${showOnChange(['deleted'], html`<p>Someone else deleted this product.
          <a href="${request.link('/products')}">View all products</a></p>`)}
        <section class="card" aria-label="Details">
          ${facts(listFacts(request, product))}
          ${details(facts(listDetails(request, product)))}
          ${request.may('editor') && archiveForm(request, product, html`<a class="button danger"
            href="${request.link(`${pathOf(product)}/delete`)}">Delete</a>`)}
        </section>
        ${renderCards(request, portal, product, ledger, fields, state)}
        <section id="movements" aria-labelledby="movements-title">
          <h2 id="movements-title">Stock movements</h2>
          ${renderLedger(request, product, ledger)}
        </section>
      </div>`),
    scripts: ['live.js'],
  });
}

/** An edit form that was opened with `base`. */
export function fillIn({ format }: PageRequest, base: Product, values: EditedValues): Form {
  return new Form([['base', formatBase(base)], ...EDITED_FIELDS.map((field) =>
    [field.name, toText(field, values, format)])]);
}

/** After a merged edit; the query parameter `theirs` names the fields kept from the other edit. */
function mergedNotice({ query }: PageRequest): Content {
  const keptFields = EDITED_FIELDS.filter(({ name }) => query.has('theirs', name));
  const names = keptFields.map(({ label }) => label).join(', ');
  return keptFields.length > 0 && notice(html`<p>Someone else edited this product while
    your form was open. Their changes were kept: ${names}.</p>`);
}

/** A product's values, which `live.js` keeps current. */
export function listFacts(request: PageRequest, product: Product): Facts {
  const { format } = request;
  const { sellerId, id, sku, category, priceMinor, stock, createdAt, updatedAt } = product;
  const number = html`<span data-live="stock">${format.number(stock)}</span>`;
  return [
    ['SKU', html`<bdi data-live="sku">${sku}</bdi>`],
    ['Category', html`<bdi data-live="category">${category}</bdi>`],
    ['Price', html`<span data-live="price">${format.money(priceMinor)}</span>`],
    ['Stock', html`${number} ${stockLevel(product, request)}`],
    ...listOptionalFacts(request, product),
    ['Created', format.timeElement(createdAt)],
    ['Updated', format.timeElement(updatedAt, 'updated_at')],
    ['ID', html`<code>${formatProductId(sellerId, id)}</code>`],
  ];
}

function listDetails({ format }: PageRequest, product: Product): Facts {
  const { position, createdAt, updatedAt } = product;
  return [
    ['Created', format.time(createdAt)], ['Updated', format.time(updatedAt)],
    ['Position', format.number(position)],
  ];
}

function renderCards(
  request: PageRequest, portal: Portal, product: Product, ledger: StockLedger,
  fields: readonly Field[], state: FormState,
): Html {
  const { format, link } = request;
  const csv = hasPage(portal, '/movements/export')
    ? link('/movements/export', new URLSearchParams({
      product: formatProductId(product.sellerId, product.id),
    })) : undefined;
  const now = portal.clock();
  const plot = stockPlot({ product, movements: ledger.newest, now, csv }, format);
  const overTime = card('plot-heading', 'Stock over time',
    plot ?? html`<p class="quiet">No stock movements yet.</p>`);
  if (!request.may('editor')) return overTime;
  const form = fillIn(request, product, product);
  for (const name of new Set(state.form.keys())) {
    form.delete(name);
    for (const value of state.form.getAll(name)) form.append(name, value);
  }
  return html`<div class="columns">
    <div>
      ${overTime}
      ${card('stock-heading', 'Update stock', html`
        ${renderStaleNotice(request, product, ['stock'], 'The stock has changed.')}
        ${renderStockForms(request, product, state)}`)}
    </div>
    ${card('edit-heading', 'Edit', html`
      ${renderStaleNotice(request, product, ['updated'], 'Someone else edited this product.')}
      ${postForm(request, link(pathOf(product)), html`
        ${hiddenField('base', form.get('base'))}
        ${renderFields(fields, { ...state, form })}
        <button class="primary">Save</button>`)}`)}
  </div>`;
}

function renderStaleNotice(
  { link }: PageRequest, product: Product, types: readonly ChangeType[], sentence: string,
): Html {
  return showOnChange(types, html`<p>${sentence}
    <a href="${link(pathOf(product))}">Show the current version</a></p>`);
}

/** A stocktake carries the stock shown in `expect`, and is rejected if the stock has changed. */
function renderStockForms(request: PageRequest, product: Product, state: FormState): Html {
  const path = request.link(pathOf(product));
  return html`<h3>Adjust stock</h3>
    ${postForm(request, `${path}/adjust`, html`${nonceField()}
      ${renderFields(STOCK_FIELDS.amount, state)}
      <div class="actions"><button name="way" value="add">Add</button>
        <button name="way" value="take">Remove</button></div>`)}
    <hr>
    <h3>Stocktake</h3>
    ${postForm(request, `${path}/stock`, html`${nonceField()}
      <input type="hidden" name="expect" value="${product.stock}" data-live="expect">
      ${renderFields(STOCK_FIELDS.set, state)}
      <div class="actions"><button>Set stock</button></div>`)}`;
}

function listStockFields(name: string, label: string): readonly Field[] {
  return [
    { name, label, isRequired: true, inputMode: 'numeric' },
    {
      name: `${name}_reason`, label: 'Reason (optional)',
      maxLength: 2 * REASON_LIMIT_CODE_POINTS, // in UTF-16 code units, up to two per code point
    },
  ];
}

/** Those that have a value. */
function listOptionalFacts(
  { format }: PageRequest, { barcode, description, metadata, lowStock }: Product,
): Facts {
  const details: readonly (readonly [string, Content])[] = [
    ['Barcode', barcode ?? ''],
    ['Low-stock threshold', typeof lowStock === 'number' && format.number(lowStock)],
    ['Description', description ? html`<bdi class="paragraphs">${description}</bdi>` : ''],
    ['Metadata', metadata ? html`<ul class="lines">${[...readMetadata(metadata)].map((pair) =>
      html`<li><bdi>${pair[0]}</bdi>: <bdi>${pair[1] ?? ''}</bdi></li>`)}</ul>` : ''],
  ];
  return details.filter(([, content]) => content);
}

export function archivedTag({ archived }: Product): Content {
  return archived ? html`<span class="tag">Archived</span>` : undefined;
}

function archiveForm(request: PageRequest, product: Product, otherActions: Html): Html {
  const [to, label] = product.archived ? ['restored', 'Restore'] : ['archived', 'Archive'];
  return postForm(request, request.link(`${pathOf(product)}/archive`), html`${nonceField()}
    ${hiddenField('to', to)}<button>${label}</button> ${otherActions}`, 'actions');
}

/** POST /portal/products/{id}/archive: 303, 400, 404 */
export const archiveProduct: Submit = async (request, portal, form) => {
  const { sellerId, id } = await getProduct(request, portal);
  const patch = { archived: form.get('to') === 'archived' || null };
  const write = toWriteContext(request, form);
  const { position } = await portal.store.patchProduct(write, { id }, patch, {});
  return redirect(request.link(pathOf({ sellerId, id }), didChange(request, position)));
};
