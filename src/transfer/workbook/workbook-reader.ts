/**
 * Reads one sheet of a workbook (.xlsx, ECMA-376) as a table: records like those of a CSV file, and
 * the kind of each cell. Rows are streamed; only shared texts are in memory. Titles above the
 * column names, blank rows, and cells to the right of the last column name are left out. Every
 * record has a cell for each column: a workbook has no short rows.
 */
import { AppError } from '../../domain/error.ts';
import { formatCount } from '../../domain/wording.ts';
import { invalidQuery } from '../../http/request/query.ts';
import { countColumns, formatCsvRow } from '../csv-cells.ts';
import { chooseHeader, HEADER_LINES } from '../csv-dialect.ts';
import type { CsvRecord } from '../csv-reader.ts';
import type { OpenedSheet, OpenWorkbook } from '../file-options.ts';
import { shortenName } from '../header.ts';
import {
  IMPORT_BATCH_LIMIT_CHARACTERS, IMPORT_BATCH_ROWS, IMPORT_RECORD_LIMIT_BYTES,
} from '../limits.ts';
import { RowTypes } from './cells.ts';
import { WORKBOOK_SHEETS_LISTED_LIMIT } from './limits.ts';
import { readRows, type SheetRow, widenRow } from './sheet.ts';
import { openWorkbook, SharedStrings, type Sheet, type Workbook } from './workbook.ts';

type SheetOptions = Parameters<OpenWorkbook>[1];

export const openSheet: OpenWorkbook = async (file, options) =>
  new SheetReader(await openWorkbook(file), options);

class SheetReader implements OpenedSheet {
  readonly #workbook: Workbook;
  readonly #sheet: Sheet;
  readonly #options: SheetOptions;
  #hiddenRows = 0;

  /** @throws AppError `invalid_query` without that sheet */
  constructor(workbook: Workbook, options: SheetOptions) {
    this.#workbook = workbook;
    this.#sheet = findSheet(workbook.sheets, options.sheet);
    this.#options = options;
  }

  /** What a sender may not expect; the number of hidden rows is known after the last record. */
  get notes(): string[] {
    const { name } = this.#sheet;
    const others = this.#workbook.sheets.filter((sheet) => !sheet.isHidden && sheet.name !== name);
    const isChosen = this.#options.sheet !== undefined;
    return [
      ...isChosen || others.length === 0 ? [] : [`The sheet "${shortenName(name)}" was read. `
        + `To read another one, set sheet=NAME: ${listNames(others)}.`],
      ...this.#hiddenRows === 0 ? [] : ['Rows that are hidden in the workbook were read, too: '
        + `${formatCount(this.#hiddenRows)}.`],
    ];
  }

  /**
   * Yields the records: first the header with the records of the head. The line of a record is the
   * number of its row, and its text is a line of CSV.
   * @throws AppError `invalid_data`
   */
  async *read(): AsyncGenerator<readonly CsvRecord[], void, void> {
    const strings = await SharedStrings.read(this.#workbook);
    let columns: number | undefined;
    const slices = readRows(this.#sheet.part, { ...this.#workbook, strings });
    for await (const slice of gatherHead(slices)) {
      const rows = columns === undefined ? this.#dropTitles(slice) : slice;
      const count = columns ??= countColumns(rows[0]?.cells ?? []);
      for (const { isHidden } of rows) if (isHidden) this.#hiddenRows += 1;
      yield rows.map((row) => toRecord(row, count));
    }
  }

  /** The rows from the column names on, by the rule for CSV files. */
  #dropTitles(rows: readonly SheetRow[]): readonly SheetRow[] {
    const { countMembers } = this.#options;
    if (!countMembers) return rows;
    const lines = rows.slice(0, HEADER_LINES).map(({ line, cells, kinds }, index) => ({
      index, isNext: line - 1 === rows[index - 1]?.line, members: countMembers(cells),
      cells: kinds.filter((kind) => kind !== 'blank' && kind !== 'merged').length,
    }));
    return rows.slice(chooseHeader(lines)?.index);
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

function toRecord(row: SheetRow, columns: number): CsvRecord {
  widenRow(row, columns);
  const { line, cells, kinds } = row;
  cells.length = kinds.length = columns;
  const text = formatCsvRow(cells).slice(0, -'\r\n'.length);
  if (Buffer.byteLength(text) <= IMPORT_RECORD_LIMIT_BYTES) {
    return { line, cells, text, types: new RowTypes(kinds, cells) };
  }
  const limit = `${IMPORT_RECORD_LIMIT_BYTES / 1024} KiB`;
  throw new AppError('invalid_data', `Row ${line} has more than ${limit}.`);
}

function findSheet(sheets: readonly Sheet[], name: string | undefined): Sheet {
  const fold = (text: string) => text.trim().toLowerCase();
  const matches = sheets.filter((sheet) =>
    (name === undefined ? !sheet.isHidden : fold(sheet.name) === fold(name)));
  const sheet = matches.find((match) => match.name === name) ?? matches[0];
  if (sheet) return sheet;
  const wanted = name === undefined ? 'visible sheet' : `sheet "${shortenName(name)}"`;
  const detail = `The workbook has no ${wanted}. Its sheets: ${listNames(sheets)}.`;
  throw invalidQuery([{ parameter: 'sheet', code: 'unknown', detail }]);
}

function listNames(sheets: readonly Sheet[]): string {
  const names = sheets.slice(0, WORKBOOK_SHEETS_LISTED_LIMIT).map(({ name, isHidden }) =>
    `"${shortenName(name)}"${isHidden ? ' (hidden)' : ''}`);
  return [...names, ...names.length < sheets.length ? ['...'] : []].join(', ');
}
