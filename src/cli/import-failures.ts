/**
 * The rows of a file that could not be imported, in a file of their own that can be mended and
 * imported: as they were written, in CSV with the header and one more column, `error`, which an
 * import ignores. Before those that inherit from the first row of a group stands that row, which
 * changes nothing. They are found by reading the first file a second time, as far as the report has
 * come, so little has to be remembered. No file that is there is overwritten.
 */
import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { FAILURES_FILES_LIMIT } from '../config.ts';
import { findGroupColumn } from '../transfer/columns.ts';
import { CsvReader, type CsvRecord } from '../transfer/csv-reader.ts';
import { UsageError } from './command.ts';
import type { FailedRow } from './import-run.ts';
import { type ImportSource, openText } from './import-source.ts';
import { readLines } from './lines.ts';
import { withoutEnding } from './text-format.ts';

/** A row of the first file, and how it stands in the second. */
interface SourceRow {
  readonly line: number;
  /** The first row of the group that it is in, where it is not itself the first. */
  readonly first?: SourceRow | undefined;
  copy(reason: string): string | Uint8Array;
}

interface OpenFile {
  readonly path: string;
  readonly file: FileHandle;
  readonly rows: AsyncGenerator<SourceRow, void, void>;
}

const ERROR_COLUMN = 'error';
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

export class FailuresFile {
  readonly #source: ImportSource;
  readonly #chosenPath: string | undefined;
  /** Null where it could not be made: that is no reason to break the import off. */
  #open: OpenFile | null | undefined;
  /** Of the file that was made, open or not. */
  #path: string | undefined;
  /** The first row of the group whose rows were added last. */
  #firstLine = 0;

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
    if (this.#open === null) return;
    const { file, rows } = this.#open;
    for (let next = await rows.next(); !next.done; next = await rows.next()) {
      if (next.value.line < line) continue;
      const { first } = next.value;
      if (first && first.line !== this.#firstLine) await file.appendFile(first.copy(''));
      await file.appendFile(next.value.copy(reason));
      this.#firstLine = (first ?? next.value).line;
      return;
    }
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
    await this.#open?.rows.return();
    await this.#open?.file.close();
  }

  async #begin(): Promise<OpenFile | null> {
    const created = await this.#create();
    if (!created) return null;
    const { path, file } = created;
    this.#firstLine = 0;
    const isCsv = this.#source.format === 'csv';
    const rows = isCsv ? readCsvRows(this.#source) : readNdjsonRows(this.#source);
    if (isCsv) {
      if (await isMarked(this.#source)) await file.appendFile(BYTE_ORDER_MARK);
      const header = await rows.next();
      if (header.value) await file.appendFile(header.value.copy(ERROR_COLUMN));
    }
    return { path, file, rows };
  }

  async #create(): Promise<{ readonly path: string; readonly file: FileHandle } | undefined> {
    for (const path of this.#listPaths()) {
      try {
        const file = await open(path, 'wx', 0o600);
        this.#path = path;
        return { path, file };
      } catch (error) {
        if (this.#chosenPath !== undefined) throw error;
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) break;
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

/** The rows of a CSV file, its header among them. */
async function* readCsvRows(source: ImportSource): AsyncGenerator<SourceRow, void, void> {
  const reader = new CsvReader();
  let header: CsvRecord | undefined;
  let column: number | undefined;
  let group: { readonly key: string; readonly first: SourceRow } | undefined;
  for await (const records of reader.read(openText(source))) {
    for (const record of records) {
      if (!header) column = findGroupColumn(record.cells);
      const { cells } = header ??= record;
      const key = record.cells[column ?? -1] ?? '';
      const row: SourceRow = {
        line: record.line,
        first: key !== '' && key === group?.key ? group.first : undefined,
        copy: (reason: string) => `${appendCell(record, cells, reader.delimiter, reason)}\r\n`,
      };
      if (!row.first) group = { key, first: row };
      yield row;
    }
  }
}

/** The text of a record with one cell more, or with another in the place of an earlier reason. */
function appendCell(
  { cells, text }: CsvRecord, header: readonly string[], delimiter: string, reason: string,
): string {
  const cell = quote(reason);
  const missing = header.length - cells.length;
  const last = cells.at(-1) ?? '';
  if (header.at(-1) === ERROR_COLUMN && missing === 0) {
    const spelled = text.endsWith(quote(last)) ? quote(last) : last;
    return text.slice(0, text.length - spelled.length) + cell;
  }
  const gap = header.at(-1) === ERROR_COLUMN ? missing : missing + 1;
  return text + delimiter.repeat(Math.max(1, gap)) + cell;
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

async function* readNdjsonRows(source: ImportSource): AsyncGenerator<SourceRow, void, void> {
  let line = 0;
  for await (const bytes of readLines(openText(source))) {
    line += 1;
    yield { line, copy: () => Buffer.concat([bytes, Buffer.from('\n')]) };
  }
}

async function isMarked(source: ImportSource): Promise<boolean> {
  for await (const chunk of openText(source)) return chunk.subarray(0, 3).equals(BYTE_ORDER_MARK);
  return false;
}
