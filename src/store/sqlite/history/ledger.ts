/**
 * The ledger of stock, and the stock as it once stood, from the history alone. A look may have to
 * pass over much of it, so it goes in short steps, between which others have their turns; what was
 * written is never changed, so the steps need no common snapshot.
 */
import { HISTORY_SCAN_LIMIT, LEDGER_PRODUCTS_LIMIT, LEDGER_STEPS_LIMIT } from '../limits.ts';
import type { Change } from '../../../domain/catalogue/change.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type {
  MovementFilter, MovementPage, MovementQuery, StockLevelAt, StockLevelPage,
} from '../../history-store.ts';
import type { PageQuery } from '../../write.ts';
import { assertReached } from '../../rules/history.ts';
import type { KnownProduct, Span } from './ledger-queries.ts';
import type { Reader } from '../engine/reader.ts';

/** A part of the history, and where all that is kept of it begins. */
interface KeptSpan extends Span {
  readonly prunedTo: number;
}

type Positions = AsyncGenerator<readonly number[], void, void>;

/** What the first look back from a change reads; each one after it twice as much, to the most. */
const FIRST_STEPS = 64;
const MOST_STEPS = 2_000;
/** Changes that are read one by one in a turn. */
const TURN_CHANGES = 1_000;
/** What the level of a product that has moved since costs beside its way, in steps of a way. */
const LEVEL_STEPS = 50;

export class Ledger {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async listMovements(sellerId: SellerId, query: MovementQuery): Promise<MovementPage> {
    const span = this.#findSpan(sellerId, query);
    const { sku, productId } = query.filter;
    if (sku === undefined && productId === undefined) return this.#scan(sellerId, query, span);
    const movements: Change[] = [];
    for await (const positions of this.#walkProducts(sellerId, query, span)) {
      for (const [index, position] of positions.entries()) {
        if (index % TURN_CHANGES === TURN_CHANGES - 1) await yieldToEventLoop();
        if (position > span.upTo) continue;
        const change = this.#reader.snapshot().findChange(sellerId, position);
        if (!change || !isMatch(change, query.filter)) continue;
        movements.push(change);
        if (movements.length > query.limit) return endPage(movements, query, span);
      }
    }
    return endPage(movements, query, span);
  }

  findPreviousSnapshots(
    sellerId: SellerId, positions: readonly number[],
  ): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    let rest = HISTORY_SCAN_LIMIT;
    for (const position of positions) {
      if (rest <= 1) break;
      const { product, steps } = this.#reader.snapshot()
        .findPreviousSnapshot(sellerId, position, rest);
      if (product !== undefined) found.set(position, product);
      rest -= steps;
    }
    return found;
  }

  async findPositionAt(sellerId: SellerId, at: number): Promise<number> {
    const queries = this.#reader.snapshot();
    const reach = queries.findReach(sellerId);
    const position = queries.findPositionAt(sellerId, at, reach.prunedTo);
    const isKnown = position > reach.prunedTo || queries.isBefore(sellerId, position, at);
    // That position is the first one that is known: the change at this time may be an earlier one.
    if (!isKnown) assertReached(reach, position - 1, 'at');
    return position;
  }

  async listStockAt(
    sellerId: SellerId, position: number, { after, limit }: PageQuery<ProductId>,
  ): Promise<StockLevelPage> {
    const levels: StockLevelAt[] = [];
    const queries = this.#reader.snapshot();
    assertReached(queries.findReach(sellerId), position, 'at');
    let walked = 0;
    for (let last: number = after ?? 0; levels.length <= limit;) {
      await yieldToEventLoop(); // also at first: many may ask for this in one turn
      const known = this.#reader.snapshot().listKnown(sellerId, last, position, limit + 1);
      for (const product of known) {
        const { level, steps } = await this.#findLevelAt(sellerId, product, position);
        if (level) levels.push(level);
        last = product.id;
        walked += steps === 0 ? 0 : steps + LEVEL_STEPS;
        if (walked < HISTORY_SCAN_LIMIT) continue;
        await yieldToEventLoop(); // short ways add up, too
        walked = 0;
      }
      if (known.length <= limit) break;
    }
    // Once more, for what was there may have been removed meanwhile.
    assertReached(this.#reader.snapshot().findReach(sellerId), position, 'at');
    return { levels: levels.slice(0, limit), hasMore: levels.length > limit };
  }

  /** The part of the history that can have what is asked for. */
  #findSpan(sellerId: SellerId, { filter, after, upTo }: MovementQuery): KeptSpan {
    const queries = this.#reader.snapshot();
    const { prunedTo, position } = queries.findReach(sellerId);
    const { since, until } = filter;
    const find = (at: number): number => queries.findPositionAt(sellerId, at, prunedTo);
    return {
      prunedTo,
      after: Math.max(after, prunedTo, since === undefined ? 0 : find(since - 1)),
      upTo: Math.min(upTo, position, until === undefined ? position : find(until)),
    };
  }

  /** Movements of any product: as far as one request may look. */
  async #scan(
    sellerId: SellerId, query: MovementQuery, span: KeptSpan,
  ): Promise<MovementPage> {
    const { filter, isDescending, limit } = query;
    const movements: Change[] = [];
    let { after, upTo } = span;
    for (let step = 0; step < LEDGER_STEPS_LIMIT && after < upTo; step += 1) {
      if (step > 0) await yieldToEventLoop();
      const part = isDescending
        ? { after: Math.max(after, upTo - HISTORY_SCAN_LIMIT), upTo }
        : { after, upTo: Math.min(upTo, after + HISTORY_SCAN_LIMIT) };
      const missing = limit + 1 - movements.length;
      movements.push(...this.#reader.snapshot()
        .scanMovements(sellerId, part, filter, isDescending, missing));
      if (movements.length > limit) return endPage(movements, query, span);
      if (isDescending) upTo = part.after;
      else after = part.upTo;
    }
    const isDone = after >= upTo;
    const next = isDone ? undefined : isDescending ? upTo : after;
    return { movements, next, prunedTo: span.prunedTo };
  }

  /**
   * Positions of the changes of the products that a filter names, after the span begins, in the
   * order asked for. The way of one product leads back: the newest come without the older ones.
   */
  async *#walkProducts(
    sellerId: SellerId, { filter, isDescending }: MovementQuery, { after, upTo }: Span,
  ): Positions {
    const starts = this.#findStarts(sellerId, filter, upTo);
    const [start] = starts;
    if (isDescending && start !== undefined && starts.length === 1) {
      yield* this.#walk(sellerId, start, after);
      return;
    }
    const all: number[] = [];
    for (const from of starts) {
      for await (const positions of this.#walk(sellerId, from, after)) all.push(...positions);
    }
    yield all.sort((a, b) => (isDescending ? b - a : a - b));
  }

  /** A page of one product that goes on begins with the change that the one before ended with. */
  #findStarts(sellerId: SellerId, filter: MovementFilter, upTo: number): readonly number[] {
    const queries = this.#reader.snapshot();
    const newest = queries.findNewest(sellerId, filter, LEDGER_PRODUCTS_LIMIT);
    const { productId } = filter;
    const isOnWay = productId !== undefined && newest.length > 0
      && queries.findChange(sellerId, upTo + 1)?.productId === productId;
    return isOnWay ? [upTo + 1] : newest;
  }

  /** From a change back to the first one after a position. */
  async *#walk(sellerId: SellerId, from: number, after: number): Positions {
    let count = FIRST_STEPS;
    for (let next: number | undefined = from; next !== undefined && next > after;) {
      const steps = this.#reader.snapshot().listVersions(sellerId, next, after, count);
      yield steps.map(({ position }) => position);
      next = steps.at(-1)?.previousPosition;
      if (steps.length < count) return;
      if (count === MOST_STEPS) await yieldToEventLoop();
      count = Math.min(2 * count, MOST_STEPS);
    }
  }

  /** No level for a product that was not there yet; and over how many changes the way went. */
  async #findLevelAt(
    sellerId: SellerId, { id, sku, stock, position: last }: KnownProduct, position: number,
  ): Promise<{ readonly level?: StockLevelAt; readonly steps: number }> {
    if (last <= position) return { level: { id, sku, stock, position: last }, steps: 0 };
    let first = last;
    let steps = 0;
    for await (const positions of this.#walk(sellerId, last, position)) {
      first = positions.at(-1) ?? first;
      steps += positions.length;
    }
    const queries = this.#reader.snapshot();
    const next = queries.findChange(sellerId, first);
    if (!next || next.type === 'created') return { steps };
    const [, prior] = queries.listVersions(sellerId, first, 0, 2);
    const before = prior && queries.findChange(sellerId, prior.position);
    const level = {
      // The change before is kept as long as `position` is.
      id, sku: before?.sku ?? next.sku, stock: next.movement.before,
      position: prior?.position ?? position,
    };
    return { level, steps };
  }
}

/** The span has the time already, but for changes made while a clock was far ahead. */
function isMatch({ at, type, movement }: Change, filter: MovementFilter): boolean {
  const { source, reason, until, types } = filter;
  return (types ? types.includes(type) : movement.before !== movement.after)
    && (until === undefined || at <= until)
    && (source === undefined || movement.source === source)
    && (reason === undefined || movement.reason === reason);
}

/** A page of what was found, which may be one too many. */
function endPage(
  found: readonly Change[], { isDescending, limit }: MovementQuery, { prunedTo }: KeptSpan,
): MovementPage {
  const movements = found.slice(0, limit);
  const last = found.length > limit ? movements.at(-1)?.position : undefined;
  return { movements, next: last === undefined || !isDescending ? last : last - 1, prunedTo };
}
