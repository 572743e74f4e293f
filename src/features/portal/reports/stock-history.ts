/**
 * The units and the value in stock at the end of each day, in UTC: the current totals without what
 * later changes added. Archived products count: archiving moves no stock. The history does not
 * change, so the sums of a shop are kept: the next report reads only later changes, and those of a
 * longer period.
 */
import type { SellerId } from '../../../domain/id.ts';
import { DAY_MS } from '../../../domain/time.ts';
import type { StockDayChange, StockSums } from '../../../store/history-store.ts';
import { REPORTS_KEPT_LIMIT } from '../limits.ts';
import type { Portal } from '../route.ts';

/** The stock at the end of a day, or now. */
export interface StockAtDay {
  /** Days since 1970, in UTC. */
  readonly day: number;
  readonly units: bigint;
  /** In minor units; undefined if the history no longer has all prices since then. */
  readonly valueMinor: bigint | undefined;
}

interface StockHistory {
  /** The totals are of this position. */
  position: number;
  units: bigint;
  valueMinor: bigint;
  /** Days since 1970: changes of earlier days are not summed. */
  sinceDay: number;
  /** Changes after this position are summed. */
  after: number;
  /** Whether those before it can be, too. */
  isWhole: boolean;
  readonly days: Map<number, Omit<StockDayChange, 'day'>>;
}

type Store = Pick<Portal['store'], 'readTotals' | 'sumStockChanges'>;

/** The histories of shops, created on first use. */
export const stockHistories = ({ store }: Pick<Portal, 'store'>) => new StockHistories(store);

class StockHistories {
  readonly #store: Store;
  /** Least recently used first. */
  readonly #kept = new Map<SellerId, StockHistory>();
  /** The last update of each shop: the next one starts after it. */
  readonly #updates = new Map<SellerId, Promise<unknown>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * The days from `sinceDay` to `today`, in order, with all changes up to `position`. Begins later
   * if the history does.
   */
  async read(
    sellerId: SellerId, position: number, sinceDay: number, today: number,
  ): Promise<readonly StockAtDay[]> {
    const before = this.#updates.get(sellerId);
    const update = (async () => {
      await before?.catch(() => undefined); // its own caller gets the error
      const history = await this.#update(sellerId, position, sinceDay);
      return listDays(history, sinceDay, today);
    })();
    this.#updates.set(sellerId, update);
    try {
      return await update;
    } finally {
      if (this.#updates.get(sellerId) === update) this.#updates.delete(sellerId);
    }
  }

  async #update(sellerId: SellerId, position: number, sinceDay: number): Promise<StockHistory> {
    const history = this.#kept.get(sellerId) ?? await this.#start(sellerId, position);
    this.#kept.delete(sellerId); // until it is complete
    if (position > history.position) {
      const { days, after } = await this.#store.sumStockChanges(sellerId, {
        since: 0, after: history.position, upTo: position,
      });
      // Pruning has removed changes or prices in between, or there are too many: begin again.
      if (after > history.position || days.some(({ valueMinor }) => valueMinor === undefined)) {
        return this.#update(sellerId, position, sinceDay);
      }
      for (const change of days) {
        addDay(history, change);
        history.units += change.units;
        history.valueMinor += change.valueMinor ?? 0n;
      }
      history.position = position;
    }
    if (sinceDay < history.sinceDay && history.isWhole) {
      const sums = await this.#store.sumStockChanges(sellerId, {
        since: sinceDay * DAY_MS, after: 0, upTo: history.after,
      });
      extend(history, sums, sinceDay);
    }
    keepNewest(this.#kept, sellerId, history);
    return history;
  }

  async #start(sellerId: SellerId, position: number): Promise<StockHistory> {
    const { products: _, position: reached, ...totals }
      = await this.#store.readTotals(sellerId, position, 'any');
    return {
      ...totals, position: reached, after: reached, sinceDay: Infinity, isWhole: true,
      days: new Map(),
    };
  }
}

/** Keeps a shop's report as the newest one; beyond the limit, the oldest one goes. */
export function keepNewest<Report>(
  kept: Map<SellerId, Report>, sellerId: SellerId, report: Report,
): void {
  kept.delete(sellerId);
  kept.set(sellerId, report);
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > REPORTS_KEPT_LIMIT) kept.delete(oldest);
}

function extend(
  history: StockHistory, { days, after, isWhole }: StockSums, sinceDay: number,
): void {
  for (const change of days) addDay(history, change);
  history.after = Math.min(after, history.after);
  history.isWhole = isWhole;
  history.sinceDay = sinceDay;
}

function addDay({ days }: StockHistory, { day, units, valueMinor }: StockDayChange): void {
  const sum = days.get(day) ?? { units: 0n, valueMinor: 0n };
  days.set(day, {
    units: sum.units + units,
    valueMinor: valueMinor === undefined || sum.valueMinor === undefined
      ? undefined : sum.valueMinor + valueMinor,
  });
}

function listDays(history: StockHistory, sinceDay: number, today: number): readonly StockAtDay[] {
  const listed: StockAtDay[] = [];
  let { units, valueMinor }: { units: bigint; valueMinor: bigint | undefined } = history;
  // Without all changes, the end of the day before the first one is not known.
  const first = history.isWhole ? sinceDay
    : Math.max(sinceDay, Math.min(today, ...history.days.keys()));
  for (let day = today; day >= first; day -= 1) {
    listed.push({ day, units, valueMinor });
    const change = history.days.get(day);
    if (!change) continue;
    units -= change.units;
    valueMinor = valueMinor === undefined || change.valueMinor === undefined
      ? undefined : valueMinor - change.valueMinor;
  }
  return listed.reverse();
}
