/**
 * Group commit: the units that arrived together share one transaction and one fsync. They run one
 * after the other with nothing between them, for savepoints cost a fifth of a small unit. Where one
 * fails, the transaction is undone and run again with a savepoint for each unit, so that the faulty
 * one fails alone. A commit that fails fails every unit in it, and none of them was answered yet.
 * There is no `await` between BEGIN and COMMIT.
 */
import type { DatabaseSync } from 'node:sqlite';
import { AppError, type ErrorCode } from '../../domain/error.ts';
import { IdempotencyRecords, type Once } from './idempotency.ts';
import { Positions } from './positions.ts';
import { prepareUnits, type UnitName, type Units } from './units.ts';

/** Units to run in one transaction. The names and inputs agree, since `Writer.run` made them. */
export interface Batch {
  /** The time of the commit, milliseconds since 1970. */
  readonly at: number;
  readonly calls: readonly UnitCall[];
}

/** A unit with an idempotency key is made once, however often it is called. */
interface UnitCall {
  readonly name: UnitName;
  readonly input: unknown;
  readonly once?: Once | undefined;
}

/** What became of a unit; plain JSON, since it crosses threads. */
export type Outcome = { readonly isDone: true; readonly value: unknown } | Failure;

interface Failure {
  readonly isDone: false;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly cause?: string | undefined;
}

// Primary result codes: https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;

/** Returns a function that runs batches on this connection: one outcome for each call, in order. */
export function prepareGroupCommit(db: DatabaseSync): (batch: Batch) => Outcome[] {
  const positions = new Positions(db);
  const runUnit = prepareRunUnit(db, positions);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT unit');
  const release = db.prepare('RELEASE unit');
  const undo = db.prepare('ROLLBACK TO unit');

  function runAlone(call: UnitCall, at: number): Outcome {
    savepoint.run();
    try {
      const outcome = runUnit(call, at);
      positions.flush(at);
      release.run();
      return outcome;
    } catch (error) {
      // Some faults of the disk make SQLite undo the whole transaction: then all of it failed.
      if (!db.isTransaction) throw error;
      positions.forget();
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
      commit.run();
      return outcomes;
    } catch (error) {
      positions.forget();
      throw error;
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK');
    }
  }

  return ({ at, calls }) => {
    const together = attempt(() => transact(at, () => calls.map((call) => runUnit(call, at))));
    if (Array.isArray(together)) return together;
    // A database that is busy or a broken disk is no fault of one unit.
    const isShared = calls.length === 1 || together.code === 'unavailable';
    const apart = isShared
      ? together : attempt(() => transact(at, () => calls.map((call) => runAlone(call, at))));
    return Array.isArray(apart) ? apart : calls.map(() => apart);
  };
}

/** Runs a unit, or finds what it did once. */
function prepareRunUnit(
  db: DatabaseSync, positions: Positions,
): (call: UnitCall, at: number) => Outcome {
  const units = prepareUnits(db, positions);
  const records = new IdempotencyRecords(db);
  return ({ name, input, once }, at) => {
    // Writer.run paired the name with its input; TypeScript cannot follow that through a queue.
    const unit = units[name] as (input: unknown, at: number) => ReturnType<Units[UnitName]>;
    // Calls that change stock know what those before them have left; nobody else does.
    if (name !== 'syncStock') positions.settle();
    if (!once) return { isDone: true, value: unit(input, at) };
    const value = records.run(once, describeCall(name, input), at, () => unit(input, at));
    return { isDone: true, value };
  };
}

/** What is asked for, whichever key of the seller asks for it, and but for what is random. */
function describeCall(name: UnitName, input: unknown): unknown {
  // Units that are called with an idempotency key have objects as their input.
  const { author: _, fresh: __, ...rest } = input as { author?: unknown; fresh?: unknown };
  return [name, rest];
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
    return { isDone: false, code: error.code, detail: error.publicDetail };
  }
  const cause = error instanceof Error ? error.stack : String(error);
  const isSqlite = error instanceof Error && 'errcode' in error;
  const [code, what] = describeResultCode(isSqlite ? Number(error.errcode) & 0xff : 0);
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
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ['unavailable', 'The database is busy.'];
    default:
      return ['internal', 'The change could not be made.'];
  }
}
