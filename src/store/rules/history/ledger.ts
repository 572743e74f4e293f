/**
 * The stock ledger, from the history alone. A request may have to scan much of it, so it reads
 * short slices and yields in between. Change events are immutable, so the slices need no common
 * snapshot.
 */
import { type Change, CHANGE_TYPES } from '../../../domain/catalogue/change.ts';
import type { SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type {
  HistoryStore, MovementFilter, MovementPage, MovementQuery,
} from '../../history-store.ts';
import {
  HISTORY_SCAN_LIMIT, LEDGER_PRODUCTS_LIMIT, LEDGER_STEPS_LIMIT, LIST_COUNT_LIMIT,
} from '../../limits.ts';
import { assertReached } from '../history.ts';
import { nextPart } from './collapsed-changes.ts';
import type { HistoryQueries, KeptSpan, Span } from './queries.ts';

type Positions = AsyncGenerator<readonly number[], void, void>;

/** Versions that the first query of a chain reads; each further query doubles them. */
const FIRST_VERSIONS = 64;
const VERSIONS_LIMIT = 2_000;
/** Changes of a version chain that one query reads; the first one reads a page. */
const SLICE_CHANGES = 1_000;

export function ledgerMethods(queries: HistoryQueries) {
  return {
    listMovements: (sellerId, query) => listMovements(queries, sellerId, query),
    async countMovements(sellerId, { filter, ...query }) {
      const { sku, productId, types, source, reason, importId, keyId } = filter;
      if (sku !== undefined || productId !== undefined) {
        const page = { ...query, filter, isDescending: true, limit: LIST_COUNT_LIMIT / 10 };
        const { movements, next } = await listMovements(queries, sellerId, page);
        return { count: movements.length, isExact: next === undefined };
      }
      const { after, upTo } = await findSpan(queries, sellerId, query, filter);
      const isWhole = types?.length === CHANGE_TYPES.length
        && [source, reason, importId, keyId].every((condition) => condition === undefined);
      if (isWhole) return { count: Math.max(upTo - after, 0), isExact: true };
      if (upTo - after > HISTORY_SCAN_LIMIT) return undefined;
      const count = await queries.countMovements(sellerId, { after, upTo }, filter);
      return { count, isExact: true };
    },
    async findPreviousSnapshots(sellerId, positions) {
      if (positions.length === 0) return new Map();
      const snapshots = await queries.findSnapshots(sellerId, positions, HISTORY_SCAN_LIMIT);
      return new Map(snapshots.flatMap((snapshot, index) => {
        const position = positions[index];
        return snapshot?.product === undefined || position === undefined ? []
          : [[position, snapshot.product] as const];
      }));
    },
    async findPositionAt(sellerId, at) {
      const { reach, position, isKnown } = await queries.findTime(sellerId, at);
      // The first known position: the change at this time may be earlier.
      if (!isKnown) assertReached(reach, position - 1, 'at');
      return position;
    },
  } satisfies Partial<HistoryStore>;
}

async function listMovements(
  queries: HistoryQueries, sellerId: SellerId, query: MovementQuery,
): Promise<MovementPage> {
  const span = await findSpan(queries, sellerId, query, query.filter);
  const { sku, productId } = query.filter;
  if (sku === undefined && productId === undefined) return scan(queries, sellerId, query, span);
  const movements: Change[] = [];
  let size = query.limit + 1;
  for await (const chainPositions of listProductPositions(queries, sellerId, query, span)) {
    const positions = chainPositions.filter((position) => position <= span.upTo);
    for (let start = 0; start < positions.length;) {
      if (size === SLICE_CHANGES) await yieldToEventLoop();
      const slice = positions.slice(start, start + size);
      const changes = await queries.listChangesAt(sellerId, slice);
      movements.push(...changes.filter((change) => isMatch(change, query.filter)));
      if (movements.length > query.limit) return endPage(movements, query, span);
      start += size;
      size = Math.min(2 * size, SLICE_CHANGES);
    }
  }
  return endPage(movements, query, span);
}

/** The part of the history that may match a query. */
export async function findSpan(
  queries: HistoryQueries, sellerId: SellerId, { after, upTo }: Span,
  { since, until, importId }: MovementFilter,
): Promise<KeptSpan> {
  const { prunedTo, position } = await queries.findReach(sellerId);
  const imported = importId === undefined ? { after: 0, upTo: position }
    : await queries.findImportSpan(sellerId, importId) ?? { after: 0, upTo: 0 };
  const find = async (at: number) => (await queries.findTime(sellerId, at)).position;
  return {
    prunedTo,
    after: Math.max(
      after, prunedTo, imported.after, since === undefined ? 0 : await find(since - 1),
    ),
    upTo: Math.min(
      upTo, position, imported.upTo, until === undefined ? position : await find(until),
    ),
  };
}

/** Movements of any product, within the limit of one request. */
async function scan(
  queries: HistoryQueries, sellerId: SellerId, query: MovementQuery, span: KeptSpan,
): Promise<MovementPage> {
  const { filter, isDescending, limit } = query;
  const movements: Change[] = [];
  let { after, upTo } = span;
  for (let step = 0; step < LEDGER_STEPS_LIMIT && after < upTo; step += 1) {
    if (step > 0) await yieldToEventLoop();
    const part = nextPart({ after, upTo }, isDescending);
    const missing = limit + 1 - movements.length;
    movements.push(...await queries.scanMovements(sellerId, part, filter, isDescending, missing));
    if (movements.length > limit) return endPage(movements, query, span);
    if (isDescending) upTo = part.after;
    else after = part.upTo;
  }
  const next = after >= upTo ? undefined : isDescending ? upTo : after;
  return { movements, next, prunedTo: span.prunedTo };
}

/**
 * Positions of the changes of the products that a filter names, from the start of the span, in
 * the requested order. A version chain leads back in time, so for one product the newest changes
 * come before older ones are read.
 */
async function* listProductPositions(
  queries: HistoryQueries, sellerId: SellerId, { filter, isDescending }: MovementQuery,
  { after, upTo }: Span,
): Positions {
  const starts = await findStarts(queries, sellerId, filter, upTo);
  const [start] = starts;
  if (isDescending && start !== undefined && starts.length === 1) {
    yield* followChain(queries, sellerId, start, after);
    return;
  }
  const positions: number[] = [];
  for (const from of starts) {
    for await (const part of followChain(queries, sellerId, from, after)) positions.push(...part);
  }
  yield positions.sort((a, b) => (isDescending ? b - a : a - b));
}

/** A further page of one product starts where the previous page ended. */
async function findStarts(
  queries: HistoryQueries, sellerId: SellerId, filter: MovementFilter, upTo: number,
): Promise<readonly number[]> {
  const newest = await queries.findNewest(sellerId, filter, LEDGER_PRODUCTS_LIMIT);
  const { productId } = filter;
  if (productId === undefined || newest.length === 0) return newest;
  const [next] = await queries.listChangesAt(sellerId, [upTo + 1]);
  return next?.productId === productId ? [upTo + 1] : newest;
}

/** The version chain of a product, from a change back to the first one after a position. */
async function* followChain(
  queries: HistoryQueries, sellerId: SellerId, from: number, after: number,
): Positions {
  let limit = FIRST_VERSIONS;
  for (let next: number | undefined = from; next !== undefined && next > after;) {
    const versions: Awaited<ReturnType<HistoryQueries['listVersions']>>
      = await queries.listVersions(sellerId, next, after, limit);
    yield versions.map(({ position }) => position);
    next = versions.at(-1)?.previousPosition;
    if (versions.length < limit) return;
    if (limit === VERSIONS_LIMIT) await yieldToEventLoop();
    limit = Math.min(2 * limit, VERSIONS_LIMIT);
  }
}

/** The span implies the times, except for changes made while a clock was far ahead. */
function isMatch({ at, type, movement, importId, keyId }: Change, filter: MovementFilter): boolean {
  const { source, reason, until, types } = filter;
  return (types ? types.includes(type) : movement.before !== movement.after)
    && (until === undefined || at <= until)
    && (source === undefined || movement.source === source)
    && (reason === undefined || movement.reason === reason)
    && (filter.importId === undefined || importId === filter.importId)
    && (filter.keyId === undefined || keyId === filter.keyId);
}

/** A page of the results, which may include one item too many. */
function endPage(
  changes: readonly Change[], { isDescending, limit }: MovementQuery, { prunedTo }: KeptSpan,
): MovementPage {
  const movements = changes.slice(0, limit);
  const last = changes.length > limit ? movements.at(-1)?.position : undefined;
  return { movements, next: last === undefined || !isDescending ? last : last - 1, prunedTo };
}
