/** The stock ledger: pages of movements, or all of them as one stream. */
import { PAGE_SIZE_LIMIT } from '../../api/limits.ts';
import { chooseMediaType, exportCollection, replyPage } from '../../api/list.ts';
import { JSON_TYPE } from '../../api/media-types.ts';
import { parseParameters } from '../../api/parameters.ts';
import { type ApiRequest, type Services, STOCK } from '../../api/route.ts';
import { type Change, formatMovement } from '../../domain/catalogue/change.ts';
import { formatImportId, formatKeyId, formatProductId, type SellerId } from '../../domain/id.ts';
import { formatTime } from '../../domain/time.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { HistoryStore, MovementQuery } from '../../store/history-store.ts';
import { formatCsvRow } from '../../transfer/csv-cells.ts';
import { movementParameters } from './operations.ts';

export const MOVEMENTS = `${STOCK}/movements`;

const HEADERS = { 'cache-control': 'no-store' };

const COLUMNS = [
  'position', 'type', 'product_id', 'sku', 'at', 'key_id', 'before', 'after', 'delta', 'reason',
  'source', 'sequence', 'actor', 'import',
];

type LedgerQuery = ReturnType<typeof parseLedgerQuery>;

/** GET /api/v1/stock/movements: 200, 400, 406 */
export async function listMovements(call: ApiRequest, services: Services): Promise<Reply> {
  const ledger = parseLedgerQuery(call);
  const { mediaType } = ledger;
  if (mediaType === JSON_TYPE) return listPage(call, services, ledger);
  const { caller, openStream } = call;
  return exportMovements(services.store, { caller, openStream, mediaType, ledger });
}

/** @throws AppError `invalid_query` naming every invalid parameter */
function parseLedgerQuery(call: ApiRequest) {
  const parameters = parseParameters(movementParameters, call.query, call.caller);
  const { sku, id: productId, source, reason, import: importId, since, until } = parameters;
  const { after = 0, sort, limit, format } = parameters;
  return {
    filter: { sku, productId, source, reason, since, until, importId },
    after,
    upTo: call.caller.position,
    isDescending: sort === '-position',
    limit,
    mediaType: chooseMediaType(call, format),
  };
}

async function listPage(call: ApiRequest, services: Services, ledger: LedgerQuery): Promise<Reply> {
  const { store, cursors } = services;
  const { sellerId } = call.caller;
  const { filter, after, isDescending, limit } = ledger;
  const scope = `movements ${sellerId} ${JSON.stringify([filter, after, isDescending])}`;
  const anchor = cursors.parse<number>(scope, call.query.get('cursor'));
  const { movements, next } = await store.listMovements(sellerId, anchor === undefined ? ledger : {
    ...ledger, ...(isDescending ? { upTo: anchor } : { after: anchor }),
  });
  return replyPage(call, {
    path: MOVEMENTS, limit, headers: HEADERS,
    members: `"movements":[${movements.map(formatMovement).join(',')}]`,
    nextCursor: cursors.format(scope, next),
  });
}

interface ExportOptions extends Pick<ApiRequest, 'openStream' | 'mediaType'> {
  readonly caller: Pick<ApiRequest['caller'], 'sellerId' | 'position' | 'generation'>;
  readonly ledger: Omit<MovementQuery, 'limit'>;
}

/** Streams all movements that a query finds, as CSV or NDJSON. @throws AppError `unavailable` */
export function exportMovements(
  store: HistoryStore, { caller, ledger, mediaType, openStream }: ExportOptions,
): Promise<Reply> {
  return exportCollection({
    openStream, mediaType, headers: HEADERS, generation: caller.generation,
    columns: COLUMNS, formatRow, formatJson: formatMovement,
    open: async () =>
      ({ position: caller.position, pages: readMovements(store, caller.sellerId, ledger) }),
  });
}

/** The history is append-only, so all pages together show one position. */
async function* readMovements(
  store: HistoryStore, sellerId: SellerId, ledger: ExportOptions['ledger'],
): AsyncGenerator<readonly Change[], void, void> {
  let query: MovementQuery = { ...ledger, limit: PAGE_SIZE_LIMIT };
  for (;;) {
    const { movements, next } = await store.listMovements(sellerId, query);
    yield movements;
    if (next === undefined) return;
    query = { ...query, ...(query.isDescending ? { upTo: next } : { after: next }) };
  }
}

function formatRow(change: Change) {
  const { sellerId, position, type, productId, sku, at, keyId, actor, importId, movement } = change;
  const { before, after, reason, source, sequence } = movement;
  return formatCsvRow([
    position, type, formatProductId(sellerId, productId), sku, formatTime(at),
    formatKeyId({ sellerId, keyId }), before, after, after - before, reason, source, sequence,
    actor, importId && formatImportId(sellerId, importId),
  ]);
}
