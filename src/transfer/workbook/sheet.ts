/**
 * The rows of a sheet, as they are decompressed. A first pass verifies the part and reads which
 * cells are merged, which comes after the rows. Rows and cells need no reference: without one they
 * follow the previous one.
 */
import { IMPORT_COLUMNS_LIMIT } from '../limits.ts';
import { type Cell, parseNumberCell, SheetRow } from './cells.ts';
import { SHEET_ROWS_LIMIT, WORKBOOK_MERGED_ROWS_LIMIT } from './limits.ts';
import { decodeEscapes, isTextRun, isTrue, type Workbook } from './workbook.ts';
import { parseXml, readAttribute, type XmlHandler } from './xml.ts';
import { damaged, tooLarge, type ZipFile } from './zip.ts';

type SheetContext = Workbook & { readonly findString: (index: number) => string };

/** Merged cells: their first row, their columns from 0, and the text of their first cell. */
type Merge = Readonly<Record<'top' | 'left' | 'right', number>> & { text: string };
type CoveredRow = Readonly<{ line: number, merge: Merge }>;
type Merges = ReadonlyMap<number, readonly CoveredRow[]>;

const REFERENCE = /^([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?$/;

/** Yields the rows that have text. @throws AppError `invalid_data` */
export async function* readRows(
  part: string, context: SheetContext,
): AsyncGenerator<readonly SheetRow[], void, void> {
  const handler = new RowHandler(context, await readMerges(context.zip, part));
  for await (const _ of parseXml(context.zip.read(part), handler)) yield handler.rows.splice(0);
}

/** By row. */
async function readMerges(zip: ZipFile, part: string): Promise<Merges> {
  const covered: CoveredRow[] = [];
  const open: XmlHandler['open'] = (name, parent, attributes) => {
    if (name === 'sheetData') return 'skip';
    if (name !== 'mergeCell' || parent !== 'mergeCells') return undefined;
    const range = readAttribute(attributes, 'ref') ?? '';
    const [, first = '', top = '', last = first, bottom = top] = REFERENCE.exec(range) ?? [];
    const merge = { top: Number(top), left: columnOf(first), right: columnOf(last), text: '' };
    const isRange = first !== '' && merge.top <= Number(bottom) && merge.left <= merge.right;
    if (!isRange) throw damaged(`it has the merged cells "${range}"`);
    for (let line = merge.top; line <= Number(bottom); line += 1) {
      covered.push({ line, merge });
      const isTooMuch = covered.length > WORKBOOK_MERGED_ROWS_LIMIT;
      if (isTooMuch) throw tooLarge('it has too many merged cells');
    }
    return undefined;
  };
  for await (const _ of parseXml(zip.read(part), { open })) { /* all */ }
  return Map.groupBy(covered, ({ line }) => line);
}

/** From 0: the letters are a number of base 26, without a zero. */
function columnOf(letters: string): number {
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

class RowHandler implements XmlHandler {
  /** Those that are complete. */
  readonly rows: SheetRow[] = [];
  readonly #context: SheetContext;
  readonly #merges: Merges;
  #row = new SheetRow(0);
  #column = -1;
  #attributes = '';
  #hasFormula = false;
  /** Of a `v` element; undefined without one. */
  #value: string | undefined;
  #inlineText = '';

  constructor(context: SheetContext, merges: Merges) {
    this.#context = context;
    this.#merges = merges;
  }

  open(name: string, parent: string, attributes: string): ReturnType<XmlHandler['open']> {
    if (name === 'row') {
      if (parent !== 'sheetData') return 'skip';
      this.#openRow(attributes);
    } else if (name === 'c' && parent === 'row') {
      this.#attributes = attributes;
      [this.#hasFormula, this.#value, this.#inlineText] = [false, undefined, ''];
    } else if (name === 'f' && parent === 'c') this.#hasFormula = true;
    return undefined;
  }

  close(name: string, parent: string, text: string): void {
    if (name === 'v' && parent === 'c') this.#value = text;
    else if (isTextRun(name, parent)) this.#inlineText += decodeEscapes(text);
    else if (name === 'c' && parent === 'row') this.#closeCell();
    else if (name === 'row' && parent === 'sheetData' && this.#row.cells.length > 0) {
      for (const { merge } of this.#merges.get(this.#row.line) ?? []) fillMerge(this.#row, merge);
      this.rows.push(this.#row);
    }
  }

  #openRow(attributes: string): void {
    const last = this.#row.line;
    const line = parseIndex(readAttribute(attributes, 'r') ?? String(last + 1));
    const isNext = line > last && line <= SHEET_ROWS_LIMIT;
    if (!isNext) throw damaged(`its row ${line} follows row ${last}`);
    this.#row = new SheetRow(line, isTrue(readAttribute(attributes, 'hidden')));
    this.#column = -1;
  }

  #closeCell(): void {
    const { line } = this.#row;
    const reference = readAttribute(this.#attributes, 'r');
    const [, letters = '', row] = REFERENCE.exec(reference ?? '') ?? [];
    const column = reference === undefined ? this.#column + 1 : columnOf(letters);
    const isNext = column > this.#column && (reference === undefined || Number(row) === line);
    if (!isNext) throw damaged(`its cell ${reference} is not in its place on row ${line}`);
    this.#column = column;
    const type = readAttribute(this.#attributes, 't') ?? 'n';
    const cell = this.#readCell(type, this.#value?.trim() ?? '');
    if (cell.kind === 'blank') return;
    const isTooWide = column >= IMPORT_COLUMNS_LIMIT;
    if (isTooWide) throw tooLarge(`row ${line} has more than ${IMPORT_COLUMNS_LIMIT} columns`);
    this.#row.set(column, cell);
  }

  #readCell(type: string, value: string): Cell {
    const { isUncalculated, findString } = this.#context;
    const hasValue = this.#value !== undefined && (value !== '' || type === 'str');
    const isOutdated = this.#hasFormula && (isUncalculated || !hasValue);
    if (isOutdated) return { kind: 'uncalculated', text: '' };
    if (type === 'inlineStr') return textCell(this.#inlineText);
    if (value === '') return textCell('');
    switch (type) {
      case 'n': return this.#readNumber(value);
      case 's': return textCell(findString(parseIndex(value)));
      case 'str': return textCell(decodeEscapes(value));
      case 'b': return { kind: 'boolean', text: isTrue(value) ? 'TRUE' : 'FALSE' };
      case 'd': return { kind: 'date', text: value };
      case 'e': return { kind: 'error', text: value };
      default: throw damaged(`row ${this.#row.line} has a cell of the type "${type}"`);
    }
  }

  #readNumber(value: string): Cell {
    const { formats, is1904 } = this.#context;
    const index = parseIndex(readAttribute(this.#attributes, 's') ?? '0');
    const format = formats ? formats[index] : 'number';
    if (format) return parseNumberCell(value, format, is1904);
    throw damaged(`row ${this.#row.line} has a format that is not defined`);
  }
}

/** Gives the cells of a row that are merged with others the text of the first one. */
function fillMerge(row: SheetRow, merge: Merge): void {
  const isFirst = merge.top === row.line;
  if (isFirst) merge.text = row.cells[merge.left] ?? '';
  const right = Math.min(merge.right, IMPORT_COLUMNS_LIMIT - 1);
  for (let column = isFirst ? merge.left + 1 : merge.left; column <= right; column += 1) {
    const isBlank = merge.text === '' && (row.kinds[column] ?? 'blank') === 'blank';
    if (!isBlank) row.set(column, { kind: 'merged', text: merge.text });
  }
}

/** Trimmed, as the cells of CSV files are. */
function textCell(text: string): Cell {
  const trimmed = text.trim();
  return { kind: trimmed === '' ? 'blank' : 'text', text: trimmed };
}

/** NaN if the text is no index. */
function parseIndex(text: string): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : NaN;
}
