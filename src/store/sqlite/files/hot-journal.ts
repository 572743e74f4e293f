/**
 * Hot journals: rollback journals that a crash left beside a database, without which it is damaged.
 * A writable connection rolls the write back on opening; a read-only one fails
 * (https://www.sqlite.org/lockingv3.html#rollback). SQLite ignores journals that are in use.
 */
import { statSync } from 'node:fs';
import { AppError } from '../../../domain/error.ts';
import { findVersion, isOurFile } from '../engine/database-file.ts';
import { openToRecover } from '../engine/connection.ts';
import {
  resultCodeOf, SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY,
} from '../engine/disk-failure.ts';

export const KEEP_JOURNAL = 'Keep both files together in a data folder, as catalogue.db and '
  + 'catalogue.db-journal, and start the server once: it rolls the write back.';

const NOT_ALLOWED = [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_FULL];

export function hasJournal(file: string): boolean {
  return (statSync(`${file}-journal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Whether a write to the catalogue must be rolled back before it is read. Ignores foreign files.
 * @throws AppError `unavailable` for a version that this program cannot read, and must not change
 */
export function needsRollback(file: string): boolean {
  return hasJournal(file) && isOurFile(file) && findVersion(file) !== undefined;
}

/**
 * Call it before opening a read-only connection to the catalogue.
 * @throws AppError as `needsRollback`; `unavailable` if this process cannot roll the write back
 */
export function rollBackHotJournal(file: string): void {
  if (!needsRollback(file)) return;
  try {
    openToRecover(file).close();
  } catch (cause) {
    if (!NOT_ALLOWED.includes(resultCodeOf(cause))) throw cause;
    const detail = `${describeHotJournal(file)} ${KEEP_JOURNAL}`;
    throw new AppError('unavailable', detail, { cause });
  }
}

export function describeHotJournal(file: string): string {
  return `A crash interrupted a write to ${file}: ${file}-journal is needed to roll it back.`;
}
