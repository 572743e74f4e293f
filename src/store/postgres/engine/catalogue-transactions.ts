/**
 * The three ways to commit changes of catalogues. Optimistically: the sellers are as this node's
 * last transaction left them, which the compare-and-set of their positions proves; one round trip.
 * With a lock: the seller's row is locked and what the mutations name is loaded first; two round
 * trips, and nothing can come in between. From a snapshot, if the mutations name many rows: these
 * are loaded before, without a lock, and the compare-and-set proves that nothing came in between.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SellerId } from '../../../domain/id.ts';
import { BoundedMap } from '../../../runtime/bounded-map.ts';
import type { Moment } from '../../../runtime/clock.ts';
import { timeAfter } from '../../rules/history.ts';
import type { SellerState } from '../../rules/mutations/position-allocator.ts';
import { StockLevelCache } from '../../rules/stock-levels.ts';
import {
  type Decision, type DecisionContext, decide, type Outcome, PartialMutationError,
} from '../../rules/working-set/decision.ts';
import { NotLoadedError } from '../../rules/working-set/loaded-levels.ts';
import { makeLoadedSeller, type LoadedSeller } from '../../rules/working-set/loaded-seller.ts';
import { type CallsBySeller, divide } from '../../rules/working-set/catalogue-writer.ts';
import { isCreation, NamedRows } from '../../rules/working-set/named-rows.ts';
import { loadSellers } from '../catalogue/load-sellers.ts';
import { writeRows } from '../catalogue/write-rows.ts';
import type { FindPlace } from './placement.ts';
import {
  POSTGRES_CONFLICT_ATTEMPTS, POSTGRES_LOCKED_ROWS, POSTGRES_OUTCOME_ATTEMPTS,
  POSTGRES_OUTCOME_LIMIT_MS, POSTGRES_SNAPSHOT_ATTEMPTS,
} from '../limits.ts';
import { ConnectionLostError, PostgresError } from '../wire/errors.ts';
import { COMMIT, ROLLBACK, type Statement } from '../wire/statement-run.ts';
import type { Pool } from '../wire/pool.ts';
import {
  explainFailure, isConflict, isDataError, isOutcomeUnknown, isPositionMoved, isUniqueViolation,
  NotCommittedError, unknownOutcome,
} from './failures.ts';

const FIND_BATCH = 'SELECT FROM change WHERE seller_id = $1 AND position = $2 AND batch = $3';

/** Sellers that are remembered; the least recently written is forgotten first. */
const REMEMBERED_LIMIT = 10_000;
/** How long a seller is locked for each transaction after another node has written to it. */
const CONTENDED_MS = 1_000;
const RETRY_DELAY_MS = 10;
const OUTCOME_DELAY_MS = 500;

export class CatalogueTransactions {
  readonly #pool: Pool;
  readonly #now: () => Moment;
  readonly #onCommit: (sellerId: SellerId, position: number) => void;
  readonly #findPlace: FindPlace | undefined;
  readonly #cache = new StockLevelCache();
  /** Sellers as this node's last transaction left them. */
  readonly #remembered = new BoundedMap<
    SellerId, { readonly state: SellerState; readonly lastImportId: number | undefined }
  >(REMEMBERED_LIMIT);
  /** Until when a seller is locked, because another node writes to it (`performance.now`). */
  readonly #contended = new Map<SellerId, number>();

  /** `onCommit` is called before mutations are acknowledged; `findPlace` is for Citus. */
  constructor(
    pool: Pool, now: () => Moment, onCommit: (sellerId: SellerId, position: number) => void,
    findPlace?: FindPlace,
  ) {
    this.#pool = pool;
    this.#now = now;
    this.#onCommit = onCommit;
    this.#findPlace = findPlace;
  }

  findPlace(sellerId: SellerId): number {
    return this.#findPlace?.(sellerId) ?? 0;
  }

  /** Whether an optimistic commit will probably succeed. */
  isRemembered(sellerId: SellerId): boolean {
    if (!this.#remembered.has(sellerId)) return false;
    const until = this.#contended.get(sellerId) ?? 0;
    if (until > performance.now()) return false;
    this.#contended.delete(sellerId);
    return true;
  }

  /** Undefined if the sellers have to be locked. */
  async commitOptimistically(calls: CallsBySeller): Promise<readonly Outcome[] | undefined> {
    const now = this.#now();
    const sellers = new Map([...calls.keys()].map((id) => [id, this.#recall(id)] as const));
    try {
      return await this.#commit(calls, now, { isLocked: false, sellers, records: new Map() });
    } catch (error) {
      for (const id of calls.keys()) this.#forget(id);
      if (error instanceof NotLoadedError || error instanceof PartialMutationError) {
        return undefined;
      }
      if (error instanceof CommitOutcomeUnknownError) return this.commitWithLock(calls, [error]);
      // The positions were right, but not, for instance, a SKU.
      if (isUniqueViolation(error)) return this.commitWithLock(calls, [], true);
      if (error instanceof PostgresError) {
        for (const id of calls.keys()) this.#contended.set(id, performance.now() + CONTENDED_MS);
        return undefined;
      }
      throw explainFailure(error);
    }
  }

  /**
   * `unknownCommits` has earlier transactions of the calls whose COMMIT got no response. The server
   * may still execute one that was sent optimistically, so they are looked up under the lock: once
   * this transaction has moved the positions, their compare-and-sets fail. `loadsAll`: the rows
   * that the calls name are loaded at the first attempt.
   * @throws AppError if nothing was committed, or if the outcome is unknown
   */
  async commitWithLock(
    calls: CallsBySeller, unknownCommits: readonly CommitOutcomeUnknownError[] = [],
    loadsAll = !calls.values().every((sellerCalls) => sellerCalls.every(isCreation)),
  ): Promise<readonly Outcome[]> {
    let earlier = unknownCommits;
    let isComplete = loadsAll || earlier.length > 0;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const rowsBySeller = nameRows(calls, isComplete);
        const isReadable = earlier.length === 0 && isLarge(rowsBySeller);
        return (isReadable ? await this.#tryFromSnapshots(calls, rowsBySeller) : undefined)
          ?? await this.#tryWithLock(calls, rowsBySeller, earlier, isComplete);
      } catch (error) {
        for (const id of calls.keys()) this.#forget(id);
        const isInvalid = isDataError(error) || error instanceof PartialMutationError;
        if (!isComplete && (isInvalid || error instanceof NotLoadedError)) {
          isComplete = true;
          continue;
        }
        if (isInvalid) return this.#divide(calls, error);
        if (error instanceof CommitOutcomeUnknownError) earlier = [...earlier, error];
        await waitToRetry(error, attempt, earlier[0], this.#now().lived);
      }
    }
  }

  /** So that an invalid mutation fails alone. @throws AppError if it is the only one */
  async #divide(calls: CallsBySeller, error: unknown): Promise<readonly Outcome[]> {
    const parts = divide(calls);
    if (parts.length === 1) {
      throw explainFailure(error instanceof PartialMutationError ? error.cause : error);
    }
    const outcomes: Outcome[] = [];
    for (const part of parts) {
      const fail = (reason: unknown): readonly Outcome[] =>
        [...part.values()].flat().map(() => ({ isDone: false, error: reason }));
      outcomes.push(...await this.commitWithLock(part, [], true).catch(fail));
    }
    return outcomes;
  }

  #tryWithLock(
    calls: CallsBySeller, rowsBySeller: RowsBySeller,
    unknownCommits: readonly CommitOutcomeUnknownError[], isComplete: boolean,
  ): Promise<readonly Outcome[]> {
    const access = isLarge(rowsBySeller) ? 'paged' : 'locked';
    return this.#pool.use(async (connection) => {
      const now = this.#now();
      const loaded = await loadSellers(connection, rowsBySeller, now.lived, access)
        .catch(failLoading);
      const results = unknownCommits.length === 0 ? []
        : await connection.run(unknownCommits.map(({ find }) => find)).catch(failLoading);
      const committed = unknownCommits.find((_, index) => results[index]?.count === 1);
      if (committed) {
        // It waits for the same synchronous standbys as the one that was committed.
        await connection.run([COMMIT]).catch(failLoading);
        return committed.outcomes;
      }
      return this.#commit(calls, now, { ...loaded, isLocked: isComplete }, (statements) =>
        connection.run(statements.length > 0 ? [...statements, COMMIT] : [ROLLBACK]));
    });
  }

  /** Undefined if the seller has to be locked: others change it. */
  async #tryFromSnapshots(
    calls: CallsBySeller, rowsBySeller: RowsBySeller,
  ): Promise<readonly Outcome[] | undefined> {
    for (let attempts = 0; attempts < POSTGRES_SNAPSHOT_ATTEMPTS; attempts += 1) {
      const now = this.#now();
      try {
        const loaded = await this.#pool.use((connection) =>
          loadSellers(connection, rowsBySeller, now.lived, 'snapshot')).catch(failLoading);
        return await this.#commit(calls, now, { ...loaded, isLocked: false, isSnapshot: true });
      } catch (error) {
        for (const id of calls.keys()) this.#forget(id);
        if (isPositionMoved(error)) continue;
        if (error instanceof PostgresError || error instanceof NotLoadedError
          || error instanceof PartialMutationError) break;
        throw error;
      }
    }
    // Pages take many round trips: the other sellers are not locked for so long.
    return calls.size > 1 ? this.#divide(calls, undefined) : undefined;
  }

  async #commit(
    calls: CallsBySeller, now: Moment, context: Omit<DecisionContext, 'at' | 'cache'>,
    write = (statements: readonly Statement[]): Promise<unknown> =>
      this.#pool.run(statements, { isTransaction: true }),
  ): Promise<readonly Outcome[]> {
    const at = now.wall;
    const decision = decide([...calls.values()].flat(), { ...context, at, cache: this.#cache });
    await write(writeRows(decision.set, now, this.#findPlace !== undefined))
      .catch((error: unknown) => failCommit(error, decision, this.#now().lived));
    this.#remember(context.sellers, decision, at);
    return decision.outcomes;
  }

  #recall(id: SellerId): LoadedSeller {
    const { state, lastImportId } = this.#remembered.get(id) ?? {};
    return makeLoadedSeller(state, false, lastImportId);
  }

  #remember(sellers: ReadonlyMap<SellerId, LoadedSeller>, { set }: Decision, at: number): void {
    const moved = new Map(set.positions.listMoved());
    for (const [id, { state, imports }] of sellers) {
      const { position, lastProductId } = moved.get(id) ?? {};
      this.#remembered.delete(id);
      if (!state) continue;
      this.#remembered.set(id, {
        state: position === undefined ? state : {
          ...state, position, lastAt: timeAfter(state.lastAt, at),
          lastProductId: lastProductId ?? state.lastProductId,
        },
        lastImportId: imports.peekLastId(),
      });
      if (position !== undefined) this.#onCommit(id, position);
    }
  }

  /** After a failure: nothing that was decided holds. */
  #forget(id: SellerId): void {
    this.#remembered.delete(id);
    this.#cache.drop(id);
  }
}

type RowsBySeller = ReadonlyMap<SellerId, NamedRows>;

/** The rows that the calls name; none unless `isComplete`. */
function nameRows(calls: CallsBySeller, isComplete: boolean): RowsBySeller {
  return new Map(calls.entries().map(([sellerId, sellerCalls]) => {
    const rows = new NamedRows();
    if (isComplete) for (const call of sellerCalls) rows.add(sellerId, call);
    return [sellerId, rows] as const;
  }));
}

/** Whether so much of a seller is loaded that it is not locked while the server sends it. */
function isLarge(rowsBySeller: RowsBySeller): boolean {
  return rowsBySeller.values().some(({ size }) => size > POSTGRES_LOCKED_ROWS);
}

/**
 * Waits before the next attempt. While an outcome is unknown, any error is retried.
 * @throws AppError after the last attempt, and for an error that another attempt would not change
 */
async function waitToRetry(
  error: unknown, attempt: number, unknown: CommitOutcomeUnknownError | undefined, lived: number,
): Promise<void> {
  if (unknown) {
    const isLate = lived - unknown.since >= POSTGRES_OUTCOME_LIMIT_MS;
    if (isLate || attempt >= POSTGRES_OUTCOME_ATTEMPTS) throw unknownOutcome(error);
    await wait(OUTCOME_DELAY_MS * (attempt - 1));
  } else {
    if (attempt >= POSTGRES_CONFLICT_ATTEMPTS || !isConflict(error)) throw explainFailure(error);
    await wait(Math.random() * RETRY_DELAY_MS * attempt);
  }
}

/** A transaction was sent whose COMMIT got no response. */
class CommitOutcomeUnknownError extends Error {
  override readonly name = 'CommitOutcomeUnknownError';
  readonly outcomes: readonly Outcome[];
  /** Has a row if the transaction was committed. */
  readonly find: Statement;
  /** In lived time. */
  readonly since: number;

  constructor(outcomes: readonly Outcome[], find: Statement, since: number, cause: unknown) {
    super('', { cause });
    this.outcomes = outcomes;
    this.find = find;
    this.since = since;
  }
}

/** @throws AppError if the outcome is unknown and no change could tell it */
function failCommit(error: unknown, { set, outcomes }: Decision, lived: number): never {
  if (!isOutcomeUnknown(error)) throw error;
  const [moved] = set.positions.listMoved();
  if (!moved) throw unknownOutcome(error);
  const [sellerId, { position }] = moved;
  const find = { text: FIND_BATCH, values: [sellerId, position, set.batch] };
  throw new CommitOutcomeUnknownError(outcomes, find, lived, error);
}

/** Nothing has been written yet. */
function failLoading(error: unknown): never {
  throw error instanceof ConnectionLostError ? new NotCommittedError('', { cause: error }) : error;
}
