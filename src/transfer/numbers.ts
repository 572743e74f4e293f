/**
 * Parses numbers as shops, tills and ERPs write them: `12`, `-3`, `899,90`, `1.250,50`, `1 234`. A
 * point or comma before the last three digits, as in `1.200`, has two readings. Which one is meant
 * must be known, from the parameter `decimal` or from other cells of the column: a wrong guess
 * would change a price or stock by a factor of 1,000.
 */
import { validateNumberText } from '../domain/number-text.ts';
import { invalid, type ParseResult } from '../domain/validation.ts';
import { unescapeFormula } from './csv-cells.ts';

/** What separates decimals. The other mark may then separate thousands. */
export const DECIMAL_MARKS = ['point', 'comma'] as const;
export type DecimalMark = (typeof DECIMAL_MARKS)[number];

interface NumberFormat {
  /** Undefined if the cells of the column do not settle it. */
  readonly mark: DecimalMark | undefined;
  /** A whole number may have decimals that are 0. */
  readonly isWhole: boolean;
  /** Whether the number may have a plus sign. */
  readonly isDifference?: boolean;
}

const CHARACTERS: Readonly<Record<DecimalMark, string>> = { point: '.', comma: ',' };
const DIGITS = /^\d{1,15}$/;
/** The usual price, which has one reading. */
const PLAIN_DECIMAL = /^\d{1,12}\.\d\d?$/;
/** The whole part, whose groups of thousands have one separator, and decimals after a mark. */
const NUMBER =
  /^([+-]?)(\d+|[1-9]\d{0,2}(?:([., \u00a0\u2009\u202f'’])\d{3})(?:\3\d{3})*)(?:([.,])(\d+))?$/;
const THOUSANDS = /^[1-9]\d{0,2}$/;
/** Any longer number is out of every range. */
const LIMIT_CHARACTERS = 400;

interface Notation {
  readonly sign: string;
  /** Digits before the decimal mark, and after it. */
  readonly whole: string;
  readonly decimals: string;
  /** What separates decimals; undefined if nothing says so. */
  readonly mark: DecimalMark | undefined;
  /** The single mark that may separate decimals or thousands. */
  readonly unclear: DecimalMark | undefined;
}

/** Undefined if the text is not a number. */
function readNotation(text: string): Notation | undefined {
  if (text.length > LIMIT_CHARACTERS) return undefined;
  const match = NUMBER.exec(text);
  if (!match) return undefined;
  const [, sign = '', grouped = '', separator, character, decimals = ''] = match;
  if (separator !== undefined && separator === character) return undefined;
  const whole = grouped.replace(/\D/g, '');
  const notation = { sign, whole, decimals, unclear: undefined };
  if (character !== undefined) {
    const mark = nameMark(character);
    const isUnclear = separator === undefined && decimals.length === 3 && THOUSANDS.test(whole);
    return isUnclear ? { ...notation, mark: undefined, unclear: mark } : { ...notation, mark };
  }
  const isMark = separator === '.' || separator === ',';
  return { ...notation, mark: isMark ? otherMark(nameMark(separator)) : undefined };
}

function nameMark(character: string): DecimalMark {
  return character === ',' ? 'comma' : 'point';
}

function otherMark(mark: DecimalMark): DecimalMark {
  return mark === 'comma' ? 'point' : 'comma';
}

/** The decimal mark on which the cells agree that settle it; undefined if there is none. */
export function findColumnMark(cells: Iterable<string>): DecimalMark | undefined {
  let found: DecimalMark | undefined;
  for (const cell of cells) {
    const mark = DIGITS.test(cell) ? undefined : readNotation(toNumberText(cell))?.mark;
    if (mark !== undefined && found !== undefined && mark !== found) return undefined;
    found ??= mark;
  }
  return found;
}

/** An apostrophe before a sign escapes a formula. */
function toNumberText(cell: string): string {
  return unescapeFormula(cell.trim()).trim();
}

/**
 * Currency signs, units and exponents are rejected, and so are fractions of a whole number.
 * Remedies name the parameter `decimal`.
 */
export function parseNumber(cell: string, format: NumberFormat): ParseResult<number> {
  const { mark, isWhole, isDifference = false } = format;
  const isPlain = PLAIN_DECIMAL.test(cell) && mark !== 'comma' && !isWhole;
  if (isPlain || DIGITS.test(cell)) return { value: Number(cell) };
  const text = toNumberText(cell);
  if (text === '') return invalid('blank', 'Must not be blank.');
  const notation = readNotation(text);
  if (notation && (notation.sign !== '+' || isDifference)) return parseNotation(notation, format);
  return invalid('format', isWhole ? 'Write a whole number, such as 1234: no units or exponents.'
    : 'Write a plain number, such as 1234.5: no currency signs, units or exponents.');
}

function parseNotation(notation: Notation, { mark, isWhole }: NumberFormat): ParseResult<number> {
  if (notation.unclear && !mark) return invalid('format', explainUnclear(notation, isWhole));
  if (notation.mark && mark && notation.mark !== mark) {
    return invalid('format', explainContradiction(notation, mark));
  }
  const { sign, whole, decimals } = resolve(notation, mark);
  if (isWhole && /[1-9]/.test(decimals)) return invalid('precision', 'Must be a whole number.');
  const number = `${sign === '-' ? '-' : ''}${whole}${decimals && !isWhole ? `.${decimals}` : ''}`;
  const value = Number(number) + 0; // -0 + 0 is 0
  // A larger one is out of every range; the domain's error names the range.
  const error = Math.abs(value) <= Number.MAX_SAFE_INTEGER && validateNumberText(number);
  return error ? { error } : { value };
}

/**
 * Parses a stock level. A sign is rejected: a column with signs may have differences, and reading
 * them as levels would set a stock of 5 where 5 arrived.
 * @param remedy what to do about differences
 */
export function parseLevel(
  cell: string, mark: DecimalMark | undefined, remedy: string,
): ParseResult<number> {
  if (DIGITS.test(cell)) return { value: Number(cell) };
  const parsed = parseNumber(cell, { mark, isWhole: true, isDifference: true });
  if ('error' in parsed || !/^[+-]/.test(toNumberText(cell))) return parsed;
  return invalid('range', `A stock level has no sign. ${remedy}`);
}

/** Its digits once the decimal mark is known. */
function resolve(notation: Notation, mark: DecimalMark | undefined): Notation {
  const { whole, decimals, unclear } = notation;
  if (unclear === undefined || unclear === mark) return notation;
  return { ...notation, whole: whole + decimals, decimals: '' };
}

function explainUnclear({ sign, whole, decimals }: Notation, isWhole: boolean): string {
  const readings = `${sign}${whole}${decimals}, or ${sign}${whole} with the decimals ${decimals}`;
  const form = isWhole ? 'Write a whole number, such as 1234, or set' : 'Set';
  return `Could mean ${readings}. ${form} decimal=point or decimal=comma.`;
}

function explainContradiction({ sign, whole, decimals }: Notation, mark: DecimalMark): string {
  const plain = `${sign}${whole}${decimals && `${CHARACTERS[mark]}${decimals}`}`;
  const other = otherMark(mark);
  return `Is written with a decimal ${other}, the column with a decimal ${mark}. Write ${plain}, `
    + `or set decimal=${other} if that is right for the whole file.`;
}
