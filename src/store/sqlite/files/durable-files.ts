/**
 * Files and folders whose names survive a power cut. A file system may lose a name, its removal or
 * a rename until the containing folder is flushed by fsync(2).
 */
import {
  closeSync, existsSync, fsyncSync, mkdirSync, openSync, realpathSync, rmSync, statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isSystemError } from '../../../runtime/system-error.ts';

/** Flushes the names in a folder, if its file system and mode allow that. */
export function syncFolder(folder: string): void {
  try {
    syncFile(folder);
  } catch (error) {
    // EACCES: opening a folder requires read permission. EINVAL: it cannot be flushed (fsync(2)).
    if (!isSystemError(error, 'EACCES', 'EINVAL')) throw error;
  }
}

/** Flushes the bytes of a file. */
export function syncFile(file: string): void {
  const handle = openSync(file, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Creates a folder for its owner alone, and missing parents. Also flushes existing names: a process
 * that created them may have been killed before its fsync.
 */
export function createFolder(path: string): void {
  makeFolders(path);
  let folder = realpathSync(path);
  const { dev } = statSync(folder);
  for (let parent = dirname(folder); parent !== folder; parent = dirname(folder)) {
    if (statSync(parent).dev !== dev) return; // a mount point, whose name is on another disk
    syncFolder(parent);
    folder = parent;
  }
}

/**
 * With `recursive`, `mkdir` never returns in `/proc`, which reports ENOENT for existing parents.
 */
function makeFolders(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isSystemError(error, 'EEXIST') && isFolder) return;
    const parent = dirname(resolve(path));
    if (!isSystemError(error, 'ENOENT') || existsSync(parent)) throw error;
    makeFolders(parent);
    makeFolders(path);
  }
}

/**
 * Creates an empty file readable by its owner only. Returns false, without opening, if it exists.
 */
export function createEmpty(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600));
    return true;
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
    return false;
  }
}

/** Removes a database that nothing has open, with SQLite's files beside it. */
export function removeDatabase(file: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(file + end, { force: true });
}
