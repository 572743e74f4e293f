/** What the files of a data folder need of the system: names that last, and errors told apart. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** A new name in a folder is durable only when the folder is. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Makes an empty file that only its owner may read. Whether there was none: one that is there is
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
