/**
 * Where an export goes: a file that is not there, or one that may be replaced. Anything else, such
 * as a device or a folder, is refused, for a file that is renamed would take its place.
 */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { AtomicFile } from '../../store/sqlite/files/atomic-file.ts';
import { UsageError } from '../command.ts';

/** @throws UsageError where `path` is no file, or a file that may not be replaced */
export class ExportTarget {
  /** As it was given. */
  readonly path: string;
  readonly #file: AtomicFile;

  constructor(path: string, isForced: boolean) {
    this.path = path;
    this.#file = new AtomicFile(resolveFile(path, isForced));
  }

  /** Begins anew, beside the file that is to appear. */
  open(): Promise<FileHandle> {
    this.#file.begin();
    return open(this.#file.tempPath, 'r+');
  }

  /** Shows the file, which is whole. */
  show(): void {
    this.#file.overwrite();
  }

  /** Removes what is not whole; at once, for a process that ends cannot wait. */
  discard(): void {
    this.#file.discard();
  }
}

/** The file itself where `path` is a symbolic link to one, so that the link stays. */
function resolveFile(path: string, isForced: boolean): string {
  const found = statSync(path, { throwIfNoEntry: false });
  const isLost = !found && lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (found?.isDirectory()) throw new UsageError(`${path} is a folder: name a file in it.`);
  if (isLost || (found && !found.isFile())) {
    const hint = 'leave FILE out, and redirect standard output';
    throw new UsageError(`${path} is not a file: ${hint}.`);
  }
  if (!found) return path;
  if (!isForced) throw new UsageError(`${path} is there already. Replace it with --force.`);
  return realpathSync(path);
}
