/** Locks of files, for work that only one process does at a time. */
import { createEmpty } from './durable-files.ts';
import { openLock } from '../engine/connection.ts';
import { resultCodeOf, SQLITE_BUSY } from '../engine/disk-failure.ts';

/**
 * A lock until it is disposed of; undefined if another process has it. The system releases it when
 * the process ends, however it ends.
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
