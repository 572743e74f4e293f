/**
 * The products that moved most. The lists of a shop are kept while its position and the period are
 * the same, so that reloading the page, or its CSV file, reads no changes again.
 */
import type { SellerId } from '../../../domain/id.ts';
import { DAY_MS } from '../../../domain/time.ts';
import type { TopMovers } from '../../../store/history-store.ts';
import { REPORTS_KEPT_LIMIT, TOP_MOVERS_SHOWN } from '../limits.ts';
import type { PageRequest, Portal } from '../route.ts';

interface Kept {
  readonly position: number;
  readonly since: number;
  /** Shared by requests that arrive while it is calculated. */
  readonly movers: Promise<TopMovers>;
}

/** Of the last days, today included. */
export function readTopMovers(
  { account: { sellerId }, position }: PageRequest, { pageInstances, clock }: Portal, days: number,
): Promise<TopMovers> {
  const since = (Math.floor(clock() / DAY_MS) - days + 1) * DAY_MS;
  return pageInstances.get(keepTopMovers).read(sellerId, position, since);
}

/** Created on first use. */
const keepTopMovers = ({ store }: Pick<Portal, 'store'>) => new KeptTopMovers(store);

class KeptTopMovers {
  readonly #store: Pick<Portal['store'], 'listTopMovers'>;
  /** Least recently calculated first. */
  readonly #kept = new Map<SellerId, Kept>();

  constructor(store: Pick<Portal['store'], 'listTopMovers'>) {
    this.#store = store;
  }

  read(sellerId: SellerId, position: number, since: number): Promise<TopMovers> {
    const known = this.#kept.get(sellerId);
    if (known?.position === position && known.since === since) return known.movers;
    const movers = this.#store.listTopMovers(sellerId, {
      since, after: 0, upTo: position, limit: TOP_MOVERS_SHOWN,
    });
    const kept = { position, since, movers };
    this.#kept.delete(sellerId);
    this.#kept.set(sellerId, kept);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > REPORTS_KEPT_LIMIT) this.#kept.delete(oldest);
    movers.catch(() => {
      if (this.#kept.get(sellerId) === kept) this.#kept.delete(sellerId);
    });
    return movers;
  }
}
