/**
 * Group commit: the units that arrived together share one transaction and one fsync. They run one
 * after the other with nothing between them, for savepoints cost a fifth of a small unit. Where one
 * fails, the transaction is undone and run again with a savepoint for each unit, so that the faulty
 * one fails alone. A commit that fails fails every unit in it, and none of them was answered yet.
 * There is no `await` between BEGIN and COMMIT.
 */
import type { DatabaseSync } from 'node:sqlite';
import { AppError, type ErrorCode } from '../../../domain/error.ts';
import type { AuditKey } from '../accounts/audit-segments.ts';
import {
  resultCodeOf, SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_IOERR, SQLITE_LOCKED,
  SQLITE_NOTADB, SQLITE_READONLY,
} from './disk-failure.ts';
import { IdempotencyRecords } from '../catalogue/idempotency.ts';
import type { IdempotencyScope } from '../../rules/idempotency.ts';
import { PositionAllocator } from '../catalogue/position-allocator.ts';
import { readInteger } from './row.ts';
import { prepareMutations, type MutationName, type Mutations } from './mutations.ts';

/** Units to run in one transaction. The names and inputs agree, since `Writer.run` made them. */
export interface Batch {
  /** The time of the commit, milliseconds since 1970. */
  readonly at: number;
  readonly calls: readonly MutationCall[];
}

/** A unit with an idempotency key is made once, however often it is called. */
interface MutationCall {
  readonly name: MutationName;
  readonly input: unknown;
  readonly idempotency?: IdempotencyScope | undefined;
}

/** What became of a unit; plain JSON, since it crosses threads. */
export type Outcome = { readonly isDone: true; readonly value: unknown } | Failure;

interface Failure {
  readonly isDone: false;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly cause?: string | undefined;
}

const NOT_KNOWN = 'This server cannot write to its disk. It is not known whether the change was'
  + ' made: look once it can write again, before you try again.';

/** Returns a function that runs batches on this connection: one outcome for each call, in order. */
export function prepareGroupCommit(
  db: DatabaseSync, auditKey: AuditKey,
): (batch: Batch) => Outcome[] {
  const positions = new PositionAllocator(db);
  const runMutation = prepareRunMutation(db, positions, auditKey);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = prepareCommit(db);
  const savepoint = db.prepare('SAVEPOINT unit');
  const release = db.prepare('RELEASE unit');
  const undo = db.prepare('ROLLBACK TO unit');

  function runAlone(call: MutationCall, at: number): Outcome {
    savepoint.run();
    try {
      const outcome = runMutation(call, at);
      positions.flush(at);
      release.run();
      return outcome;
    } catch (error) {
      // Some faults of the disk make SQLite undo the whole transaction: then all of it failed.
      if (!db.isTransaction) throw error;
      positions.rollback();
      undo.run();
      release.run();
      return describeFailure(error);
    }
  }

  function transact(at: number, work: () => Outcome[]): Outcome[] {
    try {
      begin.run();
      const outcomes = work();
      positions.flush(at);
      commit();
      return outcomes;
    } catch (error) {
      positions.rollback();
      throw error;
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK');
    }
  }

  function run({ at, calls }: Batch): Outcome[] {
    const together = attempt(() => transact(at, () => calls.map((call) => runMutation(call, at))));
    if (Array.isArray(together)) return together;
    // A database that is busy or a broken disk is no fault of one unit.
    const isShared = calls.length === 1 || together.code === 'unavailable';
    const apart = isShared
      ? together : attempt(() => transact(at, () => calls.map((call) => runAlone(call, at))));
    return Array.isArray(apart) ? apart : calls.map(() => apart);
  }

  return retryAfterCheckpoint(db, run);
}

/** Where the disk is full, the log is moved into the database, and its room is used again. */
function retryAfterCheckpoint(db: DatabaseSync, run: (batch: Batch) => Outcome[]): typeof run {
  let isShort = false;
  return (batch) => {
    const outcomes = run(batch);
    if (outcomes.every((one) => !one.isDone && one.code === 'storage_full')) {
      isShort = !checkpointWal(db);
      return isShort ? outcomes : run(batch);
    }
    // Room that comes back is for the database first: the log alone would take all of it again.
    if (isShort) isShort = !checkpointWal(db);
    return outcomes;
  };
}

/** Whether all of the log stands in the database now: then it begins anew, and takes no room. */
function checkpointWal(db: DatabaseSync): boolean {
  try {
    const row = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {};
    const moved = readInteger(row, 'checkpointed');
    return moved > 0 && moved === readInteger(row, 'log');
  } catch (error) {
    if (resultCodeOf(error) === 0) throw error;
    return false;
  }
}

/**
 * Where the disk fails at its end, all of a commit may stand in the log and nobody sees it: only a
 * crash would bring it back (https://www.sqlite.org/walformat.html). So it is written over before
 * anybody is told that nothing was changed.
 */
function prepareCommit(db: DatabaseSync): () => void {
  const commit = db.prepare('COMMIT');
  return () => {
    try {
      commit.run();
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      if (resultCodeOf(error) !== SQLITE_IOERR || overwriteFailedFrames(db)) throw error;
      throw new AppError('unavailable', NOT_KNOWN, { cause: error });
    }
  };
}

/** Makes a commit that changes nothing: it begins in the log where the one that failed began. */
function overwriteFailedFrames(db: DatabaseSync): boolean {
  try {
    const version = readInteger(db.prepare('PRAGMA user_version').get() ?? {}, 'user_version');
    db.exec(`PRAGMA user_version = ${version}`);
    return true;
  } catch (error) {
    if (resultCodeOf(error) === 0) throw error;
    return false;
  }
}

/** Runs a unit, or finds what it did once. */
function prepareRunMutation(
  db: DatabaseSync, positions: PositionAllocator, auditKey: AuditKey,
): (call: MutationCall, at: number) => Outcome {
  const mutations = prepareMutations(db, positions, auditKey);
  const records = new IdempotencyRecords(db);
  return (call, at) => {
    const { name, input, idempotency } = call;
    // Writer.run paired the name with its input; TypeScript cannot follow that through a queue.
    const mutate = mutations[name] as
      (input: unknown, at: number) => ReturnType<Mutations[MutationName]>;
    // Calls that change stock know what those before them have left; nobody else does.
    if (name !== 'syncStock') positions.flushDeferred();
    if (!idempotency) return { isDone: true, value: mutate(input, at) };
    const value = records.run(call, idempotency, at, () => mutate(input, at));
    return { isDone: true, value };
  };
}

function attempt(work: () => Outcome[]): Outcome[] | Failure {
  try {
    return work();
  } catch (error) {
    return describeFailure(error);
  }
}

function describeFailure(error: unknown): Failure {
  if (error instanceof AppError) {
    const { code, publicDetail: detail, cause } = error;
    return { isDone: false, code, detail, ...(cause instanceof Error && { cause: cause.stack }) };
  }
  const cause = error instanceof Error ? error.stack : String(error);
  const [code, what] = describeResultCode(resultCodeOf(error));
  const detail = `${what} Nothing was changed; try again later.`;
  return { isDone: false, code, detail, cause };
}

function describeResultCode(primary: number): [code: ErrorCode, what: string] {
  switch (primary) {
    case SQLITE_FULL:
      return ['storage_full', 'The disk of this server is full.'];
    case SQLITE_IOERR:
    case SQLITE_READONLY:
      return ['unavailable', 'This server cannot write to its disk.'];
    case SQLITE_CORRUPT: // SQLite calls a disk that cannot be read so, too
    case SQLITE_NOTADB:
      return ['unavailable', 'This server cannot read from its disk.'];
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ['unavailable', 'The database is busy.'];
    default:
      return ['internal', 'The change could not be made.'];
  }
}
