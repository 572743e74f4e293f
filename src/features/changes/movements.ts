/** The ledger of stock: pages of movements, or all of them as one stream. */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from '../../api/limits.ts';
import { type Change, formatMovement } from '../../domain/catalogue/change.ts';
import {
  formatKeyId, formatProductId, parseProductId, type ProductId, type SellerId,
} from '../../domain/id.ts';
import { stockReason } from '../../domain/catalogue/stock-change.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';
import { formatTime } from '../../domain/time.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { HistoryStore, MovementQuery } from '../../store/history-store.ts';
import { formatCsvRow } from '../../transfer/csv-cells.ts';
import { exportCollection } from '../../api/export.ts';
import { JSON_TYPE, LIST_FORMATS, MEDIA_TYPE_OF } from '../../api/media-types.ts';
import {
  formatNextLink, parseChoice, parseInstant, parsePosition, parseSku, QueryReader,
  rejectPagingParameters,
} from '../../api/query-reader.ts';
import { type ApiRequest, type Services, STOCK } from '../../api/route.ts';

export const MOVEMENTS = `${STOCK}/movements`;

/** The id of no product: what is no id of the seller's has no movements. */
const NO_PRODUCT = 0 as ProductId;

const COLUMNS = [
  'position', 'type', 'product_id', 'sku', 'at', 'key_id', 'before', 'after', 'delta', 'reason',
  'source', 'sequence',
];

interface LedgerQuery extends MovementQuery {
  readonly mediaType: string;
}

/** GET /api/v1/stock/movements: 200, 400, 406 */
export async function listMovements(call: ApiRequest, services: Services): Promise<Reply> {
  const ledger = parseLedgerQuery(call);
  return ledger.mediaType === JSON_TYPE
    ? listPage(call, services, ledger) : exportMovements(call, services, ledger);
}

/** @throws AppError `invalid_query` naming every faulty parameter */
function parseLedgerQuery({ query, caller, mediaType }: ApiRequest): LedgerQuery {
  const reader = new QueryReader(query);
  const filter = {
    sku: reader.read('sku', parseSku),
    productId: reader.read('id', (text) =>
      ({ value: parseProductId(caller.sellerId, text) ?? NO_PRODUCT })),
    source: reader.read('source', stockSource.parse),
    reason: reader.read('reason', stockReason.parse),
    since: reader.read('since', parseInstant),
    until: reader.read('until', parseInstant),
  };
  const format = reader.read('format', (text) => parseChoice(text, LIST_FORMATS));
  const ledger = {
    filter,
    after: reader.read('after', parsePosition) ?? 0,
    upTo: caller.position,
    isDescending: reader.readChoice('sort', ['position', '-position']) === '-position',
    limit: reader.readInteger('limit', 1, PAGE_SIZE_LIMIT) ?? PAGE_SIZE_DEFAULT,
    mediaType: format ? MEDIA_TYPE_OF[format] : mediaType,
  };
  reader.assertValid();
  return ledger;
}

async function listPage(
  { caller, query }: ApiRequest, { store, cursors, prefix }: Services, ledger: LedgerQuery,
): Promise<Reply> {
  const { sellerId } = caller;
  const { filter, after, isDescending, limit } = ledger;
  const scope = `movements ${sellerId} ${JSON.stringify([filter, after, isDescending])}`;
  const anchor = cursors.parse<number>(scope, query.get('cursor'));
  const page = await store.listMovements(sellerId, anchor === undefined ? ledger : {
    ...ledger, ...(isDescending ? { upTo: anchor } : { after: anchor }),
  });
  const next = cursors.format(scope, page.next);
  const movements = page.movements.map(formatMovement).join(',');
  return {
    status: 200,
    headers: {
      'content-type': JSON_TYPE, 'cache-control': 'no-store',
      ...formatNextLink(`${prefix}${MOVEMENTS}`, query, limit, next),
    },
    body: `{"movements":[${movements}],"next_cursor":${JSON.stringify(next ?? null)}}`,
  };
}

function exportMovements(
  { caller, query, openStream }: ApiRequest, { store }: Services, ledger: LedgerQuery,
): Promise<Reply> {
  rejectPagingParameters(query);
  const { mediaType } = ledger;
  const format = { columns: COLUMNS, formatRow, formatJson: formatMovement };
  const headers = { 'cache-control': 'no-store' };
  return exportCollection({ openStream, mediaType, format, headers }, async () =>
    ({ position: caller.position, pages: readMovements(store, caller.sellerId, ledger) }));
}

/** What was written to the history stays: page after page, it is that of one position. */
async function* readMovements(
  store: HistoryStore, sellerId: SellerId, ledger: LedgerQuery,
): AsyncGenerator<readonly Change[], void, void> {
  let query: MovementQuery = { ...ledger, limit: PAGE_SIZE_LIMIT };
  for (;;) {
    const { movements, next } = await store.listMovements(sellerId, query);
    yield movements;
    if (next === undefined) return;
    query = { ...query, ...(query.isDescending ? { upTo: next } : { after: next }) };
  }
}

function formatRow({ sellerId, position, type, productId, sku, at, keyId, movement }: Change) {
  const { before, after, reason, source, sequence } = movement;
  return formatCsvRow([
    position, type, formatProductId(sellerId, productId), sku, formatTime(at),
    formatKeyId({ sellerId, keyId }), before, after, after - before, reason, source, sequence,
  ]);
}
