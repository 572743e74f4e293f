/**
 * Collects the rejected rows of a file in another one that a person can correct and send again.
 * Rows are copied unchanged, in UTF-8, but a cell that a spreadsheet would run as a formula gets an
 * apostrophe, which reading removes. CSV gets the header and an extra first column, `error`, which
 * is ignored: in the last column, it would fill a row that lacks cells. A line of NDJSON gets
 * its error only if it is not right without the others, see `import-row.ts`. A product that
 * inherits values from the first row of its group is preceded by that row, which changes nothing.
 * The source is read a second time, in step with the report, so memory use is independent of its
 * size.
 */
import { AppError } from '../domain/error.ts';
import { type ColumnMap, countMembers, matchColumns } from './columns.ts';
import { escapeFormula } from './csv-cells.ts';
import type { CsvReader, CsvRecord } from './csv-reader.ts';
import type { FileOptions } from './file-options.ts';
import { isErrorColumn } from './header.ts';
import type { RowError } from './import-advice.ts';
import { addError, asPart, isPart } from './import-row.ts';
import { readLines } from './ndjson.ts';
import { countStockMembers, type StockColumnMap } from './stock-columns.ts';
import { TableReader } from './table-reader.ts';

/** A file that can be read more than once, and how it was read when its rows were rejected. */
interface RowSource extends FileOptions {
  readonly format: 'csv' | 'ndjson';
  /** Whether rows may inherit values. Those of stock must not: a repeated row may adjust twice. */
  readonly content: 'products' | 'stock';
  /** The columns that were named, by their members. */
  readonly map: ReadonlyMap<string, string>;
  /** What several rows for one product mean: with `sum` and `last`, some may be accepted. */
  readonly duplicates: string | undefined;
  /** Reads its decompressed text from the start. */
  open(): AsyncIterable<Buffer>;
}

/** The file of rejected rows. */
export interface RowsFile {
  append(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

interface Options<File> {
  readonly source: RowSource;
  /** Creates the file for the first row; undefined if it cannot, and rows are then dropped. */
  readonly create: () => Promise<File | undefined>;
  /** Rows are dropped once the file has this size. Default: no limit. */
  readonly limitBytes?: number;
}

/** A row of the source and its copy in the file of rejected rows. */
interface SourceRow {
  readonly line: number;
  /** The first row of its group, if it is not the first itself. */
  readonly first?: SourceRow | undefined;
  copy(reason: string): Buffer;
}

/** Rows are written in chunks of at least this size. */
const CHUNK_BYTES = 64 * 1024;

/** Collects the rejected rows of one import. */
export class RejectedRows<File extends RowsFile> {
  /** False if the size limit or a full disk cut the file short. */
  isComplete = true;
  /** Whether it has rows that are only right in the whole file. */
  hasParts = false;
  readonly #options: Options<File>;
  #file: File | undefined;
  #rows: AsyncGenerator<SourceRow, void, void> | undefined;
  /** First row of the group copied last. */
  #first: SourceRow | undefined;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #writtenBytes = 0;

  constructor(options: Options<File>) {
    this.#options = options;
  }

  /** Undefined if nothing was written: no row was rejected, or the disk is full. */
  get file(): File | undefined {
    return this.#writtenBytes > 0 ? this.#file : undefined;
  }

  /** Adds the row that begins on a line, from 1. Rows come in the order of the source. */
  async add(line: number, reason: string): Promise<void> {
    const { limitBytes = Infinity } = this.#options;
    if (this.#writtenBytes + this.#pendingBytes >= limitBytes) this.isComplete = false;
    if (this.isComplete) await this.#untilDiskFull(() => this.#copy(line, reason));
  }

  /** Writes pending rows; add none after it. */
  async end(): Promise<void> {
    await this.#rows?.return();
    await this.#untilDiskFull(() => this.#flush());
  }

  /** Closes the file without writing pending rows. */
  async close(): Promise<void> {
    await this.#rows?.return();
    await this.#file?.close();
  }

  async #copy(line: number, reason: string): Promise<void> {
    const rows = this.#rows ??= await this.#begin();
    for (let next = await rows?.next(); next?.value; next = await rows?.next()) {
      const row = next.value;
      if (row.line < line) continue;
      if (row.first && row.first !== this.#first) await this.#append(row.first.copy(''));
      this.#first = row.first ?? row;
      const { duplicates } = this.#options.source;
      const mayBePart = duplicates !== undefined && /^(?:sum|last)/.test(duplicates);
      const error = mayBePart ? asPart(reason) : reason;
      this.hasParts ||= isPart(error);
      return this.#append(row.copy(error));
    }
  }

  /** Creates the file and starts reading the source. */
  async #begin(): Promise<AsyncGenerator<SourceRow, void, void> | undefined> {
    const { source, create } = this.#options;
    this.#file = await create();
    this.isComplete = this.#file !== undefined;
    if (!this.#file) return undefined;
    if (source.format === 'ndjson') return readNdjsonRows(source);
    const rows = readCsvRows(source);
    const { value: header } = await rows.next();
    if (header) await this.#append(header.copy(''));
    return rows;
  }

  async #append(bytes: Buffer): Promise<void> {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= CHUNK_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending);
    [this.#pending, this.#pendingBytes] = [[], 0];
    if (bytes.length > 0) await this.#file?.append(bytes);
    this.#writtenBytes += bytes.length;
  }

  /** A full disk must not stop the import itself. */
  async #untilDiskFull(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'storage_full')) throw error;
      this.isComplete = false;
    }
  }
}

/** Why a row was rejected, in one line: each error with the name of its member. */
export function formatRowErrors(errors: readonly RowError[]): string {
  return errors.map(({ pointer = '', code, detail }) =>
    pointer === '' || code === 'taken' ? detail : `${pointer.slice(1)}: ${detail}`).join(' ');
}

/** Yields the header of a CSV file, then its rows. */
async function* readCsvRows(source: RowSource): AsyncGenerator<SourceRow, void, void> {
  const reader = createReader(source);
  let header: CsvRecord | undefined;
  let groupColumn: number | undefined;
  let group: { readonly key: string; readonly first: SourceRow } | undefined;
  for await (const records of reader.read(source.open())) {
    for (const record of records) {
      const { line, cells } = record;
      if (!header) {
        header = record;
        groupColumn = source.content === 'products' ? matchColumns(cells).group : undefined;
        const text = `\uFEFF${addCell(record, record, nameErrorColumn(cells), reader.csv)}`;
        yield { line, copy: () => Buffer.from(text) };
        continue;
      }
      const first = header;
      const key = cells[groupColumn ?? -1] ?? '';
      const row: SourceRow = {
        line,
        first: key !== '' && key === group?.key ? group.first : undefined,
        copy: (reason) => Buffer.from(addCell(record, first, reason, reader.csv)),
      };
      if (!row.first) group = { key, first: row };
      yield row;
    }
  }
}

function createReader({ content, map, ...options }: RowSource): TableReader {
  // The casts: a map names members of what the file has.
  return new TableReader({
    ...options, countMembers: (names) => (content === 'products'
      ? countMembers(names, map as ColumnMap) : countStockMembers(names, map as StockColumnMap)),
  });
}

function nameErrorColumn(header: readonly string[]): string {
  const [first = ''] = header;
  if (isErrorColumn(first)) return first;
  let name = 'error';
  while (header.includes(name)) name = `import ${name}`;
  return name;
}

/** The line of a record with the reason in front, or in place of an earlier reason. */
function addCell(
  { cells, text, types }: CsvRecord, header: CsvRecord, reason: string,
  { delimiter, hasLiteralQuotes }: CsvReader,
): string {
  const quote = (cell: string): string =>
    hasLiteralQuotes ? cell.replace(/\s+/g, ' ') : `"${cell.replaceAll('"', '""')}"`;
  const hasReason = isErrorColumn(header.cells[0]) && cells.length > 1;
  const reasonCell = quote(escapeFormula(reason));
  const own = hasReason ? cells.slice(1) : cells;
  const escaped = own.map(escapeFormula);
  // The text of a row of a workbook is escaped.
  if (!types && escaped.some((cell, index) => cell !== own[index])) {
    const written = hasLiteralQuotes ? escaped : escaped.map(quote);
    return `${[reasonCell, ...written].join(delimiter)}\r\n`;
  }
  const [earlier = ''] = cells;
  const { length } = text.startsWith(quote(earlier)) ? quote(earlier) : earlier;
  const rest = hasReason ? text.slice(length) : `${delimiter}${text}`;
  return `${reasonCell}${rest}\r\n`;
}

async function* readNdjsonRows(source: RowSource): AsyncGenerator<SourceRow, void, void> {
  let line = 0;
  for await (const bytes of readLines(source.open())) {
    line += 1;
    const copy = (reason: string): Buffer =>
      Buffer.concat([isPart(reason) ? addError(bytes, reason) : bytes, Buffer.from('\n')]);
    yield { line, copy };
  }
}
