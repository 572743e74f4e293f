/** A product's stock ledger: its stock movements, newest first, in pages. */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { ImportRecord } from '../../../domain/catalogue/import.ts';
import type { ImportId, KeyId } from '../../../domain/id.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { MovementPage } from '../../../store/history-store.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { readKeyNames } from '../keys/key-names.ts';
import {
  KEY_NAME_BYTES, PLOT_MOVEMENTS_LIMIT, PORTAL_PAGE_ROWS, REASON_BYTES, SOURCE_BYTES,
} from '../limits.ts';
import { numeric, pager, table } from '../html/elements.ts';
import { findRecords, renderLink } from '../records/import-record.ts';
import type { Portal, PageRequest } from '../route.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { pathOf } from './product-path.ts';

export interface StockLedger extends Pick<MovementPage, 'movements' | 'next'> {
  /** The newest movements, for the plot. */
  readonly newest: readonly Change[];
  readonly isFirst: boolean;
  readonly keyNames: ReadonlyMap<KeyId, string>;
  readonly records: ReadonlyMap<ImportId, ImportRecord>;
}

/** Reads the page that starts at the query parameter `up_to`; default: the first page. */
export async function readLedger(
  request: PageRequest, portal: Portal, { sellerId, id }: Product,
): Promise<StockLedger> {
  const { query } = request;
  const { store } = portal;
  const upTo = findWholeNumber(query.get('up_to')) || undefined;
  const read = (from: number | undefined, limit: number): Promise<MovementPage> =>
    store.listMovements(sellerId, {
      filter: { productId: id }, after: 0, upTo: from ?? Number.MAX_SAFE_INTEGER,
      isDescending: true, limit,
    });
  const [{ movements: newest }, { movements, next }] =
    await Promise.all([read(undefined, PLOT_MOVEMENTS_LIMIT), read(upTo, PORTAL_PAGE_ROWS)]);
  const keyNames = await readKeyNames(store, sellerId, movements.map(({ keyId }) => keyId));
  const records = await findRecords(
    request, portal, movements.flatMap(({ importId }) => importId ?? []),
  );
  return { newest, movements, next, isFirst: upTo === undefined, keyNames, records };
}

export function renderLedger(
  request: PageRequest, product: Product, ledger: StockLedger,
): Html {
  const { link, format } = request;
  const { movements, next, isFirst, keyNames, records } = ledger;
  const here = link(pathOf(product));
  return html`${table({
    caption: 'Stock movements, newest first',
    columns: ['When', numeric('Change'), numeric('Stock'), 'Reason', 'Source', 'By', 'Import'],
    rows: movements.map(({ at, type, movement, keyId, actor, importId }) => {
      const { before, after, reason, source } = movement;
      const record = importId && records.get(importId);
      return [
        format.timeElement(at),
        format.delta(after - before),
        `${format.number(before)} → ${format.number(after)}`,
        reason === undefined ? WHY[type] : html`<bdi>${shorten(reason, REASON_BYTES)}</bdi>`,
        source !== undefined && html`<bdi>${shorten(source, SOURCE_BYTES)}</bdi>`,
        html`<bdi>${shorten(actor ?? keyNames.get(keyId) ?? '', KEY_NAME_BYTES)}</bdi>`,
        record && renderLink(request, record),
      ];
    }),
    empty: html`<p>${isFirst ? 'No stock movements yet.' : 'No older movements.'}</p>`,
  })}
  ${pager(
    'Pages of movements', isFirst ? undefined : `${here}#movements`,
    next === undefined ? undefined : `${here}?up_to=${next}#movements`,
  )}`;
}

const WHY: Readonly<Record<Change['type'], string>> = {
  created: 'Created', updated: 'Edited', deleted: 'Deleted', stock: '',
};
