/**
 * The database file: how it is made, recognised and brought up to date. It is made under another
 * name and put in place whole, so a crash leaves either no database or a complete one. A file
 * that is not ours, or that a newer version has written, is refused before SQLite opens it.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync, closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { createFolder } from '../files/durable-files.ts';
import { startAuditSegments } from '../accounts/audit.ts';
import { type AuditKey, deriveAuditKey } from '../accounts/audit-segments.ts';
import { openWriter } from './connection.ts';
import { explainOpening } from './disk-failure.ts';
import { AtomicFile, removeAbandonedParts } from '../files/atomic-file.ts';
import { KEY_FILE_NAME, mayBeBeside } from '../files/data-folder-files.ts';
import { readBytes, readInteger } from './row.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import { openServerKey } from '../files/server-key.ts';

/** "SPAc": written into the header of every database of this project. */
const APPLICATION_ID = 0x53504163;
/** Immutable, forward-only: a file's place in this list is the `user_version` that it leads to. */
const MIGRATIONS = [
  '001-initial.sql', '002-idempotency.sql', '003-stock.sql', '004-webhooks.sql', '005-portal.sql',
  '006-stock-days.sql', '007-key-usage.sql', '008-disabled-sellers.sql',
  '009-idempotency-hash.sql', '010-audit-segments.sql',
];
/** Creates the table of audit segments, whose first row needs the server's key. */
const AUDIT_SEGMENTS = '010-audit-segments.sql';
export const CATALOGUE_FILE_NAME = 'catalogue.db';
/** The mode bit of folders that all users may write to. */
const STICKY = 0o1000;

// The header of a database file: https://www.sqlite.org/fileformat.html section 1.3
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;

/**
 * Makes sure that `folder` holds a database of this version, and the server's key. The folder is
 * made 0700 and the files 0600 (SQLite gives its -wal and -shm the mode of the database).
 * @throws AppError `unavailable` for a foreign or newer file, for a folder that others use, and for
 *   a malformed `server.key`, and for the write-ahead log of a missing catalogue
 */
export function prepareCatalogueFile(folder: string): { file: string; key: ServerKey } {
  prepareFolder(folder);
  const file = join(folder, CATALOGUE_FILE_NAME);
  const found = findVersion(file);
  if (found === undefined) assertNoLog(file);
  chmodSync(folder, 0o700);
  removeAbandonedParts(folder, (name) => name === CATALOGUE_FILE_NAME || name === KEY_FILE_NAME);
  const key = openServerKey(folder);
  const auditKey = deriveAuditKey(key);
  const version = found ?? createFile(file, auditKey);
  if (version < MIGRATIONS.length) {
    const db = openWriter(file);
    migrate(db, { auditKey });
    db.close();
  }
  return { file, key };
}

/**
 * Creates a missing folder, and makes its name durable before it holds a catalogue.
 * @throws AppError `unavailable` for a folder that others use, and for a path that cannot be a
 *   folder
 */
export function prepareFolder(folder: string): void {
  try {
    if (!existsSync(join(folder, CATALOGUE_FILE_NAME))) createFolder(folder);
  } catch (error) {
    throw explainOpening(error, folder);
  }
  assertOwnFolder(folder);
}

/** For work that needs an existing database. @throws AppError `not_found`, `unavailable` */
export function assertCatalogueExists(folder: string): void {
  let found;
  try {
    found = statSync(join(folder, CATALOGUE_FILE_NAME), { throwIfNoEntry: false });
  } catch (error) {
    throw explainOpening(error, folder);
  }
  if (!found) throw noCatalogue(folder);
}

export function noCatalogue(folder: string): AppError {
  const hint = 'Name the right folder with --data, or create a catalogue: seller create NAME';
  return new AppError('not_found', `There is no catalogue in ${folder}. ${hint}`);
}

/**
 * SQLite would write the log of a missing catalogue into the new one. Looks for the file once more:
 * another process may just have created it, and its log.
 */
function assertNoLog(file: string): void {
  const log = ['-wal', '-journal'].map((end) => file + end)
    .find((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0);
  if (log === undefined || existsSync(file)) return;
  const hint = 'Put the catalogue back, or restore a backup, which keeps the log.';
  throw new AppError('unavailable', `${log} is there, but no catalogue. ${hint}`);
}

/** To close a folder that something else lives in, such as `/` or `/tmp`, would break that. */
function assertOwnFolder(folder: string): void {
  const entries = readdirSync(folder);
  const isShared = (statSync(folder).mode & STICKY) !== 0;
  const isUsed = !entries.includes(CATALOGUE_FILE_NAME)
    && entries.some((name) => !mayBeBeside(name));
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
  const header = readHeader(file);
  if (!header) return undefined;
  if (!isOurs(header)) {
    const hint = 'It was left untouched: move it away, or name another folder with --data.';
    throw new AppError('unavailable', `${file} is not a database of this server. ${hint}`);
  }
  return header.readInt32BE(USER_VERSION_OFFSET);
}

/** Whether there is a database of this server, of whatever version. */
export function isOurFile(file: string): boolean {
  const header = readHeader(file);
  return header !== undefined && isOurs(header);
}

function readHeader(file: string): Buffer | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const handle = openSync(file, 'r');
    readSync(handle, header);
    closeSync(handle);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    if (!isSystemError(error, 'EISDIR')) throw error; // a folder is not ours, either
  }
  return header;
}

function isOurs(header: Buffer): boolean {
  return header.toString('latin1', 0, MAGIC.length) === MAGIC
    && header.readInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID;
}

/** @throws AppError `unavailable` for the version of a newer program */
export function assertKnown(version: number, file: string): void {
  if (version > MIGRATIONS.length) throw writtenByNewerVersion(file);
}

/** If another process is first, its database is used. */
function createFile(file: string, auditKey: AuditKey): number {
  const target = new AtomicFile(file);
  try {
    target.begin();
    const db = openWriter(target.tempPath);
    migrate(db, { auditKey });
    db.prepare('INSERT INTO server_secret (name, value) VALUES (?, ?)')
      .run('cursor', randomBytes(32));
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)'); // fails loudly, which closing would not
    db.close();
    target.publish();
  } finally {
    target.discard();
  }
  return MIGRATIONS.length;
}

interface Migration {
  readonly to?: number;
  /** Needed for a catalogue; a schema to compare with has no events to authenticate. */
  readonly auditKey?: AuditKey;
}

/**
 * Applies what is missing up to a version, one transaction each, and moves it from the WAL into the
 * file.
 */
export function migrate(
  db: DatabaseSync, { to = MIGRATIONS.length, auditKey }: Migration = {},
): void {
  db.exec('PRAGMA temp_store = FILE'); // a long history is sorted on the disk, not in memory
  registerSha256(db);
  for (;;) {
    db.exec('BEGIN IMMEDIATE');
    try {
      // Read inside the transaction: another process may be migrating the same file.
      const row = db.prepare('PRAGMA user_version').get() ?? {};
      const version = readInteger(row, 'user_version');
      const name = MIGRATIONS[version];
      if (name === undefined || version >= to) break;
      db.exec(readFileSync(new URL(`../migrations/${name}`, import.meta.url), 'utf8'));
      if (name === AUDIT_SEGMENTS && auditKey) startAuditSegments(db, auditKey);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version + 1};`);
      db.exec('COMMIT');
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK');
    }
  }
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** The SQL function of the migrations that hash what earlier versions stored in clear. */
function registerSha256(db: DatabaseSync): void {
  db.function('sha256', { deterministic: true, directOnly: true }, (text) =>
    createHash('sha256').update(String(text)).digest());
}

function writtenByNewerVersion(file: string): AppError {
  const hint = 'It was left untouched: run that version, or a newer one.';
  return new AppError('unavailable', `${file} was written by a newer version. ${hint}`);
}
