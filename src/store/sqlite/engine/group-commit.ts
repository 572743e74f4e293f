/**
 * Group commit: mutations that arrive together share one transaction and one fsync. They run one
 * after the other without savepoints, which cost a fifth of a small mutation. If one fails, the
 * transaction is rolled back and repeated with a savepoint for each, so that only the faulty one
 * fails. A failed commit fails all of its mutations, none of which has been acknowledged. Mutations
 * whose SQL all adapters share return promises, which settle before the thread can receive the next
 * message: nothing else runs between BEGIN and COMMIT.
 */
import type { DatabaseSync } from 'node:sqlite';
import { AppError, type ErrorCode } from '../../../domain/error.ts';
import type { AuditKey } from '../../rules/audit.ts';
import { LOST } from '../files/open-files.ts';
import { describeWriteFailure, resultCodeOf, SQLITE_IOERR } from './disk-failure.ts';
import { IDEMPOTENCY_PRUNE_STEP } from '../../limits.ts';
import type { IdempotencyScope } from '../../rules/idempotency.ts';
import { catalogueMutations } from '../../rules/mutations/catalogue-mutations.ts';
import {
  type Family, type MutationName, type Mutations, unwrittenFamilyOf,
} from '../../rules/mutations/registry.ts';
import { withChecks } from '../../rules/review.ts';
import { StockLevelCache } from '../../rules/stock-levels.ts';
import type { DeletionStep } from '../../sql/access/seller-deletion.ts';
import { readInteger } from '../../sql/sql.ts';
import { prepareRunOnce } from '../../sql/idempotency.ts';
import { sharedMutations } from '../../sql/shared.ts';
import {
  prepareImportRows, prepareProductRows, prepareStockRows,
} from '../catalogue/product-rows.ts';
import { type CatalogueTransaction, prepareTransaction } from '../catalogue/transaction.ts';
import { readPragma, sqlOf } from '../sql.ts';

/** The name and the input match, since `Writer.run` paired them. */
export interface MutationCall {
  readonly name: MutationName;
  readonly input: unknown;
  readonly idempotency?: IdempotencyScope | undefined;
}

/** Mutations of one transaction. */
export interface Batch {
  /** Time of the commit, in milliseconds since 1970. */
  readonly at: number;
  /** The lived time (runtime/clock.ts). */
  readonly lived: number;
  readonly calls: readonly MutationCall[];
}

/** The outcome of a mutation: plain JSON, since it crosses threads. */
export type Outcome = { readonly isDone: true; readonly value: unknown } | Failure;

interface Failure {
  readonly isDone: false;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly cause?: string | undefined;
}

const UNKNOWN_OUTCOME = 'The disk write failed and the outcome is unknown. Check whether the change'
  + ' exists before retrying.';
const LOST_COMMIT: Failure = {
  isDone: false, code: 'unavailable',
  detail: `${LOST} The outcome is unknown: after that, check whether the change exists.`,
};

/** One outcome per call, in order. Runs one batch at a time. */
type RunBatch = (batch: Batch) => Promise<Outcome[]>;

export function prepareGroupCommit(db: DatabaseSync, auditKey: AuditKey): RunBatch {
  const transaction = prepareTransaction(db);
  let lived = 0;
  const runMutation = prepareRunMutation(db, transaction, auditKey, () => lived);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = prepareCommit(db);

  async function runAlone(call: MutationCall, at: number): Promise<Outcome> {
    db.exec('SAVEPOINT mutation');
    try {
      const outcome = await runMutation(call, at);
      transaction.flush(at);
      db.exec('RELEASE mutation');
      return outcome;
    } catch (error) {
      // After some disk errors SQLite rolls back the whole transaction: then all mutations failed.
      if (!db.isTransaction) throw error;
      transaction.rollback();
      db.exec('ROLLBACK TO mutation; RELEASE mutation');
      return describeFailure(error);
    }
  }

  async function transact({ at, calls }: Batch, runOne: RunMutation): Promise<Outcome[] | Failure> {
    try {
      try {
        begin.run();
        const outcomes: Outcome[] = [];
        for (const call of calls) {
          const outcome = runOne(call, at);
          outcomes.push(outcome instanceof Promise ? await outcome : outcome);
        }
        transaction.flush(at);
        commit();
        return outcomes;
      } finally {
        if (db.isTransaction) db.exec('ROLLBACK');
      }
    } catch (error) {
      transaction.rollback();
      return describeFailure(error);
    }
  }

  async function run(batch: Batch): Promise<Outcome[]> {
    lived = batch.lived;
    const together = await transact(batch, runMutation);
    if (Array.isArray(together)) return together;
    // A busy database or broken disk is not the fault of one mutation.
    const isShared = batch.calls.length === 1 || together.code === 'unavailable';
    const apart = isShared ? together : await transact(batch, runAlone);
    return Array.isArray(apart) ? apart : batch.calls.map(() => apart);
  }

  return retryAfterCheckpoint(db, emptyWalAfterDeletions(db, run));
}

/**
 * Acknowledges a commit only if the catalogue has not been lost, which `isLost` checks after it. A
 * writer that knows of a loss gets no more batches.
 */
export function acknowledgeUnlessLost(run: RunBatch, isLost: () => boolean): RunBatch {
  return async (batch) => {
    const outcomes = await run(batch);
    if (!isLost()) return outcomes;
    return outcomes.map((outcome) => (outcome.isDone ? LOST_COMMIT : outcome));
  };
}

/** Truncates the WAL, which still has rows of a deleted seller, unless a reader prevents it. */
function emptyWalAfterDeletions(db: DatabaseSync, run: RunBatch): RunBatch {
  const checkpoint = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  return async (batch) => {
    const outcomes = await run(batch);
    const isDeleted = batch.calls.some(({ name }, index) => {
      const outcome = outcomes[index];
      // The cast: it is the outcome of this mutation.
      return name === 'deleteSeller' && outcome?.isDone && (outcome.value as DeletionStep).isDone;
    });
    if (isDeleted) attempt(() => checkpoint.get() !== undefined);
    return outcomes;
  };
}

/** If the disk is full, checkpoints the WAL to reuse its space, and retries. */
function retryAfterCheckpoint(db: DatabaseSync, run: RunBatch): RunBatch {
  let isShort = false;
  return async (batch) => {
    const outcomes = await run(batch);
    if (outcomes.every((outcome) => !outcome.isDone && outcome.code === 'storage_full')) {
      isShort = !checkpointWal(db);
      return isShort ? outcomes : run(batch);
    }
    // The database gets the freed space first: the WAL alone would use all of it again.
    if (isShort) isShort = !checkpointWal(db);
    return outcomes;
  };
}

/** Returns whether the whole WAL is now in the database: then it restarts and needs no space. */
function checkpointWal(db: DatabaseSync): boolean {
  return attempt(() => {
    const row = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {};
    const moved = readInteger(row, 'checkpointed');
    return moved > 0 && moved === readInteger(row, 'log');
  });
}

/**
 * If the final fsync fails, the whole commit may be in the WAL, where only a crash would recover it
 * (https://www.sqlite.org/walformat.html). So it is overwritten before the failure is reported.
 */
function prepareCommit(db: DatabaseSync): () => void {
  const commit = db.prepare('COMMIT');
  return () => {
    try {
      commit.run();
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      if (resultCodeOf(error) !== SQLITE_IOERR || overwriteFailedFrames(db)) throw error;
      throw new AppError('unavailable', UNKNOWN_OUTCOME, { cause: error });
    }
  };
}

/** Commits no change: its frames overwrite the start of the failed commit's frames in the WAL. */
function overwriteFailedFrames(db: DatabaseSync): boolean {
  return attempt(() => {
    const version = readPragma(db, 'user_version');
    db.exec(`PRAGMA user_version = ${version}`);
    return true;
  });
}

/** False if SQLite fails. */
function attempt(work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    if (resultCodeOf(error) === 0) throw error;
    return false;
  }
}

/** Runs a mutation, or finds its recorded outcome. */
type RunMutation = (call: MutationCall, at: number) => Outcome | Promise<Outcome>;

function prepareRunMutation(
  db: DatabaseSync, transaction: CatalogueTransaction, auditKey: AuditKey, lived: () => number,
): RunMutation {
  const mutations = prepareMutations(db, transaction, auditKey, lived);
  const runOnce = prepareRunOnce(sqlOf(db), lived, IDEMPOTENCY_PRUNE_STEP);
  /** The family whose deferred rows the next mutation may see. */
  let previous: Family | undefined;
  return (call, at) => {
    const { name, input } = call;
    // Writer.run paired the name with its input; TypeScript cannot follow that through a queue.
    const mutate = mutations[name] as
      (input: unknown, at: number) => ReturnType<Mutations[MutationName]>;
    const family = unwrittenFamilyOf(name);
    if (family === undefined || family !== previous) transaction.flushDeferred();
    previous = family;
    const value = call.idempotency ? runOnce<unknown>(call, at, () => mutate(withChecks(input), at))
      : mutate(withChecks(input), at);
    return value instanceof Promise ? value.then(succeed) : succeed(value);
  };
}

function succeed(value: unknown): Outcome {
  return { isDone: true, value };
}

function describeFailure(error: unknown): Failure {
  if (error instanceof AppError) {
    const { code, publicDetail: detail, cause } = error;
    return { isDone: false, code, detail, ...(cause instanceof Error && { cause: cause.stack }) };
  }
  const [code, problem] = describeWriteFailure(error);
  const detail = `${problem} Nothing was changed; try again later.`;
  const cause = error instanceof Error ? error.stack : String(error);
  return { isDone: false, code, detail, cause };
}

/**
 * A mutation takes its input and the commit time, and returns its outcome. It may run twice, so its
 * only effects are in the database.
 */
function prepareMutations(
  db: DatabaseSync, transaction: CatalogueTransaction, auditKey: AuditKey, lived: () => number,
): Mutations {
  const { positions } = transaction;
  const levels = new StockLevelCache();
  const rows = {
    products: prepareProductRows(db, transaction),
    stock: prepareStockRows(db, transaction, levels),
    imports: prepareImportRows(db),
  };
  return {
    ...sharedMutations(sqlOf(db), { auditKey, positions, lived }),
    ...catalogueMutations(rows, positions, levels),
  };
}
