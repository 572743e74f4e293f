/**
 * Reads one sheet of a workbook (.xlsx, ECMA-376) as a table: records like those of a CSV file, and
 * the kind of each cell. Rows are streamed; only shared texts are in memory. Titles above the
 * column names, blank rows, and cells to the right of the last column name are left out. Every
 * record has a cell for each column: a workbook has no short rows.
 */
import { AppError } from '../../domain/error.ts';
import { invalidQuery } from '../../http/request/query.ts';
import { countColumns, formatCsvRow } from '../csv-cells.ts';
import type { CountMembers } from '../csv-dialect.ts';
import type { CsvRecord } from '../csv-reader.ts';
import { shortenName } from '../header.ts';
import {
  IMPORT_BATCH_LIMIT_CHARACTERS, IMPORT_BATCH_ROWS, IMPORT_RECORD_LIMIT_BYTES,
} from '../limits.ts';
import type { CellKind } from './cells.ts';
import { WORKBOOK_HEADER_ROWS, WORKBOOK_SHEETS_LISTED_LIMIT } from './limits.ts';
import { readRows, type SheetRow, widenRow } from './sheet.ts';
import { openWorkbook, SharedStrings, type Sheet, type Workbook } from './workbook.ts';
import type { SeekableFile } from './zip.ts';

/** A row: `line` is its number, `text` its cells as a line of CSV. */
export interface WorkbookRecord extends CsvRecord {
  /** One for each cell. */
  readonly kinds: readonly CellKind[];
}

interface WorkbookReaderOptions {
  /** The name of the sheet, in any case. Default: the first one that is not hidden. */
  readonly sheet?: string | undefined;
  /** Recognises the row of column names. Default: the first row has them. */
  readonly countMembers?: CountMembers;
}

export class WorkbookReader {
  readonly workbook: Workbook;
  readonly sheet: Sheet;
  readonly #countMembers: CountMembers | undefined;
  #hiddenRows = 0;

  private constructor(workbook: Workbook, { sheet, countMembers }: WorkbookReaderOptions) {
    this.workbook = workbook;
    this.sheet = findSheet(workbook.sheets, sheet);
    this.#countMembers = countMembers;
  }

  /**
   * @throws AppError `invalid_data` if the file cannot be read, `invalid_query` without that sheet
   */
  static async open(
    file: SeekableFile, options: WorkbookReaderOptions = {},
  ): Promise<WorkbookReader> {
    return new WorkbookReader(await openWorkbook(file), options);
  }

  /** Rows read so far that are hidden in the workbook, such as by a filter. */
  get hiddenRows(): number {
    return this.#hiddenRows;
  }

  /**
   * Yields the records: first the header with the records of the head.
   * @throws AppError `invalid_data`
   */
  async *read(): AsyncGenerator<readonly WorkbookRecord[], void, void> {
    const strings = await SharedStrings.read(this.workbook);
    this.#hiddenRows = 0;
    let columns: number | undefined;
    const slices = readRows(this.sheet.part, { ...this.workbook, strings });
    for await (const slice of gatherHead(slices)) {
      const rows = columns === undefined ? dropTitles(slice, this.#countMembers) : slice;
      const count = columns ??= countColumns(rows[0]?.cells ?? []);
      this.#hiddenRows += rows.filter(({ isHidden }) => isHidden).length;
      yield rows.map((row) => toRecord(row, count));
    }
  }
}

/** Gathers the column names and one batch of rows in the first slice. */
async function* gatherHead(
  slices: AsyncIterable<readonly SheetRow[]>,
): AsyncGenerator<readonly SheetRow[], void, void> {
  let head: SheetRow[] | undefined = [];
  let characters = 0;
  for await (const rows of slices) {
    if (head) {
      head.push(...rows);
      for (const { cells } of rows) characters += cells.join('').length;
      const isWhole = head.length > IMPORT_BATCH_ROWS;
      if (!isWhole && characters < IMPORT_BATCH_LIMIT_CHARACTERS) continue;
      yield head.splice(0, IMPORT_BATCH_ROWS + 1);
    }
    yield head ?? rows;
    head = undefined;
  }
  if (head) yield head;
}

/** The rows from the column names on, by the rule for CSV files: see `detectDialect`. */
function dropTitles(
  rows: readonly SheetRow[], countMembers: CountMembers | undefined,
): readonly SheetRow[] {
  if (!countMembers) return rows;
  let best = { index: 0, members: -1, cells: 0 };
  for (const [index, { cells: names, kinds }] of rows.slice(0, WORKBOOK_HEADER_ROWS).entries()) {
    const members = countMembers(names);
    const cells = kinds.filter((kind) => kind !== 'blank' && kind !== 'merged').length;
    const isNext = members > 0 && index === best.index + 1;
    const isBetter = members !== best.members ? members > best.members
      : cells > best.cells || (cells === best.cells && isNext);
    if (isBetter) best = { index, members, cells };
  }
  return rows.slice(best.index);
}

function toRecord(row: SheetRow, columns: number): WorkbookRecord {
  widenRow(row, columns);
  const { line, cells, kinds } = row;
  cells.length = kinds.length = columns;
  const text = formatCsvRow(cells).slice(0, -'\r\n'.length);
  if (Buffer.byteLength(text) <= IMPORT_RECORD_LIMIT_BYTES) return { line, cells, kinds, text };
  const limit = `${IMPORT_RECORD_LIMIT_BYTES / 1024} KiB`;
  throw new AppError('invalid_data', `Row ${line} has more than ${limit}.`);
}

function findSheet(sheets: readonly Sheet[], name: string | undefined): Sheet {
  const sheet = sheets.find((other) => (name === undefined ? !other.isHidden
    : other.name.toLowerCase() === name.toLowerCase()));
  if (sheet) return sheet;
  const names = sheets.slice(0, WORKBOOK_SHEETS_LISTED_LIMIT).map((other) =>
    `"${shortenName(other.name)}"${other.isHidden ? ' (hidden)' : ''}`);
  if (names.length < sheets.length) names.push('...');
  const wanted = name === undefined ? 'visible sheet' : `sheet "${shortenName(name)}"`;
  const detail = `The workbook has no ${wanted}. Its sheets: ${names.join(', ')}.`;
  throw invalidQuery([{ parameter: 'sheet', code: 'unknown', detail }]);
}
