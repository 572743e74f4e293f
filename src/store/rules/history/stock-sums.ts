/**
 * What changes added to the stock of a catalogue and to its value, per day, and which products
 * moved most. Reads the history backward, in short slices.
 *
 * A movement of stock is worth its units at the price that the product had then. The history has
 * prices only in snapshots, so movements wait for the snapshot before them: the product as it is
 * now, if nobody has edited it since; one that a later slice reads; or, at the end, the one that
 * the version chain leads to. All three have the same price, so the sums are exact.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { parseSnapshot } from '../../../domain/catalogue/product.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { DAY_MS } from '../../../domain/time.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type {
  MoversQuery, ProductMoves, StockDayChange, StockSums, TopMovers,
} from '../../history-store.ts';
import { STOCK_SUMS_CHANGES_LIMIT, TOP_MOVERS_CHANGES_LIMIT } from '../../limits.ts';
import { followChains } from './chains.ts';
import type { HistoryQueries, KeptSpan, Span, StockEffect } from './queries.ts';

/** Changes that one query reads. */
const SLICE_CHANGES = 1_000;

interface DaySum {
  units: bigint;
  valueMinor: bigint;
}

/** Units whose price is not known yet. */
interface Waiting {
  /** The oldest change among them. */
  position: number;
  /** Units by day. */
  readonly units: Map<number, bigint>;
}

export async function sumStockChanges(
  queries: HistoryQueries, sellerId: SellerId, { after: start, upTo, prunedTo }: KeptSpan,
): Promise<StockSums> {
  const after = Math.max(start, upTo - STOCK_SUMS_CHANGES_LIMIT);
  const currency = (await queries.findSeller(sellerId))?.currency;
  const sums = new StockDaySums();
  for await (const effects of readEffects(queries, sellerId, { after, upTo })) {
    if (currency) for (const effect of effects) sums.add(effect, currency);
    const ids = sums.listWaiting(effects);
    const prices = ids.length === 0 ? [] : await queries.listCurrentPrices(sellerId, ids);
    for (const { productId, priceMinor, since } of prices) {
      sums.settle(productId, priceMinor, since);
    }
  }
  const starts = sums.waitingPositions();
  const snapshots = await followChains([...starts.keys()], {
    follow: (from) => queries.findSnapshots(sellerId, from, SLICE_CHANGES),
  });
  for (const [position, productId] of starts) {
    const snapshot = snapshots.get(position)?.product;
    if (snapshot === undefined || !currency) continue;
    sums.settle(productId, parseSnapshot(snapshot, currency).priceMinor, 0);
  }
  return { days: sums.list(), after, isWhole: after === start && isKept(after, prunedTo) };
}

/** Whether no change after this position was pruned. */
function isKept(after: number, prunedTo: number): boolean {
  return prunedTo === 0 || after > prunedTo;
}

/** The sums of days, and the units that wait for a price, while the history is read backward. */
class StockDaySums {
  readonly #days = new Map<number, DaySum>();
  readonly #waiting = new Map<ProductId, Waiting>();

  add(effect: StockEffect, currency: Currency): void {
    const { type, productId, at, before, after, snapshot, position } = effect;
    const day = Math.floor(at / DAY_MS);
    const sum = this.#sumOf(day);
    sum.units += BigInt(after - before);
    if (snapshot === undefined) return this.#wait(productId, position, day, after - before);
    const { priceMinor } = parseSnapshot(snapshot, currency);
    this.settle(productId, priceMinor, 0);
    // The snapshot of a deletion has the last price; any other one has the price since then.
    if (type === 'deleted') sum.valueMinor -= BigInt(before) * BigInt(priceMinor);
    else {
      sum.valueMinor += BigInt(after) * BigInt(priceMinor);
      this.#wait(productId, position, day, -before);
    }
  }

  /** Values the units that wait, if the price holds since before the oldest of them. */
  settle(productId: ProductId, priceMinor: number, since: number): void {
    const waiting = this.#waiting.get(productId);
    if (!waiting || since >= waiting.position) return;
    for (const [day, units] of waiting.units) {
      this.#sumOf(day).valueMinor += units * BigInt(priceMinor);
    }
    this.#waiting.delete(productId);
  }

  /** Those of these products that have units that wait. */
  listWaiting(effects: readonly StockEffect[]): readonly ProductId[] {
    return [...new Set(effects.map(({ productId }) => productId))]
      .filter((id) => this.#waiting.has(id));
  }

  /** The products that wait, by the oldest changes. */
  waitingPositions(): ReadonlyMap<number, ProductId> {
    return new Map([...this.#waiting].map(([id, { position }]) => [position, id]));
  }

  /** Newest first. Without a value if the prices of the day, or of a later one, are pruned. */
  list(): readonly StockDayChange[] {
    let unknown = -1;
    for (const { units } of this.#waiting.values()) unknown = Math.max(unknown, ...units.keys());
    return [...this.#days].sort(([one], [other]) => other - one)
      .map(([day, { units, valueMinor }]) =>
        ({ day, units, valueMinor: day <= unknown ? undefined : valueMinor }));
  }

  #sumOf(day: number): DaySum {
    const existing = this.#days.get(day);
    if (existing) return existing;
    const sum = { units: 0n, valueMinor: 0n };
    this.#days.set(day, sum);
    return sum;
  }

  #wait(productId: ProductId, position: number, day: number, units: number): void {
    if (units === 0) return;
    const waiting = this.#waiting.get(productId) ?? { position, units: new Map() };
    waiting.position = position;
    waiting.units.set(day, (waiting.units.get(day) ?? 0n) + BigInt(units));
    this.#waiting.set(productId, waiting);
  }
}

/** `ProductMoves` while they are counted. */
interface Counted extends Pick<ProductMoves, 'productId' | 'sku'> {
  unitsIn: number;
  unitsOut: number;
}

export async function listTopMovers(
  queries: HistoryQueries, sellerId: SellerId, { limit }: MoversQuery,
  { after: start, upTo, prunedTo }: KeptSpan,
): Promise<TopMovers> {
  const after = Math.max(start, upTo - TOP_MOVERS_CHANGES_LIMIT);
  const products = new Map<ProductId, Counted>();
  let since: number | undefined;
  for await (const effects of readEffects(queries, sellerId, { after, upTo })) {
    for (const { productId, sku, before, after: level, at } of effects) {
      since = at;
      const moves = products.get(productId) ?? { productId, sku, unitsIn: 0, unitsOut: 0 };
      if (level > before) moves.unitsIn += level - before;
      else moves.unitsOut += before - level;
      products.set(productId, moves);
    }
  }
  const most = (member: 'unitsIn' | 'unitsOut'): readonly ProductMoves[] =>
    [...products.values()].filter((moves) => moves[member] > 0)
      .sort((one, other) => other[member] - one[member] || one.productId - other.productId)
      .slice(0, limit);
  return {
    most: { unitsIn: most('unitsIn'), unitsOut: most('unitsOut') },
    isWhole: after === start && isKept(after, prunedTo),
    since,
  };
}

async function* readEffects(
  queries: HistoryQueries, sellerId: SellerId, { after, upTo }: Span,
): AsyncGenerator<readonly StockEffect[], void, void> {
  for (let end = upTo; end > after; end -= SLICE_CHANGES) {
    await yieldToEventLoop();
    const part = { after: Math.max(after, end - SLICE_CHANGES), upTo: end };
    yield await queries.scanStock(sellerId, part, SLICE_CHANGES);
  }
}
