/**
 * What happens in a catalogue as a live stream of Server-Sent Events (WHATWG HTML, section 9.2). A
 * stream reads the history no faster than its client takes it, so a slow client costs no memory;
 * and whichever way it ends, it goes on from the id of the last event.
 */
import { setImmediate } from 'node:timers/promises';
import { HEARTBEAT_INTERVAL_MS, STREAM_RETRY_MS } from './limits.ts';
import { type ChangeType, formatChange } from '../../domain/catalogue/change.ts';
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { Reply } from '../../http/response/reply.ts';
import type { ChangePage } from '../../store/history-store.ts';
import { EVENT_STREAM_TYPE } from '../../api/media-types.ts';
import type { Services } from '../../api/route.ts';
import { type ChangeNotifier, changeNotifier } from './change-notifier.ts';
import type { OpenStream } from '../../api/streams.ts';

/** Who follows which changes, from where on. */
interface Following {
  readonly sellerId: SellerId;
  readonly after: number;
  /** Undefined for all. */
  readonly types: readonly ChangeType[] | undefined;
  /** An event that stands before all others, if there is one. */
  readonly preface?: string;
  /** As of a call. */
  readonly openStream: OpenStream;
  disconnectSignal(): AbortSignal;
}

/** @throws AppError `unavailable`, and what `listChanges` of the store does */
export function openChangeStream(
  following: Following, { store, instances }: Services,
): Promise<Reply> {
  const { sellerId, after, openStream } = following;
  return openStream('live', async ({ signal }) => {
    // Rejects an invalid start position while the response can still be a problem document.
    await store.listChanges(sellerId, { after, limit: 1 });
    const until = AbortSignal.any([following.disconnectSignal(), signal]);
    return {
      status: 200,
      headers: {
        'content-type': EVENT_STREAM_TYPE,
        'cache-control': 'no-store',
        'x-accel-buffering': 'no', // or nginx would buffer events
      },
      body: follow(following, instances.get(changeNotifier), until),
    };
  });
}

async function* follow(
  { sellerId, after, types, preface = '' }: Following, notifier: ChangeNotifier,
  signal: AbortSignal,
): AsyncGenerator<string | Uint8Array, void, void> {
  let next = after;
  let heartbeatAt = performance.now() + HEARTBEAT_INTERVAL_MS;
  try {
    yield `retry: ${STREAM_RETRY_MS}\n\n${preface}`;
    while (!signal.aborted) {
      const piece = await notifier.read(sellerId, next, types, formatEvents);
      if (piece.next > next) {
        yield piece.text;
        heartbeatAt = performance.now() + HEARTBEAT_INTERVAL_MS;
      } else await setImmediate(); // never re-reads within one event-loop turn
      next = piece.next;
      const restMs = Math.max(Math.ceil(heartbeatAt - performance.now()), 0);
      if (next < piece.position) await setImmediate(); // or a long history would be read in one
      else if (await notifier.wait(sellerId, next, restMs, signal)) continue;
      else if (!signal.aborted) {
        await yieldToEventLoop(); // all that began together get here together
        yield ': still here\n\n';
        heartbeatAt = performance.now() + HEARTBEAT_INTERVAL_MS;
      }
    }
  } catch (error) {
    // The client comes back with the id of its last event, and is then told what is wrong.
    if (!(error instanceof AppError)) throw error;
  }
}

/** The last id is that of the page, also where its last changes are of other types. */
function formatEvents({ changes, next }: ChangePage): string {
  const events = changes.map((change) =>
    `id: ${change.position}\ndata: ${formatChange(change)}\n\n`);
  const isPassed = changes.at(-1)?.position !== next;
  return events.join('') + (isPassed ? `id: ${next}\n\n` : '');
}
