/**
 * All checks of `doctor`: of a data folder, even while a server runs, or of one database file. They
 * change no stored data, although SQLite creates a missing `-wal` and `-shm` as for every reader,
 * and rolls back a write that a crash interrupted. All checks of the catalogue read one snapshot,
 * so they agree during writes, and use little memory: large sorts go to a temporary file. Also
 * checks the folder's files, with their modes and owners, and the disk.
 */
import { existsSync, lstatSync, readdirSync, statfsSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import {
  assertCatalogueExists, assertNotOldFile, CATALOGUE_FILE_NAME,
} from '../engine/database-file.ts';
import { openForChecks, openReader } from '../engine/connection.ts';
import {
  freeInodesOf, isForLackOfInodes, MORE_INODES, NO_INODES, resultCodeOf, SQLITE_BUSY,
} from '../engine/disk-failure.ts';
import {
  describeHotJournal, hasJournal, KEEP_JOURNAL, needsRollback, rollBackHotJournal,
} from '../files/hot-journal.ts';
import { isUnreadable, makeCheck, runScan, type SqliteCheck } from './finding.ts';
import { findServerKey } from '../files/server-key.ts';
import { deriveAuditKey } from '../../rules/audit.ts';
import { AUDIT_SCANS, scanCodes } from '../../sql/check/audit-chain.ts';
import { AUDIT_CHECK, CATALOGUE_CHECKS } from '../../sql/check/catalogue-checks.ts';
import {
  fault, fillIn, type Finding, type Findings, note, unreadable, warning,
} from '../../sql/check/finding.ts';
import {
  checkIntegrity, checkReferences, checkSchema, checkVersion, hasCurrentTables,
} from './schema.ts';
import { checkSecrets } from './secrets.ts';
import {
  DOCTOR_FREE_INODES_LIMIT, DOCTOR_FREE_LIMIT_BYTES, DOCTOR_LEFTOVER_AGE_MS, DOCTOR_WAL_LIMIT_BYTES,
} from '../limits.ts';
import { isBeingWritten } from '../files/atomic-file.ts';
import {
  ALLOWED_FOREIGN_FILES, LASTING_FILES, UNFINISHED_FILES, UPLOADS,
} from '../files/data-folder-files.ts';
import { readInteger, readText } from '../../sql/sql.ts';
import { isCurrentProjection } from '../search/projection-file.ts';

/** `folder` is undefined for a database file without its data folder. */
type Entry = readonly [
  name: string, subject: string,
  find: (db: DatabaseSync, folder: string | undefined) => Iterable<Finding>,
];

const DATABASE_SUBJECT = 'pages, indexes and values of the database';
/** For every database. */
const STRUCTURE: readonly Entry[] = [
  ['version', 'whose database it is, and of which version', checkVersion],
  ['integrity', DATABASE_SUBJECT, checkIntegrity],
  ['references', 'rows that reference other rows', checkReferences],
  ['schema', 'tables and indexes, as this version makes them', checkSchema],
];
/** For databases with the tables of this version. */
const CONTENT: readonly Entry[] = [
  ...CATALOGUE_CHECKS.map(({ name, subject, scans }): Entry =>
    [name, subject, (db) => scans.values().flatMap((scan) => runScan(db, scan))]),
  [AUDIT_CHECK.name, AUDIT_CHECK.subject, checkAuditLog],
];
/** For those of a data folder. */
const FOLDER: readonly Entry[] = [
  ['secrets', 'server.key and the secrets that it decrypts', checkSecrets],
  ['search', 'the search database', checkSearchFile],
];

/**
 * Read the findings of each check before the next one.
 * @throws AppError `not_found`; `unavailable` for a format from before the first release, and for a
 *   newer version with a hot journal
 */
export function* checkDataFolder(folder: string, now: number): Generator<SqliteCheck, void, void> {
  const file = join(folder, CATALOGUE_FILE_NAME);
  assertCatalogueExists(folder);
  assertNotOldFile(file);
  needsRollback(file); // throws for a newer version, which a rollback would change
  yield makeCheck('files', 'files of the data folder, and who may read them',
    () => checkFiles(folder, now));
  yield makeCheck('disk', 'free space on the disk', () => checkDisk(file));
  yield* checkCatalogue(file, folder, () => {
    rollBackHotJournal(file);
    return openForChecks(file, false);
  });
}

/** Checks a database that no server has open, such as a backup. @throws AppError as above */
export function* checkDatabaseFile(file: string): Generator<SqliteCheck, void, void> {
  if (!existsSync(file)) throw new AppError('not_found', `There is no database at ${file}.`);
  assertNotOldFile(file);
  yield* checkCatalogue(file, undefined, () => {
    // Rolling it back would change a file that should only be checked.
    if (hasJournal(file)) throw new AppError('unavailable', describeHotJournal(file));
    const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
    return openForChecks(file, !wal || wal.size === 0);
  });
}

function* checkCatalogue(
  file: string, folder: string | undefined, open: () => DatabaseSync,
): Generator<SqliteCheck, void, void> {
  let opened: DatabaseSync;
  try {
    opened = open();
  } catch (error) {
    const finding = explainOpenError(error, file);
    yield makeCheck('integrity', DATABASE_SUBJECT, () => [finding]);
    return;
  }
  using db = opened;
  const prepare = ([name, subject, find]: Entry): SqliteCheck =>
    makeCheck(name, subject, () => find(db, folder));
  yield* STRUCTURE.map(prepare);
  if (!hasCurrentTables(db)) return;
  yield* CONTENT.map(prepare);
  if (folder !== undefined) yield* FOLDER.map(prepare);
}

function explainOpenError(error: unknown, file: string): Finding {
  if (resultCodeOf(error) === SQLITE_BUSY) {
    return fault('Another process has locked the database, such as a restore.',
      'Wait until it has finished, and run doctor again.');
  }
  if (isForLackOfInodes(error, dirname(file))) return fault(`${file} ${NO_INODES}`, MORE_INODES);
  if (error instanceof AppError) return fault(describeHotJournal(file), KEEP_JOURNAL);
  if (!isUnreadable(error)) throw error;
  return unreadable(error);
}

/** The data folder has the server's key. */
function* checkAuditLog(db: DatabaseSync, folder: string | undefined): Findings {
  for (const scan of AUDIT_SCANS) yield* runScan(db, scan);
  if (folder === undefined) {
    yield note('The authentication codes of the audit log were not checked.',
      'This requires server.key: restore the file into a data folder, and check that.');
    return;
  }
  const serverKey = findServerKey(folder);
  for (const scan of scanCodes(serverKey && deriveAuditKey(serverKey))) yield* runScan(db, scan);
}

const KEY_BYTES = 32;

function* checkFiles(folder: string, now: number): Findings {
  const { uid, mode } = statSync(folder);
  yield* checkMode(folder, mode, 0o700);
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats || ALLOWED_FOREIGN_FILES.test(name)) continue; // already gone, or ignored
    if (name === UPLOADS) yield* checkUploads(path, stats, now);
    else if (UNFINISHED_FILES.test(name)) yield* checkLeftover(path, stats, now);
    else if (LASTING_FILES.test(name)) yield* checkOwn(path, name, stats, uid);
    else if (!stats.isSocket()) { // the server's socket has a name chosen by the operator
      yield warning(`${path} is not a file of this server.`,
        'Keep nothing else in the data folder: move it away.');
    }
  }
}

function* checkOwn(path: string, name: string, stats: Stats, uid: number): Findings {
  if (stats.isSymbolicLink()) {
    yield fault(`${path} is a symbolic link.`, 'Replace it with the file itself: SQLite keeps '
      + 'the write-ahead log beside the link, and another path to the file would miss it.');
    return;
  }
  if (!stats.isFile()) {
    yield fault(`${path} is not a file.`, 'Move it away; the server creates its own.');
    return;
  }
  yield* checkMode(path, stats.mode, 0o600);
  if (stats.uid !== uid) {
    yield fault(`${path} belongs to user ${stats.uid}, but the folder to user ${uid}.`,
      `Change its owner to the user who runs the server: chown ${uid} ${path}`);
  }
  if (name === 'server.key' && stats.size !== KEY_BYTES) {
    yield fault(`${path} is not a key: it has ${stats.size} bytes, not ${KEY_BYTES}.`,
      'Restore the one that belongs to the database.');
  }
  if (name.endsWith('-wal') && stats.size > DOCTOR_WAL_LIMIT_BYTES) {
    const size = Math.round(stats.size / 2 ** 20);
    yield warning(`${path} has grown to ${size} MiB.`, 'A long read, such as an export or a backup,'
      + ' prevents truncation: let it finish. If the file stays this large, restart the server.');
  }
}

function* checkUploads(folder: string, stats: Stats, now: number): Findings {
  if (!stats.isDirectory()) {
    yield fault(`${folder} is not a folder.`, 'Move it away; the server creates its own.');
    return;
  }
  yield* checkMode(folder, stats.mode, 0o700);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const file = lstatSync(path, { throwIfNoEntry: false });
    if (file) yield* checkLeftover(path, file, now);
  }
}

function* checkLeftover(path: string, stats: Stats, now: number): Findings {
  if (now - stats.mtimeMs < DOCTOR_LEFTOVER_AGE_MS || isBeingWritten(path)) return;
  yield warning(`${path} was left over when a process ended.`, 'Delete it.');
}

/** Group and others must have no permission. */
function* checkMode(path: string, mode: number, expected: number): Findings {
  if ((mode & 0o777) === expected) return;
  const [is, should] = [mode & 0o777, expected].map((bits) => bits.toString(8).padStart(3, '0'));
  yield fault(`${path} has the mode ${is}, not ${should}.`,
    `Close it to other users: chmod ${should} ${path}`);
}

/** Whether the disk has room for another copy of the database. */
function* checkDisk(file: string): Findings {
  const disk = statfsSync(dirname(file));
  const inodes = freeInodesOf(disk);
  if (inodes !== undefined && inodes < DOCTOR_FREE_INODES_LIMIT) {
    yield warning(`The disk has ${inodes} free inodes; without one, no file can be created.`,
      MORE_INODES);
  }
  const free = disk.bavail * disk.bsize;
  const size = statSync(file).size;
  if (free >= Math.max(size, DOCTOR_FREE_LIMIT_BYTES)) return;
  const [available, needed] = [free, size].map((bytes) => `${Math.floor(bytes / 2 ** 20)} MiB`);
  yield warning(`The disk has ${available} free, and the database takes ${needed}.`,
    'Free some space: a backup or an update may need as much as the database itself.');
}

const REBUILD = 'Stop the server, delete search.db, search.db-wal and search.db-shm, and start it '
  + 'again: it rebuilds them.';

/**
 * Checks that the search database agrees with the catalogue where both have the same position.
 * Reports no faults: the server can rebuild the search database at any time.
 */
function* checkSearchFile(catalogue: DatabaseSync, folder = ''): Findings {
  const file = join(folder, 'search.db');
  if (!existsSync(file)) return; // nobody has searched yet
  try {
    yield* compare(catalogue, file);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    yield warning(`The search database cannot be read: ${error.message}.`, REBUILD);
  }
}

function* compare(catalogue: DatabaseSync, file: string): Findings {
  // A journal is left by the first write: later ones use a write-ahead log.
  using search = hasJournal(file) ? undefined : openReader(file);
  if (!search || !isCurrentProjection(search)) {
    yield warning('The search database is incomplete, or of another version of the server.',
      'Nothing is lost and no action is needed: the server rebuilds it at the next search. You can '
        + 'also delete it while no server runs.');
    return;
  }
  const [damage] = search.prepare('PRAGMA quick_check(1)').all();
  if (damage && damage['quick_check'] !== 'ok') {
    yield warning('The search database is damaged.', REBUILD);
    return;
  }
  const findTotals = catalogue.prepare(`
    SELECT count(*) AS products, CAST(coalesce(sum(p.stock), 0) AS TEXT) AS units
    FROM seller AS s JOIN product AS p ON p.seller_id = s.id WHERE s.id = ? AND s.position = ?
      AND p.archived = 0
    HAVING count(*) > 0`);
  const sellers = search.prepare(`
    SELECT seller_id, position, products, units FROM seller WHERE built_to IS NULL`);
  for (const row of sellers.iterate()) {
    const totals = findTotals.get(readInteger(row, 'seller_id'), readInteger(row, 'position'));
    const isSame = !totals || (totals['products'] === row['products']
      && readText(totals, 'units') === readText(row, 'units'));
    if (isSame) continue;
    yield warning(fillIn('Searches of seller {seller} miss some products.', row), REBUILD);
  }
}
