/**
 * Moves a catalogue from a data folder to an empty PostgreSQL database. The source is locked, and
 * its rows are never changed. Until the proof, the target has a mark, with which no server opens
 * it; a move that was interrupted finds it again and continues.
 */
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../domain/error.ts';
import type { ConnectOptions } from '../postgres/connect/open-connection.ts';
import { assertNoServers } from '../postgres/nodes/node-table.ts';
import {
  findSetting, GENERATION_SETTING, listTables, migrate, MOVE_SETTING, PUT_SETTING, putGeneration,
} from '../postgres/schema/migrate.ts';
import type { Query } from '../postgres/sql.ts';
import type { Connection } from '../postgres/wire/connection.ts';
import type { ServerKey } from '../rules/server-key.ts';
import { lockCatalogue } from '../sqlite/backup/restore.ts';
import { checkSchema } from '../sqlite/check/schema.ts';
import { openWriter } from '../sqlite/engine/connection.ts';
import {
  assertCatalogueExists, CATALOGUE_FILE_NAME, findGeneration, findVersion,
} from '../sqlite/engine/database-file.ts';
import { SCHEMA_VERSION } from '../sqlite/schema/migrate.ts';
import { findServerKey } from '../sqlite/files/server-key.ts';
import { beginMove, withDatabase } from './database.ts';
import { copyTables, type MoveProgress, type ProvenTable, proveTables, readState } from './move.ts';
import { postgresSide } from './postgres-side.ts';
import { sqliteSide } from './sqlite-side.ts';
import { listTablesWithDerived, type Table } from './tables.ts';

export interface MoveTask {
  /** The data folder. */
  readonly folder: string;
  readonly connect: ConnectOptions;
  readonly onProgress: (progress: MoveProgress) => void;
  /** For people: how the move begins. */
  readonly onNote: (text: string) => void;
}

/** Resolves when the target is complete, with what was proved to be equal. */
export async function moveToPostgres(task: MoveTask): Promise<readonly ProvenTable[]> {
  const { folder, connect, onProgress, onNote } = task;
  const { db, key } = openSource(folder);
  try {
    const source = sqliteSide(db);
    const tables = listTablesWithDerived(db);
    const { state, totalRows } = await readState(source, tables, key.check);
    return await withDatabase(connect, async (connection, query) => {
      await prepareTarget(connection, query, tables, key, state.toString('hex'), onNote);
      const target = postgresSide(connection, query);
      const move = { source, target, tables, totalRows, onProgress };
      await copyTables(move);
      await query(`ANALYZE ${tables.map(({ name }) => name).join(', ')}`);
      const proven = await proveTables(move).catch(async (error: unknown) => {
        // Then the next run copies everything again.
        if (error instanceof AppError) await query(PUT_SETTING, MOVE_SETTING, 'differs');
        throw error;
      });
      await assertNoServers(query);
      await query('DELETE FROM setting WHERE name IN ($1, $2)', MOVE_SETTING, GENERATION_SETTING);
      const generation = findGeneration(db);
      if (generation) await putGeneration(query, generation);
      return proven;
    });
  } finally {
    closeSource(db, folder);
  }
}

/**
 * Locks the catalogue. A manipulated one may contain a table whose name is SQL, or a view: so its
 * schema is checked before anything else is read.
 * @throws AppError `not_found`, `unavailable`
 */
function openSource(folder: string): { readonly db: DatabaseSync; readonly key: ServerKey } {
  assertCatalogueExists(folder);
  const file = join(folder, CATALOGUE_FILE_NAME);
  const version = findVersion(file);
  if (version !== SCHEMA_VERSION) {
    throw new AppError('unavailable', `The catalogue has schema version ${version}, and a move `
      + `needs ${SCHEMA_VERSION}. Update it first: migrate --data ${folder}`);
  }
  const key = findServerKey(folder);
  if (!key) {
    throw new AppError('unavailable', `${folder} has no valid server.key. Put back the one that `
      + 'belongs to the catalogue: its secrets are encrypted with it.');
  }
  const db = lockCatalogue(folder, file);
  for (const { what } of checkSchema(db)) {
    closeSource(db, folder);
    throw new AppError('unavailable', `The catalogue cannot be moved: ${what} Run doctor on it.`);
  }
  return { db, key };
}

/** Leaves the file in WAL mode, as servers do. A failed move may still be reading from `db`. */
function closeSource(db: DatabaseSync, folder: string): void {
  db.close();
  openWriter(join(folder, CATALOGUE_FILE_NAME)).close();
}

async function prepareTarget(
  connection: Connection, query: Query, tables: readonly Table[], key: ServerKey, mark: string,
  onNote: MoveTask['onNote'],
): Promise<void> {
  const names = await listTables(query);
  const oldMark = names.includes('setting') ? await findSetting(query, MOVE_SETTING) : undefined;
  if (oldMark === undefined) {
    await assertEmpty(query, tables.filter(({ name }) => names.includes(name)));
  }
  await migrate(connection, key);
  await assertNoServers(query);
  if (oldMark === mark) return onNote('Continuing the unfinished move.');
  if (oldMark !== undefined) {
    onNote('The source has changed since the unfinished move, or the proof of its copy failed: '
      + 'copying everything again.');
  }
  await beginMove(query, tables, mark);
}

/** The chain of audit events that a new database begins has no event yet. */
async function assertEmpty(query: Query, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables) {
    if (name === 'audit_segment') continue;
    if ((await query(`SELECT 1 AS n FROM ${name} LIMIT 1`)).length === 0) continue;
    throw new AppError('unavailable', `The database is not empty: its table ${name} has rows. It `
      + 'was left unchanged. Move to a new database: createdb NAME');
  }
}
