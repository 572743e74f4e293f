/**
 * The database file: how it is made, recognised and brought up to date. It is made under another
 * name and put in place whole, so a crash leaves either no database or a complete one. A file
 * that is not ours, or that a newer version has written, is refused before SQLite opens it.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync, closeSync, linkSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../domain/error.ts';
import { isSystemError } from '../../domain/system-error.ts';
import { openWriter } from './connection.ts';
import { syncFolder } from './folder.ts';
import { readBytes, readInteger } from './row.ts';

/** "SPAc": written into the header of every database of this project. */
const APPLICATION_ID = 0x53504163;
/** Immutable, forward-only: a file's place in this list is the `user_version` that it leads to. */
const MIGRATIONS = [
  '001-initial.sql', '002-idempotency.sql', '003-stock.sql', '004-webhooks.sql', '005-portal.sql',
  '006-stock-days.sql', '007-key-usage.sql', '008-disabled-sellers.sql',
];
export const CATALOGUE_FILE_NAME = 'catalogue.db';
/** What others may leave in a data folder: the files of the project's `data/`, and of a volume. */
export const HARMLESS = /^(?:\..*|README\.md|sample-.*|lost\+found)$/;
/** What may lie there before the database does. */
const OWN = /^(?:catalogue\.db|search\.db|server\.key|webhooks\.lock|backups\.lock)/;
/** The mode bit of folders that all users may write to. */
const STICKY = 0o1000;

// The header of a database file: https://www.sqlite.org/fileformat.html section 1.3
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;

/**
 * Makes sure that `folder` holds a database of this version and returns the file's path. The folder
 * is made 0700 and the file 0600 (SQLite gives its -wal and -shm the mode of the file).
 * @throws AppError `unavailable` for a foreign or newer file, and for a folder that others use
 */
export function prepareCatalogueFile(folder: string): string {
  prepareFolder(folder);
  const file = join(folder, CATALOGUE_FILE_NAME);
  const found = findVersion(file);
  chmodSync(folder, 0o700);
  const version = found ?? createFile(folder, file);
  if (version < MIGRATIONS.length) {
    const db = openWriter(file);
    migrate(db);
    db.close();
  }
  return file;
}

/**
 * Makes the folder where there is none.
 * @throws AppError `unavailable` for a folder that others use
 */
export function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  assertOwnFolder(folder);
}

/** To close a folder that something else lives in, such as `/` or `/tmp`, would break that. */
function assertOwnFolder(folder: string): void {
  const entries = readdirSync(folder);
  const isShared = (statSync(folder).mode & STICKY) !== 0;
  const isUsed = !entries.includes(CATALOGUE_FILE_NAME)
    && entries.some((name) => !HARMLESS.test(name) && !OWN.test(name));
  if (!isShared && !isUsed) return;
  const hint = 'Give the database a folder of its own: it is closed to other users.';
  throw new AppError('unavailable', `${folder} has other uses. ${hint}`);
}

/** Once more from inside, where a WAL that was left by a crash counts too. */
export function assertVersion(db: DatabaseSync, file: string): void {
  const row = db.prepare('PRAGMA user_version').get() ?? {};
  if (readInteger(row, 'user_version') !== MIGRATIONS.length) throw writtenByNewerVersion(file);
}

/** What a database says of itself, and the newest version that is known here. */
export function describeVersion(
  db: DatabaseSync,
): { readonly isOurs: boolean; readonly version: number; readonly newest: number } {
  const read = (name: string): number =>
    readInteger(db.prepare(`PRAGMA ${name}`).get() ?? {}, name);
  return {
    isOurs: read('application_id') === APPLICATION_ID,
    version: read('user_version'),
    newest: MIGRATIONS.length,
  };
}

/** The key that signs cursors: 32 bytes, made with the database. */
export function readCursorKey(db: DatabaseSync): Uint8Array {
  const row = db.prepare("SELECT value FROM server_secret WHERE name = 'cursor'").get() ?? {};
  return readBytes(row, 'value');
}

/**
 * The `user_version` of our file, undefined where there is none.
 * @throws AppError `unavailable` for a file of somebody else, or of a newer version
 */
export function findVersion(file: string): number | undefined {
  const version = findAnyVersion(file);
  if (version !== undefined) assertKnown(version, file);
  return version;
}

/** The same, also of a newer version. @throws AppError `unavailable` */
export function findAnyVersion(file: string): number | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const handle = openSync(file, 'r');
    readSync(handle, header);
    closeSync(handle);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    if (!isSystemError(error, 'EISDIR')) throw error; // a folder is not ours, either
  }
  const ours = header.toString('latin1', 0, MAGIC.length) === MAGIC
    && header.readInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID;
  if (!ours) {
    const hint = 'It was left untouched: move it away, or name another folder with --data.';
    throw new AppError('unavailable', `${file} is not a database of this server. ${hint}`);
  }
  return header.readInt32BE(USER_VERSION_OFFSET);
}

/** @throws AppError `unavailable` for the version of a newer program */
export function assertKnown(version: number, file: string): void {
  if (version > MIGRATIONS.length) throw writtenByNewerVersion(file);
}

function createFile(folder: string, file: string): number {
  const unfinished = `${file}.${process.pid}.new`;
  rmSync(unfinished, { force: true });
  closeSync(openSync(unfinished, 'wx', 0o600));
  try {
    const db = openWriter(unfinished);
    migrate(db);
    db.prepare('INSERT INTO server_secret (name, value) VALUES (?, ?)')
      .run('cursor', randomBytes(32));
    db.close(); // the last connection moves the WAL into the file and removes it
    linkSync(unfinished, file);
    syncFolder(folder);
  } catch (error) {
    // Another process was first: its database is as good.
    if (!isSystemError(error, 'EEXIST')) throw error;
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(unfinished + suffix, { force: true });
  }
  return MIGRATIONS.length;
}

/**
 * Applies what is missing up to a version, one transaction each, and moves it from the WAL into the
 * file.
 */
export function migrate(db: DatabaseSync, to = MIGRATIONS.length): void {
  db.exec('PRAGMA temp_store = FILE'); // a long history is sorted on the disk, not in memory
  for (;;) {
    db.exec('BEGIN IMMEDIATE');
    try {
      // Read inside the transaction: another process may be migrating the same file.
      const row = db.prepare('PRAGMA user_version').get() ?? {};
      const version = readInteger(row, 'user_version');
      const name = MIGRATIONS[version];
      if (name === undefined || version >= to) break;
      db.exec(readFileSync(new URL(`migrations/${name}`, import.meta.url), 'utf8'));
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version + 1};`);
      db.exec('COMMIT');
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK');
    }
  }
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

function writtenByNewerVersion(file: string): AppError {
  const hint = 'It was left untouched: run that version, or a newer one.';
  return new AppError('unavailable', `${file} was written by a newer version. ${hint}`);
}
