/** Counts the requests that are not answered yet, so that a stop can wait for them. */

export class UnderWay {
  /** Set by `close`: from then on requests are refused. */
  isClosing = false;
  #count = 0;
  #onIdle: () => void = () => {};

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onIdle();
  }

  /** Resolves once all requests that have begun have ended. */
  async close(): Promise<void> {
    this.isClosing = true;
    if (this.#count > 0) await new Promise<void>((resolve) => { this.#onIdle = resolve; });
  }
}
