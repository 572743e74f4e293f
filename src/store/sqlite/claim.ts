/** Work that one of several processes does at a time: it is whose who holds the lock of a file. */
import { openLock } from './connection.ts';
import { createEmpty } from './folder.ts';

// Primary result code: https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5;

/**
 * Call what it returns to give the work up; undefined where somebody else has it. The system gives
 * the lock up when the process ends, in whatever way.
 */
export function claim(file: string): (() => void) | undefined {
  createEmpty(file);
  try {
    const lock = openLock(file, 0);
    return () => {
      if (lock.isOpen) lock.close();
    };
  } catch (error) {
    const isHeld = error instanceof Error && 'errcode' in error
      && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
    if (isHeld) return undefined;
    throw error;
  }
}
