/**
 * The two ways to write catalogues. From memory: the sellers are as this node left them, which the
 * compare-and-set of their positions proves; one round trip. Locked: the seller's row is locked and
 * what the mutations name is loaded first; two round trips, and nothing can come in between.
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
  explainFailure, isConflict, isDataError, isOutcomeUnknown, isUniqueViolation, NotMadeError,
  unknownOutcome,
} from './failures.ts';

/** A seller as this node's last transaction left it. */
interface Remembered {
  readonly state: SellerState;
  readonly lastImportId: number | undefined;
}

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
  readonly #remembered = new Map<SellerId, Remembered>();
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

  /** Whether a transaction from memory will probably succeed. */
  isRemembered(sellerId: SellerId): boolean {
    if (!this.#remembered.has(sellerId)) return false;
    const until = this.#contended.get(sellerId) ?? 0;
    if (until > performance.now()) return false;
    this.#contended.delete(sellerId);
    return true;
  }

  /** Undefined if the sellers have to be locked. */
  async runFromMemory(calls: CallsBySeller): Promise<readonly Outcome[] | undefined> {
    const at = this.#clock();
    const sellers = new Map([...calls.keys()].map((id) => [id, this.#recall(id)] as const));
    try {
      const known = { isLocked: false, sellers, records: new Map(), cache: this.#cache, at };
      const decision = decide([...calls.values()].flat(), known);
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
      if (error instanceof UnansweredError) return this.runLocked(calls, [error]);
      // The positions were right, but not, for instance, a SKU.
      if (isUniqueViolation(error)) return this.runLocked(calls, [], true);
      if (error instanceof PostgresError) {
        for (const id of calls.keys()) this.#contended.set(id, performance.now() + CONTENDED_MS);
        return undefined;
      }
      throw explainFailure(error);
    }
  }

  /**
   * `unanswered` has earlier transactions of the calls whose COMMIT was not answered. The server
   * may still execute one that was sent from memory, so they are looked for under the lock: once
   * this transaction has moved the positions, their compare-and-sets fail. `loadsAll`: the rows
   * that the calls name are loaded at the first attempt.
   * @throws AppError if nothing was written, or if nobody can tell
   */
  async runLocked(
    calls: CallsBySeller, unanswered: readonly UnansweredError[] = [],
    loadsAll = !calls.values().every((some) => some.every(isCreation)),
  ): Promise<readonly Outcome[]> {
    let sent = unanswered;
    let isComplete = loadsAll || sent.length > 0;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#runLocked(calls, sent, isComplete);
      } catch (error) {
        for (const id of calls.keys()) this.#forget(id);
        const isInvalid = isDataError(error) || error instanceof PartialMutationError;
        if (!isComplete && (isInvalid || error instanceof NotLoadedError)) {
          isComplete = true;
          continue;
        }
        if (isInvalid) {
          const parts = divide(calls);
          if (parts.length > 1) return this.#runParts(parts);
          throw explainFailure(error instanceof PartialMutationError ? error.cause : error);
        }
        if (error instanceof UnansweredError) sent = [...sent, error];
        const isUnknown = sent.length > 0; // then it must find out, whatever it takes
        const limit = isUnknown ? POSTGRES_OUTCOME_ATTEMPTS : POSTGRES_CONFLICT_ATTEMPTS;
        if (attempt >= limit || !(isUnknown || isConflict(error))) {
          throw isUnknown ? unknownOutcome(error) : explainFailure(error);
        }
        await wait(isUnknown ? OUTCOME_DELAY_MS * (attempt - 1)
          : Math.random() * RETRY_DELAY_MS * attempt);
      }
    }
  }

  /** So that a faulty mutation fails alone. */
  async #runParts(parts: readonly CallsBySeller[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const part of parts) {
      const fail = (error: unknown): readonly Outcome[] =>
        [...part.values()].flat().map(() => ({ isDone: false, error }));
      outcomes.push(...await this.runLocked(part, [], true).catch(fail));
    }
    return outcomes;
  }

  #runLocked(
    calls: CallsBySeller, unanswered: readonly UnansweredError[], isComplete: boolean,
  ): Promise<readonly Outcome[]> {
    const named = new Map(calls.entries().map(([sellerId, some]) => {
      const rows = new NamedRows();
      if (isComplete) for (const call of some) rows.add(sellerId, call);
      return [sellerId, rows] as const;
    }));
    return this.#pool.use(async (connection) => {
      const at = this.#clock();
      const { sellers, records } = await loadSellers(connection, named, at).catch(failLoading);
      const found = unanswered.length === 0 ? []
        : await connection.run(unanswered.map(({ find }) => find)).catch(failLoading);
      const made = unanswered.find((_, index) => found[index]?.count === 1);
      if (made) {
        // It waits for the same synchronous standbys as the one that was made.
        await connection.run([COMMIT]).catch(failLoading);
        return made.outcomes;
      }
      const known = { isLocked: isComplete, sellers, records, cache: this.#cache, at };
      const decision = decide([...calls.values()].flat(), known);
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

  #remember(
    sellers: ReadonlyMap<SellerId, LoadedSeller>, { set }: Decision, at: number,
  ): void {
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

/** A transaction was sent whose COMMIT was not answered. */
class UnansweredError extends Error {
  override readonly name = 'UnansweredError';
  readonly outcomes: readonly Outcome[];
  /** Has a row if the transaction was made. */
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
  throw new UnansweredError(outcomes, find, error);
}

/** Nothing has been written yet. */
function failLoading(error: unknown): never {
  throw error instanceof ConnectionLostError ? new NotMadeError('', { cause: error }) : error;
}
