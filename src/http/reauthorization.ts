/**
 * Checks at an interval whether a client still has the access with which a long request started:
 * its key or session may have been revoked since.
 */
export class Reauthorization {
  readonly #reauthorize: () => Promise<void>;
  readonly #intervalMs: number;
  readonly #now: () => number;
  #dueAt: number;
  #pending: Promise<void> | undefined;

  /** `reauthorize` rejects once the client has lost its access; `now` counts milliseconds. */
  constructor(
    reauthorize: () => Promise<void>, intervalMs: number, now = () => performance.now(),
  ) {
    this.#reauthorize = reauthorize;
    this.#intervalMs = intervalMs;
    this.#now = now;
    this.#dueAt = now() + intervalMs;
  }

  /** Whether the interval has passed since the last time. */
  get isDue(): boolean {
    return this.#now() >= this.#dueAt;
  }

  /** Reauthorizes; concurrent calls share one. @throws as `reauthorize` rejects */
  run(): Promise<void> {
    this.#pending ??= this.#reauthorize()
      .then(() => { this.#dueAt = this.#now() + this.#intervalMs; })
      .finally(() => { this.#pending = undefined; });
    return this.#pending;
  }
}
