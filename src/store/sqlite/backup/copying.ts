/** What it takes to copy a database: room on the disk, and errors that say what to do. */
import { statfsSync } from 'node:fs';
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { resultCodeOf, SQLITE_FULL } from '../engine/disk-failure.ts';

/** How far a copy is. */
export interface CopyState {
  readonly bytes: number;
  readonly sizeBytes: number;
}

/** Says what there is not enough of before a disk is filled that others need, too. */
export function assertRoom(folder: string, bytes: number, reserveBytes = 0): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= bytes + reserveBytes) return;
  const [needed, reserve, free] = [bytes, reserveBytes, bavail * bsize].map((count) =>
    Math.ceil(count / 2 ** 20));
  const rest = reserve ? `, and the server ${reserve} MiB beside it` : '';
  const text = `The copy needs ${needed} MiB${rest}; ${folder} has ${free} MiB left.`;
  throw new AppError('storage_full', `${text} Nothing was written.`);
}

/** What went wrong where `file` was to be made, of which nothing was left. */
export function explainCopyError(error: unknown, file: string): unknown {
  const code = resultCodeOf(error);
  if (code === SQLITE_FULL || isSystemError(error, 'ENOSPC', 'EDQUOT')) {
    const text = `There is no room for ${file}. Nothing of it was left.`;
    return new AppError('storage_full', text, { cause: error });
  }
  if (code === 0 || !(error instanceof Error)) return error;
  const text = `${file} was not written: ${error.message}. "doctor" tells more.`;
  return new AppError('unavailable', text, { cause: error });
}
