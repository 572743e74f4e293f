/**
 * Copies the database into a file while others write to it: SQLite's online backup, from amid a
 * read transaction (https://www.sqlite.org/backup.html). Without one it begins anew with every
 * commit of another connection and may never end; so it copies one moment, and holds up nobody. The
 * write-ahead log is not cut back meanwhile. What is in `server.key` is not in the copy.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { backup, type DatabaseSync } from 'node:sqlite';
import { BACKUP_STEP_PAGES, WAL_SIZE_LIMIT_BYTES } from '../limits.ts';
import { AppError } from '../../../domain/error.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { type CatalogueFacts, checkCopy, readFacts } from './backup-check.ts';
import {
  assertKnown, CATALOGUE_FILE_NAME, findVersion, noCatalogue,
} from '../engine/database-file.ts';
import { openCopy, openReader } from '../engine/connection.ts';
import { assertRoom, type CopyState, explainCopyError } from './copying.ts';
import { rollBackHotJournal } from '../files/hot-journal.ts';
import { isThere, type AtomicFile } from '../files/atomic-file.ts';
import { readInteger } from '../engine/row.ts';

export interface Backup extends CatalogueFacts {
  readonly bytes: number;
}

/**
 * Resolves once the copy of the database in `folder` was read back and found whole, and is on the
 * disk. Otherwise nothing of it is left.
 * @throws AppError `unavailable`, `storage_full`
 */
export async function backUp(
  folder: string, target: AtomicFile, onProgress: (state: CopyState) => void,
): Promise<Backup> {
  if (existsSync(target.path)) throw isThere(target.path);
  const file = join(folder, CATALOGUE_FILE_NAME);
  if (findVersion(file) === undefined) throw noCatalogue(folder);
  let source: DatabaseSync | undefined;
  try {
    rollBackHotJournal(file);
    source = openReader(file); // as it is, of an earlier version too
    source.exec('BEGIN');
    const facts = readFacts(source); // the moment that is copied begins with this
    assertKnown(facts.version, file); // it may be in the log alone until now
    const bytes = readSize(source);
    const to = dirname(target.path);
    // A server whose disk is full by our copy refuses all changes.
    assertRoom(to, bytes, isOnOneDisk(to, folder) ? WAL_SIZE_LIMIT_BYTES : 0);
    target.begin();
    await copy(source, target.tempPath, onProgress);
    source.close(); // from here on the log can be cut back
    checkSame(facts, target.tempPath);
    await yieldToEventLoop(); // whoever interrupted it meanwhile is heard
    target.show();
    return { ...facts, bytes };
  } catch (error) {
    target.discard();
    throw explainCopyError(error, target.path);
  } finally {
    if (source?.isOpen) source.close();
  }
}

function isOnOneDisk(one: string, other: string): boolean {
  return statSync(one).dev === statSync(other).dev;
}

function readSize(db: DatabaseSync): number {
  const [count, size] = ['page_count', 'page_size'].map((name) =>
    readInteger(db.prepare(`PRAGMA ${name}`).get() ?? {}, name));
  return (count ?? 0) * (size ?? 0);
}

async function copy(
  source: DatabaseSync, part: string, onProgress: (state: CopyState) => void,
): Promise<void> {
  const sizeBytes = readSize(source);
  await backup(source, part, {
    rate: BACKUP_STEP_PAGES,
    progress: ({ totalPages, remainingPages }) =>
      onProgress({ bytes: sizeBytes * (1 - remainingPages / totalPages), sizeBytes }),
  });
  onProgress({ bytes: sizeBytes, sizeBytes });
  openCopy(part).close(); // ends the journal mode of the source: a copy has no log
}

function checkSame(facts: CatalogueFacts, part: string): void {
  const copied = checkCopy(part, 'The copy');
  const isSame = copied.mark === facts.mark && copied.products === facts.products
    && copied.version === facts.version;
  if (!isSame) throw new AppError('unavailable', 'The copy is not what was copied.');
}
