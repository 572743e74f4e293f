/**
 * Creates and recognizes the database file. It is written under a temporary name and published
 * whole, so a crash leaves either no database or a complete one. A foreign file, or a version that
 * this program cannot read, is rejected before SQLite opens it.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync, closeSync, constants, existsSync, lstatSync, openSync, readdirSync, readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { createFolder } from '../files/durable-files.ts';
import { deriveAuditKey, SERVER_CHAIN, startSegment } from '../../rules/audit.ts';
import { openWriter } from './connection.ts';
import { explainOpening } from './disk-failure.ts';
import { AtomicFile, removeAbandonedParts } from '../files/atomic-file.ts';
import { KEY_FILE_NAME, mayBeBeside, MOVING_FILE_NAME } from '../files/data-folder-files.ts';
import { readBytes, type Row } from '../../sql/sql.ts';
import type { ServerKey } from '../../rules/server-key.ts';
import { openServerKey } from '../files/server-key.ts';
import {
  APPLICATION_ID, assertKnownVersion, assertNotOldVersion, migrate, SCHEMA_VERSION,
} from '../schema/migrate.ts';

export const CATALOGUE_FILE_NAME = 'catalogue.db';
/** The mode bit of folders that all users can write to. */
const STICKY = 0o1000;
const MAGIC = 'SQLite format 3\0';

/**
 * Ensures that `folder` has a database of this version, and the server's key. The folder's mode
 * becomes 0700 and that of files 0600 (SQLite gives -wal and -shm the mode of the database).
 * @throws AppError `unavailable` for a foreign file, a version that this program cannot read, a
 *   folder that others use, a malformed `server.key`, the write-ahead log of no catalogue, and the
 *   target of an unfinished move
 */
export function prepareCatalogueFile(folder: string): { file: string; key: ServerKey } {
  prepareFolder(folder);
  const file = join(folder, CATALOGUE_FILE_NAME);
  const version = findVersion(file);
  if (version === undefined) {
    assertNoLog(file);
    if (hasUnfinishedMove(folder)) throw noCatalogue(folder);
  }
  chmodSync(folder, 0o700);
  removeAbandonedParts(folder, (name) => name === CATALOGUE_FILE_NAME || name === KEY_FILE_NAME);
  const key = openServerKey(folder);
  if (version === undefined) createFile(file, key);
  else if (version < SCHEMA_VERSION) {
    using db = openWriter(file);
    migrate(db);
  }
  return { file, key };
}

/**
 * Creates a missing folder, and flushes its name before a catalogue is created in it.
 * @throws AppError `unavailable` for a folder that others use, or a path that cannot be a folder
 */
export function prepareFolder(folder: string): void {
  try {
    if (!existsSync(join(folder, CATALOGUE_FILE_NAME))) createFolder(folder);
    assertOwnFolder(folder);
  } catch (error) {
    throw explainOpening(error, folder);
  }
}

/** @throws AppError `not_found`, `unavailable` */
export function assertCatalogueExists(folder: string): void {
  let stats;
  try {
    stats = statSync(join(folder, CATALOGUE_FILE_NAME), { throwIfNoEntry: false });
  } catch (error) {
    throw explainOpening(error, folder);
  }
  if (!stats) throw noCatalogue(folder);
}

export function noCatalogue(folder: string): AppError {
  if (hasUnfinishedMove(folder)) {
    const file = join(folder, MOVING_FILE_NAME);
    return new AppError('unavailable', `${folder} is the target of a "move-to" that is not `
      + `finished. Run it again to continue, or, to give it up, remove ${file}.`);
  }
  const hint = 'Name the right folder with --data, or create a catalogue: seller create NAME';
  return new AppError('not_found', `There is no catalogue in ${folder}. ${hint}`);
}

function hasUnfinishedMove(folder: string): boolean {
  return existsSync(join(folder, MOVING_FILE_NAME));
}

/**
 * SQLite would apply the WAL of a missing catalogue to the new one. Checks again for the catalogue,
 * because another process may just have created it, with its WAL.
 */
function assertNoLog(file: string): void {
  const log = ['-wal', '-journal'].map((end) => file + end)
    .find((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0);
  if (log === undefined || existsSync(file)) return;
  const hint = 'Put the catalogue back, or restore a backup, which keeps the log.';
  throw new AppError('unavailable', `${log} exists, but no catalogue. ${hint}`);
}

/** Changing the mode of a shared folder, such as `/` or `/tmp`, would break its other uses. */
function assertOwnFolder(folder: string): void {
  const entries = readdirSync(folder);
  const isShared = (statSync(folder).mode & STICKY) !== 0;
  const isUsed = !entries.includes(CATALOGUE_FILE_NAME)
    && entries.some((name) => !mayBeBeside(name));
  if (!isShared && !isUsed) return;
  const hint = 'Use a folder for the database alone, because other users lose access to it.';
  throw new AppError('unavailable', `${folder} has other uses. ${hint}`);
}

/** The key that signs cursors: 32 bytes, created with the database. */
export function readCursorKey(db: DatabaseSync): Uint8Array {
  return readBytes(findSecret(db, 'cursor') ?? {}, 'value');
}

/** The 32 random bytes of its generation; undefined if it was never restored. */
export function findGeneration(db: DatabaseSync): Uint8Array | undefined {
  const row = findSecret(db, 'generation');
  return row && readBytes(row, 'value');
}

/** Call it when the catalogue was set back: its positions will mean other changes. */
export function putGeneration(db: DatabaseSync, bytes: Uint8Array = randomBytes(32)): void {
  db.prepare("INSERT OR REPLACE INTO server_secret (name, value) VALUES ('generation', ?)")
    .run(bytes);
}

function findSecret(db: DatabaseSync, name: string): Row | undefined {
  return db.prepare('SELECT value FROM server_secret WHERE name = ?').get(name);
}

/**
 * The `user_version` of our file; undefined if there is none.
 * @throws AppError `unavailable` for a foreign file, and for a version that is unknown
 */
export function findVersion(file: string): number | undefined {
  const version = findReleasedVersion(file);
  if (version !== undefined) assertKnownVersion(version, file);
  return version;
}

/**
 * The version, even if it is newer than this program.
 * @throws AppError `unavailable` for a foreign file, and for a version before the first
 */
export function findReleasedVersion(file: string): number | undefined {
  const header = readHeader(file);
  if (!header) return undefined;
  if (header.isOurs) {
    assertNotOldVersion(header.version, file);
    return header.version;
  }
  const hint = 'It was left unchanged: move it away, or use another data folder.';
  throw new AppError('unavailable', `${file} is not a database of this server. ${hint}`);
}

/** @throws AppError `unavailable` for a database of this server before the first version */
export function assertNotOldFile(file: string): void {
  const header = readHeader(file);
  if (header?.isOurs) assertNotOldVersion(header.version, file);
}

/** Whether the file is a database of this server, of any version. */
export function isOurFile(file: string): boolean {
  return readHeader(file)?.isOurs === true;
}

/**
 * Undefined if there is no file. File header: https://www.sqlite.org/fileformat.html 1.3
 * @throws AppError `unavailable` for a dangling link
 */
function readHeader(
  file: string,
): { readonly isOurs: boolean; readonly version: number } | undefined {
  const header = Buffer.alloc(100);
  try {
    const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK); // it may be a FIFO
    readSync(handle, header);
    closeSync(handle);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) {
      assertNoLink(file);
      return undefined;
    }
    if (!isSystemError(error, 'EISDIR')) throw error; // a folder is foreign too
  }
  const isOurs = header.toString('latin1', 0, MAGIC.length) === MAGIC
    && header.readInt32BE(68) === APPLICATION_ID;
  return { isOurs, version: header.readInt32BE(60) };
}

/** SQLite would create the file that a dangling link names, on whatever disk is there now. */
function assertNoLink(file: string): void {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const hint = 'Mount the disk that has the file, or remove the link.';
  throw new AppError('unavailable', `${file} is a link to a file that does not exist. ${hint}`);
}

/** If another process creates it first, that one is used. */
function createFile(file: string, key: ServerKey): void {
  using target = new AtomicFile(file);
  target.begin();
  const db = openWriter(target.tempPath);
  migrate(db);
  db.prepare('INSERT INTO server_secret (name, value) VALUES (?, ?)')
    .run('cursor', randomBytes(32));
  startServerChain(db, key);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)'); // reports an error, which closing would not
  db.close();
  target.publish();
}

/** Of the audit log. Chains of sellers start when they are created. */
function startServerChain(db: DatabaseSync, serverKey: ServerKey): void {
  const { chain, id, first, last, origin, keyId, mac } =
    startSegment(SERVER_CHAIN, deriveAuditKey(serverKey));
  db.prepare(`
    INSERT INTO audit_segment (seller_id, id, first, last, origin, key_id, mac)
    VALUES (?, ?, ?, ?, ?, ?, ?)`).run(chain, id, first, last, origin, keyId, mac);
}
