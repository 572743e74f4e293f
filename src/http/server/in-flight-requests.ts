/** Counts in-flight requests (accepted, not finished), so that a stopping server can drain them. */
import type { ServerResponse } from 'node:http';

export class InFlightRequests {
  #count = 0;
  readonly #drained = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  /** Aborted by `close`: new requests are rejected, and waiting ones should finish. */
  readonly closing = this.#closing.signal;

  /** For a waiting request: aborted when its client disconnects or the server stops. */
  disconnectSignal(response: ServerResponse): AbortSignal {
    const disconnected = new AbortController();
    if (response.destroyed) disconnected.abort();
    response.once('close', () => disconnected.abort());
    return AbortSignal.any([disconnected.signal, this.closing]);
  }

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0 && this.closing.aborted) this.#drained.resolve();
  }

  /** Resolves when no request is in flight. */
  close(): Promise<void> {
    this.#closing.abort();
    if (this.#count === 0) this.#drained.resolve();
    return this.#drained.promise;
  }
}
