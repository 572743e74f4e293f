/**
 * The values of cells. A cell is a number and a format that shows it, so the same digits may be a
 * quantity, a date, or a SKU that lost its zeros: the kind of a cell says which, and `SheetRow`
 * what it may be used for.
 */
import type { ValidationError } from '../../domain/text.ts';
import type { CellTypes, CellUse } from '../csv-reader.ts';

/**
 * Numbers are `formatted` if they are shown with zeros or text that they do not have, and `scaled`
 * if they are shown as another number, such as percent. A formula without value is `uncalculated`.
 */
export type NumberFormat = 'number' | 'formatted' | 'scaled' | 'date';
type CellKind =
  | NumberFormat | 'blank' | 'text' | 'boolean' | 'error' | 'uncalculated' | 'merged';

/** The text of a number is in decimal notation, that of a date in ISO 8601. */
export type Cell = Readonly<{ kind: CellKind; text: string }>;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** The digits that a spreadsheet keeps; more of them are noise of binary fractions. */
const SIGNIFICANT_DIGITS = 15;
/** Without an exponent, and without a sign of 0. */
const DECIMAL = new Intl.NumberFormat('en', {
  maximumSignificantDigits: SIGNIFICANT_DIGITS, useGrouping: false, signDisplay: 'negative',
});
const CANONICAL_NUMBER = /^(?:0|[1-9]\d{0,8})(?:\.\d{0,5}[1-9])?$/;
const EXACT_INTEGER = /^(?:0|[1-9]\d{0,14})$/;
/** Day 0 of both systems of dates, and the first day after their range. */
const [EPOCH_1900, EPOCH_1904, DAYS_LIMIT] = [Date.UTC(1899, 11, 30), Date.UTC(1904, 0), 2_958_466];
const [DAY_SECONDS, SHOWN_CHARACTERS] = [86_400, 100];
/** Built-in formats (ECMA-376 part 1, 18.8.30), with those for East Asia and Thailand. */
const BUILT_IN = new Map([
  [0, 'General'], [1, '0'], [3, '#,##0'], [9, '0%'], [10, '0.00%'], [37, '#,##0'], [38, '#,##0'],
  [49, '@'],
]);
const DATE_IDS = [[14, 22], [27, 36], [45, 47], [50, 58], [71, 81]] as const;
/** What a format shows as it is: `"kg"`, `\k`, `_)`, `*-` and `[Red]`, but not hours: `[h]`. */
const LITERALS = /"[^"]*"|[\\_*][^]|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi;
const INVISIBLE = /_[^]|\[(?:\$-[\da-f]+|[a-z]+\d*)\]/gi;
/** Without added digits or text. Separators of thousands are neither. */
const PLAIN_CODE = /^(?:general|[0#@]|#,##0)(?:;[^;]*)?$/i;
const USES: Readonly<Record<CellUse, readonly CellKind[]>> = {
  identifier: ['text', 'number'], number: ['text', 'number', 'formatted'],
  text: ['text', 'number', 'boolean'],
};
const AS_TEXT = 'Format the column as text, and type the value again';
const FAULTS: Readonly<Partial<Record<CellKind, string>>> = {
  error: 'is an error. Correct it in the workbook',
  uncalculated: 'is a formula without a value. Save the workbook in a spreadsheet program',
  merged: 'is merged with others. Unmerge them, and fill in each',
  date: `is a date. ${AS_TEXT}`,
  boolean: `is true or false. ${AS_TEXT}`,
  scaled: `is shown as another number, such as percent. ${AS_TEXT}`,
  formatted: `is shown with zeros or text that it does not have. ${AS_TEXT}`,
  number: `is no whole number of up to 15 digits, which a spreadsheet keeps. ${AS_TEXT}`,
};

/** A row of a sheet: the texts of its cells, and a kind for each. */
export class SheetRow implements CellTypes {
  /** Its number, from 1. */
  readonly line: number;
  readonly isHidden: boolean;
  readonly cells: string[] = [];
  readonly kinds: CellKind[] = [];

  constructor(line: number, isHidden = false) {
    this.line = line;
    this.isHidden = isHidden;
  }

  /** Adds blank cells, or cuts cells off. */
  resize(width: number): void {
    while (this.cells.length < width) this.kinds[this.cells.push('') - 1] = 'blank';
    this.cells.length = this.kinds.length = width;
  }

  set(column: number, { kind, text }: Cell): void {
    if (column >= this.cells.length) this.resize(column + 1);
    this.cells[column] = text;
    this.kinds[column] = kind;
  }

  isBlank(column: number): boolean {
    return (this.kinds[column] ?? 'blank') === 'blank';
  }

  isText(column: number): boolean {
    return this.kinds[column] === 'text';
  }

  validate(column: number, use: CellUse): ValidationError | undefined {
    const [kind = 'blank', text = ''] = [this.kinds[column], this.cells[column]];
    const isLost = use === 'identifier' && kind === 'number' && !EXACT_INTEGER.test(text);
    if (kind === 'blank' || (USES[use].includes(kind) && !isLost)) return undefined;
    const cell = text === '' ? 'The cell' : `The cell ${text.slice(0, SHOWN_CHARACTERS)}`;
    return { code: 'format', detail: `${cell} ${FAULTS[kind]}.` };
  }
}

/** What numbers of a format are: by the code that the workbook has for it, or by its `id`. */
export function classifyFormat(id: number, ownCode: string | undefined): NumberFormat {
  const isDate = DATE_IDS.some(([from, to]) => from <= id && id <= to);
  const code = ownCode ?? BUILT_IN.get(id) ?? (isDate ? 'd' : '0.00');
  if (PLAIN_CODE.test(code.replace(INVISIBLE, ''))) return 'number';
  const marks = code.replace(LITERALS, '').replaceAll(/general|e[+-]/gi, '');
  if (/[ymdhsegb]/i.test(marks)) return 'date';
  return /%|[0#?],+(?![,0#?])/.test(marks) ? 'scaled' : 'formatted';
}

/** Reads a number as a spreadsheet does. One that is not valid is an error cell. */
export function parseNumberCell(text: string, kind: NumberFormat, is1904: boolean): Cell {
  if (kind !== 'date' && CANONICAL_NUMBER.test(text)) return { kind, text };
  const value = NUMBER.test(text) ? Number(text) : NaN;
  if (!Number.isFinite(value)) return { kind: 'error', text };
  if (kind !== 'date' || !(value >= 0 && value < DAYS_LIMIT)) {
    return { kind, text: DECIMAL.format(Number(value.toPrecision(SIGNIFICANT_DIGITS))) };
  }
  const seconds = Math.round(value * DAY_SECONDS);
  const date = new Date((is1904 ? EPOCH_1904 : EPOCH_1900) + seconds * 1000).toISOString();
  return { kind, text: date.replace(/(?:T00:00:00)?\.000Z$/, '') };
}
