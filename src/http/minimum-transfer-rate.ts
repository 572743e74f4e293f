/**
 * The minimum transfer rate of a client, against those that hold memory or one of few slots by
 * sending or reading next to nothing.
 */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../domain/error.ts';
import { BODY_MIN_RATE_BYTES_PER_SECOND, BODY_MIN_RATE_INTERVAL_MS } from './limits.ts';

/** So many bytes a second on average, after a grace period. */
export class MinimumTransferRate {
  readonly #bytesPerSecond: number;
  readonly #graceMs: number;

  constructor(bytesPerSecond: number, graceMs: number) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#graceMs = graceMs;
  }

  /** How long the transfer of so many bytes may take. */
  allowedMs(bytes: number): number {
    return this.#graceMs + bytes / this.#bytesPerSecond * 1000;
  }
}

const BODY_RATE = new MinimumTransferRate(BODY_MIN_RATE_BYTES_PER_SECOND, 0);

/**
 * Reads the chunks of a request body of any length for as long as its client keeps the minimum
 * rate, on average over each interval. Only time spent waiting for the client counts, not the time
 * that the consumer takes. The connection stays open if the consumer stops early: the request has
 * yet to be answered.
 * @throws AppError `request_timeout`; `invalid_data` when the body is cut off
 */
export async function* readWithMinimumRate(
  request: IncomingMessage, intervalMs = BODY_MIN_RATE_INTERVAL_MS,
): AsyncGenerator<Buffer, void, void> {
  let waitedMs = 0;
  let receivedBytes = 0;
  while (!request.readableEnded) {
    // The cast: without an encoding, `read` returns buffers, and null while nothing is there.
    const chunk = request.read() as Buffer | null;
    if (chunk) {
      receivedBytes += chunk.length;
      yield chunk;
      continue;
    }
    const isGone = request.destroyed || request.socket.destroyed;
    if (isGone && !request.readableEnded) {
      throw new AppError('invalid_data', 'The body was cut off.');
    }
    if (waitedMs >= intervalMs) {
      if (BODY_RATE.allowedMs(receivedBytes) < intervalMs) {
        throw new AppError('request_timeout', 'The body arrived too slowly. Send it again.');
      }
      [waitedMs, receivedBytes] = [0, 0];
    }
    const startedAt = performance.now();
    await waitForMore(request, intervalMs - waitedMs);
    waitedMs += performance.now() - startedAt;
  }
}

/** Resolves once there is something to read, the body has ended in any way, or time is up. */
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
    socket.on('close', done); // a request that was answered emits no `close` of its own
  });
}
