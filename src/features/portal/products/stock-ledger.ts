/** A product's stock ledger: its stock movements, newest first, in pages. */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { readHistoryPage } from '../history/history-page.ts';
import { countList, readStart, renderPager } from '../forms/paging.ts';
import { type Content, html, type Html, shorten } from '../html/html.ts';
import { readKeyNames } from '../keys/key-names.ts';
import { KEY_NAME_BYTES, PLOT_MOVEMENTS_LIMIT, REASON_BYTES, SOURCE_BYTES } from '../limits.ts';
import { numeric, table } from '../html/elements.ts';
import { findRecords, renderLink } from '../records/import-record.ts';
import type { Portal, PageRequest } from '../route.ts';
import { pathOf } from './product-path.ts';

export type StockLedger = Awaited<ReturnType<typeof readLedger>>;

/** Reads the page of the query's cursor; without a valid one, the first page. */
export async function readLedger(request: PageRequest, portal: Portal, { sellerId, id }: Product) {
  const { store } = portal;
  const filter = { productId: id };
  const span = { after: 0, upTo: Number.MAX_SAFE_INTEGER };
  const scope = `stock ledger ${sellerId} ${id}`;
  const start = readStart<number>(request, portal, scope, new Map());
  const [{ movements: newest }, page] = await Promise.all([
    store.listMovements(sellerId, {
      ...span, filter, isDescending: true, limit: PLOT_MOVEMENTS_LIMIT,
    }),
    readHistoryPage(request, portal, { ...span, scope, start, filter }),
  ]);
  const total = await countList(page, () => store.countMovements(sellerId, { ...span, filter }));
  const keyNames = await readKeyNames(store, sellerId, page.rows.map(({ keyId }) => keyId));
  const records = await findRecords(
    request, portal, page.rows.flatMap(({ importId }) => importId ?? []),
  );
  return {
    /** The newest movements, for the plot. */
    newest,
    page, total, keyNames, records,
  };
}

export function renderLedger(request: PageRequest, product: Product, ledger: StockLedger): Html {
  const { format } = request;
  const { page, total, keyNames, records } = ledger;
  return html`${table({
    caption: 'Stock movements, newest first',
    columns: ['When', numeric('Change'), numeric('Stock'), 'Reason', 'Source', 'By', 'Import'],
    rows: page.rows.map((change) => {
      const { at, keyId, actor, importId, movement: { before, after, source } } = change;
      const record = importId && records.get(importId);
      return [
        format.timeElement(at),
        format.delta(after - before),
        `${format.number(before)} → ${format.number(after)}`,
        describeReason(change, REASON_BYTES),
        source !== undefined && html`<bdi>${shorten(source, SOURCE_BYTES)}</bdi>`,
        html`<bdi>${shorten(actor ?? keyNames.get(keyId) ?? '', KEY_NAME_BYTES)}</bdi>`,
        record && renderLink(request, record),
      ];
    }),
    empty: html`<p>${page.isFirst ? 'No stock movements yet. Adjust the stock or count it above.'
      : 'No older movements.'}</p>`,
  })}
  ${renderPager(request, {
    path: pathOf(product), fragment: '#movements', noun: 'movements', page, total,
  })}`;
}

/** The reason, or what else moved the stock. */
export function describeReason(
  { type, movement: { reason } }: Change, limitBytes: number,
): Content {
  return reason === undefined ? WHY[type] : html`<bdi>${shorten(reason, limitBytes)}</bdi>`;
}

const WHY: Readonly<Record<Change['type'], string>> = {
  created: 'Created', updated: 'Edited', deleted: 'Deleted', stock: '',
};
