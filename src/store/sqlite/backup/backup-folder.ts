/**
 * A folder of backups of one catalogue, named by the time at which they were made. Of several
 * processes one makes the next backup. Removes none but those that are its own: they have such a
 * name and are of this catalogue. Never removes more of them than it makes, nor the newest.
 */
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { formatFileTime, parseFileTime } from '../../../domain/time.ts';
import { type Backup, backUp } from './backup.ts';
import {
  CATALOGUE_FILE_NAME, findAnyVersion, noCatalogue, readCursorKey,
} from '../engine/database-file.ts';
import { tryLock } from '../files/file-lock.ts';
import { openReader } from '../engine/connection.ts';
import type { CopyState } from './copying.ts';
import { resultCodeOf } from '../engine/disk-failure.ts';
import { rollBackHotJournal } from '../files/hot-journal.ts';
import { AtomicFile, removeAbandonedParts } from '../files/atomic-file.ts';

interface FolderTask {
  readonly dataFolder: string;
  /** Has to be there: a disk that is not mounted is not written beside. */
  readonly folder: string;
  /** Nothing is made while the newest one is not this old; 0 for one in any case. */
  readonly intervalMs: number;
  /** How many are kept, 1 or more. */
  readonly keep: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface FolderBackup {
  /** Undefined where it was not time for one. */
  readonly made: (Backup & { readonly path: string }) | undefined;
  /** Names of those that were removed for their age. */
  readonly removed: readonly string[];
  /** When it is time for the next one; undefined where another process makes one now. */
  readonly dueInMs: number | undefined;
}

const NAME = /^catalogue-(\d{8}T\d{6}Z)\.db$/;

/** `begin` is told of the file that is about to be made. @throws AppError as `backUp` does */
export async function backUpToFolder(
  task: FolderTask, begin: (target: AtomicFile) => void, onProgress: (state: CopyState) => void,
): Promise<FolderBackup> {
  const { dataFolder, folder, intervalMs, at } = task;
  const catalogue = join(dataFolder, CATALOGUE_FILE_NAME);
  rollBackHotJournal(catalogue);
  const identity = readIdentity(catalogue);
  if (identity === undefined) throw noCatalogue(dataFolder);
  const release = tryLock(join(dataFolder, 'backups.lock'));
  if (!release) return { made: undefined, removed: [], dueInMs: undefined };
  try {
    const names = listByAge(folder, at);
    const isOurs = (name: string): boolean => isBackupOf(join(folder, name), identity);
    const last = names.findLast(isOurs);
    const age = last === undefined ? Infinity : at - (findTime(last) ?? 0);
    // One from the future was made before the clock was put back: how long ago, nobody knows.
    if (age >= 0 && age < intervalMs) {
      return { made: undefined, removed: [], dueInMs: intervalMs - age };
    }
    removeAbandonedParts(folder, (name) => NAME.test(name));
    const path = join(folder, `catalogue-${formatFileTime(at)}.db`);
    const target = new AtomicFile(path);
    begin(target);
    const made = await backUp(dataFolder, target, onProgress);
    const removed = removeOldest(folder, names.filter(isOurs), task.keep);
    return { made: { ...made, path }, removed, dueInMs: intervalMs };
  } finally {
    release();
  }
}

/** The oldest first. A name from the future is older than all: it was made before now. */
function listByAge(folder: string, at: number): string[] {
  const rank = (name: string): number => {
    const time = findTime(name) ?? 0;
    return time > at ? time - Number.MAX_SAFE_INTEGER : time;
  };
  const names = readdirSync(folder).filter((name) => findTime(name) !== undefined);
  return names.sort((one, other) => rank(one) - rank(other));
}

function findTime(name: string): number | undefined {
  return parseFileTime(NAME.exec(name)?.[1] ?? '');
}

/** One was made beside `others`: at most one goes. */
function removeOldest(folder: string, others: readonly string[], keep: number): string[] {
  const [oldest] = others;
  if (oldest === undefined || others.length + 1 <= keep) return [];
  rmSync(join(folder, oldest));
  return [oldest];
}

function isBackupOf(file: string, identity: Uint8Array): boolean {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  try {
    const other = readIdentity(file);
    return other !== undefined && Buffer.compare(other, identity) === 0;
  } catch (error) {
    // Of somebody else, damaged, or not to be read: none of ours to count or remove.
    const isKnown = error instanceof AppError || isSystemError(error, 'EACCES')
      || resultCodeOf(error) !== 0;
    if (isKnown) return false;
    throw error;
  }
}

/** What was made at random with the catalogue, and is in all of its backups. */
function readIdentity(file: string): Uint8Array | undefined {
  if (findAnyVersion(file) === undefined) return undefined;
  const db = openReader(file);
  try {
    // A view of somebody else's in its place may never end.
    const table = db.prepare(`
      SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'server_secret'`).get();
    return table && readCursorKey(db);
  } finally {
    db.close();
  }
}
