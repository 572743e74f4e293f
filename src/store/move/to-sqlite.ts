/**
 * Moves a catalogue from PostgreSQL to a data folder without one. The source is read in one
 * snapshot, while nobody can write to it. The copy gets the name of a catalogue only when it is
 * complete and checked; a move that was interrupted continues it.
 */
import { chmodSync, existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../domain/error.ts';
import { assertNoServers } from '../postgres/nodes/node-table.ts';
import { assertSchema, assertServerKey, findGeneration } from '../postgres/schema/migrate.ts';
import type { Query } from '../postgres/sql.ts';
import type { ServerKey } from '../rules/server-key.ts';
import { checkCopy } from '../sqlite/backup/database-copy.ts';
import { openCopy, openWriter } from '../sqlite/engine/connection.ts';
import {
  CATALOGUE_FILE_NAME, prepareFolder, putGeneration,
} from '../sqlite/engine/database-file.ts';
import { resultCodeOf, SQLITE_BUSY, SQLITE_FULL } from '../sqlite/engine/disk-failure.ts';
import { migrate } from '../sqlite/schema/migrate.ts';
import { linkUnlessThere } from '../sqlite/files/atomic-file.ts';
import { KEY_FILE_NAME, MOVING_FILE_NAME } from '../sqlite/files/data-folder-files.ts';
import {
  createEmpty, removeDatabase, syncFile, syncFolder,
} from '../sqlite/files/durable-files.ts';
import { findServerKey } from '../sqlite/files/server-key.ts';
import { isLocked, withDatabase } from './database.ts';
import { copyTables, type ProvenTable, proveTables, readState, type Side } from './move.ts';
import { postgresSide } from './postgres-side.ts';
import { sqliteSide } from './sqlite-side.ts';
import { listTables } from './tables.ts';
import type { MoveTask } from './to-postgres.ts';

/** Resolves when the catalogue is there and durable, with what was proved to be equal. */
export async function moveToSqlite(task: MoveTask): Promise<readonly ProvenTable[]> {
  const { folder, connect } = task;
  const key = findKey(folder);
  const part = join(folder, MOVING_FILE_NAME);
  if (isPublished(folder, part)) throw hasCatalogue(folder);
  prepareFolder(folder);
  chmodSync(folder, 0o700);
  chmodSync(join(folder, KEY_FILE_NAME), 0o600);
  return withDatabase(connect, async (connection, query) => {
    await assertSchema(query);
    await assertServerKey(query, key);
    await assertNoServers(query);
    await lockSource(query);
    try {
      const proven = await fill(part, postgresSide(connection, query), key, task);
      checkCopy(part, part);
      publish(part, folder, key, await findGeneration(query));
      return proven;
    } catch (error) {
      throw explainPartError(error, folder);
    }
  });
}

/** @throws AppError `unavailable` */
function findKey(folder: string): ServerKey {
  const key = existsSync(folder) ? findServerKey(folder) : undefined;
  if (key) return key;
  throw new AppError('unavailable', `Copy the server.key that the servers use to ${
    join(folder, KEY_FILE_NAME)} first: it decrypts the secrets in the database.`);
}

function hasCatalogue(folder: string): AppError {
  return new AppError('unavailable', `${folder} already contains a catalogue. Choose another `
    + 'folder, or move the catalogue away, and run the command again. The source is unchanged.');
}

/** Removes the second name of a catalogue whose move was killed while it published it. */
function isPublished(folder: string, part: string): boolean {
  const published = statSync(join(folder, CATALOGUE_FILE_NAME), { throwIfNoEntry: false });
  if (published && statSync(part, { throwIfNoEntry: false })?.ino === published.ino) rmSync(part);
  return published !== undefined;
}

/** One snapshot. Every mutation locks its seller, so that none is possible. */
async function lockSource(query: Query): Promise<void> {
  await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    await query('LOCK TABLE seller IN EXCLUSIVE MODE NOWAIT');
  } catch (error) {
    if (!isLocked(error)) throw error;
    throw new AppError('unavailable', 'A server or a command is writing to the database. Stop it, '
      + 'and run the command again.', { cause: error });
  }
}

async function fill(
  part: string, source: Side, key: ServerKey, { onProgress, onNote }: MoveTask,
): Promise<readonly ProvenTable[]> {
  let db = openPart(part);
  try {
    const tables = listTables(db);
    const { state, totalRows } = await readState(source, tables, key.check);
    const mark = db.prepare("SELECT value FROM server_secret WHERE name = 'move'").get()?.['value'];
    const isSame = mark instanceof Uint8Array && state.equals(mark);
    if (isSame) onNote('Continuing the unfinished move.');
    else {
      if (mark) {
        onNote('The source has changed since the unfinished move, or the proof of its copy '
          + 'failed: copying everything again.');
      }
      db.close();
      removeDatabase(part);
      db = openPart(part);
      db.prepare("INSERT INTO server_secret (name, value) VALUES ('move', ?)").run(state);
    }
    const move = { source, target: sqliteSide(db), tables, totalRows, onProgress };
    await copyTables(move);
    return await proveTables(move).catch((error: unknown) => {
      if (error instanceof AppError) db.exec("UPDATE server_secret SET value = zeroblob(32)");
      throw error;
    });
  } finally {
    db.close();
  }
}

/** No other process can open it. */
function openPart(part: string): DatabaseSync {
  createEmpty(part);
  const db = openCopy(part);
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The cursors that the servers have signed remain valid. */
function publish(
  part: string, folder: string, key: ServerKey, generation: Uint8Array | undefined,
): void {
  {
    using db = openWriter(part);
    db.exec("BEGIN IMMEDIATE; DELETE FROM server_secret WHERE name = 'move'");
    db.prepare("INSERT INTO server_secret (name, value) VALUES ('cursor', ?)")
      .run(key.derive('cursor', 32));
    if (generation) putGeneration(db, generation);
    db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  }
  syncFile(part);
  removeDatabase(join(folder, 'search.db')); // of an earlier catalogue
  if (!linkUnlessThere(part, join(folder, CATALOGUE_FILE_NAME))) throw hasCatalogue(folder);
  syncFolder(folder);
  removeDatabase(part);
  syncFolder(folder);
}

function explainPartError(error: unknown, folder: string): unknown {
  const code = resultCodeOf(error);
  if (code === SQLITE_BUSY) {
    return new AppError('unavailable', `Another move to ${folder} is running.`, { cause: error });
  }
  if (code !== SQLITE_FULL) return error;
  return new AppError('storage_full', `The disk has no room for the catalogue in ${folder}. Run `
    + 'the command again when there is: it continues where it stopped.', { cause: error });
}
