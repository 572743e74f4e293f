/** Counts the requests that are not answered yet, so that a stop can wait for them. */

export class UnderWay {
  #count = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  /** Whether `close` was called: from then on requests are refused. */
  get isClosing(): boolean {
    return this.#idle !== undefined;
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
    if (this.#count === 0) this.#idle.resolve();
    return this.#idle.promise;
  }
}
