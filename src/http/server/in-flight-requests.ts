/** Counts in-flight requests (accepted, not finished), so that a stopping server can drain them. */
import type { ServerResponse } from 'node:http';

export class InFlightRequests {
  #count = 0;
  readonly #drained = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  #isClosed = false;
  /** Aborted by `drain`: requests that wait should finish. */
  readonly closing = this.#closing.signal;

  /** For a waiting request: aborted when its client disconnects or the server stops. */
  disconnectSignal(response: ServerResponse): AbortSignal {
    const disconnected = new AbortController();
    if (response.destroyed) disconnected.abort();
    response.once('close', () => disconnected.abort());
    return AbortSignal.any([disconnected.signal, this.closing]);
  }

  /** Whether new requests are rejected. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0 && this.#isClosed) this.#drained.resolve();
  }

  drain(): void {
    this.#closing.abort();
  }

  /** Rejects new requests. Resolves when none is in flight. */
  close(): Promise<void> {
    this.drain();
    this.#isClosed = true;
    if (this.#count === 0) this.#drained.resolve();
    return this.#drained.promise;
  }
}
