/** The list of products: how it is searched and sorted, its rows, what to do where it is empty. */
import { formatProductId } from '../../../domain/id.ts';
import { CATEGORY_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import type { SortKey } from '../../../domain/catalogue/product-query.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { copyable, type Row, table } from '../html/elements.ts';
import { type Choice, selectField, textField } from '../forms/fields.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { PORTAL_PAGE_PRODUCTS } from '../limits.ts';
import { stockLevel } from '../html/live.ts';
import { formatCreation } from '../keys/new-key.ts';
import type { PageRequest } from '../route.ts';
import { pathOf } from './product-path.ts';
import { type ProductSearch, STOCK_LOW, STOCK_OUT } from './product-search.ts';

export const SEARCH_LABELS: Readonly<Record<string, string>> = {
  q: 'Search', category: 'Category', stock: 'Stock', price_min: 'Price from', price_max: 'Price to',
  sort: 'Sort by',
};

/**
 * So that 50 of the longest fit into a page; the page of the product has all of them. Where the
 * links of the page carry long conditions, it is names and categories that make room.
 */
const [NAME_BYTES, CATEGORY_BYTES, SKU_BYTES] = [200, 100, 64];
const TEXT_MIN_BYTES = 50;
const LINKS = 2;
/** Of conditions, for which there is room in any case. */
const CONDITIONS_BYTES = 200;
export const SEARCH_FORM = 'search';

const SORTS: readonly Choice[] = [
  { value: 'id', label: 'Oldest first' }, { value: '-id', label: 'Newest first' },
  { value: 'name', label: 'Name, A to Z' }, { value: '-name', label: 'Name, Z to A' },
  { value: 'sku', label: 'SKU, A to Z' }, { value: '-sku', label: 'SKU, Z to A' },
  { value: 'price', label: 'Lowest price' }, { value: '-price', label: 'Highest price' },
  { value: 'stock', label: 'Lowest stock' }, { value: '-stock', label: 'Highest stock' },
  { value: '-updated_at', label: 'Recently updated' },
  { value: 'updated_at', label: 'Least recently updated' },
];

export function searchForm(
  { account, link }: PageRequest, { typed, errors, isFiltered, list }: ProductSearch,
): Html {
  const stocks: readonly Choice[] = [
    { value: '', label: 'All' },
    { value: STOCK_LOW, label: `Low: ${account.lowStock} or less` },
    { value: STOCK_OUT, label: 'Sold out' },
  ];
  const label = (name: string): string => SEARCH_LABELS[name] ?? '';
  const field = (name: 'q' | 'category', most: number): Html => textField({
    name, label: label(name), value: typed.get(name) ?? '', errors, maxLength: 2 * most,
    type: name === 'q' ? 'search' : 'text',
  });
  const price = (name: 'price_min' | 'price_max'): Html => textField({
    name, label: label(name), value: typed.get(name) ?? '', errors, inputMode: 'decimal',
  });
  const { by, isDescending } = list.sort;
  return html`<form method="get" action="${link('/products')}" id="${SEARCH_FORM}" role="search"
    class="card row filters" novalidate>
    ${field('q', NAME_LIMIT_CODE_POINTS)}
    ${field('category', CATEGORY_LIMIT_CODE_POINTS)}
    ${selectField({ name: 'stock', label: label('stock'), value: typed.get('stock') ?? '',
    choices: stocks })}
    ${price('price_min')}
    ${price('price_max')}
    ${selectField({ name: 'sort', label: label('sort'), value: `${isDescending ? '-' : ''}${by}`,
    choices: SORTS, errors })}
    <div class="actions"><button>Show</button>
      ${isFiltered && html`<a href="${link('/products')}">Clear</a>`}</div>
  </form>`;
}

export function productTable(
  request: PageRequest, products: readonly Product[], search: ProductSearch,
): Html {
  const head = (by: SortKey, label: string) => sortHead(search, by, label);
  const conditions = String(new URLSearchParams([...search.typed]));
  const lessBytes =
    Math.max(0, conditions.length - CONDITIONS_BYTES) * LINKS / PORTAL_PAGE_PRODUCTS;
  return table({
    caption: 'Products',
    columns: [
      head('name', 'Name'), { ...head('stock', 'Stock'), isNumber: true },
      { ...head('price', 'Price'), isNumber: true }, head('sku', 'SKU'), 'Category',
      head('updated_at', 'Updated'),
    ],
    rows: products.map((product) => renderRow(request, product, lessBytes)),
    productIds: products.map(({ sellerId, id }) => formatProductId(sellerId, id)),
    empty: renderEmpty(request, search),
  });
}

/** Sends the form of the search with another sort: the other way round where it is the present. */
function sortHead({ list: { sort } }: ProductSearch, by: SortKey, label: string) {
  const isHere = sort.by === by;
  const value = isHere && !sort.isDescending ? `-${by}` : by;
  const arrow = isHere && html` <span aria-hidden="true">${sort.isDescending ? '↓' : '↑'}</span>`;
  return {
    label: html`<button form="${SEARCH_FORM}" name="sort" value="${value}" class="sort">${label}${
      arrow}</button>`,
    sort: isHere ? sort.isDescending ? 'descending' as const : 'ascending' as const : undefined,
  };
}

/** Its texts are that much shorter than they may be. */
function renderRow(request: PageRequest, product: Product, lessBytes: number): Row {
  const { format, link } = request;
  const { name, sku, category, priceMinor, stock, updatedAt } = product;
  const href = link(pathOf(product));
  const cut = (text: string, limitBytes: number): string =>
    shorten(text, Math.max(limitBytes - lessBytes, TEXT_MIN_BYTES));
  return [
    html`<a href="${href}" data-live="name">${cut(name, NAME_BYTES)}</a>`,
    html`${stockLevel(stock, request)}
      <span data-live="stock">${format.number(stock)}</span>`,
    html`<span data-live="price">${format.money(priceMinor)}</span>`,
    html`<span data-live="sku">${shorten(sku, SKU_BYTES)}</span>`,
    html`<span data-live="category">${cut(category, CATEGORY_BYTES)}</span>`,
    html`<span data-live="updated_at">${format.time(updatedAt)}</span>`,
  ];
}

function renderEmpty({ link, base }: PageRequest, { isFiltered, place }: ProductSearch): Html {
  if (place !== undefined) {
    return html`<p>There are no more products.</p>`;
  }
  if (isFiltered) {
    return html`<p>No products match. <a href="${link('/products')}">Show all products</a></p>`;
  }
  return html`<h2>No products yet</h2>
    <p class="row middle centre">
      <a class="button main" href="${link('/products/new')}">Create a product</a>
      <a class="button" href="${link('/import')}">Import a file</a></p>
    <p>Or create products through the API, with an
      <a href="${link('/keys')}">API key</a>:</p>
    ${copyable('create', formatCreation(base.url, 'YOUR_KEY'))}`;
}
