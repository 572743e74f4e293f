/**
 * Looks up names, a few at a time. The system's own look-up knows what the machine knows of names,
 * and takes one of the four threads that compress answers and read files, too, for as long as a
 * name server keeps it waiting. So those are never all taken; a seller gets one of them at most,
 * and so do all endpoints that fail together.
 */
import { lookup } from 'node:dns/promises';
import { CONCURRENT_DNS_LOOKUPS_LIMIT } from './limits.ts';
import type { SellerId } from '../../domain/id.ts';
import type { Address } from './target.ts';

/** The system's look-up, or what a test puts in its place. */
export type Lookup = (name: string) => Promise<readonly Address[]>;

/** For whom a name is looked up. */
interface Asking {
  readonly sellerId: SellerId;
  /** Whether the last attempt to send there has failed. */
  readonly isFailing: boolean;
}

interface Job extends Asking {
  readonly signal: AbortSignal;
  start(): Promise<void>;
}

export class DnsResolver {
  readonly #lookup: Lookup;
  #waiting: Job[] = [];
  readonly #inFlight = new Set<Job>();

  constructor(look: Lookup = (name) => lookup(name, { all: true })) {
    this.#lookup = look;
  }

  /** All addresses of a name; rejects with the system's error, or once the signal is given. */
  resolve(name: string, asking: Asking, signal: AbortSignal): Promise<readonly Address[]> {
    const { sellerId, isFailing } = asking;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new Error('The look-up was given up.'));
      signal.addEventListener('abort', giveUp, { once: true });
      const start = async (): Promise<void> => {
        try {
          resolve(await this.#lookup(name));
        } catch (error) {
          reject(error);
        } finally {
          signal.removeEventListener('abort', giveUp);
        }
      };
      this.#waiting.push({ sellerId, isFailing, signal, start });
      this.#next();
    });
  }

  #next(): void {
    this.#waiting = this.#waiting.filter(({ signal }) => !signal.aborted);
    while (this.#inFlight.size < CONCURRENT_DNS_LOOKUPS_LIMIT) {
      const index = this.#waiting.findIndex((job) => this.#mayStart(job));
      const [job] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (!job) return;
      void this.#run(job);
    }
  }

  #mayStart(job: Job): boolean {
    return ![...this.#inFlight].some(({ sellerId, isFailing }) =>
      sellerId === job.sellerId || (isFailing && job.isFailing));
  }

  /** It goes on where it was given up: nothing takes the thread from the system. */
  async #run(job: Job): Promise<void> {
    this.#inFlight.add(job);
    await job.start();
    this.#inFlight.delete(job);
    this.#next();
  }
}
