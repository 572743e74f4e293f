/**
 * The grid: the stock and the price of a page of products, or of selected ones, saved together with
 * one reason. A row is saved only if its product still has the values that were shown; the others
 * are shown again with both values. What is saved is one bulk edit, which can be reverted.
 */
import type { Product } from '../../../../domain/catalogue/product-fields.ts';
import { stockReason } from '../../../../domain/catalogue/stock-change.ts';
import { formatImportId, parseProductId, type ProductId } from '../../../../domain/id.ts';
import type { Reply } from '../../../../http/response/reply.ts';
import type { ProductEdit } from '../../../../store/catalogue-store.ts';
import {
  type Form, type FormState, initialState, NO_ERRORS, rejectedState, takeValue, toWriteContext,
} from '../../forms/form.ts';
import { withCursor } from '../../forms/paging.ts';
import { redirect } from '../../html/page.ts';
import { PORTAL_PAGE_PRODUCTS } from '../../limits.ts';
import type { DraftRoute, PageRequest, Portal } from '../../route.ts';
import { listPath, listQuery, readList, readSearch, readSearchPage } from '../product-search.ts';
import {
  type GridRow, isConflict, makeConflictRow, makeRow, readEdit, readRows, ROW_FIELDS,
} from './grid-rows.ts';
import { REASON, renderGrid } from './grid-view.ts';

/** GET /portal/products/grid: 200, 503. The products in the query, or a page of the list. */
export async function showGrid(request: PageRequest, portal: Portal): Promise<Reply> {
  const { query, format, link } = request;
  const isSelection = query.has('id');
  const { products, next } = isSelection ? { products: await readSelected(request, portal) }
    : await readListed(request, portal);
  const list = isSelection ? readList(request, query) : listQuery(request, query);
  return renderGrid(request, portal, {
    rows: products.map((product) => makeRow(product, format)),
    products: byId(products), list, state: initialState(),
    next: next && link('/products/grid', next),
  });
}

/** POST /portal/products/grid: 200 with the rows that were not saved, 303, 400, 409, 422 */
export async function saveGrid(
  request: PageRequest, portal: Portal, form: Form,
): Promise<Reply> {
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
  const state = { form, errors };
  if (errors.size > 0 || rows.some((row) => row.errors.size > 0)) {
    return show(request, portal, { rows, products, form, state });
  }
  return save(request, portal, { rows, products, form, state }, { edits, reason });
}

export const gridDraft: DraftRoute = {
  fields: [...ROW_FIELDS, REASON.name],
  async show(request, portal, form) {
    const rows = readRows(form, request);
    const products = await findProducts(request, portal, rows);
    return show(request, portal, { rows, products, form, state: { form, errors: NO_ERRORS } });
  },
};

/** A form of the grid. */
interface Submitted {
  readonly rows: readonly GridRow[];
  readonly products: ReadonlyMap<ProductId, Product>;
  readonly form: Form;
  readonly state: FormState;
}

function show(
  request: PageRequest, portal: Portal, { rows, products, form, state }: Submitted,
): Reply {
  const list = readList(request, form);
  return renderGrid(request, portal, { rows, products, list, state });
}

interface Edits {
  readonly edits: readonly ProductEdit[];
  readonly reason: string | undefined;
}

async function save(
  request: PageRequest, portal: Portal, submitted: Submitted, { edits, reason }: Edits,
): Promise<Reply> {
  const { account: { sellerId }, address, link } = request;
  const { form, rows } = submitted;
  const list = readList(request, form);
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
    const left = new Set(edits.filter((_, index) => isConflict(effects[index]))
      .map(({ id }) => id));
    if (left.size === 0) {
      return back({ done: 'bulk', ...importId && { import: formatImportId(sellerId, importId) } });
    }
    return await showConflicts(request, portal, {
      ...submitted, rows: rows.filter(({ id }) => left.has(id)),
    }, { count: edits.length - left.size, importId });
  } catch (error) {
    return show(request, portal, { ...submitted, state: rejectedState(form, error) });
  }
}

/** The rows that were not saved, each with the current values and the typed ones. */
async function showConflicts(
  request: PageRequest, portal: Portal, { rows, form }: Submitted,
  saved: Parameters<typeof renderGrid>[2]['saved'] & object,
): Promise<Reply> {
  const products = await findProducts(request, portal, rows);
  const detail = 'Someone else changed these products since you opened the page, so they were not '
    + 'saved:';
  return renderGrid(request, portal, {
    products, saved,
    rows: rows.map((row) => {
      const product = products.get(row.id);
      return product ? makeConflictRow(row, product, request.format) : row;
    }),
    list: readList(request, form),
    state: { form, errors: NO_ERRORS, detail, status: 200 },
  });
}

async function readSelected(
  { query, account: { sellerId } }: PageRequest, { store }: Portal,
): Promise<readonly Product[]> {
  const ids = query.getAll('id').slice(0, PORTAL_PAGE_PRODUCTS)
    .flatMap((text) => parseProductId(sellerId, text) ?? []);
  const found = await store.findProducts(sellerId, ids);
  return [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
}

/** The page of the list that the query selects, and the query of the next one. */
async function readListed(request: PageRequest, portal: Portal): Promise<{
  readonly products: readonly Product[]; readonly next: URLSearchParams | undefined;
}> {
  const search = readSearch(request, portal);
  const { page: { rows, next } } = await readSearchPage(request, portal, search);
  return { products: rows, next: next === undefined ? undefined
    : withCursor(search.state.form, next) };
}

function findProducts(
  { account: { sellerId } }: PageRequest, { store }: Portal, rows: readonly GridRow[],
): Promise<ReadonlyMap<ProductId, Product>> {
  return store.findProducts(sellerId, rows.map(({ id }) => id));
}

function byId(products: readonly Product[]): ReadonlyMap<ProductId, Product> {
  return new Map(products.map((product) => [product.id, product]));
}
