/** Work that one of several processes does at a time: the one that holds the lock of a file. */
import { createEmpty } from './durable-files.ts';
import { openLock } from '../engine/connection.ts';
import { resultCodeOf, SQLITE_BUSY } from '../engine/disk-failure.ts';

/**
 * Call what it returns to give the work up; undefined where somebody else has it. The system gives
 * the lock up when the process ends, in whatever way.
 */
export function tryLock(file: string): (() => void) | undefined {
  createEmpty(file);
  try {
    const lock = openLock(file, 0);
    return () => {
      if (lock.isOpen) lock.close();
    };
  } catch (error) {
    if (resultCodeOf(error) === SQLITE_BUSY) return undefined;
    throw error;
  }
}
