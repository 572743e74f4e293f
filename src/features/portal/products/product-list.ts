/** The product list: search form, table and empty state. */
import { formatNextCursor, readProductPage } from '../../../api/products/product-list.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { SortKey } from '../../../domain/catalogue/product-query.ts';
import { formatProductId } from '../../../domain/id.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { changeToast } from '../changes/undo.ts';
import { errorSummary } from '../forms/fields.ts';
import { FILTER_FORM, renderFilters } from '../forms/filter.ts';
import { statusOf } from '../forms/form-page.ts';
import { copyable, pager, type Row, table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { followChanges, showOnChange, stockLevel } from '../html/live.ts';
import { renderPage } from '../html/page.ts';
import { PORTAL_PAGE_PRODUCTS } from '../limits.ts';
import { findRoute, formatCurl } from '../html/curl.ts';
import type { PageRequest, Portal } from '../route.ts';
import { renderExportButtons } from './export-file.ts';
import { pathOf } from './product-path.ts';
import { type ProductSearch, readSearch, searchFields } from './product-search.ts';

/**
 * Texts are shortened so that a page of the longest ones stays below 50 KiB; a product's page shows
 * them in full. A long search appears in links, so it takes space from names and categories.
 */
const [NAME_BYTES, CATEGORY_BYTES, SKU_BYTES] = [150, 80, 64];
const TEXT_MIN_BYTES = 50;
const LINKS = 2;
/** Length of a search that takes no space from texts. */
const SEARCH_BYTES = 200;

/** GET /portal/products: 200, 400, 503 */
export async function showProducts(request: PageRequest, portal: Portal): Promise<Reply> {
  const { account: { sellerId }, position, link } = request;
  const search = readSearch(request, portal);
  const { list, scope, anchor, state } = search;
  const fields = searchFields(request);
  const page = await readProductPage(portal.store, { sellerId, position }, list, anchor);
  const cursor = formatNextCursor(portal.cursors, scope, list, page);
  const here = (more: Readonly<Record<string, string>>): string =>
    link('/products', new URLSearchParams([...state.form, ...Object.entries(more)]));
  const isUnused = page.products.length === 0 && !search.isFiltered && !anchor;
  return renderPage(request, portal, {
    title: 'Products',
    status: statusOf(state),
    content: followChanges(request, page.position, html`
      ${await changeToast(request, portal)}
      ${errorSummary(state, fields)}
      ${showOnChange(['created'], html`<p>New products: <span data-live-count></span>.
        <a href="${link('/products?sort=-id')}">Show the newest</a></p>`)}
      ${!isUnused && html`<p class="actions">
        <a class="button primary" href="${link('/products/new')}">New product</a></p>
        ${renderFilters(link('/products'), fields, state, search.isFiltered)}`}
      ${productTable(request, portal, page.products, search)}
      ${page.products.length > 0 && renderExportButtons(request)}
      ${pager('Pages of products', anchor && here({}), cursor && here({ cursor }))}`),
    scripts: ['live.js'],
  });
}

function productTable(
  request: PageRequest, portal: Portal, products: readonly Product[], search: ProductSearch,
): Html {
  const head = (by: SortKey, label: string) => sortHead(search, by, label);
  const query = String(search.state.form);
  const lessBytes =
    Math.max(0, query.length - SEARCH_BYTES) * LINKS / PORTAL_PAGE_PRODUCTS;
  return table({
    caption: 'Products',
    columns: [
      head('name', 'Name'), { ...head('stock', 'Stock'), isNumber: true, cardLabel: 'Stock' },
      { ...head('price', 'Price'), isNumber: true, live: 'price' },
      { ...head('sku', 'SKU'), live: 'sku' },
      { label: 'Category', cardLabel: false, live: 'category' },
      head('updated_at', 'Updated'),
    ],
    rows: products.map((product) => renderRow(request, product, lessBytes)),
    productIds: products.map(({ sellerId, id }) => formatProductId(sellerId, id)),
    empty: renderEmpty(request, portal, search),
  });
}

/** A button that sorts by a column or reverses the current sort. */
function sortHead({ list: { sort } }: ProductSearch, by: SortKey, label: string) {
  const isCurrent = sort.by === by;
  const value = isCurrent && !sort.isDescending ? `-${by}` : by;
  const arrow = sort.isDescending ? '↓' : '↑';
  return {
    cardLabel: false as const,
    label: html`<button form="${FILTER_FORM}" name="sort" value="${value}" class="sort">${label}${
      isCurrent && html` <span aria-hidden="true">${arrow}</span>`}</button>`,
    sort: isCurrent ? sort.isDescending ? 'descending' as const : 'ascending' as const : undefined,
  };
}

/** @param lessBytes How much more to shorten texts. */
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
    format.money(priceMinor),
    shorten(sku, SKU_BYTES),
    cut(category, CATEGORY_BYTES),
    format.timeElement(updatedAt, 'updated_at'),
  ];
}

function renderEmpty(
  { link, base }: PageRequest, portal: Portal, { isFiltered, anchor }: ProductSearch,
): Html {
  if (anchor !== undefined) return html`<p>No more products.</p>`;
  if (isFiltered) {
    return html`<p>No products match. <a href="${link('/products')}">Show all products</a></p>`;
  }
  const creation = findRoute(portal, 'createProduct');
  return html`<h2>No products yet</h2>
    <p class="row middle centre">
      <a class="button primary" href="${link('/products/new')}">Create a product</a>
      <a class="button" href="${link('/import')}">Import a file</a></p>
    <p>Or create products through the API, with an
      <a href="${link('/keys')}">API key</a>:</p>
    ${creation && copyable('create', formatCurl(creation, base.url, 'YOUR_KEY'))}`;
}
