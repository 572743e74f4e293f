/** The grid's page: a table of inputs, a reason for all changes, and what was not saved and why. */
import type { Product } from '../../../../domain/catalogue/product-fields.ts';
import type { ImportId, ProductId } from '../../../../domain/id.ts';
import { REASON_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import type { Reply } from '../../../../http/response/reply.ts';
import { errorSummary, type Field, postForm, renderFields } from '../../forms/fields.ts';
import { hasErrors, statusOf } from '../../forms/form-page.ts';
import {
  type FieldErrors, type FormState, hiddenField, nonceField,
} from '../../forms/form.ts';
import { notice, table } from '../../html/elements.ts';
import { type Content, html, type Html, shorten } from '../../html/html.ts';
import { renderPage } from '../../html/page.ts';
import { pathOf as pathOfRecord } from '../../records/import-record.ts';
import type { PageRequest, Portal } from '../../route.ts';
import { pathOf } from '../product-path.ts';
import { listFields, listPath } from '../product-search.ts';
import { formatShown, GRID_FIELDS, type GridRow } from './grid-rows.ts';

/** Texts are shortened, which bounds the size of the page. */
const [NAME_BYTES, SKU_BYTES] = [100, 64];
const LABELS = { stock: 'Stock', price: 'Price' } as const;

export const REASON: Field = {
  name: 'reason', label: 'Reason (optional)',
  hint: 'Shown with every stock movement that you save here.',
  maxLength: 2 * REASON_LIMIT_CODE_POINTS, // in UTF-16 code units, up to two per code point
};

interface Grid {
  readonly rows: readonly GridRow[];
  /** Deleted products are missing. */
  readonly products: ReadonlyMap<ProductId, Product>;
  /** The query of the list that the seller comes from. */
  readonly list: URLSearchParams;
  readonly state: FormState;
  /** The URL of the next page. */
  readonly next?: string | undefined;
  /** What was saved of a form whose other rows are shown again. */
  readonly saved?: { readonly count: number; readonly importId: ImportId | undefined };
}

export function renderGrid(request: PageRequest, portal: Portal, grid: Grid): Reply {
  const { rows, state, next } = grid;
  const fields = rows.flatMap(({ errors }, index) => [...errors.keys()].map((name): Field => {
    return { name: `${name}-${index}`, label: describeCell(grid, index, name) };
  }));
  const errors: FieldErrors = new Map([
    ...rows.flatMap((row, index) => [...row.errors].map(([name, detail]) =>
      [`${name}-${index}`, detail] as const)),
    ...state.errors,
  ]);
  const back = request.link(listPath(grid.list));
  return renderPage(request, portal, {
    title: 'Edit stock and price',
    status: statusOf({ ...state, errors }),
    hasErrors: hasErrors({ ...state, errors }),
    content: html`${renderSaved(request, grid)}
      ${errorSummary({ ...state, errors }, [...fields, REASON])}
      ${postForm(request, request.link('/products/grid'), html`
        ${nonceField()}${listFields(grid.list).map(([name, value]) => hiddenField(name, value))}
        ${renderTable(request, grid)}
        ${rows.length > 0 && html`${renderFields([REASON], state)}
        <p class="quiet" role="status" data-changed></p>
        <div class="actions"><button class="primary">Save</button>
          <a class="button" href="${back}">Cancel</a></div>`}`, 'sheet')}
      ${next !== undefined
        && html`<p><a href="${next}" rel="next">Edit the next products</a></p>`}`,
    scripts: ['grid.js'],
  });
}

function renderTable(request: PageRequest, { rows, products, list }: Grid): Html {
  const head = (name: 'stock' | 'price', label: string) =>
    ({ label: html`<span id="head-${name}">${label}</span>`, isNumber: true });
  const { account: { currency: { code } }, link } = request;
  return table({
    caption: 'Stock and price', columns: [
      'Product', head('stock', LABELS.stock), head('price', `${LABELS.price} in ${code}`),
    ],
    rows: rows.map((row, index) => {
      const product = products.get(row.id);
      if (!product) return ['A product that someone else deleted', '–', '–'];
      return [
        html`${hiddenField('row', formatShown(product, row))}
          <a href="${link(pathOf(product))}" id="name-${index}">${
  shorten(product.name, NAME_BYTES)}</a> <span class="quiet">${
  shorten(product.sku, SKU_BYTES)}</span>${[...row.errors].map(([name, error]) => html`
          <p class="fault" id="field-${name}-${index}-fault">${
  name === 'stock' ? LABELS.stock : LABELS.price}: ${error}</p>`)}`,
        renderInput(row, index, 'stock'), renderInput(row, index, 'price'),
      ];
    }),
    empty: html`<p>No products to edit. <a href="${link(listPath(list))}">Show products</a></p>`,
  });
}

function renderInput(
  { typed, errors }: GridRow, index: number, name: 'stock' | 'price',
): Content {
  const id = `field-${name}-${index}`;
  const error = errors.get(name);
  const mode = GRID_FIELDS.find((field) => field.name === name)?.kind === 'price'
    ? 'decimal' : 'numeric';
  return html`<input id="${id}" name="${name}" value="${typed[name].trim()}" inputmode="${mode}"
    autocomplete="off" aria-labelledby="head-${name} name-${index}"${error !== undefined
  && html` aria-invalid="true" aria-describedby="${id}-fault"`}>`;
}

function describeCell({ rows, products }: Grid, index: number, name: string): string {
  const id = rows[index]?.id;
  const product = id === undefined ? undefined : products.get(id);
  const label = name === 'stock' ? LABELS.stock : LABELS.price;
  return `${label} of ${shorten(product?.name ?? '', NAME_BYTES)}`;
}

function renderSaved(
  { account: { sellerId }, link, format }: PageRequest, { saved }: Grid,
): Content {
  if (!saved?.importId) return undefined;
  const path = link(pathOfRecord({ sellerId, id: saved.importId }));
  const what = `${format.countProducts(saved.count)} ${saved.count === 1 ? 'was' : 'were'}`;
  return notice(html`<p>${what} saved. <a href="${path}">View the record</a></p>`);
}
