/** Stock movements of all products: the list, and its export in the formats of the API. */
import type { MovementFilter } from '../../../store/history-store.ts';
import { exportMovements } from '../../changes/movements.ts';
import { renderPresets } from '../forms/date-range.ts';
import type { Field } from '../forms/fields.ts';
import { filterState, readFilters, renderFilters } from '../forms/filter.ts';
import type { FormState } from '../forms/form.ts';
import { countList, readStart, renderPager } from '../forms/paging.ts';
import { numeric, type Row, table } from '../html/elements.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import { readKeyNames } from '../keys/key-names.ts';
import { KEY_NAME_BYTES, REASON_BYTES, SOURCE_BYTES } from '../limits.ts';
import { renderExportButtons, replyExport } from '../products/export-file.ts';
import { pathOf } from '../products/product-path.ts';
import { describeReason } from '../products/stock-ledger.ts';
import type { PageRequest, Portal, Show } from '../route.ts';
import { HISTORY_FIELDS, readHistoryFilter, renderFilteredImport } from './history-filter.ts';
import { type HistoryPage, readHistoryPage } from '../history/history-page.ts';

const FIELDS: readonly Field[] = [
  ...HISTORY_FIELDS, { name: 'reason', label: 'Reason', hint: 'Such as sold' },
];
const [NAME_BYTES, SKU_BYTES] = [120, 100];

/** GET /portal/movements: 200, 400 */
export const showMovements: Show = async (request, portal) => {
  const { link, account: { sellerId }, position: upTo } = request;
  const { filter, errors, form } = readSearch(request);
  const scope = `movements ${sellerId} ${JSON.stringify(filter)}`;
  const start = readStart<number>(request, portal, scope, errors);
  const page = await readHistoryPage(request, portal, { scope, start, upTo, filter });
  const total = await countList(page, () =>
    portal.store.countMovements(sellerId, { filter, after: 0, upTo }));
  const state = filterState(form, errors);
  return renderPage(request, portal, {
    title: 'Stock movements',
    state, fields: FIELDS,
    content: html`${renderFilters(link('/movements'), FIELDS, state)}
      ${renderPresets(request, portal, form, (filters) => link('/movements', filters))}
      ${await renderFilteredImport(request, portal, filter, 'Movements')}
      ${table({
    caption: 'Stock movements, newest first',
    columns: [
      'Product', 'SKU', numeric('Before'), numeric('After'), numeric('Difference'), 'Reason',
      'Source', 'By', 'When',
    ],
    rows: await renderRows(request, portal, page),
    empty: renderEmpty(request, page, state),
  })}
      ${page.rows.length > 0 && renderExportButtons(request, '/movements/export')}
      ${renderPager(request, {
    path: '/movements', filters: form, noun: 'movements', page, total,
  })}
      <p><a href="${link('/changes')}">All changes</a></p>`,
  });
};

/** GET /portal/movements/export: 200, 400, 503 */
export const exportMovementList: Show = async (request, portal) => {
  const { query, account: { sellerId }, position, generation, openStream } = request;
  const { filter, errors } = readSearch(request);
  return replyExport(portal, 'stock-movements', query, errors, (mediaType) =>
    exportMovements(portal.store, {
      caller: { sellerId, position, generation }, openStream, mediaType,
      ledger: { filter, after: 0, upTo: position, isDescending: true },
    }));
};

function readSearch(request: PageRequest) {
  const form = readFilters(request.query, FIELDS);
  const errors = new Map<string, string>();
  const filter: MovementFilter = {
    ...readHistoryFilter(request, form, errors), reason: form.get('reason') || undefined,
  };
  return { form, errors, filter };
}

async function renderRows(
  { account: { sellerId }, format, link }: PageRequest, { store }: Portal,
  { rows: movements }: HistoryPage,
): Promise<readonly Row[]> {
  const keyNames = await readKeyNames(store, sellerId, movements.map(({ keyId }) => keyId));
  const ids = [...new Set(movements.map(({ productId }) => productId))];
  const products = await store.findProducts(sellerId, ids);
  return movements.map((change) => {
    const { at, productId, sku, keyId, actor, movement: { before, after, source } } = change;
    const product = products.get(productId);
    return [
      product ? html`<a href="${link(pathOf(product))}">${shorten(product.name, NAME_BYTES)}</a>`
        : html`<span class="quiet">deleted</span>`,
      html`<code>${shorten(sku, SKU_BYTES)}</code>`,
      format.number(before), format.number(after), format.delta(after - before),
      describeReason(change, REASON_BYTES),
      source !== undefined && html`<bdi>${shorten(source, SOURCE_BYTES)}</bdi>`,
      html`<bdi>${shorten(actor ?? keyNames.get(keyId) ?? '', KEY_NAME_BYTES)}</bdi>`,
      format.timeElement(at),
    ];
  });
}

function renderEmpty({ link }: PageRequest, page: HistoryPage, { form }: FormState): Html {
  if (page.next !== undefined) {
    return html`<p>No matches so far. The next page searches further back.</p>`;
  }
  return form.size > 0
    ? html`<p>No movements match. <a href="${link('/movements')}">Show all movements</a></p>`
    : html`<p>No stock movements yet. <a href="${link('/products')}">View your products</a></p>`;
}
