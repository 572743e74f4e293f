/**
 * Atomic files: a file is written as FILE.ID.part in the same folder, and published under its name
 * once it is on the disk. Until then its process holds the lock FILE.ID.part.lock, which the system
 * releases when the process ends, however it ends. A part whose lock is free is abandoned: the next
 * process that creates the file removes it. Unlike a process id, a lock has the same meaning in
 * every container, and on every host, that shares the folder.
 */
import { randomUUID } from 'node:crypto';
import {
  existsSync, linkSync, lstatSync, readdirSync, renameSync, rmSync, statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UNLOCKED_TEMP_FILE_AGE_MS } from '../limits.ts';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { createEmpty, syncFile, syncFolder } from './durable-files.ts';
import { tryLock } from './file-lock.ts';
import { resultCodeOf } from '../engine/disk-failure.ts';

/**
 * A part, of this version or with the process id that earlier ones gave it, and what is beside it:
 * its lock, and what SQLite leaves there.
 */
const PART = new RegExp('^((.+)\\.(?:(\\d{1,10})\\.(?:part|new)|[\\da-f]{8}(?:-[\\da-f]{4}){3}'
  + '-[\\da-f]{12}\\.part))(?:-journal|-wal|-shm|(\\.lock))?$');
const LOCK = '.lock';
/** Removes the lock first: a part without one counts as abandoned, too. */
const SUFFIXES = [LOCK, '', '-journal', '-wal', '-shm'];

/** What file systems answer that have one name a file, such as those of memory sticks. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

export class AtomicFile {
  readonly path: string;
  /** Where it is made. */
  readonly tempPath: string;
  #lock: Disposable | undefined;

  constructor(path: string) {
    this.path = path;
    this.tempPath = `${path}.${randomUUID()}.part`;
  }

  /**
   * Begins with an empty file, which nobody else may read.
   * @throws AppError `unavailable` where the file system has no locks
   */
  begin(): void {
    const name = basename(this.path);
    removeAbandonedParts(dirname(this.path), (other) => other === name, false);
    // Locked before it exists, so that no other process finds it unlocked.
    this.#lock = tryLock(this.tempPath + LOCK);
    if (!this.#lock) throw cannotMake(this.path, 'has no locks for files');
    // An existing file may belong to another user, or be a link to somewhere else.
    if (!createEmpty(this.tempPath)) throw isThere(this.tempPath);
  }

  /** Gives it its name. @throws AppError `unavailable` if that file exists by now */
  show(): void {
    if (!this.publish()) throw isThere(this.path);
  }

  /** Gives the part its name unless that file exists by now. Returns whether it did. */
  publish(): boolean {
    syncFile(this.tempPath);
    const isPublished = linkUnlessThere(this.tempPath, this.path);
    this.discard();
    syncFolder(dirname(this.path)); // the file of another process may not be durable yet, either
    return isPublished;
  }

  /** Gives it the name of a file that is there, which is `kept` under another one. */
  replace(kept: string): void {
    linkSync(this.path, kept);
    // Before the old file loses its first name: its second one has to be on the disk by then, and
    // so has the end of its journal, which SQLite would otherwise roll back into the new file.
    syncFolder(dirname(this.path));
    this.overwrite();
  }

  /** Gives the part its name, and replaces a file that has it. */
  overwrite(): void {
    syncFile(this.tempPath);
    renameSync(this.tempPath, this.path); // at every moment there is one, the old or the new
    this.discard();
    syncFolder(dirname(this.path));
  }

  /** Removes what has no name yet. */
  discard(): void {
    if (!this.#lock) return; // not started
    removeWhole(this.tempPath);
    this.#lock[Symbol.dispose]();
    this.#lock = undefined;
  }

  [Symbol.dispose](): void {
    this.discard();
  }
}

/**
 * Removes what processes have left that are gone, of files with such names. The names that earlier
 * versions gave could be a user's own: only a folder of the server's `hasEarlier` ones.
 */
export function removeAbandonedParts(
  folder: string, isOurs: (name: string) => boolean, hasEarlier = true,
): void {
  for (const entry of readdirSync(folder)) {
    const [, tempPath = '', name, processId, lock] = PART.exec(entry) ?? [];
    if (name === undefined || !isOurs(name)) continue;
    if (processId !== undefined && !hasEarlier) continue;
    const [path, partPath] = [join(folder, entry), join(folder, tempPath)];
    try {
      // An earlier version holds no lock; and a lock without a part is about to get one.
      if (processId !== undefined || (lock !== undefined && !existsSync(partPath))) {
        if (isOld(path)) rmSync(path, { force: true });
      } else {
        removeUnlocked(partPath);
      }
    } catch (error) {
      if (!isNotOurs(error)) throw error;
    }
  }
}

/** Whether the process that writes this part, or holds this lock, is alive. */
export function isBeingWritten(path: string): boolean {
  const [, tempPath = ''] = PART.exec(basename(path)) ?? [];
  const partPath = join(dirname(path), tempPath);
  if (!existsSync(partPath + LOCK)) return false;
  try {
    using lock = lockPart(partPath);
    return lock === undefined;
  } catch (error) {
    if (!isNotOurs(error)) throw error;
    return true; // as far as this user can tell
  }
}

export function isThere(path: string): AppError {
  return new AppError('unavailable', `${path} is there already. Name a file that is not.`);
}

function linkUnlessThere(tempPath: string, path: string): boolean {
  try {
    linkSync(tempPath, path); // unlike a renaming, this never replaces anything
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    if (isSystemError(error, ...NO_LINKS)) {
      throw cannotMake(path, 'cannot show a file whole or not at all');
    }
    throw error;
  }
}

function removeUnlocked(tempPath: string): void {
  using lock = lockPart(tempPath);
  if (lock) removeWhole(tempPath);
}

/** Undefined where a process holds the lock; or for a link in its place, as SQLite follows it. */
function lockPart(tempPath: string): ReturnType<typeof tryLock> {
  const lock = tempPath + LOCK;
  const isLink = lstatSync(lock, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? undefined : tryLock(lock);
}

/** The lock is another user's, or is not a lock, or the disk is not writable. */
function isNotOurs(error: unknown): boolean {
  return resultCodeOf(error) !== 0 || isSystemError(error, 'EACCES', 'EPERM', 'EROFS');
}

function removeWhole(tempPath: string): void {
  for (const suffix of SUFFIXES) rmSync(tempPath + suffix, { force: true });
}

function isOld(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs > UNLOCKED_TEMP_FILE_AGE_MS;
}

function cannotMake(path: string, why: string): AppError {
  const hint = 'Name a file on another one, and copy it from there.';
  return new AppError('unavailable', `The file system of ${dirname(path)} ${why}. ${hint}`);
}
