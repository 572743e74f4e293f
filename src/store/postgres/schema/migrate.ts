/**
 * Creates the schema, or brings that of an earlier version up to date: applies schema.sql and the
 * migrations that a database lacks, in one transaction, while every other node that wants to
 * migrate waits. Once released, these files are immutable; there is no way back to an earlier
 * version. On Citus, tables of sellers are distributed by the seller, and global tables are on
 * every node. A database belongs to one server key, which a check value recognizes.
 */
import { randomBytes } from 'node:crypto';
import { AppError } from '../../../domain/error.ts';
import { readAsset } from '../../../runtime/asset.ts';
import { deriveAuditKey } from '../../rules/audit.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import { prepareAuditLog } from '../../sql/accounts/audit.ts';
import { readText } from '../../sql/sql.ts';
import { assertKnown, FIRST_VERSION } from '../../sql/schema-version.ts';
import { SESSION_LIMITS } from '../connect/open-connection.ts';
import { POSTGRES_MAINTENANCE_TIMEOUT_MS } from '../limits.ts';
import { assertNoServers } from '../nodes/node-table.ts';
import { type Query, queryOf, type Runner, sqlOf } from '../sql.ts';
import type { Connection } from '../wire/connection.ts';

const SCHEMA = readAsset(new URL('schema.sql', import.meta.url));
/** In SQL. The first one migrates FIRST_VERSION to the next version. */
const MIGRATIONS = [
  readAsset(new URL('migration-25.sql', import.meta.url)),
  readAsset(new URL('migration-26.sql', import.meta.url)),
  readAsset(new URL('migration-27.sql', import.meta.url)),
  readAsset(new URL('migration-28.sql', import.meta.url)),
  readAsset(new URL('migration-29.sql', import.meta.url)),
];
export const SCHEMA_VERSION = FIRST_VERSION + MIGRATIONS.length;
/** In messages: what has a version, and where to start without an old one. */
const PLACES = ['The database', 'an empty database'] as const;

/** Tables without a seller in their key. */
const GLOBAL_TABLES = [
  'account_email', 'invitation', 'setting', 'node', 'webhook_seller', 'webhook_lease', 'lived_time',
  'seller_external_id', 'deleted_seller',
];
/** What distributes a table, unless it is its `seller_id`. */
const DISTRIBUTION_COLUMNS = new Map([
  ['seller', 'id'], ['key_owner', 'hash'], ['throttle', 'name'],
]);
/** "SPAc": nothing else should lock this number. */
const LOCK_NUMBER = 0x53504163;
/** Takes a name and a value. */
export const PUT_SETTING = `INSERT INTO setting (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
const VERSION_SETTING = 'schema_version';
/** The setting that recognizes the server's key. */
const KEY_SETTING = 'server_key_check';
/** The setting with the 32 bytes of the generation, in hexadecimal digits, if there is one. */
export const GENERATION_SETTING = 'generation';
/** The setting of a database that a move has not filled yet. */
export const MOVE_SETTING = 'move';

/**
 * The first migration of a database makes it one of this key.
 * @param migrations In SQL, for tests
 * @throws AppError `unavailable` for a version that this program cannot read, or another key
 */
export async function migrate(
  connection: Connection, key: ServerKey, migrations = MIGRATIONS,
): Promise<{ readonly from: number; readonly to: number }> {
  const runner = makePatientRunner(connection);
  const query = queryOf(runner);
  await query('BEGIN');
  try {
    await liftLimits(query);
    await query('SELECT pg_advisory_xact_lock($1)', LOCK_NUMBER);
    const from = await findVersion(query);
    const to = FIRST_VERSION + migrations.length;
    if (from !== 0) assertKnown(from, to, ...PLACES);
    if (from !== 0 && from < to) await assertNoServers(query);
    const before = await listTables(query);
    const texts = from === 0 ? [SCHEMA, ...migrations] : migrations.slice(from - FIRST_VERSION);
    for (const text of texts) {
      for (const statement of text.split(/;$/m)) if (/\w/.test(statement)) await query(statement);
    }
    const isDistributed = await isCitus(query);
    const created = (await listTables(query)).filter((table) => !before.includes(table));
    for (const table of isDistributed ? created : []) {
      if (GLOBAL_TABLES.includes(table)) await query('SELECT create_reference_table($1)', table);
      else {
        const column = DISTRIBUTION_COLUMNS.get(table) ?? 'seller_id';
        await query('SELECT create_distributed_table($1, $2)', table, column);
      }
    }
    await query(PUT_SETTING, VERSION_SETTING, String(to));
    await query(`
      INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
    KEY_SETTING, key.check);
    await assertServerKey(query, key);
    // The chain of the server; those of sellers start with them.
    const log = prepareAuditLog(sqlOf(runner), deriveAuditKey(key));
    if (from === 0) await log.start(undefined);
    await query('COMMIT');
    return { from, to };
  } catch (error) {
    await query('ROLLBACK').catch(() => {}); // the connection may be lost
    throw error;
  }
}

/** For statements that run once, and that may take as long as they take. */
export function makePatientRunner(connection: Connection): Runner {
  return {
    run: (statements) => connection.run(
      statements.map((statement) => ({ ...statement, isUnnamed: true })),
      { timeoutMs: POSTGRES_MAINTENANCE_TIMEOUT_MS },
    ),
  };
}

/** The role may have limits for the statements of nodes; an update takes as long as it takes. */
export async function liftLimits(query: Query): Promise<void> {
  for (const name of Object.keys(SESSION_LIMITS)) await query(`SET LOCAL ${name} = 0`);
}

/** 0 for an empty database. */
async function findVersion(query: Query): Promise<number> {
  const tables = await listTables(query);
  if (!tables.includes('setting')) return 0;
  return Number(await findSetting(query, VERSION_SETTING) ?? 0);
}

/** Servers read it only when they start. @throws AppError `unavailable` while one runs */
export async function beginGeneration(query: Query): Promise<void> {
  await assertNoServers(query);
  await putGeneration(query, randomBytes(32));
}

export async function putGeneration(query: Query, bytes: Uint8Array): Promise<void> {
  await query(PUT_SETTING, GENERATION_SETTING, Buffer.from(bytes).toString('hex'));
}

export async function findGeneration(query: Query): Promise<Uint8Array | undefined> {
  const text = await findSetting(query, GENERATION_SETTING);
  return text === undefined ? undefined : Buffer.from(text, 'hex');
}

export async function findSetting(query: Query, name: string): Promise<string | undefined> {
  const [row] = await query('SELECT value FROM setting WHERE name = $1', name);
  return row && readText(row, 'value');
}

/** A table with a foreign key follows the one that it refers to, as Citus distributes them. */
export async function listTables(query: Query): Promise<readonly string[]> {
  const rows = await query(`
    SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()
    ORDER BY tablename`);
  return rows.map((row) => readText(row, 'name'));
}

async function isCitus(query: Query): Promise<boolean> {
  return (await query(`SELECT extname::text FROM pg_extension WHERE extname = 'citus'`)).length > 0;
}

/** @throws AppError `unavailable` unless the schema is the one of this program, and complete */
export async function assertSchema(query: Query): Promise<{ readonly isDistributed: boolean }> {
  const version = await findVersion(query);
  if (version !== 0) assertKnown(version, SCHEMA_VERSION, ...PLACES);
  if (version < SCHEMA_VERSION) {
    const problem = version === 0 ? 'The database is empty.' : `The database has schema version ${
      version}, and this program needs ${SCHEMA_VERSION}.`;
    throw new AppError('unavailable', `${problem} Run \`migrate\` once, then start the servers.`);
  }
  if (await findSetting(query, MOVE_SETTING) !== undefined) {
    throw new AppError('unavailable', 'A move into this database is unfinished. Run `move-to` '
      + 'again, which continues it, then start the servers.');
  }
  return { isDistributed: await isCitus(query) };
}

/** @throws AppError `unavailable` unless the database belongs to this key */
export async function assertServerKey(query: Query, key: ServerKey): Promise<void> {
  if (await findSetting(query, KEY_SETTING) === key.check) return;
  throw new AppError('unavailable', 'The database belongs to another server key. Use the file with '
    + 'which it was set up: all nodes need the same one.');
}
