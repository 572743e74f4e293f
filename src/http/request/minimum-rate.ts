/**
 * The chunks of a body of any length, for as long as its client keeps sending: whoever sends next
 * to nothing keeps others from one of few places. Only the time counts that is spent waiting for
 * the client, not that in which its reader is busy.
 */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../domain/error.ts';
import { BODY_MIN_RATE_BYTES_PER_SECOND, BODY_MIN_RATE_INTERVAL_MS } from '../limits.ts';

/**
 * Leaves the connection open where its reader stops early: it has yet to be answered.
 * @throws AppError `request_timeout`; `invalid_data` where the body breaks off
 */
export async function* readWithMinimumRate(
  request: IncomingMessage, intervalMs = BODY_MIN_RATE_INTERVAL_MS,
): AsyncGenerator<Buffer, void, void> {
  const dueBytes = intervalMs / 1000 * BODY_MIN_RATE_BYTES_PER_SECOND;
  let waitedMs = 0;
  let seenBytes = 0;
  while (!request.readableEnded) {
    // The cast: without an encoding it gives buffers, and null where nothing is there yet.
    const chunk = request.read() as Buffer | null;
    if (chunk) {
      seenBytes += chunk.length;
      yield chunk;
      continue;
    }
    const isGone = request.destroyed || request.socket.destroyed;
    if (isGone && !request.readableEnded) {
      throw new AppError('invalid_data', 'The body broke off.');
    }
    if (waitedMs >= intervalMs) {
      if (seenBytes < dueBytes) {
        throw new AppError('request_timeout', 'The body came too slowly. Send it again at once.');
      }
      [waitedMs, seenBytes] = [0, 0];
    }
    const start = performance.now();
    await waitForMore(request, intervalMs - waitedMs);
    waitedMs += performance.now() - start;
  }
}

/** Resolves once there is something to read, an end of any kind, or after that time. */
function waitForMore(request: IncomingMessage, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const events = ['readable', 'end', 'error', 'close'];
    const { socket } = request;
    const done = (): void => {
      clearTimeout(timer);
      for (const event of events) request.off(event, done);
      socket.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, Math.ceil(timeoutMs));
    for (const event of events) request.on(event, done);
    socket.on('close', done); // a request that is answered already has no `close` of its own
  });
}
