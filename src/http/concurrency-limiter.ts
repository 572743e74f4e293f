/**
 * Limits how many long-running operations run at the same time, per owner and in total, so that one
 * owner cannot starve the others and memory stays bounded. Excess operations are rejected with 503,
 * not queued.
 */
import { AppError } from '../domain/error.ts';

interface ConcurrencyLimits {
  readonly total: number;
  readonly perOwner: number;
}

/** Releases a slot; safe to call twice. */
type Release = () => void;

const RETRY_AFTER_SECONDS = 5;

export class ConcurrencyLimiter<Owner> {
  readonly #operations: string;
  readonly #limits: ConcurrencyLimits;
  readonly #counts = new Map<Owner, number>();
  #total = 0;

  /** @param operations Plural noun for error messages, such as `imports`. */
  constructor(operations: string, limits: ConcurrencyLimits) {
    this.#operations = operations;
    this.#limits = limits;
  }

  /**
   * Takes a slot and returns the function that releases it (safe to call twice).
   * @throws AppError `unavailable` with `Retry-After` when the owner, or the server, has no slot
   *   left
   */
  acquire(owner: Owner): Release {
    const release = this.tryAcquire(owner);
    if (release) return release;
    const count = this.#counts.get(owner) ?? 0;
    const running = count >= this.#limits.perOwner
      ? `You already have ${count} ${this.#operations} running, the maximum.`
      : `This server already has ${this.#total} ${this.#operations} running, the maximum.`;
    throw new AppError('unavailable', `${running} Retry when one has finished.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  /**
   * Like `acquire`, but undefined when no slot is left.
   * @param perOwner The limit of this owner, if it differs from the default.
   */
  tryAcquire(owner: Owner, perOwner = this.#limits.perOwner): Release | undefined {
    const count = this.#counts.get(owner) ?? 0;
    if (count >= perOwner || this.#total >= this.#limits.total) return undefined;
    this.#add(owner, 1);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#add(owner, -1);
      isReleased = true;
    };
  }

  #add(owner: Owner, change: 1 | -1): void {
    const count = (this.#counts.get(owner) ?? 0) + change;
    if (count > 0) this.#counts.set(owner, count);
    else this.#counts.delete(owner);
    this.#total += change;
  }
}
