/**
 * Splits one record of CSV into cells (RFC 4180). A quote is special only at the start of a cell,
 * white space aside. Cells without quotes are trimmed; cells with quotes are exact.
 */

export const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** Punctuation, which a word follows. */
const PROSE: Partial<Record<Delimiter, RegExp>> = { ',': /, \p{L}/u, ';': /; \p{L}/u };
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const LINE_BREAK = /\r\n|\r|\n/g;

/** Find the next mark in a text that is read from left to right; its end if there is none. */
type Marks = Readonly<Record<'delimiter' | 'quote' | 'lineBreak', (at: number) => number>>;

export function findMarks(text: string, delimiter: Delimiter): Marks {
  const [lineFeed, carriageReturn] = [finder(text, '\n'), finder(text, '\r')];
  return {
    delimiter: finder(text, delimiter), quote: finder(text, '"'),
    lineBreak: (at) => Math.min(lineFeed(at), carriageReturn(at)),
  };
}

/** Remembers the last mark found, so that no part of the text is searched twice. */
function finder(text: string, mark: string): (at: number) => number {
  let next = -1;
  return (at) => {
    if (next >= at) return next;
    const index = text.indexOf(mark, at);
    next = index < 0 ? text.length : index;
    return next;
  };
}

/** Splits a record without quotes. */
export function splitPlain(text: string, delimiter: Delimiter): string[] {
  return text.split(delimiter).map((cell) => cell.trim());
}

/** A record with quotes, up to the place where it is invalid. */
interface QuotedRecord {
  readonly cells: readonly string[];
  /** The end of the record, or of the text. */
  readonly end: number;
  /** A quote that opens a cell and is not closed. */
  readonly openQuote?: number;
  /** Text that follows a closing quote. */
  readonly misplaced?: number;
  /** Whether a cell without quotes around it contains one. */
  readonly hasInnerQuote: boolean;
}

/** Splits the record that begins at `start`. */
export function splitQuoted(text: string, start: number, marks: Marks): QuotedRecord {
  const cells: string[] = [];
  let hasInnerQuote = false;
  for (let at = start; ; at += 1) {
    let end = Math.min(marks.delimiter(at), marks.lineBreak(at));
    const quote = marks.quote(at);
    if (quote < end && isBlankBetween(text, at, quote)) {
      const close = findClosingQuote(text, quote);
      if (close < 0) return { cells, end: text.length, openQuote: quote, hasInnerQuote };
      cells.push(text.slice(quote + 1, close).replaceAll('""', '"'));
      const after = close + 1;
      end = Math.min(marks.delimiter(after), marks.lineBreak(after));
      if (!isBlankBetween(text, after, end)) return { cells, end, misplaced: after, hasInnerQuote };
    } else {
      hasInnerQuote ||= quote < end;
      cells.push(text.slice(at, end).trim());
    }
    if (end === text.length || isLineBreak(text, end)) return { cells, end, hasInnerQuote };
    at = end;
  }
}

function isBlankBetween(text: string, start: number, end: number): boolean {
  return start === end || text.slice(start, end).trim() === '';
}

/** The quote that closes the cell opened at `open`; -1 if the text ends before. */
function findClosingQuote(text: string, open: number): number {
  let close = text.indexOf('"', open + 1);
  while (close >= 0 && text.charCodeAt(close + 1) === QUOTE) close = text.indexOf('"', close + 2);
  return close;
}

function isLineBreak(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === LINE_FEED || code === CARRIAGE_RETURN;
}

/** Whether a record ends here: a carriage return at the end may be half of a line break. */
export function isEnded(text: string, end: number): boolean {
  return end < text.length - 1 || text.charCodeAt(end) === LINE_FEED;
}

export function countLineBreaks(text: string): number {
  return text.match(LINE_BREAK)?.length ?? 0;
}

/**
 * Whether each line of a record has as many cells as the header, so that a quoted cell may have
 * swallowed rows. In prose, a space and a word follow a comma or semicolon, unlike in the header.
 */
export function looksLikeRows(
  record: string, header: { readonly cells: readonly string[]; readonly text: string },
  delimiter: Delimiter,
): boolean {
  const lines = record.split(LINE_BREAK).filter((line) => line.trim() !== '');
  const isProse = PROSE[delimiter]?.test(record) && !PROSE[delimiter]?.test(header.text);
  const { length } = header.cells;
  return length > 1 && lines.length > 1 && !isProse
    && lines.every((line) => line.split(delimiter).length === length);
}
