/**
 * Changes the stock of many products: up to 10,000 changes in one JSON document, as one mutation.
 * Each change has its own result, so a failed one does not stop the others, unless the request is
 * atomic.
 */
import {
  CONCURRENT_LARGE_STOCK_REQUESTS_LIMIT, CONCURRENT_LARGE_STOCK_REQUESTS_PER_SELLER_LIMIT,
  STOCK_BODY_LIMIT_BYTES,
} from '../limits.ts';
import { STOCK_SLICE_CHANGES } from '../../domain/limits.ts';
import {
  parseStockSync, type SentSync, selectValidChanges, syncRejected,
} from '../../domain/catalogue/stock-sync.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { SellerId } from '../../domain/id.ts';
import { ConcurrencyLimiter } from '../../http/concurrency-limiter.ts';
import { BODY_LIMIT_BYTES } from '../../http/limits.ts';
import { negotiate } from '../../http/request/negotiate.ts';
import { invalidQuery } from '../../http/request/query.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { SyncedStock } from '../../store/catalogue-store.ts';
import { JSON_TYPE, NDJSON_TYPE } from '../media-types.ts';
import { parseParameters } from '../parameters.ts';
import type { ApiRequest, Services } from '../route.ts';
import {
  countResult, formatResult, joinResults, type EvaluatedChange, type StockCounts,
} from './stock-result.ts';
import { stockSyncParameters } from './stock-operations.ts';
import { streamStock } from './stock-stream.ts';
import { replayHeader, toWriteContext } from '../write.ts';

/** POST /api/v1/stock: 200, 400, 406, 409, 413, 422, 503 */
export async function syncStock(call: ApiRequest, services: Services): Promise<Reply> {
  const mediaType = call.readMediaType();
  negotiate(call.headers.accept, [mediaType]); // what is sent in lines is answered in lines
  if (mediaType === NDJSON_TYPE) return streamStock(call, services);
  if (!isLarge(call)) return syncAtOnce(call, services);
  // Before it is read: while it waits for the writer, it and what was made of it stay in memory.
  const end = services.instances.get(createLargeRequestLimiter).acquire(call.caller.sellerId);
  try {
    return await syncAtOnce(call, services);
  } finally {
    end();
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
  const sent = await parseStockSync(await call.readJson(STOCK_BODY_LIMIT_BYTES));
  const write = toWriteContext(call);
  const synced = await store.syncStock(
    isDryRun ? { ...write, idempotency: undefined } : write, selectValidChanges(sent), isDryRun,
  );
  const evaluated = joinResults(sent.changes, synced.results);
  const results = await formatResults(call, evaluated);
  const counts = countAll(evaluated);
  if (synced.rejection) throw describeRefusal(sent, synced, results, counts);
  return {
    status: 200,
    headers: {
      'content-type': JSON_TYPE,
      'cache-control': 'no-store',
      ...replayHeader(synced.isReplay),
    },
    body: `{${formatMembers(sent, synced, results, counts)}}`,
  };
}

/** @throws AppError `invalid_query`, also for a member of the body that is sent as a parameter */
function parseDryRun({ query, caller }: ApiRequest): boolean {
  const others = [...query.keys()].filter((parameter) => parameter !== 'dry_run');
  if (others.length === 0) return parseParameters(stockSyncParameters, query, caller).dry_run;
  const detail = 'Is for changes that are sent as lines; in JSON it is a member of the body.';
  throw invalidQuery(others.map((parameter) => ({ parameter, code: 'mismatch', detail })));
}

/** Yields between slices: there may be 10,000 results, each with errors. */
async function formatResults(
  { caller }: ApiRequest, evaluated: readonly EvaluatedChange[],
): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < evaluated.length; from += STOCK_SLICE_CHANGES) {
    await yieldToEventLoop();
    const part = evaluated.slice(from, from + STOCK_SLICE_CHANGES);
    parts.push(part.map((one) => `{${formatResult(caller.sellerId, one)}}`).join(','));
  }
  return parts.join(',');
}

/** The members of the response, as JSON. */
function formatMembers(
  { completion }: SentSync, { zeroed, position }: Pick<SyncedStock, 'zeroed' | 'position'>,
  results: string, { applied, failed }: StockCounts,
): string {
  return `"results":[${results}],"applied":${applied},"failed":${failed}`
    + `${completion ? `,"zeroed":${zeroed}` : ''},"position":${position}`;
}

function describeRefusal(
  sent: SentSync, synced: SyncedStock, results: string, counts: StockCounts,
): Error {
  const members = formatMembers(sent, { ...synced, zeroed: 0 }, results, { ...counts, applied: 0 });
  if (synced.rejection === 'failures') {
    const all = sent.changes.length;
    const what = `${counts.failed} of ${all} changes failed, and the request is atomic.`;
    return syncRejected(what, members);
  }
  const limit = `${sent.completion?.zeroLimitPercent} % of the products in stock`;
  const what = `${synced.zeroed} products are not named and would be set to 0: over ${limit}.`;
  return syncRejected(`${what} If that is meant, raise zero_limit or send "force":true.`, members);
}

function countAll(evaluated: readonly EvaluatedChange[]): StockCounts {
  const counts = { applied: 0, unchanged: 0, failed: 0 };
  for (const one of evaluated) countResult(counts, one);
  return counts;
}
