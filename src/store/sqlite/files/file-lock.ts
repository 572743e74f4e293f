/** File locks, for work that only one process does at a time. */
import { createEmpty } from './durable-files.ts';
import { openLock } from '../engine/connection.ts';
import { resultCodeOf, SQLITE_BUSY } from '../engine/disk-failure.ts';

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
