/**
 * The file to which `import` and `stock sync` write rejected rows; by default it is beside the file
 * sent. Never overwrites an existing file.
 */
import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { REJECTED_ROWS_FILES_LIMIT } from '../remote/limits.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import { parseColumnMap } from '../../transfer/columns.ts';
import { nameRejectedRows } from '../../transfer/header.ts';
import { RejectedRows, type RowsFile } from '../../transfer/rejected-rows.ts';
import { TemporaryFile } from '../../store/temporary/temporary-file.ts';
import { parseStockColumnMap } from '../../transfer/stock-columns.ts';
import { UsageError } from '../command.ts';
import { openText, type SourceFile, withoutExtension } from './source-file.ts';

export const REJECTED_FLAG = {
  value: 'FILE', help: 'where to write rejected rows (default: NAME.failed.csv beside FILE)',
};

const WITHOUT_CREATING = constants.O_WRONLY | constants.O_APPEND;

interface OpenFile extends RowsFile {
  readonly path: string;
}

/** `path` is the file that the user chose; the others are as sent to the server. */
type RejectedOptions = Readonly<Partial<
  Record<'path' | 'map' | 'encoding' | 'sheet' | 'duplicates', string | undefined>
>>;

export class RejectedRowsFile {
  readonly #source: SourceFile;
  readonly #content: 'products' | 'stock';
  readonly #options: RejectedOptions;
  #rows: RejectedRows<OpenFile> | undefined;
  /** Path of the file that was created, if any. */
  #path: string | undefined;

  /** @throws UsageError if the chosen file exists, or the source cannot be read twice */
  constructor(source: SourceFile, content: 'products' | 'stock', options: RejectedOptions) {
    const { path: chosenPath } = options;
    if (chosenPath !== undefined && source.sizeBytes === undefined) {
      throw new UsageError('--rejected needs a FILE: a pipe cannot be read twice.');
    }
    if (chosenPath !== undefined && existsSync(chosenPath)) {
      throw new UsageError(`--rejected: ${chosenPath} already exists. It is not overwritten.`);
    }
    this.#source = source;
    this.#content = content;
    this.#options = options;
  }

  /** Whether it has rows that are only right in the whole file. */
  get hasParts(): boolean {
    return this.#rows?.hasParts ?? false;
  }

  /** Adds a rejected row; rows come in the order of the file. */
  async add(line: number, reason: string): Promise<void> {
    if (this.#source.sizeBytes === undefined) return;
    const { map, encoding, sheet, duplicates } = this.#options;
    const parse = this.#content === 'products' ? parseColumnMap : parseStockColumnMap;
    this.#rows ??= new RejectedRows({
      source: {
        format: this.#source.format, content: this.#content, open: () => openText(this.#source),
        encoding, sheet, duplicates, spool: TemporaryFile.spool,
        map: map === undefined ? new Map() : parse(map),
      },
      create: () => this.#create(),
    });
    await this.#rows.add(line, reason);
  }

  /** Returns the path of the complete file; undefined if there is none. */
  async end(): Promise<string | undefined> {
    await this.#rows?.end();
    await this.#rows?.close();
    return this.#rows?.file?.path;
  }

  /** Removes the rows added so far. */
  async discard(): Promise<void> {
    await this.#rows?.close();
    this.remove();
    this.#rows = undefined;
  }

  /** Removes the file synchronously, for a process that is about to exit. */
  remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    this.#path = undefined;
  }

  /** Undefined if no file can be created; the import continues without it. */
  async #create(): Promise<OpenFile | undefined> {
    for (const path of this.#listPaths()) {
      try {
        closeSync(openSync(path, 'wx', 0o600));
        this.#path = path; // synchronously, so that a signal finds every file to remove
        const file = await open(path, WITHOUT_CREATING); // a signal may have removed it
        return { path, append: (bytes) => file.appendFile(bytes), close: () => file.close() };
      } catch (error) {
        if (this.#options.path !== undefined) throw error;
        if (!isSystemError(error, 'EEXIST')) break;
      }
    }
    return undefined;
  }

  #listPaths(): string[] {
    if (this.#options.path !== undefined) return [this.#options.path];
    const { path, format } = this.#source;
    return Array.from({ length: REJECTED_ROWS_FILES_LIMIT }, (_, index) =>
      `${nameRejectedRows(withoutExtension(path))}${index === 0 ? '' : `-${index + 1}`}.${format}`);
  }
}
