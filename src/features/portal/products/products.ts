/** The list of products. */
import { formatNextCursor, readProductPage } from '../../../api/products/product-pages.ts';
import type { Reply } from '../../../http/response/reply.ts';
import { flashNotice, pager } from '../html/elements.ts';
import { errorSummary } from '../forms/fields.ts';
import { html } from '../html/html.ts';
import { followChanges, showOnChange } from '../html/live.ts';
import { renderPage } from '../html/page.ts';
import { readSearch } from './product-search.ts';
import { productTable, SEARCH_FORM, SEARCH_LABELS, searchForm } from './product-table.ts';
import type { Portal, PageRequest } from '../route.ts';
import { renderExportButtons } from './export-file.ts';

const DONE = new Map([['deleted', 'Product deleted.']]);
const LEFT_OUT = 'These filters are not valid and were ignored:';

/** GET /portal/products: 200, 400, 503 */
export async function showProducts(request: PageRequest, portal: Portal): Promise<Reply> {
  const { account: { sellerId }, position, link } = request;
  const search = readSearch(request, portal);
  const { list, name, place, typed, errors } = search;
  const page = await readProductPage(portal.store, { sellerId, position }, list, place);
  const cursor = formatNextCursor(portal.cursors, name, list, page);
  const here = (more: Readonly<Record<string, string>>): string => {
    const parameters = new URLSearchParams([...typed, ...Object.entries(more)]);
    return link(parameters.size === 0 ? '/products' : `/products?${parameters}`);
  };
  const isUnused = page.products.length === 0 && !search.isFiltered && !place;
  return renderPage(request, portal, {
    title: 'Products',
    status: errors.size === 0 ? 200 : 400,
    content: followChanges(request, page.position, html`
      ${flashNotice(request, DONE)}
      ${errors.size > 0 && errorSummary(errors, LEFT_OUT, SEARCH_LABELS)}
      ${showOnChange(['created'], html`<p>New products: <span data-live-count></span>.
        <a href="${link('/products?sort=-id')}">Show the newest</a></p>`)}
      ${!isUnused && html`<p class="actions">
        <a class="button main" href="${link('/products/new')}">New product</a></p>
        ${searchForm(request, search)}`}
      ${productTable(request, page.products, search)}
      ${page.products.length > 0 && renderExportButtons(request, SEARCH_FORM)}
      ${pager('Pages of products', place && here({}), cursor && here({ cursor }))}`),
    scripts: ['live.js'],
  });
}
