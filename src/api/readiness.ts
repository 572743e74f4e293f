/**
 * Whether requests are well placed here: whether this server can read, and may expect to write.
 * However often it is asked, it looks no more than once a second; and where the disk does not
 * answer, nobody waits for that.
 */
import {
  READY_CHECK_INTERVAL_MS, READY_CHECK_TIMEOUT_MS, READY_MIN_FREE_BYTES, READY_RETRY_MS,
} from './limits.ts';
import type { AccessStore } from '../store/access-store.ts';
import type { MaintenanceStore, StoreMetrics } from '../store/maintenance-store.ts';

export class Readiness {
  readonly #store: Pick<AccessStore, 'listSellers'> & Pick<MaintenanceStore, 'readMetrics'>;
  #checkedAt = -Infinity;
  #check: Promise<string | undefined> | undefined;
  #fault: string | undefined;

  constructor(store: Pick<AccessStore, 'listSellers'> & Pick<MaintenanceStore, 'readMetrics'>) {
    this.#store = store;
  }

  /** What is in the way; undefined where nothing is. */
  async findFault(): Promise<string | undefined> {
    const now = performance.now();
    if (!this.#check && now >= this.#checkedAt + READY_CHECK_INTERVAL_MS) {
      this.#checkedAt = now;
      this.#check = this.#look().then((fault) => {
        this.#fault = fault;
        this.#check = undefined;
        return fault;
      });
    }
    if (!this.#check) return this.#fault;
    const late = Promise.withResolvers<string>();
    const timer = setTimeout(late.resolve, READY_CHECK_TIMEOUT_MS, 'The disk does not answer.');
    try {
      return await Promise.race([this.#check, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Never rejects. */
  async #look(): Promise<string | undefined> {
    try {
      await this.#store.listSellers({ after: undefined, limit: 1 });
      return describeFault(await this.#store.readMetrics());
    } catch {
      return 'The database cannot be read.'; // each request that tries it is told of the cause
    }
  }
}

function describeFault({ canWrite, freeBytes, lastFailure }: StoreMetrics): string | undefined {
  if (!canWrite) return 'Nothing can be written until this server is started again.';
  if (freeBytes < READY_MIN_FREE_BYTES) return 'The disk is full.';
  // Later it is worth a try: without requests nothing would show that it is over.
  if (!lastFailure || lastFailure.agoMs >= READY_RETRY_MS) return undefined;
  const isFull = lastFailure.code === 'storage_full';
  return isFull ? 'The disk is full.' : 'The last change could not be written.';
}
