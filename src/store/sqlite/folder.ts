/** What the files of a data folder need of the system: names that last, and files of one's own. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { isSystemError } from '../../domain/system-error.ts';

/** A new name in a folder is durable only when the folder is. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
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
