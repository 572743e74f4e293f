/** Counts in-flight requests (accepted, not finished), so that a stopping server can drain them. */
import type { ServerResponse } from 'node:http';
import { STOP_GRACE_MS } from '../limits.ts';

export class InFlightRequests {
  /** A function for each request that cuts it. */
  readonly #cuts = new Set<() => void>();
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
    return this.#cuts.size;
  }

  /** Returns an idempotent function that ends the request. @param cut Called by `cut`. */
  begin(cut: () => void): () => void {
    this.#cuts.add(cut);
    return () => {
      this.#cuts.delete(cut);
      if (this.#cuts.size === 0 && this.#isClosed) this.#drained.resolve();
    };
  }

  drain(): void {
    this.#closing.abort();
  }

  /** Rejects new requests. Resolves when none is in flight. */
  close(): Promise<void> {
    this.drain();
    this.#isClosed = true;
    if (this.#cuts.size === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  /** Cuts what is in flight. `close` then waits 1 s at most for handlers that do not end. */
  cut(): void {
    void this.close();
    for (const cut of this.#cuts) cut();
    const grace = setTimeout(() => this.#drained.resolve(), STOP_GRACE_MS);
    void this.#drained.promise.then(() => clearTimeout(grace));
  }
}
