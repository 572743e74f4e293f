/**
 * The rows of a file that could not be imported, in a form that can be mended and imported: as they
 * were written, in CSV with the header and one more column, `error`, which an import ignores.
 * Before those that inherit from the first row of a group stands that row, which changes nothing.
 * They are found by reading the file a second time, as far as the report on it has come, so little
 * has to be remembered.
 */
import { findGroupColumn } from './columns.ts';
import { CsvReader, type CsvRecord } from './csv-reader.ts';
import { readLines } from './lines.ts';

/** A file that can be read more than once. */
export interface RowSource {
  readonly format: 'csv' | 'ndjson';
  /** Its text, from the beginning. */
  open(): AsyncIterable<Buffer>;
}

/** A row of the first file, and how it stands in the second. */
interface SourceRow {
  readonly line: number;
  /** The first row of the group that it is in, where it is not itself the first. */
  readonly first?: SourceRow | undefined;
  copy(reason: string): string | Uint8Array;
}

const ERROR_COLUMN = 'error';
/** If a file has a column `error` of its own, ours is `import error`: column names are unique. */
const ERROR_COLUMNS = /^(?:import )*error$/;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

export class RejectedRowsReader {
  readonly #source: RowSource;
  readonly #append: (piece: string | Uint8Array) => Promise<void>;
  #rows: AsyncGenerator<SourceRow, void, void> | undefined;
  /** The first row of the group whose rows were added last. */
  #firstLine = 0;

  constructor(source: RowSource, append: (piece: string | Uint8Array) => Promise<void>) {
    this.#source = source;
    this.#append = append;
  }

  /** Adds the row that begins on a line, from 1; rows come in the order of the file. */
  async add(line: number, reason: string): Promise<void> {
    const rows = this.#rows ??= await this.#begin();
    for (let next = await rows.next(); !next.done; next = await rows.next()) {
      if (next.value.line < line) continue;
      const { first } = next.value;
      if (first && first.line !== this.#firstLine) await this.#append(first.copy(''));
      await this.#append(next.value.copy(reason));
      this.#firstLine = (first ?? next.value).line;
      return;
    }
  }

  /** Reads no further. */
  async end(): Promise<void> {
    await this.#rows?.return();
  }

  async #begin(): Promise<AsyncGenerator<SourceRow, void, void>> {
    if (this.#source.format === 'ndjson') return readNdjsonRows(this.#source);
    const rows = readCsvRows(this.#source);
    if (await isMarked(this.#source)) await this.#append(BYTE_ORDER_MARK);
    const header = await rows.next();
    if (header.value) await this.#append(header.value.copy(''));
    return rows;
  }
}

/** The rows of a CSV file, its header among them. */
async function* readCsvRows(source: RowSource): AsyncGenerator<SourceRow, void, void> {
  const reader = new CsvReader();
  let header: CsvRecord | undefined;
  let column: number | undefined;
  let group: { readonly key: string; readonly first: SourceRow } | undefined;
  for await (const records of reader.read(source.open())) {
    for (const record of records) {
      if (!header) column = findGroupColumn(record.cells);
      const { cells } = header ??= record;
      const isHeader = header === record;
      const key = record.cells[column ?? -1] ?? '';
      const row: SourceRow = {
        line: record.line,
        first: key !== '' && key === group?.key ? group.first : undefined,
        copy: (reason: string) => {
          const cell = isHeader ? nameErrorColumn(cells) : reason;
          return `${appendCell(record, cells, reader.delimiter, cell)}\r\n`;
        },
      };
      if (!row.first) group = { key, first: row };
      yield row;
    }
  }
}

function nameErrorColumn(header: readonly string[]): string {
  const last = header.at(-1) ?? '';
  if (ERROR_COLUMNS.test(last)) return last;
  let name = ERROR_COLUMN;
  while (header.some((other) => other.trim() === name)) name = `import ${name}`;
  return name;
}

/** The text of a record with one cell more, or with another in the place of an earlier reason. */
function appendCell(
  { cells, text }: CsvRecord, header: readonly string[], delimiter: string, reason: string,
): string {
  const cell = quote(reason);
  const missing = header.length - cells.length;
  const last = cells.at(-1) ?? '';
  const hasReason = ERROR_COLUMNS.test(header.at(-1) ?? '');
  if (hasReason && missing === 0) {
    const spelled = text.endsWith(quote(last)) ? quote(last) : last;
    return text.slice(0, text.length - spelled.length) + cell;
  }
  const gap = hasReason ? missing : missing + 1;
  return text + delimiter.repeat(Math.max(1, gap)) + cell;
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

async function* readNdjsonRows(source: RowSource): AsyncGenerator<SourceRow, void, void> {
  let line = 0;
  for await (const bytes of readLines(source.open())) {
    line += 1;
    yield { line, copy: () => Buffer.concat([bytes, Buffer.from('\n')]) };
  }
}

async function isMarked(source: RowSource): Promise<boolean> {
  for await (const chunk of source.open()) return chunk.subarray(0, 3).equals(BYTE_ORDER_MARK);
  return false;
}
