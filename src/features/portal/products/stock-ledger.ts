/** The stock ledger of a product: its movements, newest first, in pages. */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { KeyId } from '../../../domain/id.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { html, type Html, shorten } from '../html/html.ts';
import { readKeyNames } from '../keys/key-names.ts';
import {
  KEY_NAME_BYTES, PLOT_MOVEMENTS_LIMIT, PORTAL_PAGE_ROWS, REASON_BYTES, SOURCE_BYTES,
} from '../limits.ts';
import { numeric, pager, table } from '../html/elements.ts';
import type { Portal, PageRequest } from '../route.ts';
import { findWholeNumber } from '../forms/typed-values.ts';
import { pathOf } from './product-path.ts';

export interface StockLedger {
  /** The newest movements, for the plot. */
  readonly newest: readonly Change[];
  /** The movements of the requested page. */
  readonly page: readonly Change[];
  /** The newest position of the next page. */
  readonly next: number | undefined;
  readonly isFirst: boolean;
  readonly keyNames: ReadonlyMap<KeyId, string>;
}

/** Reads the page that starts at the query parameter `up_to`, by default the first one. */
export async function readLedger(
  request: PageRequest, { store }: Portal, { sellerId, id }: Product,
): Promise<StockLedger> {
  const upTo = findWholeNumber(request.query.get('up_to') ?? '') || undefined;
  const read = (from: number, limit: number) => store.listMovements(sellerId, {
    filter: { productId: id }, after: 0, upTo: from, isDescending: true, limit,
  });
  const { movements: newest, next } = await read(Number.MAX_SAFE_INTEGER, PLOT_MOVEMENTS_LIMIT);
  const found = upTo === undefined
    ? cutPage(newest, next) : await read(upTo, PORTAL_PAGE_ROWS);
  const keyIds = found.movements.map(({ keyId }) => keyId);
  return {
    newest, page: found.movements, next: found.next, isFirst: upTo === undefined,
    keyNames: await readKeyNames(store, sellerId, keyIds),
  };
}

export function renderLedger(
  { link, format }: PageRequest, product: Product, ledger: StockLedger,
): Html {
  const { page, next, isFirst, keyNames } = ledger;
  const here = link(pathOf(product));
  return html`${table({
    caption: 'Stock movements, newest first',
    columns: ['When', numeric('Change'), numeric('Stock'), 'Reason', 'Source', 'By'],
    rows: page.map(({ at, type, movement, keyId }) => {
      const { before, after, reason, source } = movement;
      return [
        format.timeElement(at),
        format.delta(after - before),
        `${format.number(before)} → ${format.number(after)}`,
        reason === undefined ? WHY[type] : html`<bdi>${shorten(reason, REASON_BYTES)}</bdi>`,
        source !== undefined && html`<bdi>${shorten(source, SOURCE_BYTES)}</bdi>`,
        html`<bdi>${shorten(keyNames.get(keyId) ?? '', KEY_NAME_BYTES)}</bdi>`,
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

/** The first page of the movements that were read for the plot. */
function cutPage(newest: readonly Change[], next: number | undefined) {
  const movements = newest.slice(0, PORTAL_PAGE_ROWS);
  const last = newest.length > PORTAL_PAGE_ROWS ? movements.at(-1) : undefined;
  return { movements, next: last ? last.position - 1 : next };
}
