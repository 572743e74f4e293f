/**
 * Changes the stock of many products: up to 10,000 changes in one JSON document, as one mutation.
 * A failed change does not stop the others, unless the request is atomic.
 */
import {
  CONCURRENT_LARGE_STOCK_REQUESTS_LIMIT, CONCURRENT_LARGE_STOCK_REQUESTS_PER_SELLER_LIMIT,
  STOCK_BODY_LIMIT_BYTES,
} from '../limits.ts';
import { STOCK_SLICE_CHANGES } from '../../domain/limits.ts';
import type { SentChange } from '../../domain/catalogue/stock-change.ts';
import {
  parseStockSync, STOCK_SYNC_VALIDATORS, type StockSync,
} from '../../domain/catalogue/stock-sync.ts';
import { AppError } from '../../domain/error.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { formatImportId, type SellerId } from '../../domain/id.ts';
import { ConcurrencyLimiter } from '../../http/concurrency-limiter.ts';
import { BODY_LIMIT_BYTES } from '../../http/limits.ts';
import { negotiate } from '../../http/request/negotiate.ts';
import { invalidQuery } from '../../http/request/query.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { SyncedStock } from '../../store/catalogue-store.ts';
import { JSON_TYPE, NDJSON_TYPE } from '../media-types.ts';
import { parseParameters } from '../parameters.ts';
import type { ApiRequest, Services } from '../route.ts';
import { explainZeroLimit, StockTally } from './stock-result.ts';
import { stockSyncParameters } from './stock-operations.ts';
import { streamStock } from './stock-stream.ts';
import { replayHeader, toWriteContext } from '../write.ts';
import type { WriteContext } from '../../store/write.ts';

/** POST /api/v1/stock: 200, 400, 406, 409, 413, 422, 503 */
export async function syncStock(call: ApiRequest, services: Services): Promise<Reply> {
  const mediaType = call.readMediaType();
  const isStream = mediaType !== JSON_TYPE;
  negotiate(call.headers.accept, [isStream ? NDJSON_TYPE : JSON_TYPE]);
  if (isStream) return streamStock(call, services);
  if (!isLarge(call)) return syncAtOnce(call, services);
  // Before reading: the body and the parsed changes stay in memory until the writer is free.
  const release = services.instances.get(createLargeRequestLimiter).acquire(call.caller.sellerId);
  try {
    return await syncAtOnce(call, services);
  } finally {
    release();
  }
}

function createLargeRequestLimiter(): ConcurrencyLimiter<SellerId> {
  return new ConcurrencyLimiter('large stock requests', {
    total: CONCURRENT_LARGE_STOCK_REQUESTS_LIMIT,
    perOwner: CONCURRENT_LARGE_STOCK_REQUESTS_PER_SELLER_LIMIT,
  });
}

/** A request without Content-Length may have a body of any length. */
function isLarge({ headers }: ApiRequest): boolean {
  return Number(headers['content-length'] ?? Infinity) > BODY_LIMIT_BYTES;
}

async function syncAtOnce(call: ApiRequest, { store }: Services): Promise<Reply> {
  const isDryRun = parseDryRun(call);
  const { entries, sync } = await parseStockSync(await call.readJson(STOCK_BODY_LIMIT_BYTES));
  const write = toWriteContext(call);
  const context = isDryRun ? { ...write, idempotency: undefined }
    : withImport(write, entries, sync);
  const synced = await store.syncStock(context, sync, isDryRun);
  const tally = new StockTally(call.caller.sellerId);
  const results = await formatResults(tally, entries, synced);
  const { completion } = sync;
  const { zeroed, position, importId } = synced;
  const format = (applied: number, zeroedNow: number): string =>
    `"results":[${results}],"applied":${applied},"failed":${tally.failed}`
    + `${completion ? `,"zeroed":${zeroedNow}` : ''},"position":${position}`
    + (importId ? `,"import":"${formatImportId(call.caller.sellerId, importId)}"` : '');
  if (synced.rejection) {
    const reason = synced.rejection === 'failures'
      ? `${tally.failed} of ${entries.length} changes failed, and the request is atomic.`
      : explainZeroLimit(
        zeroed, completion?.zeroLimitPercent ?? 0, 'raise zero_limit or send "force":true',
      );
    throw new AppError('sync_refused', `${reason} Nothing was changed.`, { members: format(0, 0) });
  }
  return {
    status: 200,
    headers: {
      'content-type': JSON_TYPE,
      'cache-control': 'no-store',
      ...replayHeader(synced.isReplay),
    },
    body: `{${format(tally.applied, zeroed)}}`,
  };
}

/** The whole sync is one part. */
function withImport(
  write: WriteContext, entries: readonly SentChange[], { changes, completion, source }: StockSync,
): WriteContext {
  const kind = completion ? 'stocktake' : 'stock';
  const record = { kind, source, address: write.address } as const;
  const counts = { failed: entries.length - changes.length };
  return { ...write, import: { id: undefined, record, counts, isLast: true } };
}

/** @throws AppError `invalid_query`, also for a parameter of streams */
function parseDryRun({ query, caller }: ApiRequest): boolean {
  const others = [...query.keys()].filter((parameter) => parameter !== 'dry_run');
  if (others.length === 0) return parseParameters(stockSyncParameters, query, caller).dry_run;
  throw invalidQuery(others.map((parameter) => ({
    parameter, code: 'mismatch',
    detail: Object.hasOwn(STOCK_SYNC_VALIDATORS, parameter)
      ? 'Is for NDJSON and CSV only. In JSON, send it as a member of the body.'
      : 'Is for NDJSON and CSV only.',
  })));
}

/** Yields between slices: there may be 10,000 results, each with errors. */
async function formatResults(
  tally: StockTally, entries: readonly SentChange[], synced: SyncedStock,
): Promise<string> {
  const results = synced.results.values();
  let text = '';
  for (let start = 0; start < entries.length; start += STOCK_SLICE_CHANGES) {
    if (start > 0) await yieldToEventLoop();
    const slice = entries.slice(start, start + STOCK_SLICE_CHANGES);
    const list = JSON.stringify(slice.map((change) => tally.describe(change, results)));
    text += `${start > 0 ? ',' : ''}${list.slice(1, -1)}`;
  }
  return text;
}
