/**
 * Opens a connection to the first of several servers that accepts it and, unless any will do, may
 * be written to. Settings such as `statement_timeout` are set after connecting, since poolers
 * reject startup parameters that they do not know.
 */
import { Connection } from '../wire/connection.ts';
import { ConnectionLostError, PostgresError } from '../wire/errors.ts';
import { describeServer, type Server } from '../wire/socket.ts';
import { type SessionOptions, startSession } from '../wire/startup.ts';
import {
  POSTGRES_IDLE_TRANSACTION_TIMEOUT_MS, POSTGRES_LOCK_TIMEOUT_MS, POSTGRES_STATEMENT_TIMEOUT_MS,
  POSTGRES_TCP_KEEPALIVE_SECONDS, POSTGRES_TCP_USER_TIMEOUT_MS,
} from '../limits.ts';

export interface ConnectOptions extends SessionOptions {
  /** Tried in this order. */
  readonly servers: readonly Server[];
  readonly targetSessionAttrs: 'any' | 'read-write';
  /** Run-time parameters of the session, by name. Not set behind a transaction pooler. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** So that a statement ends on the server, too, when nobody waits for it any more. */
export const SESSION_LIMITS: Readonly<Record<string, string>> = {
  statement_timeout: String(POSTGRES_STATEMENT_TIMEOUT_MS),
  lock_timeout: String(POSTGRES_LOCK_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(POSTGRES_IDLE_TRANSACTION_TIMEOUT_MS),
  tcp_user_timeout: String(POSTGRES_TCP_USER_TIMEOUT_MS),
};
/** So that a client that is paused or unreachable keeps no locks. Unix sockets ignore them. */
const NETWORK_SETTINGS = {
  tcp_user_timeout: String(POSTGRES_TCP_USER_TIMEOUT_MS),
  tcp_keepalives_idle: String(POSTGRES_TCP_KEEPALIVE_SECONDS),
  tcp_keepalives_interval: String(POSTGRES_TCP_KEEPALIVE_SECONDS),
};
const STATE = `SELECT current_setting('transaction_read_only') AS read_only`;
const SET = `SELECT set_config(name, value, false)
  FROM unnest($1::text[], $2::text[]) AS setting (name, value)`;

/** @throws ConnectionLostError that names each server and why it was not used. */
export async function openConnection(options: ConnectOptions): Promise<Connection> {
  const problems: string[] = [];
  let cause: unknown;
  for (const server of options.servers) {
    try {
      return await openOne(server, options);
    } catch (error) {
      cause = error;
      problems.push(`${describeServer(server)} failed: ${describeError(error)}`);
      // Invalid authorization, no such database: another server would reject the user, too.
      if (error instanceof PostgresError && /^(?:28|3D)/.test(error.sqlstate)) break;
    }
  }
  throw new ConnectionLostError(problems.join('; '), false, cause);
}

async function openOne(server: Server, options: ConnectOptions): Promise<Connection> {
  const { poolMode, targetSessionAttrs, connectTimeoutMs: timeoutMs } = options;
  const connection = new Connection(await startSession(server, options));
  try {
    const settings = poolMode !== 'session' ? []
      : Object.entries({ ...NETWORK_SETTINGS, ...options.settings });
    const values = [settings.map(([name]) => name), settings.map(([, value]) => value)];
    const [result] = await connection.run(
      [{ text: STATE, values: [], isUnnamed: true }, { text: SET, values, isUnnamed: true }],
      { timeoutMs },
    );
    if (targetSessionAttrs === 'read-write' && result?.rows[0]?.['read_only'] !== 'off') {
      throw new Error('session is read-only');
    }
    return connection;
  } catch (error) {
    connection.destroy(new Error('it was not used'));
    throw error;
  }
}

function describeError(error: unknown): string {
  if (error instanceof PostgresError) return `FATAL: ${error.message}`;
  // A name may have several addresses, each with its error.
  if (error instanceof AggregateError) return error.errors.map(describeError).join(', ');
  return error instanceof Error ? error.message : String(error);
}
