/**
 * Limits how many long-running operations run at the same time, per owner and in total, so that one
 * owner cannot starve the others and memory stays bounded. Excess operations are rejected with 503,
 * not queued.
 */
import { AppError } from './error.ts';

interface ConcurrencyLimits {
  readonly total: number;
  readonly perOwner: number;
}

/** Releases a slot; safe to call twice. */
export type Release = () => void;

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

  /** Operations that are running. */
  get count(): number {
    return this.#total;
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
    if (this.isExhausted(owner, perOwner) || this.#total >= this.#limits.total) return undefined;
    this.#add(owner, 1);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#add(owner, -1);
      isReleased = true;
    };
  }

  /** Whether the limit of the owner leaves no slot, whatever the total is. */
  isExhausted(owner: Owner, perOwner = this.#limits.perOwner): boolean {
    return (this.#counts.get(owner) ?? 0) >= perOwner;
  }

  #add(owner: Owner, change: 1 | -1): void {
    const count = (this.#counts.get(owner) ?? 0) + change;
    if (count > 0) this.#counts.set(owner, count);
    else this.#counts.delete(owner);
    this.#total += change;
  }
}

/** Takes a slot by each of these functions, or none if one of them throws. */
export function acquireAll(...functions: readonly (() => Release)[]): Release {
  using slots = new DisposableStack();
  for (const acquire of functions) slots.defer(acquire());
  const heldSlots = slots.move();
  return () => heldSlots.dispose();
}
