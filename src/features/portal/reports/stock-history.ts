/**
 * The units and the value in stock at the end of each day, in UTC: the current totals without what
 * later changes added. Archived products count: archiving moves no stock. The history does not
 * change, so the sums of a shop are kept: the next report reads only later changes, and those of a
 * longer period.
 */
import type { SellerId } from '../../../domain/id.ts';
import { DAY_MS } from '../../../domain/time.ts';
import { BoundedMap } from '../../../runtime/bounded-map.ts';
import type { StockDayChange, StockSums } from '../../../store/history-store.ts';
import { REPORTS_KEPT_LIMIT } from '../limits.ts';
import type { Portal } from '../route.ts';

/**
 * The stock at the end of a day, or now. The value is undefined if the history no longer has all
 * prices since then.
 */
export type StockAtDay = StockDayChange;

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
export function stockHistories({ store }: { readonly store: Store }) {
  /** Least recently used first. */
  const kept = new BoundedMap<SellerId, StockHistory>(REPORTS_KEPT_LIMIT);
  /** The last update of each shop: the next one starts after it. */
  const updates = new Map<SellerId, Promise<unknown>>();

  async function update(
    sellerId: SellerId, position: number, sinceDay: number,
  ): Promise<StockHistory> {
    const history = kept.get(sellerId) ?? await startHistory(store, sellerId, position);
    kept.delete(sellerId); // until it is complete
    if (position > history.position) {
      const { days, after } = await store.sumStockChanges(sellerId, {
        since: 0, after: history.position, upTo: position,
      });
      // Pruning has removed changes or prices in between, or there are too many: begin again.
      if (after > history.position || days.some(({ valueMinor }) => valueMinor === undefined)) {
        return update(sellerId, position, sinceDay);
      }
      for (const change of days) {
        addDay(history, change);
        history.units += change.units;
        history.valueMinor += change.valueMinor ?? 0n;
      }
      history.position = position;
    }
    if (sinceDay < history.sinceDay && history.isWhole) {
      const sums = await store.sumStockChanges(sellerId, {
        since: sinceDay * DAY_MS, after: 0, upTo: history.after,
      });
      extend(history, sums, sinceDay);
    }
    kept.set(sellerId, history);
    return history;
  }

  return {
    /**
     * The days from `sinceDay` to `today`, in order, with all changes up to `position`. Begins
     * later if the history does.
     */
    async read(
      sellerId: SellerId, position: number, sinceDay: number, today: number,
    ): Promise<readonly StockAtDay[]> {
      const before = updates.get(sellerId);
      const reading = (async () => {
        await before?.catch(() => undefined); // its own caller gets the error
        return listDays(await update(sellerId, position, sinceDay), sinceDay, today);
      })();
      updates.set(sellerId, reading);
      try {
        return await reading;
      } finally {
        if (updates.get(sellerId) === reading) updates.delete(sellerId);
      }
    },
  };
}

async function startHistory(
  store: Store, sellerId: SellerId, position: number,
): Promise<StockHistory> {
  const { products: _, position: reached, ...totals }
    = await store.readTotals(sellerId, position, 'any');
  return {
    ...totals, position: reached, after: reached, sinceDay: Infinity, isWhole: true,
    days: new Map(),
  };
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
