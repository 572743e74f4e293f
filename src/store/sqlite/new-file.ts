/**
 * A file that appears whole or not at all, and never in the place of another: it is made as
 * FILE.PID.part beside itself, and gets its name when it is on the disk. A process that is killed
 * leaves its part behind; the next one that makes the same file removes it.
 */
import { closeSync, fsyncSync, linkSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../domain/error.ts';
import { isSystemError } from '../../domain/system-error.ts';
import { createEmpty, syncFolder } from './folder.ts';

/** A part, and what SQLite may leave beside one. */
const PART = /^(.+)\.(\d{1,10})\.part(?:-journal|-wal|-shm)?$/;
const SUFFIXES = ['', '-journal', '-wal', '-shm'];

/** What file systems answer that have one name a file, such as those of memory sticks. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

export class NewFile {
  readonly path: string;
  /** Where it is made. */
  readonly part: string;

  constructor(path: string) {
    this.path = path;
    this.part = `${path}.${process.pid}.part`;
  }

  /**
   * Begins with an empty file, which nobody else may read.
   * @throws AppError `unavailable` where somebody else has made one of that name meanwhile
   */
  begin(): void {
    const name = basename(this.path);
    removeStaleParts(dirname(this.path), (other) => other === name);
    if (!createEmpty(this.part)) throw isThere(this.part); // it may be his to read, or lead away
  }

  /** Gives it its name. @throws AppError `unavailable` where there is such a file by now */
  show(): void {
    syncFile(this.part);
    try {
      linkSync(this.part, this.path); // unlike a renaming, this never replaces anything
    } catch (error) {
      if (isSystemError(error, 'EEXIST')) throw isThere(this.path);
      if (isSystemError(error, ...NO_LINKS)) throw cannotLink(this.path);
      throw error;
    }
    this.discard();
    syncFolder(dirname(this.path));
  }

  /** Gives it the name of a file that is there, which is `kept` under another one. */
  replace(kept: string): void {
    syncFile(this.part);
    linkSync(this.path, kept);
    renameSync(this.part, this.path); // at every moment there is one, the old or the new
    syncFolder(dirname(this.path));
  }

  /** Removes what has no name yet. */
  discard(): void {
    for (const suffix of SUFFIXES) rmSync(this.part + suffix, { force: true });
  }
}

/** Removes what processes have left that are gone, of files with such names. */
export function removeStaleParts(folder: string, isOurs: (name: string) => boolean): void {
  for (const entry of readdirSync(folder)) {
    const [, name, id] = PART.exec(entry) ?? [];
    if (name === undefined || !isOurs(name) || isAnotherAlive(Number(id))) continue;
    rmSync(join(folder, entry), { force: true });
  }
}

export function isThere(path: string): AppError {
  return new AppError('unavailable', `${path} is there already. Name a file that is not.`);
}

function syncFile(path: string): void {
  const handle = openSync(path, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

function cannotLink(path: string): AppError {
  const why = `The file system of ${dirname(path)} cannot show a file whole or not at all.`;
  return new AppError('unavailable', `${why} Name a file on another one, and copy it from there.`);
}

/** This process has made nothing yet: what bears its id is of an earlier one. */
function isAnotherAlive(id: number): boolean {
  if (id === process.pid) return false;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return !isSystemError(error, 'ESRCH');
  }
}
