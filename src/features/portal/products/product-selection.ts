/**
 * Selecting products in the list: a checkbox in each row, and a bar with the actions on the ticked
 * ones, on the page, or on everything that matches the filter. One form, so it needs no scripts.
 */
import { countChanges } from '../../../domain/catalogue/import.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { ProductFilter } from '../../../domain/catalogue/product-query.ts';
import { AppError } from '../../../domain/error.ts';
import { parseImportId, type ProductId } from '../../../domain/id.ts';
import type { ListCount } from '../../../store/write.ts';
import { postForm } from '../forms/fields.ts';
import { Form, hiddenField } from '../forms/form.ts';
import { toast } from '../html/elements.ts';
import { type Content, html, type Html } from '../html/html.ts';
import { PORTAL_PAGE_PRODUCTS } from '../limits.ts';
import { pathOf } from '../records/import-record.ts';
import { hasPage, type PageRequest, type Portal } from '../route.ts';
import { listFields, readList, readSearch } from './product-search.ts';

const PATH = '/products/selection';
/**
 * Ids without the seller, whose products are the only ones that a form can name, in the base of the
 * links of the rows, so that the page compresses well.
 */
const SHORT_RADIX = 32;
const LIST_LIMIT_CHARACTERS = 1_000;

/** The ticked products, or all that match a filter. */
export type Selection =
  { readonly ids: readonly ProductId[] } | { readonly filter: ProductFilter };

interface SelectableList {
  readonly products: readonly Product[];
  /** Of the whole list; undefined if it is not known. */
  readonly total: ListCount | undefined;
  readonly table: Html;
  /** The list's query. */
  readonly list: URLSearchParams;
}

/** The form around the table. */
export function selectionForm(
  request: PageRequest, portal: Portal, { products, total, table, list }: SelectableList,
): Content {
  if (products.length === 0 || !canSelect(request, portal, list)) return table;
  const { format, link } = request;
  const matches = total === undefined ? ''
    : ` (${total.isExact ? '' : 'more than '}${format.number(total.count)})`;
  const action = (value: string, label: string): Html =>
    html`<button name="action" value="${value}" class="small">${label}</button>`;
  return postForm(request, link(PATH), html`
    ${listFields(list).map(([name, value]) => hiddenField(name, value))}
    ${hiddenField('page', products.map(({ id }) => id.toString(SHORT_RADIX)).join(' '))}
    <div class="actions"><label for="scope">Apply to</label>
      <select name="scope" id="scope">
        <option value="ticked">selected products</option>
        <option value="page">this page (${format.number(products.length)})</option>
        <option value="all">everything that matches${matches}</option>
      </select>
      <span class="quiet" role="status" data-selected></span>
      ${action('edit', 'Edit stock and price')}${action('category', 'Change category')}
      ${list.get('archived') !== 'true' && action('archive', 'Archive')}
      ${list.has('archived') && action('restore', 'Restore')}
      <button name="action" value="delete" class="small danger">Delete</button></div>
    ${table}`, 'selection');
}

/** A form has room for any search that people type. */
export function canSelect({ may }: PageRequest, portal: Portal, list: URLSearchParams): boolean {
  return may('editor') && hasPage(portal, PATH) && String(list).length <= LIST_LIMIT_CHARACTERS;
}

/** After the grid was saved: the query parameter `import` names the record, which can be undone. */
export async function bulkToast(request: PageRequest, { store }: Portal): Promise<Content> {
  const { account: { sellerId }, query, format, link } = request;
  const id = parseImportId(sellerId, query.get('import'));
  const record = id && query.get('done') === 'bulk' && await store.findImport(sellerId, id);
  if (!record) return undefined;
  const path = link(pathOf(record));
  return toast(html`<p>${format.countProducts(countChanges(record))} saved.
      <a href="${path}">View the record</a></p>`,
  postForm(request, `${path}/revert`, html`<button class="small">Undo</button>`, ''));
}

/** Without a ticked product, an edit is one of the page. @throws AppError `invalid_query` */
export async function readSelection(
  request: PageRequest, portal: Portal, form: Form, isEdit: boolean,
): Promise<Selection> {
  const scope = form.get('scope');
  if (scope === 'all') {
    const query = new Form(readList(request, form));
    query.delete('cursor');
    const { list, state: { errors } } = readSearch({ ...request, query }, portal);
    if (errors.size === 0) return { filter: list.filter };
    // An invalid filter is ignored by the list: more products match than the seller meant.
    throw new AppError('invalid_query', 'Nothing was changed. Correct the filter first.');
  }
  const { account: { sellerId } } = request;
  const page = form.get('page').split(' ').slice(0, PORTAL_PAGE_PRODUCTS);
  const ticked = page.filter((_, index) => form.has('row', String(index)));
  const texts = scope === 'page' || (isEdit && ticked.length === 0) ? page : ticked;
  const ids = [...new Set(texts.map(parseShortId))];
  const products = await portal.store.findProducts(sellerId, ids);
  return { ids: ids.filter((id) => products.has(id)) };
}

/** An id that no product has if the text is none. */
function parseShortId(text: string): ProductId {
  const id = parseInt(text, SHORT_RADIX);
  return (Number.isSafeInteger(id) ? id : 0) as ProductId;
}
