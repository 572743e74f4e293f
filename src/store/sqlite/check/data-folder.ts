/**
 * Every check of a data folder, whether a server has it open or not. Nothing of what is kept is
 * written: as for every reader, SQLite makes its `-wal` and `-shm` where they are missing.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { CATALOGUE_FILE_NAME } from '../catalogue-file.ts';
import { openForChecks } from '../connection.ts';
import { ServerKey } from '../server-key.ts';
import { checkCatalogue } from './catalogue-checks.ts';
import { checkDisk } from './disk.ts';
import { checkFiles } from './files.ts';
import { type Check, type Finding, isUnreadable, limitFindings, unreadable } from './finding.ts';
import { hasTables } from './schema.ts';
import { checkSearchFile } from './search-file.ts';
import { checkSecrets } from './secrets.ts';

/** Read the findings of each check before the next one. @throws AppError `not_found` */
export function* checkDataFolder(folder: string, now: number): Generator<Check, void, void> {
  const file = join(folder, CATALOGUE_FILE_NAME);
  assertThere(file);
  yield prepare('files', 'files of the data folder, and who may read them',
    () => checkFiles(folder, now));
  yield prepare('disk', 'room on the disk', () => checkDisk(file));
  yield* withDatabase(file, false, function* (db) {
    yield* checkCatalogue(db);
    if (!hasTables(db)) return;
    yield prepare('secrets', 'server.key, and what it opens',
      () => checkSecrets(db, new ServerKey(folder)));
    yield prepare('search', 'the file of searches',
      () => checkSearchFile(db, join(folder, 'search.db')));
  });
}

/** A database that no server has open, such as a backup. @throws AppError `not_found` */
export function* checkDatabaseFile(file: string): Generator<Check, void, void> {
  assertThere(file);
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  yield* withDatabase(file, !log || log.size === 0, checkCatalogue);
}

function assertThere(file: string): void {
  if (!existsSync(file)) throw new AppError('not_found', `There is no database at ${file}.`);
}

function* withDatabase(
  file: string, isAtRest: boolean, check: (db: DatabaseSync) => Iterable<Check>,
): Generator<Check, void, void> {
  let db: DatabaseSync;
  try {
    db = openForChecks(file, isAtRest);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    yield prepare('integrity', 'pages, indexes and values of the database',
      () => [unreadable(error)]);
    return;
  }
  try {
    yield* check(db);
  } finally {
    db.close();
  }
}

function prepare(name: string, subject: string, find: () => Iterable<Finding>): Check {
  return { name, subject, findings: limitFindings(find) };
}
