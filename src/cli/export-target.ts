/**
 * Where an export goes: a file that is not there, or one that may be replaced. Anything else, such
 * as a device or a folder, is refused, for a file that is renamed would take its place.
 */
import { lstatSync, realpathSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { UsageError } from './command.ts';

/** @throws UsageError where `path` is no file, or a file that may not be replaced */
export class ExportTarget {
  /** As it was given. */
  readonly path: string;
  readonly #file: string;
  /** One for each process, so that what another has left is not in the way. */
  readonly #part: string;

  constructor(path: string, isForced: boolean) {
    this.path = path;
    this.#file = resolveFile(path, isForced);
    this.#part = `${this.#file}.${process.pid}.part`;
  }

  /** Begins anew, beside the file that is to appear. */
  open(): Promise<FileHandle> {
    this.discard(); // an earlier process may have had this id
    return open(this.#part, 'wx', 0o600);
  }

  /** Shows the file, which is whole. */
  async show(): Promise<void> {
    await rename(this.#part, this.#file);
  }

  /** Removes what is not whole; at once, for a process that ends cannot wait. */
  discard(): void {
    rmSync(this.#part, { force: true });
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
