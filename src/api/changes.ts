/**
 * The feed of changes: a page of the history after a position, at once or as soon as there is one,
 * or all of it as a live stream of Server-Sent Events (WHATWG HTML, section 9.2). A stream reads
 * the history no faster than its client takes it, so a slow client costs no memory; and whichever
 * way it ends, it goes on from the id of the last event.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  CHANGES_PAGE_SIZE_DEFAULT, CHANGES_PAGE_SIZE_LIMIT, CHANGES_WAIT_LIMIT_SECONDS,
  HEARTBEAT_INTERVAL_MS, STREAM_RETRY_MS,
} from '../config.ts';
import { CHANGE_TYPES, type ChangeType, formatChange } from '../domain/change.ts';
import { AppError } from '../domain/error.ts';
import { formatKeyId } from '../domain/id.ts';
import type { Reply } from '../http/reply.ts';
import type { ChangePage } from '../store/stock-store.ts';
import { EVENT_STREAM_TYPE, JSON_TYPE } from './media-types.ts';
import { parseChoices, parsePosition, QueryReader } from './query-reader.ts';
import type { Call, Services } from './route.ts';

interface FeedQuery {
  readonly after: number;
  readonly limit: number;
  readonly types: readonly ChangeType[] | undefined;
  /** How long to wait for a change where there is none. */
  readonly waitMs: number;
}

/** GET /api/v1/changes: 200, 400, 406, 410, 503 */
export async function listChanges(call: Call, services: Services): Promise<Reply> {
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
function parseFeedQuery({ query, headers }: Call, isStream: boolean): FeedQuery {
  const reader = new QueryReader(query);
  const after = reader.read('after', parsePosition) ?? 0;
  const limit = reader.readInteger('limit', 1, CHANGES_PAGE_SIZE_LIMIT);
  const types = reader.read('types', (text) => parseChoices(text, CHANGE_TYPES));
  const seconds = reader.readInteger('wait', 0, CHANGES_WAIT_LIMIT_SECONDS) ?? 0;
  reader.assertSound();
  const feed = { after, limit: limit ?? CHANGES_PAGE_SIZE_DEFAULT, types, waitMs: seconds * 1000 };
  const lastEventId = headers['last-event-id'];
  if (!isStream || lastEventId === undefined || lastEventId === '') return feed;
  const parsed = parsePosition(String(lastEventId));
  if ('value' in parsed) return { ...feed, after: parsed.value };
  throw new AppError('invalid_data', 'Last-Event-ID must be the id of an event of this stream.');
}

async function readPage(
  call: Call, { store, streams, liveChanges }: Services, { after, limit, types, waitMs }: FeedQuery,
): Promise<ChangePage> {
  const { sellerId } = call.caller;
  const read = (from: number): Promise<ChangePage> =>
    store.listChanges(sellerId, { after: from, limit, types });
  const first = await read(after);
  if (first.changes.length > 0 || first.next < first.position || waitMs === 0) return first;
  const end = streams.begin(formatKeyId(call.caller));
  try {
    const signal = call.watchClient();
    const deadline = performance.now() + waitMs;
    let page = first;
    while (page.changes.length === 0) {
      const restMs = deadline - performance.now();
      const isThere = restMs > 0 && await liveChanges.wait(sellerId, page.next, restMs, signal);
      if (!isThere) break;
      page = await read(page.next);
    }
    return page;
  } finally {
    end();
  }
}

async function openStream(call: Call, services: Services, feed: FeedQuery): Promise<Reply> {
  const { sellerId } = call.caller;
  // What is wrong with the place to begin shows here, while the answer can still be a problem.
  await services.store.listChanges(sellerId, { after: feed.after, limit: 1 });
  const end = services.streams.begin(formatKeyId(call.caller));
  return {
    status: 200,
    headers: {
      'content-type': EVENT_STREAM_TYPE,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no', // or nginx would keep events back
    },
    body: follow(call, services, feed, end),
  };
}

async function* follow(
  call: Call, { liveChanges }: Services, { after, types }: FeedQuery, end: () => void,
): AsyncGenerator<string | Uint8Array, void, void> {
  const { sellerId } = call.caller;
  let next = after;
  let checkAt = performance.now() + HEARTBEAT_INTERVAL_MS;
  try {
    const signal = call.watchClient();
    yield `retry: ${STREAM_RETRY_MS}\n\n`;
    while (!signal.aborted) {
      if (performance.now() >= checkAt) {
        await call.assertAllowed(); // a stream does not outlive its key
        checkAt = performance.now() + HEARTBEAT_INTERVAL_MS;
      }
      const piece = await liveChanges.read(sellerId, next, types, formatEvents);
      if (piece.next > next) yield piece.text;
      else await nextTurn(); // whatever wakes it, it never reads the same twice in one turn
      next = piece.next;
      const restMs = Math.ceil(checkAt - performance.now());
      if (next < piece.position) await nextTurn(); // or a long history would be read in one
      else if (await liveChanges.wait(sellerId, next, Math.max(restMs, 0), signal)) continue;
      else if (!signal.aborted) yield ': still here\n\n';
    }
  } catch (error) {
    // The client comes back with the id of its last event, and is then told what is wrong.
    if (!(error instanceof AppError)) throw error;
  } finally {
    end();
  }
}

/** The last id is that of the page, also where its last changes are of other types. */
function formatEvents({ changes, next }: ChangePage): string {
  const events = changes.map((change) =>
    `id: ${change.position}\ndata: ${formatChange(change)}\n\n`);
  const isPassed = changes.at(-1)?.position !== next;
  return events.join('') + (isPassed ? `id: ${next}\n\n` : '');
}
