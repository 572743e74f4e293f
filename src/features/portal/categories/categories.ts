/** The categories of a shop, each with the number of its products. */
import { undefinedIf } from '../../../domain/error.ts';
import type { Category } from '../../../store/search-store.ts';
import { flashNotice, numeric, pager, renderIndexing, table } from '../html/elements.ts';
import { html, shorten } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { PORTAL_PAGE_PRODUCTS } from '../limits.ts';
import { hasPage, type PageRequest, type Show } from '../route.ts';

/** Bytes of a category on the page; the rest is cut off. */
const CATEGORY_BYTES = 120;
/** Of all rows of a page; of one row without its links; and links in a row. */
const [ROWS_LIMIT_BYTES, ROW_BYTES, LINKS] = [36 * 1024, 500, 2];

const RENAME = '/categories/rename';
const FLASH = new Map([['gone', 'That category has no products any more.']]);

/** GET /portal/categories: 200, 503 */
export const showCategories: Show = async (request, portal) => {
  const { account: { sellerId }, position, query, link } = request;
  const from = query.get('from') || undefined;
  const categories = await undefinedIf('unavailable', portal.store.listCategories(
    sellerId, { from, limit: PORTAL_PAGE_PRODUCTS + 1 }, position,
  ));
  const title = 'Categories';
  if (!categories) return renderPage(request, portal, { title, content: renderIndexing(request) });
  const rows = fitPage(categories);
  const next = categories[rows.length]?.category;
  const canRename = request.may('editor') && hasPage(portal, RENAME);
  return renderPage(request, portal, {
    title,
    content: html`${flashNotice(request, FLASH)}
      <p>Each product has one category. ${canRename && html`Renaming a category changes all of its
        products at once.`}</p>
      ${table({
    caption: 'Categories',
    columns: ['Category', numeric('Products'), ...canRename ? ['Action'] : []],
    rows: rows.map((category) => renderRow(request, category, canRename)),
    empty: html`<p>No ${from !== undefined && 'more '}categories.
      <a href="${link('/products')}">Show products</a></p>`,
  })}
      ${pager('Pages of categories', from === undefined ? undefined : link('/categories'),
    next === undefined ? undefined : link('/categories', new URLSearchParams({ from: next })))}`,
  });
};

/** A page ends early if its names are long, since links contain them whole. */
function fitPage(categories: readonly Category[]): readonly Category[] {
  let bytes = 0;
  const end = categories.findIndex(({ category }, index) => {
    bytes += ROW_BYTES + LINKS * encodeURIComponent(category).length;
    return index > 0 && bytes > ROWS_LIMIT_BYTES;
  });
  return categories.slice(0, Math.min(end < 0 ? categories.length : end, PORTAL_PAGE_PRODUCTS));
}

function renderRow(
  { format, link }: PageRequest, { category, products, archived }: Category, canRename: boolean,
) {
  const query = new URLSearchParams({ category });
  const name = shorten(category, CATEGORY_BYTES);
  return [
    html`<a href="${link('/products', query)}"><bdi>${name}</bdi></a>`,
    archived === 0 ? format.number(products)
      : `${format.number(products)}, ${format.number(archived)} archived`,
    ...canRename ? [html`<a href="${link(RENAME, query)}">Rename<span
      class="hidden"> ${name}</span></a>`] : [],
  ];
}
