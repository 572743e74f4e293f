/**
 * The change feed: a page of the history after a position, immediately or once there is a change,
 * or a live stream (`change-stream.ts`).
 */
import { AppError } from '../../domain/error.ts';
import { toRevision } from '../../domain/revision.ts';
import { type Reply, replyJson } from '../../http/response/reply.ts';
import type { ChangePage } from '../../store/history-store.ts';
import { changeNotifier, formatPage } from './change-notifier.ts';
import { openChangeStream } from './change-stream.ts';
import { EVENT_STREAM_TYPE } from '../../api/media-types.ts';
import { parseParameters, position } from '../../api/parameters.ts';
import type { ApiRequest, Services } from '../../api/route.ts';
import { changesParameters } from './operations.ts';

/** GET /api/v1/changes: 200, 400, 406, 410, 503 */
export async function listChanges(call: ApiRequest, services: Services): Promise<Reply> {
  const isStream = call.mediaType === EVENT_STREAM_TYPE;
  const feed = parseFeedQuery(call, isStream);
  const { sellerId, generation } = call.caller;
  if (isStream) {
    const { openStream } = call;
    const disconnectSignal = () => call.disconnectSignal();
    return openChangeStream({ ...feed, sellerId, openStream, disconnectSignal }, services);
  }
  const { changes, next } = formatPage(await readPage(call, services, feed));
  const list = changes.map(({ json }) => json).join(',');
  return replyJson(`{"changes":[${list}],"next":${JSON.stringify(toRevision(generation, next))}}`);
}

/** @throws AppError `invalid_query`, and `invalid_data` for an invalid `Last-Event-ID` */
function parseFeedQuery({ query, headers, caller }: ApiRequest, isStream: boolean) {
  const { import: importId, ...rest } = parseParameters(changesParameters, query, caller);
  const feed = { ...rest, importId };
  const lastEventId = headers['last-event-id'] ?? '';
  if (!isStream || lastEventId === '') return feed;
  const parsed = position.parse(String(lastEventId), caller);
  if ('value' in parsed) return { ...feed, after: parsed.value };
  throw new AppError('invalid_data', 'Last-Event-ID must be the id of an event of this stream.');
}

/** The page after a position, once it has a change or the `wait` is over. */
async function readPage(
  call: ApiRequest, { store, streams, instances }: Services,
  { after, limit, types, importId, wait }: ReturnType<typeof parseFeedQuery>,
): Promise<ChangePage> {
  const { sellerId } = call.caller;
  let page = await store.listChanges(sellerId, { after, limit, types, importId });
  if (page.changes.length > 0 || page.next < page.position || wait === 0) return page;
  using slot = new DisposableStack();
  slot.defer(streams.acquire(call.caller));
  const signal = call.disconnectSignal();
  const notifier = instances.get(changeNotifier);
  const deadline = performance.now() + wait * 1000;
  while (page.changes.length === 0) {
    const restMs = deadline - performance.now();
    if (restMs <= 0 || !await notifier.wait(sellerId, page.next, restMs, signal)) break;
    page = await store.listChanges(sellerId, { after: page.next, limit, types, importId });
  }
  await call.reauthorize(); // the wait was long enough for the key to be revoked
  return page;
}
