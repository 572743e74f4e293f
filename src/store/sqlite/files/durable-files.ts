/**
 * Files and folders whose names survive a power cut. A file system may forget a name, its removal
 * or a renaming until the folder that holds the name is flushed by fsync(2).
 */
import {
  closeSync, existsSync, fsyncSync, mkdirSync, openSync, realpathSync, statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isSystemError } from '../../../runtime/system-error.ts';

/** Flushes the names in a folder, if its file system and its mode allow that. */
export function syncFolder(folder: string): void {
  try {
    syncFile(folder);
  } catch (error) {
    // EACCES: to be opened, a folder has to be readable. EINVAL: it cannot be flushed (fsync(2)).
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
 * Creates a folder for its owner alone, with those above it, where they are missing. Also flushes
 * names that were there before: a process that created them may have been killed before its fsync.
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
 * The option `recursive` of `mkdir` never returns in `/proc`, which answers ENOENT although the
 * parent exists.
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
 * Creates an empty file that only its owner may read. Returns whether it did: an existing file is
 * not even opened.
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
