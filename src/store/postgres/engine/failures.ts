/** What errors of the database mean for a mutation or a query. */
import { AppError } from '../../../domain/error.ts';
import type { Runner } from '../sql.ts';
import { ConnectionLostError, PoolExhaustedError, PostgresError } from '../wire/errors.ts';

const UNKNOWN_OUTCOME = 'The connection to the database was lost and the outcome is unknown. Check'
  + ' whether the change exists before retrying.';

/** A transaction was certainly not committed, because its connection was lost. */
export class NotCommittedError extends Error {
  override readonly name = 'NotCommittedError';
}

/** Whether a transaction that failed may succeed if it is decided and written again. */
export function isConflict(error: unknown): boolean {
  if (error instanceof NotCommittedError) return true;
  // Serialization failure, deadlock.
  return error instanceof PostgresError
    && (/^40(?:001|P01)$/.test(error.sqlstate) || error.isStale);
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof PostgresError && error.sqlstate === '23505';
}

/** Whether the compare-and-set of a position, or of an idempotency record, has failed. */
export function isPositionMoved(error: unknown): boolean {
  return error instanceof PostgresError && error.sqlstate === '23502';
}

/** Whether the data of a mutation are the reason: an integrity constraint, or a value. */
export function isDataError(error: unknown): boolean {
  return error instanceof PostgresError && /^2[23]/.test(error.sqlstate);
}

export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ConnectionLostError && error.isOutcomeUnknown;
}

export function unknownOutcome(cause: unknown): AppError {
  return new AppError('unavailable', UNKNOWN_OUTCOME, { cause });
}

/** The error of a mutation or a query that changed nothing. */
export function explainFailure(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof PoolExhaustedError) {
    const detail = 'Too many requests are waiting for the database. Try again soon.';
    return new AppError('unavailable', detail, { cause: error, retryAfterSeconds: 1 });
  }
  if (error instanceof ConnectionLostError || error instanceof NotCommittedError) {
    return unavailable('The database cannot be reached.', error);
  }
  if (!(error instanceof PostgresError)) return error;
  const { sqlstate } = error;
  if (sqlstate === '53100') {
    const detail = 'The disk of the database is full. Nothing was changed; try again later.';
    return new AppError('storage_full', detail, { cause: error });
  }
  if (sqlstate === '25006') return unavailable('The database is read-only.', error);
  if (isDataError(error)) {
    const detail = 'The change breaks a rule of the database. Nothing was changed.';
    return new AppError('internal', detail, { cause: error });
  }
  // Timeouts, deadlocks, and what an operator or a lack of resources does.
  const isTemporary = /^(?:40|53|55P03|57|58)/.test(sqlstate) || error.isStale;
  return isTemporary ? unavailable('The database is busy or restarting.', error) : error;
}

/** Explains the failures of a pool. */
export function explaining(runner: Runner): Runner {
  return {
    run: (...args) => runner.run(...args).catch((error: unknown) => {
      throw explainFailure(error);
    }),
  };
}

function unavailable(problem: string, cause: Error): AppError {
  const detail = `${problem} Nothing was changed; try again soon.`;
  return new AppError('unavailable', detail, { cause, retryAfterSeconds: 1 });
}
