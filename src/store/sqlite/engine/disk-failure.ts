/** SQLite's result codes (https://www.sqlite.org/rescode.html), and error texts for people. */
import { AppError } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';

export const SQLITE_BUSY = 5;
export const SQLITE_LOCKED = 6;
export const SQLITE_READONLY = 8;
export const SQLITE_IOERR = 10;
export const SQLITE_CORRUPT = 11;
export const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;
export const SQLITE_NOTADB = 26;
/** The WAL index cannot grow: the disk is full. */
const SQLITE_IOERR_SHMSIZE = 4874;

/** The primary result code; 0 for an error that is not SQLite's. */
export function resultCodeOf(error: unknown): number {
  if (!(error instanceof Error && 'errcode' in error)) return 0;
  const code = Number(error.errcode);
  return code === SQLITE_IOERR_SHMSIZE ? SQLITE_FULL : code & 0xff;
}

/** Why nothing can be read now; returns other errors unchanged. */
export function explainReading(cause: unknown): unknown {
  switch (resultCodeOf(cause)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return new AppError('unavailable', 'The database is busy. Try again later.', { cause });
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_CORRUPT: // which SQLite also reports for some disk errors
    case SQLITE_NOTADB: {
      const detail = 'This server cannot read from its disk. Try again later.';
      return new AppError('unavailable', detail, { cause });
    }
    default:
      return cause;
  }
}

/** Why a folder cannot be opened; returns other errors unchanged. */
export function explainOpening(cause: unknown, folder: string): unknown {
  const code = resultCodeOf(cause);
  const isSystem = (...names: string[]): boolean => isSystemError(cause, ...names);
  const fail = (what: string): AppError =>
    new AppError('unavailable', `${folder} ${what}`, { cause });
  if (code === SQLITE_FULL || isSystem('ENOSPC', 'EDQUOT')) {
    return fail('is on a disk that is full. Make room, and start again.');
  }
  if (isSystem('EROFS')) return fail('is on a disk that cannot be written to (read-only).');
  if (code === SQLITE_READONLY || code === SQLITE_CANTOPEN || isSystem('EACCES', 'EPERM')) {
    return fail('cannot be opened for writing by this user.');
  }
  if (isSystem('EEXIST', 'ENOTDIR')) {
    return fail('is not a folder, or lies in a file. Name a folder with --data.');
  }
  if (isSystem('ENOENT', 'ENAMETOOLONG', 'ELOOP')) {
    return fail('cannot be created: nothing can have this path. Name another with --data.');
  }
  if (code === SQLITE_IOERR || isSystem('EIO')) {
    return fail('is on a disk that fails: it cannot be read, or not be written to.');
  }
  if (code === SQLITE_BUSY) return fail('is in use by a process that lets no other in. Try again.');
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) {
    return fail('has a database that is damaged. It was left as it is: restore a backup.');
  }
  return cause;
}
