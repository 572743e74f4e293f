/**
 * Atomic files: a file is written as FILE.ID.part in the same folder, and published under its name
 * once it is on disk. Until then its process holds the lock FILE.ID.part.lock, which the system
 * releases when the process ends, even by kill -9. A part with a free lock is abandoned: the next
 * process that creates the file removes it. Unlike a process id, a lock means the same in every
 * container and on every host that shares the folder. Other work that only one process does at a
 * time takes such a lock, too.
 */
import { randomUUID } from 'node:crypto';
import {
  existsSync, linkSync, lstatSync, readdirSync, renameSync, rmSync, statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UNLOCKED_TEMP_FILE_AGE_MS } from '../limits.ts';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { createEmpty, removeDatabase, syncFile, syncFolder } from './durable-files.ts';
import { resultCodeOf, SQLITE_BUSY } from '../engine/disk-failure.ts';
import { openLock } from '../engine/connection.ts';

/** A part, its lock, and SQLite's files. */
const PART = new RegExp('^((.+)\\.[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}\\.part)'
  + '(?:-journal|-wal|-shm|(\\.lock))?$');
const LOCK = '.lock';

/** Errors of file systems without hard links, such as those of memory sticks. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

export class AtomicFile {
  readonly path: string;
  /** Path of the part. */
  readonly tempPath: string;
  #lock: Disposable | undefined;

  constructor(path: string) {
    this.path = path;
    this.tempPath = `${path}.${randomUUID()}.part`;
  }

  /**
   * Creates an empty part that only its owner can read.
   * @throws AppError `unavailable` if the file system has no locks
   */
  begin(): void {
    const name = basename(this.path);
    removeAbandonedParts(dirname(this.path), (other) => other === name);
    // Locked before it exists, so that no other process finds it unlocked.
    this.#lock = tryLock(this.tempPath + LOCK);
    if (!this.#lock) throw cannotMake(this.path, 'has no file locks');
    // An existing file may belong to another user, or be a link to another place.
    if (!createEmpty(this.tempPath)) throw isThere(this.tempPath);
  }

  /** Publishes the part. @throws AppError `unavailable` if the file exists by now */
  show(): void {
    if (!this.publish()) throw isThere(this.path);
  }

  /** Publishes the part unless the file exists by now. Returns whether it did. */
  publish(): boolean {
    syncFile(this.tempPath);
    const isPublished = linkUnlessThere(this.tempPath, this.path);
    this.discard();
    syncFolder(dirname(this.path)); // a file that another process published may not be durable yet
    return isPublished;
  }

  /** Publishes the part in place of an existing file, which is kept as `oldPath`. */
  replace(oldPath: string): void {
    linkSync(this.path, oldPath);
    // Before the old file loses its first name: by then its second name must be durable, and so
    // must the end of its journal, which SQLite would otherwise roll back into the new file.
    syncFolder(dirname(this.path));
    this.overwrite();
  }

  /** Publishes the part, replacing an existing file. */
  overwrite(): void {
    syncFile(this.tempPath);
    renameSync(this.tempPath, this.path); // at every moment, either the old or the new file exists
    this.discard();
    syncFolder(dirname(this.path));
  }

  /** Removes an unpublished part. */
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

/** Removes abandoned parts of files with such names. */
export function removeAbandonedParts(folder: string, isOurs: (name: string) => boolean): void {
  for (const entry of readdirSync(folder)) {
    const [, tempPath = '', name, lock] = PART.exec(entry) ?? [];
    if (name === undefined || !isOurs(name)) continue;
    const [path, partPath] = [join(folder, entry), join(folder, tempPath)];
    try {
      // A lock without a part is about to get one.
      if (lock === undefined || existsSync(partPath)) removeUnlocked(partPath);
      else if (isOld(path)) rmSync(path, { force: true });
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
  return new AppError('unavailable', `${path} already exists. Choose another name.`);
}

/** Gives a file another name unless that exists. Returns whether it did. */
export function linkUnlessThere(tempPath: string, path: string): boolean {
  try {
    linkSync(tempPath, path); // unlike a rename, this never replaces anything
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    if (isSystemError(error, ...NO_LINKS)) {
      throw cannotMake(path, 'cannot publish a file atomically');
    }
    throw error;
  }
}

function removeUnlocked(tempPath: string): void {
  using lock = lockPart(tempPath);
  if (lock) removeWhole(tempPath);
}

/** Undefined if another process holds the lock, or for a link, which SQLite would follow. */
function lockPart(tempPath: string): ReturnType<typeof tryLock> {
  const lock = tempPath + LOCK;
  const isLink = lstatSync(lock, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? undefined : tryLock(lock);
}

/** The lock is another user's or not a lock, or the disk is not writable. */
function isNotOurs(error: unknown): boolean {
  return resultCodeOf(error) !== 0 || isSystemError(error, 'EACCES', 'EPERM', 'EROFS');
}

function removeWhole(tempPath: string): void {
  // The lock first: a part without one also counts as abandoned.
  rmSync(tempPath + LOCK, { force: true });
  removeDatabase(tempPath);
}

function isOld(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > UNLOCKED_TEMP_FILE_AGE_MS;
}

function cannotMake(path: string, why: string): AppError {
  const hint = 'Choose a path on another file system, and copy the file from there.';
  return new AppError('unavailable', `The file system of ${dirname(path)} ${why}. ${hint}`);
}

/**
 * A lock, held until disposed of; undefined if another process has it. The system releases it when
 * the process ends, even by kill -9.
 */
export function tryLock(file: string): Disposable | undefined {
  createEmpty(file);
  try {
    return openLock(file, 0);
  } catch (error) {
    if (resultCodeOf(error) === SQLITE_BUSY) return undefined;
    throw error;
  }
}
