/**
 * The rows of a file that could not be imported, in a file of their own. No file that is there is
 * overwritten.
 */
import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { FAILURES_FILES_LIMIT } from '../limits.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import { RejectedRowsReader } from '../../transfer/rejected-rows.ts';
import { UsageError } from '../command.ts';
import type { FailedRow } from './import-run.ts';
import { type ImportSource, openText } from './import-source.ts';
import { withoutEnding } from './text-format.ts';

interface OpenFile {
  readonly path: string;
  readonly file: FileHandle;
  readonly rows: RejectedRowsReader;
}

export class RejectedRowsFile {
  readonly #source: ImportSource;
  readonly #chosenPath: string | undefined;
  /** Null where it could not be made: that is no reason to break the import off. */
  #open: OpenFile | null | undefined;
  /** Of the file that was made, open or not. */
  #path: string | undefined;

  /** @throws UsageError where rows cannot be written to `chosenPath`, or not be found again */
  constructor(source: ImportSource, chosenPath: string | undefined) {
    if (chosenPath !== undefined && source.sizeBytes === undefined) {
      throw new UsageError('--failures needs a FILE: a pipe cannot be read a second time.');
    }
    if (chosenPath !== undefined && existsSync(chosenPath)) {
      throw new UsageError(`--failures: ${chosenPath} is there already, and is not overwritten.`);
    }
    this.#source = source;
    this.#chosenPath = chosenPath;
  }

  /** Adds the row of a failure; failures come in the order of the rows. */
  async add({ line, reason }: FailedRow): Promise<void> {
    if (this.#source.sizeBytes === undefined) return;
    if (this.#open === undefined) this.#open = await this.#begin();
    await this.#open?.rows.add(line, reason);
  }

  /** The path of the file that has all rows that were added; undefined where there is none. */
  async end(): Promise<string | undefined> {
    await this.#close();
    return this.#open?.path;
  }

  /** Forgets the rows that were added. */
  async discard(): Promise<void> {
    await this.#close();
    this.remove();
    this.#open = undefined;
  }

  /** Removes the file at once, for a process that ends and cannot wait. */
  remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    this.#path = undefined;
  }

  async #close(): Promise<void> {
    await this.#open?.rows.end();
    await this.#open?.file.close();
  }

  async #begin(): Promise<OpenFile | null> {
    const created = await this.#create();
    if (!created) return null;
    const { path, file } = created;
    const source = { format: this.#source.format, open: () => openText(this.#source) };
    return { path, file, rows: new RejectedRowsReader(source, (piece) => file.appendFile(piece)) };
  }

  async #create(): Promise<{ readonly path: string; readonly file: FileHandle } | undefined> {
    for (const path of this.#listPaths()) {
      try {
        const file = await open(path, 'wx', 0o600);
        this.#path = path;
        return { path, file };
      } catch (error) {
        if (this.#chosenPath !== undefined) throw error;
        if (!isSystemError(error, 'EEXIST')) break;
      }
    }
    return undefined;
  }

  #listPaths(): string[] {
    if (this.#chosenPath !== undefined) return [this.#chosenPath];
    const { path, format } = this.#source;
    return Array.from({ length: FAILURES_FILES_LIMIT }, (_, index) =>
      `${withoutEnding(path)}.failed${index === 0 ? '' : `-${index + 1}`}.${format}`);
  }
}
