/**
 * Copies the database into a file during writes: SQLite's online backup inside a read transaction
 * (https://www.sqlite.org/backup.html), without which it would restart after every commit of
 * another connection. It copies one snapshot and blocks nobody, but the write-ahead log cannot be
 * truncated during the copy. The copy does not contain `server.key`.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { BACKUP_STEP_PAGES, WAL_SIZE_LIMIT_BYTES } from '../limits.ts';
import { AppError } from '../../../domain/error.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { CATALOGUE_FILE_NAME, findVersion, noCatalogue } from '../engine/database-file.ts';
import { assertKnownVersion } from '../schema/migrate.ts';
import { openCopy, openReader } from '../engine/connection.ts';
import {
  assertRoom, type CatalogueFacts, checkCopy, type CopyState, explainCopyError, readFacts,
} from './database-copy.ts';
import { rollBackHotJournal } from '../files/hot-journal.ts';
import { isThere, type AtomicFile } from '../files/atomic-file.ts';
import { readPragma } from '../sql.ts';

const { backup } = process.getBuiltinModule('node:sqlite'); // see embed/supported-node.ts

export interface Backup extends CatalogueFacts {
  readonly bytes: number;
}

/**
 * Resolves when the copy of the database in `folder` is complete, checked and durable. On failure
 * it leaves nothing behind.
 * @throws AppError `unavailable`, `storage_full`
 */
export async function backUp(
  folder: string, target: AtomicFile, onProgress: (state: CopyState) => void,
): Promise<Backup> {
  if (existsSync(target.path)) throw isThere(target.path);
  const file = join(folder, CATALOGUE_FILE_NAME);
  if (findVersion(file) === undefined) throw noCatalogue(folder);
  try {
    rollBackHotJournal(file);
    using source = openReader(file); // not migrated: it may have an earlier version
    source.exec('BEGIN');
    const facts = readFacts(source); // starts the snapshot that is copied
    assertKnownVersion(facts.version, file); // it may be only in the write-ahead log
    const bytes = readPragma(source, 'page_count') * readPragma(source, 'page_size');
    const to = dirname(target.path);
    // If the copy filled its disk, a server on it would reject all changes.
    const isOnOneDisk = statSync(to).dev === statSync(folder).dev;
    assertRoom(to, bytes, isOnOneDisk ? WAL_SIZE_LIMIT_BYTES : 0);
    target.begin();
    await copy(source, target.tempPath, bytes, onProgress);
    source.close(); // from now on the write-ahead log can be truncated
    if (!isDeepStrictEqual(checkCopy(target.tempPath, 'The copy'), facts)) {
      throw new AppError('unavailable', 'The copy differs from the database.');
    }
    await yieldToEventLoop(); // lets an interrupt during the check take effect
    target.show();
    return { ...facts, bytes };
  } catch (error) {
    target.discard();
    throw explainCopyError(error, target.path);
  }
}

async function copy(
  source: DatabaseSync, part: string, sizeBytes: number, onProgress: (state: CopyState) => void,
): Promise<void> {
  await backup(source, part, {
    rate: BACKUP_STEP_PAGES,
    progress: ({ totalPages, remainingPages }) =>
      onProgress({ bytes: sizeBytes * (1 - remainingPages / totalPages), sizeBytes }),
  });
  onProgress({ bytes: sizeBytes, sizeBytes });
  openCopy(part).close(); // ends the WAL mode inherited from its source
}
