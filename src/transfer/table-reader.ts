/**
 * Reads the table in a file: CSV, or a sheet of a workbook. The first bytes of the file say which,
 * not its name or media type.
 */
import { AppError } from '../domain/error.ts';
import { invalidQuery } from '../http/request/query.ts';
import { isBlank, isCsvEnd } from './csv-cells.ts';
import { HEADER_LINES } from './csv-dialect.ts';
import { type CellUse, CsvReader, type CsvReaderOptions, type CsvRecord } from './csv-reader.ts';
import type { FileOptions, OpenedSheet, OpenWorkbook, Spool } from './file-options.ts';
import { gatherStart, isWorkbookStart } from './foreign-file.ts';
import { isErrorColumn, isMissingColumns } from './header.ts';
import { isPart, PART, SEND_WHOLE_FILE, sliceRows } from './import-row.ts';
import { WORKBOOK_LIMIT_BYTES } from './limits.ts';
import { type DecimalMark, findColumnMark } from './numbers.ts';
import { openWorkbook } from './workbooks.ts';

const REMEDY = 'Save the sheet as "CSV UTF-8", which may have any length, and send that.';

type TableOptions = CsvReaderOptions & Pick<FileOptions, 'sheet' | 'spool'>;

/** Reads the records of one file. */
export class TableReader {
  /** How the cells in the texts of records are separated and quoted; known after the header. */
  readonly csv: CsvReader;
  readonly #options: TableOptions;
  #sheet: OpenedSheet | undefined;

  constructor(options: TableOptions = {}) {
    this.#options = options;
    this.csv = new CsvReader(options);
  }

  /** How a CSV file was read to find its columns. */
  get hints(): readonly string[] {
    const { delimiter } = this.csv;
    const separator = delimiter === '\t' ? 'tabs' : `"${delimiter}"`;
    return this.#sheet ? [] : [`Its cells are separated by ${separator}, and column names are on `
      + `one of the first ${HEADER_LINES} lines.`];
  }

  /** Sentences for the summary, such as about hidden rows; known after the last record. */
  get notes(): readonly string[] {
    return this.#sheet?.notes ?? this.csv.notes;
  }

  /**
   * Yields the records: first the header with the records of the head. The end record of an export
   * is left out.
   * @throws AppError `invalid_data`, `invalid_query`, `storage_full`
   */
  async *read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly CsvRecord[], void, void> {
    const { spool, sheet } = this.#options;
    await using pieces = gatherStart(chunks);
    const { value: start } = await pieces.next();
    const file = start ? prepend(start, pieces) : pieces;
    const isWorkbook = start !== undefined && isWorkbookStart(start);
    if (!isWorkbook && sheet !== undefined) throw notWorkbook();
    const slices = isWorkbook && openWorkbook && spool
      ? this.#readWorkbook(await spool(file, WORKBOOK_LIMIT_BYTES, REMEDY), openWorkbook)
      : this.csv.read(file);
    for await (const records of slices) yield records.filter(({ cells }) => !isCsvEnd(cells));
  }

  async *#readWorkbook(
    file: Awaited<ReturnType<Spool>>, open: OpenWorkbook,
  ): AsyncGenerator<readonly CsvRecord[], void, void> {
    try {
      this.#sheet = await open(file, this.#options);
      yield* this.#sheet.read();
    } finally {
      await file.close();
    }
  }
}

async function* prepend(
  start: Uint8Array, pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  yield start;
  yield* pieces;
}

function notWorkbook(): AppError {
  const detail = 'Names a sheet of a workbook, and this file is none. Omit it.';
  return invalidQuery([{ parameter: 'sheet', code: 'unknown', detail }]);
}

/**
 * Yields the rows of a table in slices. Calls `open` with the header, and a sample: the records of
 * the head of the file, which are the same however its chunks are cut. The function that it returns
 * parses each record, or returns undefined to omit it.
 * @throws AppError `invalid_data` if the file as a whole is invalid
 */
export async function* readTable<Row>(
  reader: Pick<TableReader, 'read' | 'hints' | 'notes'>, chunks: AsyncIterable<Uint8Array>,
  open: (
    header: CsvRecord, sample: readonly CsvRecord[],
  ) => (record: CsvRecord) => Row | undefined,
): AsyncGenerator<readonly Row[], void, void> {
  let parse: ReturnType<typeof open> | undefined;
  for await (const records of reader.read(chunks)) {
    const rows = records.values();
    if (!parse) {
      const { value: header } = rows.next();
      if (!header) continue;
      parse = explainHeader(reader, () => open(header, records.slice(1)));
      if (isErrorColumn(header.cells[0])) parse = rejectAgain(parse);
    }
    yield* sliceRows(rows.map(parse).filter((row) => row !== undefined));
  }
  if (parse) return;
  throw new AppError('invalid_data', 'The file is empty. Send a line of column names first.');
}

/** Rejects rows of a file of rejected rows again that mean something else outside their file. */
function rejectAgain<Row>(parse: (record: CsvRecord) => Row): (record: CsvRecord) => Row {
  return (record) => parse(isPart(record.cells[0]) ? { ...record, issue: PART } : record);
}

/** Says where column names were looked for: another sheet of a workbook may have them. */
function explainHeader<Result>(
  { hints, notes }: Pick<TableReader, 'hints' | 'notes'>, open: () => Result,
): Result {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const sentences = [...isMissingColumns(error) ? hints : [], ...notes];
    if (sentences.length === 0) throw error;
    const detail = [error.publicDetail, ...sentences].join(' ');
    throw new AppError(error.code, detail, { issues: error.issues });
  }
}

/** The columns of a member, what their cells are used for, and their decimal mark if known. */
export interface UsedColumns<Member extends string = string> {
  readonly member: Member;
  /** The first of them with a cell that is not blank is read. */
  readonly indexes: readonly number[];
  readonly use: CellUse;
  readonly mark?: DecimalMark | undefined;
}

/**
 * The record as a reader of text needs it: numbers have the decimal mark of their column, and a
 * cell that must not be used as its member is an error of the row. Records of CSV stay as they are.
 */
export function checkTypes(record: CsvRecord, used: readonly UsedColumns[]): CsvRecord {
  const { types, cells } = record;
  if (!types) return record;
  const texts = [...cells];
  for (const { member, indexes, use, mark } of used) {
    const index = indexes.find((column) => !types.isBlank(column));
    if (index === undefined) continue;
    const error = types.validate(index, use);
    if (error) {
      if (use !== 'identifier') texts[index] = ''; // it has one error
      // A file of rejected rows is CSV, which has no types.
      const issue = { ...error, detail: `${error.detail} Then ${SEND_WHOLE_FILE}.` };
      return { ...record, cells: texts, issue: { pointer: `/${member}`, ...issue } };
    }
    if (use === 'number' && !types.isText(index)) texts[index] = withMark(cells[index], mark);
  }
  return { ...record, cells: texts };
}

/** With a fourth decimal, a point is no thousands separator. */
function withMark(number = '', mark: DecimalMark | undefined): string {
  if (mark === 'comma') return number.replace('.', ',');
  return mark === undefined && /\.\d{3}$/.test(number) ? `${number}0` : number;
}

/**
 * Adds to columns of numbers the decimal mark on which their cells agree that are text. A file of
 * rejected rows lacks the rows that decided it.
 */
export function addMarks<Member extends string>(
  used: readonly UsedColumns<Member>[], header: readonly string[], sample: readonly CsvRecord[],
): readonly UsedColumns<Member>[] {
  if (isErrorColumn(header[0])) return used;
  return used.map((columns) => {
    if (columns.use !== 'number' || columns.mark) return columns;
    const mark = findColumnMark(sample.values().map(({ cells, types }) => {
      const index = pickColumn(cells, columns.indexes);
      return types?.isText(index) === false ? '' : cells[index] ?? '';
    }));
    return { ...columns, mark };
  });
}

/** The first of these columns whose cell is not blank; the first of all if there is none, or -1. */
export function pickColumn(cells: readonly string[], columns: readonly number[]): number {
  for (const index of columns) {
    const cell = cells[index];
    if (cell !== undefined && !isBlank(cell)) return index;
  }
  return columns[0] ?? -1;
}
