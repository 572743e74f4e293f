/**
 * Looks up host names with limited concurrency. The system's lookup blocks one of the four threads
 * of Node's pool while a name server is slow, and the pool also compresses responses and reads
 * files. So one thread always stays free; a seller gets one lookup at a time, and all failing
 * endpoints share one.
 */
import { lookup } from 'node:dns/promises';
import { CONCURRENT_DNS_LOOKUPS_LIMIT } from './limits.ts';
import type { SellerId } from '../../domain/id.ts';
import type { Address } from './ssrf-guard.ts';

/** The system's lookup, or a replacement in a test. */
export type Lookup = (name: string) => Promise<readonly Address[]>;

/** For whom a name is looked up. */
interface Requester {
  readonly sellerId: SellerId;
  /** Whether the last attempt to send there failed. */
  readonly isFailing: boolean;
}

interface Job extends Requester {
  readonly signal: AbortSignal;
  /** Resolves once the lookup has returned: until then it occupies its thread, even if aborted. */
  run(): Promise<void>;
}

export class DnsResolver {
  readonly #lookup: Lookup;
  #queue: readonly Job[] = [];
  readonly #inFlight = new Set<Job>();

  constructor(look: Lookup = (name) => lookup(name, { all: true })) {
    this.#lookup = look;
  }

  /** All addresses of a name; rejects with the system's error, or once the signal aborts. */
  resolve(name: string, requester: Requester, signal: AbortSignal): Promise<readonly Address[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Address[]>();
    const abort = (): void => reject(new Error('The lookup was aborted.'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    const run = (): Promise<void> => this.#lookup(name).then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
    this.#queue = [...this.#queue, { ...requester, signal, run }];
    this.#startNext();
    return promise;
  }

  #startNext(): void {
    this.#queue = this.#queue.filter((job) => !job.signal.aborted && !this.#start(job));
  }

  /** Returns whether it could start the job. */
  #start(job: Job): boolean {
    const isBlocked = this.#inFlight.size >= CONCURRENT_DNS_LOOKUPS_LIMIT
      || [...this.#inFlight].some(({ sellerId, isFailing }) =>
        sellerId === job.sellerId || (isFailing && job.isFailing));
    if (isBlocked) return false;
    this.#inFlight.add(job);
    void job.run().then(() => {
      this.#inFlight.delete(job);
      this.#startNext();
    });
    return true;
  }
}
