/**
 * The changes of a catalogue as a live stream of Server-Sent Events (WHATWG HTML section 9.2), with
 * backpressure: a slow client costs no memory. However a stream ends, the client resumes from the
 * last event's id.
 */
import { setImmediate } from 'node:timers/promises';
import { HEARTBEAT_INTERVAL_MS, STREAM_RETRY_MS } from './limits.ts';
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { Reply } from '../../http/response/reply.ts';
import { EVENT_STREAM_TYPE } from '../../api/media-types.ts';
import type { Services } from '../../api/route.ts';
import type { ChangeQuery } from '../../store/history-store.ts';
import { type ChangeNotifier, changeNotifier } from './change-notifier.ts';
import type { OpenStream } from '../../api/streams.ts';

/** The changes that a client subscribes to. */
interface Subscription extends Omit<ChangeQuery, 'limit'> {
  readonly sellerId: SellerId;
  /** An event that precedes all others. */
  readonly preface?: string;
  /** As in `ApiRequest`. */
  readonly openStream: OpenStream;
  disconnectSignal(): AbortSignal;
}

/** @throws AppError `unavailable`, and the errors of `HistoryStore.listChanges` */
export function openChangeStream(
  subscription: Subscription, { store, instances }: Services,
): Promise<Reply> {
  const { sellerId, after, importId, openStream } = subscription;
  return openStream('live', async ({ signal }) => {
    // Reject an invalid start position while the response can still be a problem.
    await store.listChanges(sellerId, { after, limit: 1, importId });
    const until = AbortSignal.any([subscription.disconnectSignal(), signal]);
    return {
      status: 200,
      headers: {
        'content-type': EVENT_STREAM_TYPE,
        'cache-control': 'no-store',
        'x-accel-buffering': 'no', // otherwise, nginx buffers events
      },
      body: follow(subscription, instances.get(changeNotifier), until),
    };
  });
}

async function* follow(
  { sellerId, after, types, importId, preface = '' }: Subscription, notifier: ChangeNotifier,
  signal: AbortSignal,
): AsyncGenerator<string | Uint8Array, void, void> {
  let next = after;
  try {
    yield `retry: ${STREAM_RETRY_MS}\n\n${preface}`;
    while (!signal.aborted) {
      const page = await notifier.read(sellerId, { after: next, types, importId });
      if (page.next > next) yield page.text;
      else await setImmediate(); // otherwise, this iteration's page is read again
      next = page.next;
      // Not yieldToEventLoop: streams that resume in the same iteration share their pages.
      if (next < page.position) await setImmediate();
      else if (await notifier.wait(sellerId, next, HEARTBEAT_INTERVAL_MS, signal)) continue;
      else if (!signal.aborted) {
        await yieldToEventLoop(); // streams that started together get here together
        yield ': still here\n\n';
      }
    }
  } catch (error) {
    // The client reconnects with the id of its last event, and then gets the problem.
    if (!(error instanceof AppError)) throw error;
  }
}
