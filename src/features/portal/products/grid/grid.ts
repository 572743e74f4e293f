/**
 * The grid: the stock and the price of a page of products, or of selected ones, saved together with
 * one reason. A row is saved only if its product still has the values that were shown; the others
 * are shown again with both values. What is saved is one bulk edit, which can be reverted.
 */
import type { Product } from '../../../../domain/catalogue/product-fields.ts';
import { stockReason } from '../../../../domain/catalogue/stock-change.ts';
import {
  formatImportId, type ImportId, parseProductId, type ProductId,
} from '../../../../domain/id.ts';
import { REASON_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import type { Reply } from '../../../../http/response/reply.ts';
import type { ProductEdit } from '../../../../store/catalogue-store.ts';
import { type Field, postForm, renderFields } from '../../forms/fields.ts';
import {
  type FieldErrors, type FormState, hiddenField, initialState, NO_ERRORS, nonceField, rejectedState,
  takeValue, toWriteContext,
} from '../../forms/form.ts';
import { withCursor } from '../../forms/paging.ts';
import { notice, table } from '../../html/elements.ts';
import { type Content, html, type Html, shorten } from '../../html/html.ts';
import { redirect, renderPage } from '../../html/page.ts';
import { PORTAL_PAGE_PRODUCTS } from '../../limits.ts';
import { pathOf as pathOfRecord } from '../../records/import-record.ts';
import type { DraftRoute, PageRequest, Portal, Show, Submit } from '../../route.ts';
import { pathOf } from '../product-path.ts';
import {
  listFields, listPath, listQuery, readList, readSearch, readSearchPage,
} from '../product-search.ts';
import {
  formatShown, type GridRow, makeConflictRow, makeRow, readEdit, readRows, ROW_FIELDS,
} from './grid-rows.ts';

/** Texts are shortened, which bounds the size of the page. */
const [NAME_BYTES, SKU_BYTES] = [100, 64];
const LABELS = { stock: 'Stock', price: 'Price' } as const;
const REASON: Field = {
  name: 'reason', label: 'Reason (optional)',
  hint: 'Shown with every stock movement that you save here.',
  maxLength: 2 * REASON_LIMIT_CODE_POINTS, // in UTF-16 code units, up to two per code point
};

/** GET /portal/products/grid: 200, 503. The products in the query, or a page of the list. */
export const showGrid: Show = async (request, portal) => {
  const { query, format, link } = request;
  const isSelection = query.has('id');
  const { products, next } = isSelection ? { products: await readSelected(request, portal) }
    : await readListed(request, portal);
  const list = isSelection ? readList(request, query) : listQuery(request, query);
  return renderGrid(request, portal, {
    rows: products.map((product) => makeRow(product, format)),
    products: new Map(products.map((product) => [product.id, product])),
    list, state: initialState(),
    next: next && link('/products/grid', next),
  });
};

/** POST /portal/products/grid: 200 with the rows that were not saved, 303, 400, 409, 422 */
export const saveGrid: Submit = async (request, portal, form) => {
  const submitted = readRows(form, request);
  const products = await findProducts(request, portal, submitted);
  const errors = new Map<string, string>();
  const reasonText = form.getTrimmed(REASON.name);
  const reason = reasonText === '' ? undefined
    : takeValue(errors, REASON.name, stockReason.parse(reasonText), undefined);
  const edits: ProductEdit[] = [];
  const rows = submitted.map((row) => {
    const rowErrors = new Map<string, string>();
    const edit = readEdit(row, request, rowErrors);
    if (edit) edits.push(edit);
    return { ...row, errors: rowErrors };
  });
  const grid = { rows, products, list: readList(request, form), state: { form, errors } };
  if (errors.size > 0 || rows.some((row) => row.errors.size > 0)) {
    return renderGrid(request, portal, grid);
  }
  return save(request, portal, grid, edits, reason);
};

export const gridDraft: DraftRoute = {
  fields: [...ROW_FIELDS, REASON.name],
  async show(request, portal, form) {
    const rows = readRows(form, request);
    const products = await findProducts(request, portal, rows);
    return renderGrid(request, portal, {
      rows, products, list: readList(request, form), state: { form, errors: NO_ERRORS },
    });
  },
};

async function save(
  request: PageRequest, portal: Portal, grid: Grid, edits: readonly ProductEdit[],
  reason: string | undefined,
): Promise<Reply> {
  const { account: { sellerId }, address, link } = request;
  const { rows, list, state: { form } } = grid;
  const back = (more: Readonly<Record<string, string>>): Reply =>
    redirect(link(listPath(new URLSearchParams([...list, ...Object.entries(more)]))));
  if (edits.length === 0) return back({ done: 'same' });
  const record = { kind: 'bulk', mode: 'edit', address } as const;
  const write = {
    ...toWriteContext(request, form),
    import: { id: undefined, record, counts: {}, isLast: true },
  };
  try {
    const { effects, importId } = await portal.store.editProducts(write, edits, reason);
    // Someone else has changed or deleted these products.
    const conflictIds = new Set(edits.filter((_, index) =>
      effects[index] === 'conflict' || effects[index] === 'not_found').map(({ id }) => id));
    if (conflictIds.size === 0) {
      return back({ done: 'bulk', ...importId && { import: formatImportId(sellerId, importId) } });
    }
    return await showConflicts(request, portal, {
      ...grid, rows: rows.filter(({ id }) => conflictIds.has(id)),
      saved: { count: edits.length - conflictIds.size, importId },
    });
  } catch (error) {
    return renderGrid(request, portal, { ...grid, state: rejectedState(form, error) });
  }
}

/** The rows that were not saved, each with the current values and the typed ones. */
async function showConflicts(request: PageRequest, portal: Portal, grid: Grid): Promise<Reply> {
  const products = await findProducts(request, portal, grid.rows);
  const detail = 'Someone else changed these products since you opened the page, so they were not '
    + 'saved:';
  return renderGrid(request, portal, {
    ...grid, products,
    rows: grid.rows.map((row) => {
      const product = products.get(row.id);
      return product ? makeConflictRow(row, product, request.format) : row;
    }),
    state: { ...grid.state, errors: NO_ERRORS, detail, status: 200 },
  });
}

async function readSelected(
  { query, account: { sellerId } }: PageRequest, { store }: Portal,
): Promise<readonly Product[]> {
  const ids = query.getAll('id').slice(0, PORTAL_PAGE_PRODUCTS)
    .flatMap((text) => parseProductId(sellerId, text) ?? []);
  const products = await store.findProducts(sellerId, ids);
  return [...new Set(ids)].flatMap((id) => products.get(id) ?? []);
}

/** The page of the list that the query selects, and the query of the next one. */
async function readListed(request: PageRequest, portal: Portal): Promise<{
  readonly products: readonly Product[]; readonly next: URLSearchParams | undefined;
}> {
  const search = readSearch(request, portal);
  const { rows, next } = await readSearchPage(request, portal, search);
  return { products: rows, next: next === undefined ? undefined
    : withCursor(search.state.form, next) };
}

function findProducts(
  { account: { sellerId } }: PageRequest, { store }: Portal, rows: readonly GridRow[],
): Promise<ReadonlyMap<ProductId, Product>> {
  return store.findProducts(sellerId, rows.map(({ id }) => id));
}

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

function renderGrid(request: PageRequest, portal: Portal, grid: Grid): Reply {
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
    state: { ...state, errors }, fields: [...fields, REASON],
    content: html`${renderSaved(request, grid)}
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

function renderInput({ typed, errors }: GridRow, index: number, name: 'stock' | 'price'): Content {
  const id = `field-${name}-${index}`;
  const error = errors.get(name);
  const mode = name === 'price' ? 'decimal' : 'numeric';
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
  const products = format.countProducts(saved.count);
  const verb = saved.count === 1 ? 'was' : 'were';
  return notice(html`<p>${products} ${verb} saved. <a href="${path}">View the record</a></p>`);
}
