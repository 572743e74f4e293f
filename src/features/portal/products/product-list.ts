/** The product list: search form, table and empty state. */
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { SortKey } from '../../../domain/catalogue/product-query.ts';
import { undefinedIf } from '../../../domain/error.ts';
import { renderSavedFilters } from '../filters/saved-filters.ts';
import { changeToast } from '../history/undo.ts';
import { FILTER_FORM, renderFilters } from '../forms/filter.ts';
import { countList, renderPager } from '../forms/paging.ts';
import { copyable, flashNotice, renderIndexing, type Row, table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { followChanges, showOnChange, stockLevel } from '../html/live.ts';
import { renderPage } from '../html/page.ts';
import { PORTAL_PAGE_PRODUCTS } from '../limits.ts';
import { findRoute, formatCurl } from '../html/curl.ts';
import { hasPage, type PageRequest, type Portal, type Show } from '../route.ts';
import { renderExportButtons } from './export-file.ts';
import { archivedTag } from './product-view.ts';
import { pathOf } from './product-path.ts';
import {
  listQuery, type ProductSearch, readSearch, readSearchPage, searchFields,
} from './product-search.ts';
import { bulkToast, canSelect, selectionForm } from './product-selection.ts';

/**
 * Texts are shortened so that a page of the longest ones stays below 50 KiB; a product's page shows
 * them in full. A long search appears in links, so it takes space from names and categories.
 */
const [NAME_BYTES, CATEGORY_BYTES, SKU_BYTES] = [120, 60, 64];
const TEXT_MIN_BYTES = 20;
const LINKS = 6;
/** Length of a search that takes no space from texts. */
const SEARCH_BYTES = 200;

/** A checkbox for all rows, which needs scripts. */
const SELECT_ALL =
  html`<input type="checkbox" data-select-all aria-label="Select this page" hidden>`;
const FLASH = new Map([
  ['none', 'No products were selected. Tick some, or choose what to apply the action to.'],
  ['same', 'You changed no values. Nothing was saved.'],
]);

/** GET /portal/products: 200, 400, 503 */
export const showProducts: Show = async (request, portal) => {
  const { account: { sellerId }, position, link } = request;
  const search = readSearch(request, portal);
  const { list, start, state } = search;
  const fields = searchFields(request);
  const page = await undefinedIf('unavailable', readSearchPage(request, portal, search));
  if (!page) {
    return renderPage(request, portal, {
      title: 'Products', state, fields,
      content: html`${renderIndexing(request)}
        ${renderFilters(link('/products'), fields, state, search.isFiltered)}`,
    });
  }
  const total = await countList(page, () =>
    portal.store.countProducts(sellerId, list.filter, position));
  const saved = await renderSavedFilters(request, portal, 'products', state.form);
  const isUnused = page.rows.length === 0 && !search.isFiltered && !start;
  return renderPage(request, portal, {
    title: 'Products',
    state, fields,
    content: followChanges(request, page.position, html`
      ${await changeToast(request, portal)}${await bulkToast(request, portal)}
      ${flashNotice(request, FLASH)}
      ${showOnChange(['created'], html`<p>New products: <span data-live-count></span>.
        <a href="${link('/products?sort=-id')}">Show the newest</a></p>`)}
      ${!isUnused && html`<p class="actions">${request.may('editor') && html`
        <a class="button primary" href="${link('/products/new')}">New product</a>`}
        <a class="button" href="${link('/categories')}">Categories</a></p>
        ${renderFilters(link('/products'), fields, state, search.isFiltered)}
        ${saved}`}
      ${selectionForm(request, portal, {
    products: page.rows, total, list: listQuery(request, request.query),
    table: productTable(request, portal, page.rows, search, Buffer.byteLength(saved.text)),
  })}
      ${page.rows.length > 0 && renderExportButtons(request)}
      ${renderPager(request, {
    path: '/products', filters: state.form, noun: 'products', page, total,
  })}`),
    scripts: ['live.js', 'select.js'],
  });
};

/** @param otherBytes What else takes space from texts. */
function productTable(
  request: PageRequest, portal: Portal, products: readonly Product[], search: ProductSearch,
  otherBytes: number,
): Html {
  const head = (by: SortKey, label: string) => sortHead(search, by, label);
  const name = head('name', 'Name');
  const list = listQuery(request, request.query);
  const isSelectable = canSelect(request, portal, list);
  const linksBytes = Math.max(0, String(list).length - SEARCH_BYTES) * LINKS;
  const lessBytes = (linksBytes + otherBytes) / PORTAL_PAGE_PRODUCTS;
  return table({
    caption: 'Products',
    columns: [
      { ...name, label: html`${isSelectable && SELECT_ALL}${name.label}` },
      { ...head('stock', 'Stock'), isNumber: true, cardLabel: 'Stock' },
      { ...head('price', 'Price'), isNumber: true, live: 'price' },
      { ...head('sku', 'SKU'), live: 'sku' },
      { label: 'Category', cardLabel: false, live: 'category' },
      head('updated_at', 'Updated'),
    ],
    rows: products.map((product, index) => {
      const [link, ...cells] = renderRow(request, product, lessBytes);
      const checkbox = html`<input type="checkbox" name="row" value="${index}">`;
      return [isSelectable ? html`<label>${checkbox}${link}</label>` : link, ...cells];
    }),
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
    html`<a href="${href}" data-live="name">${cut(name, NAME_BYTES)}</a>${
      product.archived === true && html` ${archivedTag(product)}`}`,
    html`${stockLevel(product, request)} <span data-live="stock">${format.number(stock)}</span>`,
    format.money(priceMinor),
    shorten(sku, SKU_BYTES),
    cut(category, CATEGORY_BYTES),
    format.timeElement(updatedAt, 'updated_at'),
  ];
}

function renderEmpty(
  { link, base, may, position }: PageRequest, portal: Portal,
  { isFiltered, start }: ProductSearch,
): Html {
  if (start !== undefined) return html`<p>No more products.</p>`;
  if (isFiltered) {
    return html`<p>No products match. <a href="${link('/products')}">Show all products</a></p>`;
  }
  const heading = html`<h2>No products${position === 0 && ' yet'}</h2>
    ${position > 0 && html`<p><a href="${link('/products?archived=true')}">
      View archived products</a></p>`}`;
  if (!may('editor')) return heading;
  const creation = findRoute(portal, 'createProduct');
  return html`${heading}
    <p class="row middle centre">
      <a class="button primary" href="${link('/products/new')}">Create a product</a>
      ${hasPage(portal, '/import') && html`
        <a class="button" href="${link('/import')}">Import a file</a>`}</p>
    <p>Or create products through the API, with an ${may('owner')
      ? html`<a href="${link('/keys')}">API key</a>` : 'API key'}:</p>
    ${creation && copyable('create', formatCurl(creation, base.url, 'YOUR_KEY'))}`;
}
