/** SQLite's result codes (https://www.sqlite.org/rescode.html), and disk error messages. */
import { type StatsFs, statfsSync } from 'node:fs';
import { relative } from 'node:path';
import { AppError, type ErrorCode } from '../../../domain/error.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import { OPENING_INODES } from '../limits.ts';

export const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
export const SQLITE_READONLY = 8;
export const SQLITE_IOERR = 10;
export const SQLITE_CORRUPT = 11;
export const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;
export const SQLITE_NOTADB = 26;
/** The WAL index cannot grow: the disk is full. */
const SQLITE_IOERR_SHMSIZE = 4874;

/** The primary result code; 0 if the error is not SQLite's. */
export function resultCodeOf(error: unknown): number {
  if (!(typeof error === 'object' && error !== null && 'errcode' in error)) return 0;
  const code = Number(error.errcode);
  return code === SQLITE_IOERR_SHMSIZE ? SQLITE_FULL : code & 0xff;
}

type Failure = readonly [code: ErrorCode, problem: string];

const BUSY: Failure = ['unavailable', 'The database is busy.'];
const UNREADABLE: Failure = ['unavailable', 'This server cannot read from its disk.'];
const UNWRITABLE: Failure = ['unavailable', 'This server cannot write to its disk.'];
const FULL: Failure = ['storage_full', 'The disk of this server is full.'];

/** SQLite also reports an unreadable disk as a corrupt file. */
const FAILURES = new Map<number, { readonly reading?: Failure; readonly writing?: Failure }>([
  [SQLITE_BUSY, { reading: BUSY, writing: BUSY }],
  [SQLITE_LOCKED, { reading: BUSY, writing: BUSY }],
  [SQLITE_READONLY, { writing: UNWRITABLE }],
  [SQLITE_IOERR, { reading: UNREADABLE, writing: UNWRITABLE }],
  [SQLITE_CORRUPT, { reading: UNREADABLE, writing: UNREADABLE }],
  [SQLITE_FULL, { reading: UNREADABLE, writing: FULL }],
  [SQLITE_CANTOPEN, { reading: UNREADABLE }],
  [SQLITE_NOTADB, { reading: UNREADABLE, writing: UNREADABLE }],
]);

/** Whether the database was busy or its disk failed: a retry may succeed. */
export function isStorageFailure(error: unknown): boolean {
  return FAILURES.has(resultCodeOf(error));
}

/** Explains why a database could not be read or written; returns other errors unchanged. */
export function explainAccess(cause: unknown, access: 'reading' | 'writing'): unknown {
  const failure = FAILURES.get(resultCodeOf(cause))?.[access];
  return failure ? new AppError(failure[0], `${failure[1]} Try again later.`, { cause }) : cause;
}

/** Explains why nothing was written; `internal` if the disk is not the cause. */
export function describeWriteFailure(error: unknown): Failure {
  const failure = FAILURES.get(resultCodeOf(error))?.writing;
  return failure ?? ['internal', 'The change could not be made.'];
}

/** Why a folder cannot be opened, by result code or system error. */
const OPENING: readonly (readonly [description: string, ...codes: (number | string)[]])[] = [
  ['is on a full disk. Make room, and start again.', SQLITE_FULL, 'ENOSPC', 'EDQUOT'],
  ['is on a read-only disk.', 'EROFS'],
  ['cannot be opened for writing by this user.',
    SQLITE_READONLY, SQLITE_CANTOPEN, 'EACCES', 'EPERM'],
  ['is not a folder, or its path leads through a file. Use another data folder.',
    'EEXIST', 'ENOTDIR'],
  ['cannot be created at this path. Use another data folder.',
    'ENOENT', 'ENAMETOOLONG', 'ELOOP'],
  ['is on a failing disk: it cannot be read or written.', SQLITE_IOERR, 'EIO'],
  ['is locked by another process. Try again.', SQLITE_BUSY],
  ['has a damaged database. It was left unchanged: restore a backup.',
    SQLITE_CORRUPT, SQLITE_NOTADB],
];

export const NO_INODES = 'is on a disk without free inodes.';
export const MORE_INODES = 'Remove files until "df -i" shows more.';

/** Files that a disk still has room for; undefined without a limit, as on Btrfs. */
export function freeInodesOf({ files, ffree }: Pick<StatsFs, 'files' | 'ffree'>) {
  return files > 0 ? ffree : undefined;
}

/** Whether the disk has no inodes for new files, which SQLite needs to open a database. */
export function isForLackOfInodes(error: unknown, folder: string): boolean {
  if (resultCodeOf(error) !== SQLITE_CANTOPEN && !isSystemError(error, 'ENOSPC')) return false;
  return (freeInodesOf(statfsSync(folder)) ?? Infinity) < OPENING_INODES;
}

/** Explains why a folder cannot be opened; returns other errors unchanged. */
export function explainOpening(cause: unknown, folder: string): unknown {
  if (isSystemError(cause, 'ENOENT') && !isOnWay(cause, folder)) return cause;
  const [description] = isForLackOfInodes(cause, folder) ? [`${NO_INODES} ${MORE_INODES}`]
    : OPENING.find(([, ...codes]) => codes.some((code) =>
    (typeof code === 'number' ? code === resultCodeOf(cause) : isSystemError(cause, code)))) ?? [];
  return description === undefined ? cause
    : new AppError('unavailable', `${folder} ${description}`, { cause });
}

/** Whether the path that an error names is the folder, one above it, or a file in it. */
function isOnWay(error: unknown, folder: string): boolean {
  // The cast: what Node's errors have. That of a removed working directory has no path.
  const { path } = error as { readonly path?: string };
  return path !== undefined
    && [relative(folder, path), relative(path, folder)].some((way) => !way.startsWith('..'));
}
