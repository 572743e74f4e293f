/**
 * Counts what is under way and takes long, and refuses what would be too much: for one owner, so
 * that nobody keeps the others out, and for all of them together, so that memory has a bound.
 */
import { AppError } from '../domain/error.ts';

interface Limits {
  readonly all: number;
  readonly perOwner: number;
}

const RETRY_AFTER_SECONDS = 5;

export class ConcurrencyLimiter<Owner> {
  readonly #what: string;
  readonly #limits: Limits;
  readonly #counts = new Map<Owner, number>();
  #all = 0;

  /** `what` is the plural that a refusal names. */
  constructor(what: string, limits: Limits) {
    this.#what = what;
    this.#limits = limits;
  }

  /** Call what it returns when it is over. @throws AppError `unavailable` */
  acquire(owner: Owner): () => void {
    const count = this.#counts.get(owner) ?? 0;
    if (count >= this.#limits.perOwner) throw this.#refuse(`${count} of your`);
    if (this.#all >= this.#limits.all) throw this.#refuse(`${this.#all}`);
    this.#add(owner, 1);
    let isOver = false;
    return () => {
      if (!isOver) this.#add(owner, -1);
      isOver = true;
    };
  }

  #add(owner: Owner, change: 1 | -1): void {
    const count = (this.#counts.get(owner) ?? 0) + change;
    if (count > 0) this.#counts.set(owner, count);
    else this.#counts.delete(owner);
    this.#all += change;
  }

  #refuse(whose: string): AppError {
    const detail = `${whose} ${this.#what} are under way, which is the most at once.`;
    return new AppError('unavailable', `${detail} Try again when one has ended.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
