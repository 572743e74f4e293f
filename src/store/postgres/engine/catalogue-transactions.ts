/**
 * The two ways to commit changes of catalogues. Optimistically: the sellers are as this node's last
 * transaction left them, which the compare-and-set of their positions proves; one round trip. With
 * a lock: the seller's row is locked and what the mutations name is loaded first; two round trips,
 * and nothing can come in between.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SellerId } from '../../../domain/id.ts';
import { timeAfter } from '../../rules/history.ts';
import type { SellerState } from '../../rules/mutations/position-allocator.ts';
import { StockLevelCache } from '../../rules/stock-levels.ts';
import {
  type Decision, decide, type Outcome, PartialMutationError,
} from '../../rules/working-set/decision.ts';
import { NotLoadedError } from '../../rules/working-set/loaded-levels.ts';
import { makeLoadedSeller, type LoadedSeller } from '../../rules/working-set/loaded-seller.ts';
import { type CallsBySeller, divide } from '../../rules/working-set/catalogue-writer.ts';
import { isCreation, NamedRows } from '../../rules/working-set/named-rows.ts';
import { loadSellers } from '../catalogue/load-sellers.ts';
import { writeRows } from '../catalogue/write-rows.ts';
import type { FindPlace } from './placement.ts';
import { POSTGRES_CONFLICT_ATTEMPTS, POSTGRES_OUTCOME_ATTEMPTS } from '../limits.ts';
import { ConnectionLostError, PostgresError } from '../wire/errors.ts';
import { COMMIT, ROLLBACK, type Statement } from '../wire/statement-run.ts';
import type { Pool } from '../wire/pool.ts';
import {
  explainFailure, isConflict, isDataError, isOutcomeUnknown, isUniqueViolation, NotCommittedError,
  unknownOutcome,
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
  readonly #clock: () => number;
  readonly #onCommit: (sellerId: SellerId, position: number) => void;
  readonly #findPlace: FindPlace | undefined;
  readonly #cache = new StockLevelCache();
  /** Sellers as this node's last transaction left them. */
  readonly #remembered =
    new Map<SellerId, { readonly state: SellerState; readonly lastImportId: number | undefined }>();
  /** Until when a seller is locked, because another node writes to it (`performance.now`). */
  readonly #contended = new Map<SellerId, number>();

  /** `onCommit` is called before mutations are acknowledged; `findPlace` is for Citus. */
  constructor(
    pool: Pool, clock: () => number, onCommit: (sellerId: SellerId, position: number) => void,
    findPlace?: FindPlace,
  ) {
    this.#pool = pool;
    this.#clock = clock;
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
    const at = this.#clock();
    const sellers = new Map([...calls.keys()].map((id) => [id, this.#recall(id)] as const));
    try {
      const context = { isLocked: false, sellers, records: new Map(), cache: this.#cache, at };
      const decision = decide([...calls.values()].flat(), context);
      const statements = writeRows(decision.set, at, this.#findPlace !== undefined);
      await this.#pool.run(statements, { isTransaction: true })
        .catch((error: unknown) => failCommit(error, decision));
      this.#remember(sellers, decision, at);
      return decision.outcomes;
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
        return await this.#tryWithLock(calls, earlier, isComplete);
      } catch (error) {
        for (const id of calls.keys()) this.#forget(id);
        const isInvalid = isDataError(error) || error instanceof PartialMutationError;
        if (!isComplete && (isInvalid || error instanceof NotLoadedError)) {
          isComplete = true;
          continue;
        }
        if (isInvalid) return this.#divide(calls, error);
        if (error instanceof CommitOutcomeUnknownError) earlier = [...earlier, error];
        await waitToRetry(error, attempt, earlier.length > 0);
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
    calls: CallsBySeller, unknownCommits: readonly CommitOutcomeUnknownError[], isComplete: boolean,
  ): Promise<readonly Outcome[]> {
    const rowsBySeller = new Map(calls.entries().map(([sellerId, sellerCalls]) => {
      const rows = new NamedRows();
      if (isComplete) for (const call of sellerCalls) rows.add(sellerId, call);
      return [sellerId, rows] as const;
    }));
    return this.#pool.use(async (connection) => {
      const at = this.#clock();
      const { sellers, records } = await loadSellers(connection, rowsBySeller, at)
        .catch(failLoading);
      const results = unknownCommits.length === 0 ? []
        : await connection.run(unknownCommits.map(({ find }) => find)).catch(failLoading);
      const committed = unknownCommits.find((_, index) => results[index]?.count === 1);
      if (committed) {
        // It waits for the same synchronous standbys as the one that was committed.
        await connection.run([COMMIT]).catch(failLoading);
        return committed.outcomes;
      }
      const context = { isLocked: isComplete, sellers, records, cache: this.#cache, at };
      const decision = decide([...calls.values()].flat(), context);
      const statements = writeRows(decision.set, at, this.#findPlace !== undefined);
      await connection.run(statements.length > 0 ? [...statements, COMMIT] : [ROLLBACK])
        .catch((error: unknown) => failCommit(error, decision));
      this.#remember(sellers, decision, at);
      return decision.outcomes;
    });
  }

  #recall(id: SellerId): LoadedSeller {
    const { state, lastImportId } = this.#remembered.get(id) ?? {};
    return makeLoadedSeller(state, false, lastImportId);
  }

  #remember(sellers: ReadonlyMap<SellerId, LoadedSeller>, { set }: Decision, at: number): void {
    const moved = new Map(set.positions.listMoved());
    for (const [id, { state, imports }] of sellers) {
      const { position, lastProductId } = moved.get(id) ?? {};
      this.#remembered.delete(id); // and set again: a Map keeps insertion order
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
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= REMEMBERED_LIMIT) break;
      this.#remembered.delete(oldest);
    }
  }

  /** After a failure: nothing that was decided holds. */
  #forget(id: SellerId): void {
    this.#remembered.delete(id);
    this.#cache.drop(id);
  }
}

/**
 * Waits before the next attempt. While an outcome is unknown, any error is retried.
 * @throws AppError after the last attempt, and for an error that another attempt would not change
 */
async function waitToRetry(error: unknown, attempt: number, isUnknown: boolean): Promise<void> {
  if (isUnknown) {
    if (attempt >= POSTGRES_OUTCOME_ATTEMPTS) throw unknownOutcome(error);
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

  constructor(outcomes: readonly Outcome[], find: Statement, cause: unknown) {
    super('', { cause });
    this.outcomes = outcomes;
    this.find = find;
  }
}

/** @throws AppError if the outcome is unknown and no change could tell it */
function failCommit(error: unknown, { set, outcomes }: Decision): never {
  if (!isOutcomeUnknown(error)) throw error;
  const [moved] = set.positions.listMoved();
  if (!moved) throw unknownOutcome(error);
  const [sellerId, { position }] = moved;
  const find = { text: FIND_BATCH, values: [sellerId, position, set.batch] };
  throw new CommitOutcomeUnknownError(outcomes, find, error);
}

/** Nothing has been written yet. */
function failLoading(error: unknown): never {
  throw error instanceof ConnectionLostError ? new NotCommittedError('', { cause: error }) : error;
}
