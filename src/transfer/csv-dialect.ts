/**
 * Finds how a CSV file is written, from its head alone: the delimiter, the line of column names,
 * and whether quotes are literal. Titles may precede the column names, as in reports of SAP and
 * uploads of Amazon and eBay. Tab-delimited files are usually written without quoting, so `3"` in
 * them is text.
 */
import { AppError } from '../domain/error.ts';
import {
  type Delimiter, DELIMITERS, findMarks, looksLikeRows, splitPlain, splitQuoted,
} from './csv-record.ts';
import { IMPORT_BATCH_ROWS, IMPORT_COLUMNS_LIMIT, IMPORT_RECORD_LIMIT_BYTES } from './limits.ts';

export type Dialect = ReturnType<typeof detectDialect>;

/** How many members of a row have columns with these names. */
export type CountMembers = (names: readonly string[]) => number;

/** The column names and one batch of rows. Leading blank lines do not count. */
const HEAD_LINES = IMPORT_BATCH_ROWS + 1;
/** The head has at most this much text. */
const HEAD_LIMIT_CHARACTERS = 1024 * 1024;
/** A line with names of this many members has the column names. */
const HEADER_MEMBERS = 2;
/** The column names are among this many lines, within this much text. */
export const HEADER_LINES = 20;
const HEADER_LIMIT_CHARACTERS = IMPORT_RECORD_LIMIT_BYTES;
/** A first line that names the delimiter for Excel. The line has no other delimiter. */
const DELIMITER_LINE = /^"?sep=([,;\t|])"?[ \t]*(?:\r\n|[\r\n]|$)/i;

/** The same line with another delimiter. */
const OTHER_DELIMITER_LINE = /^"?sep=([^\r\n"]{1,3})"?[ \t]*(?:[\r\n]|$)/i;

/** The start of a file: the same text however its chunks are cut. */
export class FileHead {
  text = '';
  #lines = 0;
  #hasStarted = false;

  /** Adds text. Once the head is complete, returns the text that follows it. */
  add(text: string): string | undefined {
    const start = this.#hasStarted ? 0 : text.search(/[^\r\n]/);
    this.#hasStarted ||= start >= 0;
    const limit = HEAD_LIMIT_CHARACTERS - this.text.length;
    let end = limit;
    let at = start < 0 ? -1 : text.indexOf('\n', start);
    for (; at >= 0 && at < limit; at = text.indexOf('\n', at + 1)) {
      this.#lines += 1;
      if (this.#lines < HEAD_LINES) continue;
      end = at + 1;
      break;
    }
    this.text += text.slice(0, end);
    return end <= text.length ? text.slice(end) : undefined;
  }
}

/**
 * The column names are on the first line with names of two members, or on the one after it
 * if that has as many. Without any, they are on the first line with the most cells.
 * @param isWhole whether the head is the whole file
 * @throws AppError `invalid_data` if the first line names another delimiter
 */
export function detectDialect(
  head: string, isWhole: boolean, countMembers: CountMembers | undefined,
) {
  const start = Math.max(0, head.search(/[^\r\n]/));
  const [line = '', fixed] = DELIMITER_LINE.exec(head.slice(start)) ?? [];
  const [, other] = OTHER_DELIMITER_LINE.exec(head.slice(start)) ?? [];
  if (fixed === undefined && other !== undefined) {
    const fault = `The first line says that cells are separated by "${other}"`;
    throw new AppError('invalid_data', `${fault}. Use a comma, semicolon, tab or |.`);
  }
  const delimiters = DELIMITERS.filter((delimiter) => fixed === undefined || delimiter === fixed);
  const limit = countMembers ? HEADER_LINES : 1;
  const lines = head.slice(0, start + HEADER_LIMIT_CHARACTERS);
  let best: Candidate = {
    delimiter: delimiters[0] ?? ',', start: start + line.length, isNext: false, members: 0,
    cells: 0, splitLines: 0,
  };
  for (const delimiter of delimiters) {
    const listed = [...listLines(lines, start + line.length, delimiter, limit)];
    const splitLines = listed.filter(({ names }) => names.length > 1).length;
    const candidates = listed.map((one) => {
      const isHeader = one.names.length > 1 && one.names.length <= IMPORT_COLUMNS_LIMIT;
      const members = isHeader ? countMembers?.(one.names) ?? 0 : 0;
      return { ...one, delimiter, members, cells: one.names.length, splitLines };
    });
    const found = chooseHeader(candidates);
    if (found && isBetter(found, best)) best = found;
  }
  /** `headerStart` is the offset of the line of column names in the head. */
  const { delimiter, start: headerStart } = best;
  /** Whether quotes are part of the text everywhere. */
  const hasLiteralQuotes = delimiter === '\t' && areQuotesLiteral(head, headerStart, isWhole);
  /** Whether lines above the column names are no part of the table. */
  const hasTitles = head.slice(start + line.length, headerStart).trim() !== '';
  return { delimiter, headerStart, hasTitles, hasLiteralQuotes };
}

/** A line that may have the column names. */
interface HeaderCandidate {
  /** Whether it comes right after the previous one. */
  readonly isNext: boolean;
  readonly members: number;
  readonly cells: number;
}

interface Candidate extends HeaderCandidate {
  readonly delimiter: Delimiter;
  readonly start: number;
  /** How many of the lines have the delimiter. */
  readonly splitLines: number;
}

/** No line below column names replaces them, except the next one: rows must not be lost. */
export function chooseHeader<Line extends HeaderCandidate>(
  candidates: Iterable<Line>,
): Line | undefined {
  let best: Line | undefined;
  for (const candidate of candidates) {
    if (best && best.members >= HEADER_MEMBERS) {
      if (!candidate.isNext || candidate.members < best.members) return best;
      best = candidate;
    } else if (!best || candidate.members >= HEADER_MEMBERS || candidate.cells > best.cells) {
      best = candidate; // a name of one member may be the text of a row
    }
  }
  return best;
}

/** A comma in many prices does not separate the cells of a file if its header has none. */
function isBetter(candidate: Candidate, other: Candidate): boolean {
  return (candidate.members - other.members || candidate.splitLines - other.splitLines
    || candidate.cells - other.cells) > 0;
}

/** The first non-blank lines. A cell in quotes may go on over several lines. */
function* listLines(head: string, start: number, delimiter: Delimiter, limit: number) {
  const marks = findMarks(head, delimiter);
  let next: number | undefined;
  for (let at = start, lines = 0; at < head.length && lines < limit;) {
    let end = marks.lineBreak(at);
    let names: readonly string[] = splitPlain(head.slice(at, end), delimiter);
    if (marks.quote(at) < end) {
      const quoted = splitQuoted(head, at, marks);
      const isValid = quoted.openQuote === undefined && quoted.misplaced === undefined;
      if (isValid) ({ cells: names, end } = quoted);
      else names = [head.slice(at, end)];
    }
    const isBlank = end === at;
    if (!isBlank) {
      lines += 1;
      yield { start: at, isNext: at === next, names };
    }
    at = head.startsWith('\r\n', end) ? end + 2 : end + 1;
    if (!isBlank) next = at;
  }
}

/**
 * In a tab-delimited file, quotes are literal unless each of them opens or closes a cell. They are
 * literal, too, if the only cells that they enclose consist of whole rows.
 */
function areQuotesLiteral(head: string, headerStart: number, isWhole: boolean): boolean {
  const marks = findMarks(head, '\t');
  const { cells } = splitQuoted(head, headerStart, findMarks(head, '\t'));
  const found = { cells: false, rows: false };
  for (let at = headerStart; at < head.length;) {
    let end = marks.lineBreak(at);
    if (marks.quote(at) < end) {
      const record = splitQuoted(head, at, marks);
      const isOpen = record.openQuote !== undefined;
      if (record.hasInnerQuote || record.misplaced !== undefined) return true;
      if (isOpen && isWhole) return true;
      ({ end } = record);
      if (looksLikeRows(head.slice(at, end), { cells, text: '' }, '\t')) found.rows = true;
      else found.cells ||= !isOpen;
    }
    at = head.startsWith('\r\n', end) ? end + 2 : end + 1;
  }
  return found.rows && !found.cells;
}
