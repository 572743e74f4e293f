/**
 * Every check of a data folder, whether a server has it open or not. Nothing of what is kept is
 * written: as for every reader, SQLite makes its `-wal` and `-shm` where they are missing. A write
 * that a crash interrupted is rolled back, as by every process that opens the folder.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { assertCatalogueExists, CATALOGUE_FILE_NAME } from '../engine/database-file.ts';
import { openForChecks } from '../engine/connection.ts';
import { resultCodeOf, SQLITE_BUSY } from '../engine/disk-failure.ts';
import {
  describeHotJournal, hasJournal, KEEP_JOURNAL, rollBackHotJournal,
} from '../files/hot-journal.ts';
import { findServerKey } from '../files/server-key.ts';
import { checkCatalogue, hasContent } from './catalogue-checks.ts';
import { checkDisk } from './disk.ts';
import { checkFiles } from './files.ts';
import {
  type Check, fault, type Finding, isUnreadable, limitFindings, unreadable,
} from './finding.ts';
import { checkSearchFile } from './search-file.ts';
import { checkSecrets } from './secrets.ts';

const DATABASE_SUBJECT = 'pages, indexes and values of the database';

/** Read the findings of each check before the next one. @throws AppError `not_found` */
export function* checkDataFolder(folder: string, now: number): Generator<Check, void, void> {
  const file = join(folder, CATALOGUE_FILE_NAME);
  assertCatalogueExists(folder);
  yield prepare('files', 'files of the data folder, and who may read them',
    () => checkFiles(folder, now));
  yield prepare('disk', 'room on the disk', () => checkDisk(file));
  const open = (): DatabaseSync => {
    rollBackHotJournal(file);
    return openForChecks(file, false);
  };
  yield* withDatabase(file, open, function* (db) {
    yield* checkCatalogue(db, () => findServerKey(folder));
    if (!hasContent(db)) return;
    yield prepare('secrets', 'server.key, and what it opens',
      () => checkSecrets(db, findServerKey(folder)));
    yield prepare('search', 'the file of searches',
      () => checkSearchFile(db, join(folder, 'search.db')));
  });
}

/** A database that no server has open, such as a backup. @throws AppError `not_found` */
export function* checkDatabaseFile(file: string): Generator<Check, void, void> {
  if (!existsSync(file)) throw new AppError('not_found', `There is no database at ${file}.`);
  if (hasJournal(file)) { // rolling it back would change a file that was only to be checked
    yield prepare('integrity', DATABASE_SUBJECT, () => [hotJournal(file)]);
    return;
  }
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  const isAtRest = !log || log.size === 0;
  yield* withDatabase(file, () => openForChecks(file, isAtRest), (db) => checkCatalogue(db));
}

function* withDatabase(
  file: string, open: () => DatabaseSync, check: (db: DatabaseSync) => Iterable<Check>,
): Generator<Check, void, void> {
  let db: DatabaseSync;
  try {
    db = open();
  } catch (error) {
    const finding = explainOpening(error, file);
    yield prepare('integrity', DATABASE_SUBJECT, () => [finding]);
    return;
  }
  try {
    yield* check(db);
  } finally {
    db.close();
  }
}

function explainOpening(error: unknown, file: string): Finding {
  if (resultCodeOf(error) === SQLITE_BUSY) {
    return fault('Another process has the database to itself, such as a restore.',
      'Wait until it has ended, and run doctor again.');
  }
  if (error instanceof AppError) return hotJournal(file);
  if (!isUnreadable(error)) throw error;
  return unreadable(error);
}

function hotJournal(file: string): Finding {
  return fault(describeHotJournal(file), KEEP_JOURNAL);
}

function prepare(name: string, subject: string, find: () => Iterable<Finding>): Check {
  return { name, subject, findings: limitFindings(find) };
}
