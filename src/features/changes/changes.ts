/**
 * The feed of changes: a page of the history after a position, at once or as soon as there is one,
 * or all of it as a live stream (`change-stream.ts`).
 */
import { type ChangeType, formatChange } from '../../domain/catalogue/change.ts';
import { AppError } from '../../domain/error.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { ChangePage } from '../../store/history-store.ts';
import { changeNotifier } from './change-notifier.ts';
import { openChangeStream } from './change-stream.ts';
import { EVENT_STREAM_TYPE, JSON_TYPE } from '../../api/media-types.ts';
import { parseParameters, position } from '../../api/parameters.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import { changesParameters } from './operations.ts';

interface FeedQuery {
  readonly after: number;
  readonly limit: number;
  readonly types: readonly ChangeType[] | undefined;
  /** How long to wait for a change where there is none. */
  readonly waitMs: number;
}

/** GET /api/v1/changes: 200, 400, 406, 410, 503 */
export async function listChanges(call: ApiRequest, services: Services): Promise<Reply> {
  const isStream = call.mediaType === EVENT_STREAM_TYPE;
  const feed = parseFeedQuery(call, isStream);
  if (isStream) return openStream(call, services, feed);
  const page = await readPage(call, services, feed);
  const changes = page.changes.map(formatChange).join(',');
  return {
    status: 200,
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store' },
    body: `{"changes":[${changes}],"next":${page.next}}`,
  };
}

/** @throws AppError `invalid_query`, and `invalid_data` for a `Last-Event-ID` that is none */
function parseFeedQuery({ query, headers, caller }: ApiRequest, isStream: boolean): FeedQuery {
  const { wait, ...feed } = parseParameters(changesParameters, query, caller);
  const lastEventId = headers['last-event-id'] ?? '';
  if (!isStream || lastEventId === '') return { ...feed, waitMs: wait * 1000 };
  const parsed = position.parse(String(lastEventId));
  if ('value' in parsed) return { ...feed, after: parsed.value, waitMs: wait * 1000 };
  throw new AppError('invalid_data', 'Last-Event-ID must be the id of an event of this stream.');
}

async function readPage(
  call: ApiRequest, { store, streams, instances }: Services,
  { after, limit, types, waitMs }: FeedQuery,
): Promise<ChangePage> {
  const { sellerId } = call.caller;
  const read = (from: number): Promise<ChangePage> =>
    store.listChanges(sellerId, { after: from, limit, types });
  const first = await read(after);
  if (first.changes.length > 0 || first.next < first.position || waitMs === 0) return first;
  const release = streams.acquire(call.caller);
  try {
    const signal = call.disconnectSignal();
    const notifier = instances.get(changeNotifier);
    const deadline = performance.now() + waitMs;
    let page = first;
    while (page.changes.length === 0) {
      const restMs = deadline - performance.now();
      const isThere = restMs > 0 && await notifier.wait(sellerId, page.next, restMs, signal);
      if (!isThere) break;
      page = await read(page.next);
    }
    await call.reauthorize(); // the wait was long enough for the key to be revoked
    return page;
  } finally {
    release();
  }
}

function openStream(
  call: ApiRequest, services: Services, { after, types }: FeedQuery,
): Promise<Reply> {
  return openChangeStream({
    sellerId: call.caller.sellerId, after, types,
    openStream: call.openStream,
    disconnectSignal: call.disconnectSignal,
  }, services);
}
