/**
 * A folder of backups, named by time. Among several processes, one makes the next backup. A file is
 * removed only if it has such a name and is a backup of this catalogue; never more files than were
 * made, and never the newest.
 */
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { formatFileTime, parseFileTime } from '../../../domain/time.ts';
import { type Backup, backUp } from './backup.ts';
import type { CopyState } from './database-copy.ts';
import {
  CATALOGUE_FILE_NAME, findReleasedVersion, findVersion, noCatalogue, readCursorKey,
} from '../engine/database-file.ts';
import { type AtomicFile, removeAbandonedParts, tryLock } from '../files/atomic-file.ts';
import { openReader } from '../engine/connection.ts';
import { resultCodeOf } from '../engine/disk-failure.ts';
import { rollBackHotJournal } from '../files/hot-journal.ts';

interface FolderTask {
  readonly dataFolder: string;
  /** Must exist: otherwise a backup could fill the mount point of a missing disk. */
  readonly folder: string;
  /** No backup is made while the newest is younger than this; 0 always makes one. */
  readonly intervalMs: number;
  /** How many to keep, at least 1. */
  readonly keep: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface FolderBackup {
  /** Undefined if no backup was due. */
  readonly made: (Backup & { readonly path: string }) | undefined;
  /** Names of removed backups. */
  readonly removed: readonly string[];
  /** When the next backup is due; undefined while another process makes one. */
  readonly dueInMs: number | undefined;
}

const NAME = /^catalogue-(\d{8}T\d{6}Z)\.db$/;

/** `create` creates the file of a due backup. @throws AppError as `backUp` does */
export async function backUpToFolder(
  task: FolderTask, create: (path: string) => AtomicFile,
  onProgress: (state: CopyState) => void,
): Promise<FolderBackup> {
  const { dataFolder, folder, intervalMs, at } = task;
  const catalogue = join(dataFolder, CATALOGUE_FILE_NAME);
  findVersion(catalogue); // throws before anything is changed
  rollBackHotJournal(catalogue);
  const identity = readIdentity(catalogue);
  if (identity === undefined) throw noCatalogue(dataFolder);
  using lock = tryLock(join(dataFolder, 'backups.lock'));
  if (!lock) return { made: undefined, removed: [], dueInMs: undefined };
  const names = listByAge(folder, at);
  const isOurs = (name: string): boolean => isBackupOf(join(folder, name), identity);
  const last = names.findLast(isOurs);
  const age = last === undefined ? Infinity : at - (findTime(last) ?? 0);
  // A backup from the future was made before the clock was set back: its age is unknown.
  if (age >= 0 && age < intervalMs) {
    return { made: undefined, removed: [], dueInMs: intervalMs - age };
  }
  removeAbandonedParts(folder, (name) => NAME.test(name));
  const path = join(folder, `catalogue-${formatFileTime(at)}.db`);
  const backup = await backUp(dataFolder, create(path), onProgress);
  const [oldest, ...others] = names.filter(isOurs); // excludes the new backup
  const removed = oldest !== undefined && others.length + 2 > task.keep ? [oldest] : [];
  for (const name of removed) rmSync(join(folder, name));
  return { made: { ...backup, path }, removed, dueInMs: intervalMs };
}

/** Oldest first. A name from the future counts as the oldest: it was made before now. */
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

function isBackupOf(file: string, identity: Uint8Array): boolean {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  try {
    const other = readIdentity(file);
    return other !== undefined && Buffer.compare(other, identity) === 0;
  } catch (error) {
    // Foreign, damaged or unreadable: not ours to count or remove.
    if (error instanceof AppError || isSystemError(error, 'EACCES')) return false;
    if (resultCodeOf(error) !== 0) return false;
    throw error;
  }
}

/** The random secret of the catalogue, which all of its backups contain. */
function readIdentity(file: string): Uint8Array | undefined {
  if (findReleasedVersion(file) === undefined) return undefined;
  using db = openReader(file);
  // Reading a foreign view in its place could run forever.
  const table = db.prepare(`
    SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'server_secret'`).get();
  return table && readCursorKey(db);
}
