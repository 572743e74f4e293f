/** The ledger of stock: pages of movements, or all of them as one stream. */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from '../config.ts';
import { type Change, formatMovement } from '../domain/change.ts';
import {
  formatKeyId, formatProductId, parseProductId, type ProductId, type SellerId,
} from '../domain/id.ts';
import { parseReason } from '../domain/stock-change.ts';
import { parseSource } from '../domain/stock-sync.ts';
import { formatTime } from '../domain/time.ts';
import { nextTurn } from '../domain/turn.ts';
import type { Reply } from '../http/reply.ts';
import type { Store } from '../store/store.ts';
import type { MovementQuery } from '../store/stock-store.ts';
import { formatCsvHeader, formatCsvRow } from '../transfer/csv-writer.ts';
import { watchPermission } from '../transfer/permission.ts';
import { CSV_TYPE, JSON_TYPE, LIST_FORMATS, MEDIA_TYPE_OF } from './media-types.ts';
import { assertWhole, formatNextLink } from './list-pages.ts';
import { MOVEMENTS } from './paths.ts';
import { parseChoice, parseInstant, parsePosition, parseSku, QueryReader } from './query-reader.ts';
import type { Call, Services } from './route.ts';

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
export async function listMovements(call: Call, services: Services): Promise<Reply> {
  const ledger = parseLedgerQuery(call);
  return ledger.mediaType === JSON_TYPE
    ? listPage(call, services, ledger) : exportMovements(call, services, ledger);
}

/** @throws AppError `invalid_query` naming every faulty parameter */
function parseLedgerQuery({ query, caller, mediaType }: Call): LedgerQuery {
  const reader = new QueryReader(query);
  const filter = {
    sku: reader.read('sku', parseSku),
    productId: reader.read('id', (text) =>
      ({ value: parseProductId(caller.sellerId, text) ?? NO_PRODUCT })),
    source: reader.read('source', parseSource),
    reason: reader.read('reason', parseReason),
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
  reader.assertSound();
  return ledger;
}

async function listPage(
  { caller, query }: Call, { store, cursors, prefix }: Services, ledger: LedgerQuery,
): Promise<Reply> {
  const { sellerId } = caller;
  const { filter, after, isDescending, limit } = ledger;
  const name = `movements ${sellerId} ${JSON.stringify([filter, after, isDescending])}`;
  const cursor = query.get('cursor');
  const place = cursor === undefined ? undefined : Number(cursors.parse(name, cursor));
  const page = await store.listMovements(sellerId, place === undefined ? ledger : {
    ...ledger, ...(isDescending ? { upTo: place } : { after: place }),
  });
  const next = page.next === undefined ? undefined : cursors.format(name, String(page.next));
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
  { caller, query, assertAllowed }: Call, { store, streams }: Services, ledger: LedgerQuery,
): Reply {
  assertWhole(query);
  const isCsv = ledger.mediaType === CSV_TYPE;
  const source = {
    store, sellerId: caller.sellerId, end: streams.begin(formatKeyId(caller)),
    askAgain: watchPermission(assertAllowed),
  };
  return {
    status: 200,
    headers: {
      'content-type': isCsv ? `${CSV_TYPE}; charset=utf-8` : ledger.mediaType,
      'cache-control': 'no-store',
      'seller-position': String(caller.position),
    },
    body: isCsv
      ? render(source, ledger, formatCsvHeader(COLUMNS), formatRow)
      : render(source, ledger, '', (one) => `${formatMovement(one)}\n`),
  };
}

/** Where the movements of an export come from. */
interface Source {
  readonly store: Store;
  readonly sellerId: SellerId;
  /** Rejects once they may not be told any more. */
  readonly askAgain: () => Promise<void>;
  readonly end: () => void;
}

/** What was written to the history stays: page after page, it is that of one position. */
async function* render(
  { store, sellerId, askAgain, end }: Source, ledger: LedgerQuery, head: string,
  format: (movement: Change) => string,
): AsyncGenerator<string, void, void> {
  try {
    yield head;
    let query: MovementQuery = { ...ledger, limit: PAGE_SIZE_LIMIT };
    for (;;) {
      await askAgain();
      const { movements, next } = await store.listMovements(sellerId, query);
      if (movements.length > 0) yield movements.map(format).join('');
      if (next === undefined) return;
      await nextTurn(); // a client that takes pages as fast as they come is not the only one
      query = { ...query, ...(query.isDescending ? { upTo: next } : { after: next }) };
    }
  } finally {
    end();
  }
}

function formatRow({ sellerId, position, type, productId, sku, at, keyId, movement }: Change) {
  const { before, after, reason, source, sequence } = movement;
  return formatCsvRow([
    position, type, formatProductId(sellerId, productId), sku, formatTime(at),
    formatKeyId({ sellerId, keyId }), before, after, after - before, reason, source, sequence,
  ]);
}
