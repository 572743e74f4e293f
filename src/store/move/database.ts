/**
 * The connection of a move: one at a time in a database. The mark of an unfinished move is a row of
 * `setting`.
 */
import { AppError } from '../../domain/error.ts';
import { type ConnectOptions, openConnection } from '../postgres/connect/open-connection.ts';
import { explainOpening } from '../postgres/connect/opening-failures.ts';
import { makePatientRunner, MOVE_SETTING, PUT_SETTING } from '../postgres/schema/migrate.ts';
import { type Query, queryOf } from '../postgres/sql.ts';
import type { Connection } from '../postgres/wire/connection.ts';
import { ConnectionLostError, PostgresError } from '../postgres/wire/errors.ts';
import { MOVE_LOCK_TIMEOUT_MS } from './limits.ts';
import type { Table } from './tables.ts';

/** "SPAm": nothing else should lock this number. */
const LOCK_NUMBER = 0x5350416d;
const LOCK_NOT_AVAILABLE = '55P03';
/** Of the session: values in one form, and no limit on the time of a move. */
const SETTINGS = {
  bytea_output: 'hex', standard_conforming_strings: 'on', statement_timeout: '0',
  idle_in_transaction_session_timeout: '0', lock_timeout: String(MOVE_LOCK_TIMEOUT_MS),
};

/** Runs the work on a connection of its own, while no other move uses the database. */
export async function withDatabase<Result>(
  connect: ConnectOptions, work: (connection: Connection, query: Query) => Promise<Result>,
): Promise<Result> {
  if (connect.poolMode === 'transaction') {
    throw new AppError('unavailable', 'A move needs a connection of its own: name the server '
      + 'itself instead of a pooler, without pool_mode=transaction.');
  }
  let connection: Connection | undefined;
  try {
    connection = await openConnection({
      ...connect, settings: { ...connect.settings, ...SETTINGS },
    }).catch(explainOpening);
    const query = queryOf(makePatientRunner(connection));
    await lock(query);
    return await work(connection, query);
  } catch (error) {
    throw explainError(error);
  } finally {
    connection?.destroy(new Error('the move has ended'));
  }
}

/** The connection of a move that was killed holds the lock until the server notices. */
async function lock(query: Query): Promise<void> {
  await query('SELECT pg_advisory_lock($1)', LOCK_NUMBER).catch((error: unknown) => {
    if (!isLocked(error)) throw error;
    throw new AppError('unavailable', 'Another move uses this database. Wait until it has ended.');
  });
}

/** Whether another transaction has the lock that a statement needs. */
export function isLocked(error: unknown): boolean {
  return error instanceof PostgresError && error.sqlstate === LOCK_NOT_AVAILABLE;
}

/** Empties the tables and marks them: until the mark is removed, no server opens the database. */
export async function beginMove(
  query: Query, tables: readonly Table[], mark: string,
): Promise<void> {
  await query('BEGIN');
  await query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
  await query(PUT_SETTING, MOVE_SETTING, mark);
  await query('COMMIT');
}

function explainError(error: unknown): unknown {
  if (!(error instanceof PostgresError || error instanceof ConnectionLostError)) return error;
  const message = error.message.replace(/\.$/, '');
  return new AppError('unavailable', `The database reports: ${message}. Run the command again when `
    + 'that is solved: it continues where it stopped.', { cause: error });
}
