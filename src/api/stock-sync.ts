/**
 * Changes the stock of many products at once: up to 10,000 in one JSON document, as one unit. Each
 * change has a result of its own, so one that fails does not stop the others, unless all or nothing
 * was asked for.
 */
import { STOCK_BODY_LIMIT_BYTES } from '../config.ts';
import { parseStockSync, type SentSync, sortOut, syncRefused } from '../domain/stock-sync.ts';
import { BODY_LIMIT_BYTES } from '../http/limits.ts';
import { negotiate } from '../http/negotiate.ts';
import { invalidQuery } from '../http/query.ts';
import type { Reply } from '../http/reply.ts';
import type { SyncedStock } from '../store/stock-store.ts';
import { JSON_TYPE, NDJSON_TYPE } from './media-types.ts';
import { QueryReader } from './query-reader.ts';
import type { Call, Services } from './route.ts';
import {
  countResult, formatResult, joinResults, type JudgedChange, type StockCounts,
} from './stock-result.ts';
import { streamStock } from './stock-stream.ts';
import { formatReplay, readWrite } from './write.ts';

/** POST /api/v1/stock: 200, 400, 406, 409, 413, 422, 503 */
export async function syncStock(call: Call, services: Services): Promise<Reply> {
  const mediaType = call.readMediaType();
  negotiate(call.headers.accept, [mediaType]); // what is sent in lines is answered in lines
  if (mediaType === NDJSON_TYPE) return streamStock(call, services);
  if (!isLarge(call)) return syncAtOnce(call, services);
  // Before it is read: while it waits for the writer, it and what was made of it stay in memory.
  const end = services.largeStockCalls.begin(call.caller.sellerId);
  try {
    return await syncAtOnce(call, services);
  } finally {
    end();
  }
}

/** One that does not say how long it is may be as long as it likes. */
function isLarge({ headers }: Call): boolean {
  return Number(headers['content-length'] ?? Infinity) > BODY_LIMIT_BYTES;
}

async function syncAtOnce(call: Call, { store }: Services): Promise<Reply> {
  const isDryRun = parseDryRun(call);
  const sent = parseStockSync(await call.readJson(STOCK_BODY_LIMIT_BYTES));
  const write = readWrite(call);
  const synced = await store.syncStock(
    isDryRun ? { ...write, idempotency: undefined } : write, sortOut(sent), isDryRun,
  );
  const judged = joinResults(sent.changes, synced.results);
  if (synced.refusal) throw describeRefusal(call, sent, synced, judged);
  return {
    status: 200,
    headers: {
      'content-type': JSON_TYPE,
      'cache-control': 'no-store',
      ...formatReplay(synced.isReplay),
    },
    body: formatAnswer(call, sent, synced, judged),
  };
}

/** @throws AppError `invalid_query`, where a member of the body is sent as a parameter too */
function parseDryRun({ query }: Call): boolean {
  const reader = new QueryReader(query);
  const isDryRun = reader.readChoice('dry_run', ['false', 'true']) === 'true';
  reader.assertSound();
  const others = [...query.keys()].filter((parameter) => parameter !== 'dry_run');
  if (others.length === 0) return isDryRun;
  const detail = 'Is for changes that are sent as lines; in JSON it is a member of the body.';
  throw invalidQuery(others.map((parameter) => ({ parameter, code: 'mismatch', detail })));
}

function formatAnswer(
  { caller }: Call, { completion }: SentSync, { zeroed, position }: SyncedStock,
  judged: readonly JudgedChange[],
): string {
  const { applied, failed } = count(judged);
  const results = judged.map((one) => `{${formatResult(caller.sellerId, one)}}`);
  return `{"results":[${results.join(',')}],"applied":${applied},"failed":${failed}`
    + `${completion ? `,"zeroed":${zeroed}` : ''},"position":${position}}`;
}

function describeRefusal(
  call: Call, sent: SentSync, synced: SyncedStock, judged: readonly JudgedChange[],
): Error {
  const { failed } = count(judged);
  const answer = JSON.parse(formatAnswer(call, sent, synced, judged)) as object;
  const members = { ...answer, applied: 0, ...(sent.completion && { zeroed: 0 }) };
  if (synced.refusal === 'failures') {
    const what = `${failed} of ${judged.length} changes failed, and all or nothing was asked for.`;
    return syncRefused(what, members);
  }
  const limit = `${sent.completion?.zeroLimitPercent} % of the products in stock`;
  const what = `${synced.zeroed} products are not named and would be set to 0: over ${limit}.`;
  return syncRefused(`${what} If that is meant, raise zero_limit or send "force":true.`, members);
}

function count(judged: readonly JudgedChange[]): StockCounts {
  const counts = { applied: 0, unchanged: 0, failed: 0 };
  for (const one of judged) countResult(counts, one);
  return counts;
}
