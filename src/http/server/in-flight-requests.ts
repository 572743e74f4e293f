/** Counts the requests that are not answered yet, so that a stop can wait for them. */
import type { ServerResponse } from 'node:http';

export class InFlightRequests {
  #count = 0;
  #idle: PromiseWithResolvers<void> | undefined;
  readonly #closing = new AbortController();

  /** Aborted by `close`: from then on requests are refused, and those that wait should end. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** For an answer that waits: aborted once its client is gone, or the server is stopping. */
  disconnectSignal(response: ServerResponse): AbortSignal {
    const gone = new AbortController();
    if (response.destroyed) gone.abort();
    response.once('close', () => gone.abort());
    return AbortSignal.any([gone.signal, this.closing]);
  }

  /** Requests that are not answered yet. */
  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#idle?.resolve();
  }

  /** Resolves once all requests that have begun have ended. */
  close(): Promise<void> {
    this.#idle ??= Promise.withResolvers();
    this.#closing.abort();
    if (this.#count === 0) this.#idle.resolve();
    return this.#idle.promise;
  }
}
