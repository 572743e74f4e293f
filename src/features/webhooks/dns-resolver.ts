/**
 * Looks up host names, a few at a time. The system's lookup blocks one of the four threads of
 * Node's pool for as long as a name server is slow, and the pool also compresses responses and
 * reads files. So one thread always stays free; a seller gets one lookup at a time, and all failing
 * endpoints share one.
 */
import { lookup } from 'node:dns/promises';
import { CONCURRENT_DNS_LOOKUPS_LIMIT } from './limits.ts';
import type { SellerId } from '../../domain/id.ts';
import type { Address } from './ssrf-guard.ts';

/** The system's lookup, or a replacement in a test. */
export type Lookup = (name: string) => Promise<readonly Address[]>;

/** On whose behalf a name is looked up. */
interface Requester {
  readonly sellerId: SellerId;
  /** Whether the last attempt to send there failed. */
  readonly isFailing: boolean;
}

interface Job extends Requester {
  readonly signal: AbortSignal;
  start(): Promise<void>;
}

export class DnsResolver {
  readonly #lookup: Lookup;
  #queue: Job[] = [];
  readonly #inFlight = new Set<Job>();

  constructor(look: Lookup = (name) => lookup(name, { all: true })) {
    this.#lookup = look;
  }

  /** All addresses of a name; rejects with the system's error, or once the signal aborts. */
  resolve(name: string, requester: Requester, signal: AbortSignal): Promise<readonly Address[]> {
    const { sellerId, isFailing } = requester;
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(new Error('The lookup was aborted.'));
      signal.addEventListener('abort', abort, { once: true });
      const start = async (): Promise<void> => {
        try {
          resolve(await this.#lookup(name));
        } catch (error) {
          reject(error);
        } finally {
          signal.removeEventListener('abort', abort);
        }
      };
      this.#queue.push({ sellerId, isFailing, signal, start });
      this.#startNext();
    });
  }

  #startNext(): void {
    this.#queue = this.#queue.filter(({ signal }) => !signal.aborted);
    while (this.#inFlight.size < CONCURRENT_DNS_LOOKUPS_LIMIT) {
      const index = this.#queue.findIndex((job) => this.#mayStart(job));
      const [job] = index < 0 ? [] : this.#queue.splice(index, 1);
      if (!job) return;
      void this.#run(job);
    }
  }

  #mayStart(job: Job): boolean {
    return ![...this.#inFlight].some(({ sellerId, isFailing }) =>
      sellerId === job.sellerId || (isFailing && job.isFailing));
  }

  /** An aborted lookup still occupies its thread until the system returns. */
  async #run(job: Job): Promise<void> {
    this.#inFlight.add(job);
    await job.start();
    this.#inFlight.delete(job);
    this.#startNext();
  }
}
