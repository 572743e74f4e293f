/**
 * Reads one sheet of a workbook (.xlsx, ECMA-376) as a table: records like those of a CSV file, and
 * the kind of each cell. Rows are streamed; only shared texts are in memory. Titles above the
 * column names, blank rows, and cells to the right of the last column name are left out. Every
 * record has a cell for each column: a workbook has no short rows.
 */
import { formatCount } from '../../domain/wording.ts';
import { invalidQuery } from '../../http/request/query.ts';
import { countColumns, formatCsvRow } from '../csv-cells.ts';
import { chooseHeader, type CountMembers, HEADER_LINES } from '../csv-dialect.ts';
import type { CsvRecord } from '../csv-reader.ts';
import type { OpenWorkbook } from '../file-options.ts';
import { joinFirst, shortenName } from '../header.ts';
import {
  IMPORT_BATCH_LIMIT_CHARACTERS, IMPORT_BATCH_ROWS, IMPORT_RECORD_LIMIT_BYTES,
} from '../limits.ts';
import type { SheetRow } from './cells.ts';
import { WORKBOOK_SHEETS_LISTED_LIMIT } from './limits.ts';
import { readRows } from './sheet.ts';
import { openWorkbook, readSharedStrings, type Sheet } from './workbook.ts';
import { tooLarge } from './zip.ts';

/** @throws AppError `invalid_query` without that sheet */
export const openSheet: OpenWorkbook = async (file, { sheet: name, countMembers }) => {
  const workbook = await openWorkbook(file);
  const sheet = findSheet(workbook.sheets, name);
  const others = workbook.sheets.filter((other) => !other.isHidden && other !== sheet);
  let hiddenRows = 0;
  return {
    /** What a sender may not expect; the number of hidden rows is known after the last record. */
    get notes() {
      return [
        ...name !== undefined || others.length === 0 ? [] : [
          `The sheet "${shortenName(sheet.name)}" was read. To read another one, set sheet=NAME: `
            + `${listNames(others)}.`],
        ...hiddenRows === 0 ? [] : ['Rows that are hidden in the workbook were read, too: '
          + `${formatCount(hiddenRows)}.`],
      ];
    },
    /** The line of a record is the number of its row, and its text is a line of CSV. */
    async* read() {
      const findString = await readSharedStrings(workbook);
      let columns: number | undefined;
      for await (const slice of gatherHead(readRows(sheet.part, { ...workbook, findString }))) {
        const rows = columns === undefined ? dropTitles(slice, countMembers) : slice;
        const count = columns ??= countColumns(rows[0]?.cells ?? []);
        for (const { isHidden } of rows) if (isHidden) hiddenRows += 1;
        yield rows.map((row) => toRecord(row, count));
      }
    },
  };
};

/** Gathers the column names and one batch of rows, or a few more, in the first slice. */
async function* gatherHead(
  slices: AsyncIterable<readonly SheetRow[]>,
): AsyncGenerator<readonly SheetRow[], void, void> {
  let head: SheetRow[] | undefined = [];
  let characters = 0;
  for await (const rows of slices) {
    head?.push(...rows);
    for (const { cells } of head ? rows : []) characters += cells.join('').length;
    const isHead = head && head.length <= IMPORT_BATCH_ROWS;
    if (isHead && characters < IMPORT_BATCH_LIMIT_CHARACTERS) continue;
    yield head ?? rows;
    head = undefined;
  }
  if (head) yield head;
}

/** The rows from the column names on, by the rule for CSV files. */
function dropTitles(
  rows: readonly SheetRow[], countMembers: CountMembers | undefined,
): readonly SheetRow[] {
  if (!countMembers) return rows;
  const lines = rows.slice(0, HEADER_LINES).map(({ line, cells, kinds }, index) => ({
    index, isNext: line - 1 === rows[index - 1]?.line, members: countMembers(cells),
    cells: kinds.filter((kind) => kind !== 'blank' && kind !== 'merged').length,
  }));
  return rows.slice(chooseHeader(lines)?.index);
}

function toRecord(row: SheetRow, columns: number): CsvRecord {
  row.resize(columns);
  const { line, cells } = row;
  const text = formatCsvRow(cells).slice(0, -'\r\n'.length);
  if (Buffer.byteLength(text) > IMPORT_RECORD_LIMIT_BYTES) {
    throw tooLarge(`row ${line} has more than ${IMPORT_RECORD_LIMIT_BYTES / 1024} KiB`);
  }
  return { line, cells, text, types: row };
}

function findSheet(sheets: readonly Sheet[], name: string | undefined): Sheet {
  const fold = (text: string) => text.trim().toLowerCase();
  const sheet = sheets.find((other) =>
    (name === undefined ? !other.isHidden : fold(other.name) === fold(name)));
  if (sheet) return sheet;
  const wanted = name === undefined ? 'visible sheet' : `sheet "${shortenName(name)}"`;
  const detail = `The workbook has no ${wanted}. Its sheets: ${listNames(sheets)}.`;
  throw invalidQuery([{ parameter: 'sheet', code: 'unknown', detail }]);
}

function listNames(sheets: readonly Sheet[]): string {
  return joinFirst(WORKBOOK_SHEETS_LISTED_LIMIT, sheets.map(({ name, isHidden }) =>
    `"${shortenName(name)}"${isHidden ? ' (hidden)' : ''}`));
}
