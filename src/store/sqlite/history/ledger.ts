/**
 * The stock ledger, from the history alone. A request may have to scan much of it, so it reads
 * short slices and yields in between. Change events are immutable, so the slices need no common
 * snapshot.
 */
import { HISTORY_SCAN_LIMIT, LEDGER_PRODUCTS_LIMIT, LEDGER_STEPS_LIMIT } from '../limits.ts';
import type { Change } from '../../../domain/catalogue/change.ts';
import type { SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type { MovementFilter, MovementPage, MovementQuery } from '../../history-store.ts';
import { assertReached } from '../../rules/history.ts';
import type { Span } from './history-queries.ts';
import type { Reader } from '../engine/reader.ts';

/** A span of the history, and where the history begins. */
interface KeptSpan extends Span {
  readonly prunedTo: number;
}

type Positions = AsyncGenerator<readonly number[], void, void>;

/** Versions that the first query of a chain reads; each further query doubles them. */
const FIRST_VERSIONS = 64;
const VERSIONS_LIMIT = 2_000;
/** Changes read one by one in a slice. */
const SLICE_CHANGES = 1_000;

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
    for await (const positions of this.#listProductPositions(sellerId, query, span)) {
      for (const [index, position] of positions.entries()) {
        if (index % SLICE_CHANGES === SLICE_CHANGES - 1) await yieldToEventLoop();
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
      const { product, versions } = this.#reader.snapshot()
        .findPreviousSnapshot(sellerId, position, rest);
      if (product !== undefined) found.set(position, product);
      rest -= versions;
    }
    return found;
  }

  async findPositionAt(sellerId: SellerId, at: number): Promise<number> {
    const queries = this.#reader.snapshot();
    const reach = queries.findReach(sellerId);
    const position = queries.findPositionAt(sellerId, at, reach.prunedTo);
    const isKnown = position > reach.prunedTo || queries.isBefore(sellerId, position, at);
    // The first known position: the change at this time may be earlier.
    if (!isKnown) assertReached(reach, position - 1, 'at');
    return position;
  }

  /** The part of the history that may match a query. */
  #findSpan(sellerId: SellerId, { filter, after, upTo }: MovementQuery): KeptSpan {
    const queries = this.#reader.snapshot();
    const { prunedTo, position } = queries.findReach(sellerId);
    const { since, until, importId } = filter;
    const imported = importId === undefined ? { after: 0, upTo: position }
      : queries.findImportSpan(sellerId, importId) ?? { after: 0, upTo: 0 };
    const find = (at: number): number => queries.findPositionAt(sellerId, at, prunedTo);
    return {
      prunedTo,
      after: Math.max(
        after, prunedTo, imported.after, since === undefined ? 0 : find(since - 1),
      ),
      upTo: Math.min(upTo, position, imported.upTo, until === undefined ? position : find(until)),
    };
  }

  /** Movements of any product, within the limit of one request. */
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
   * Positions of the changes of the products that a filter names, from the start of the span, in
   * the requested order. A version chain leads back in time, so for one product the newest changes
   * come before older ones are read.
   */
  async *#listProductPositions(
    sellerId: SellerId, { filter, isDescending }: MovementQuery, { after, upTo }: Span,
  ): Positions {
    const starts = this.#findStarts(sellerId, filter, upTo);
    const [start] = starts;
    if (isDescending && start !== undefined && starts.length === 1) {
      yield* this.#followChain(sellerId, start, after);
      return;
    }
    const all: number[] = [];
    for (const from of starts) {
      for await (const some of this.#followChain(sellerId, from, after)) all.push(...some);
    }
    yield all.sort((a, b) => (isDescending ? b - a : a - b));
  }

  /** A further page of one product starts where the previous page ended. */
  #findStarts(sellerId: SellerId, filter: MovementFilter, upTo: number): readonly number[] {
    const queries = this.#reader.snapshot();
    const newest = queries.findNewest(sellerId, filter, LEDGER_PRODUCTS_LIMIT);
    const { productId } = filter;
    const isInChain = productId !== undefined && newest.length > 0
      && queries.findChange(sellerId, upTo + 1)?.productId === productId;
    return isInChain ? [upTo + 1] : newest;
  }

  /** The version chain of a product, from a change back to the first one after a position. */
  async *#followChain(sellerId: SellerId, from: number, after: number): Positions {
    let limit = FIRST_VERSIONS;
    for (let next: number | undefined = from; next !== undefined && next > after;) {
      const versions = this.#reader.snapshot().listVersions(sellerId, next, after, limit);
      yield versions.map(({ position }) => position);
      next = versions.at(-1)?.previousPosition;
      if (versions.length < limit) return;
      if (limit === VERSIONS_LIMIT) await yieldToEventLoop();
      limit = Math.min(2 * limit, VERSIONS_LIMIT);
    }
  }
}

/** The span implies the times, except for changes made while a clock was far ahead. */
function isMatch({ at, type, movement, importId }: Change, filter: MovementFilter): boolean {
  const { source, reason, until, types } = filter;
  return (types ? types.includes(type) : movement.before !== movement.after)
    && (until === undefined || at <= until)
    && (source === undefined || movement.source === source)
    && (reason === undefined || movement.reason === reason)
    && (filter.importId === undefined || importId === filter.importId);
}

/** A page of the results, which may include one item too many. */
function endPage(
  found: readonly Change[], { isDescending, limit }: MovementQuery, { prunedTo }: KeptSpan,
): MovementPage {
  const movements = found.slice(0, limit);
  const last = found.length > limit ? movements.at(-1)?.position : undefined;
  return { movements, next: last === undefined || !isDescending ? last : last - 1, prunedTo };
}
