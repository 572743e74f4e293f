/**
 * Reads CSV (RFC 4180) of any length, in UTF-8 with or without a byte order mark. Lines end in
 * CRLF, LF or CR; blank lines are ignored, and so is a first line `sep=;` for Excel. The delimiter
 * is the most frequent one in the header: comma, semicolon or tab. A quote is special only at the
 * start of a cell. Text after a closing quote, or an unclosed quote, rejects the file, since the
 * rest is ambiguous. Lines without quotes, nearly all, are split by the engine.
 */
import { isUtf8 } from 'node:buffer';
import {
  IMPORT_BLANK_LINES_LIMIT, IMPORT_COLUMNS_LIMIT, IMPORT_RECORD_LIMIT_BYTES,
} from './limits.ts';
import { AppError } from '../domain/error.ts';
import { sliceRows, tooManyBlankLines } from './import-row.ts';

export interface CsvRecord {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** As sent, without its final line break. */
  readonly text: string;
}

/** Text is scanned in portions of at least this size, so that short chunks cost no more. */
const SCAN_CHARACTERS = 32 * 1024;
/** A first line that names the delimiter for Excel. The line has no other delimiter. */
const DELIMITER_LINE = /^sep=[,;\t]$/i;
const LINE_BREAK = /\r\n|\r|\n/g;
/** The first byte of gzip; the second is not UTF-8. */
const GZIP_START = '\u001f';
const UTF_16 = 'The header has NUL characters: the file may be UTF-16. Save it as "CSV UTF-8".';
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;

/**
 * Yields the rows of a table in slices. Calls `open` with the header; the function that it returns
 * parses each record, or returns undefined to omit it.
 * @throws AppError `invalid_data` if the file as a whole is invalid
 */
export async function* readCsvTable<Row>(
  reader: CsvReader, chunks: AsyncIterable<Uint8Array>,
  open: (header: CsvRecord) => (record: CsvRecord) => Row | undefined,
): AsyncGenerator<readonly Row[], void, void> {
  let parse: ReturnType<typeof open> | undefined;
  function* parseAll(records: Iterable<CsvRecord>): Generator<Row, void, void> {
    for (const record of records) {
      const row = parse?.(record);
      if (row !== undefined) yield row;
    }
  }
  for await (const records of reader.read(chunks)) {
    const rows = records.values();
    if (!parse) {
      const { value: header } = rows.next();
      if (!header) continue;
      if (header.text.includes('\0')) throw invalidFile(UTF_16);
      parse = open(header);
    }
    yield* sliceRows(parseAll(rows));
  }
  if (!parse) throw invalidFile('The file is empty. Send a line of column names first.');
}

/** Reads the records of one file. */
export class CsvReader {
  #delimiter: string | undefined;
  #line = 1;
  #blankLines = 0;
  /** Text that is not part of a record yet, and how much of it is unscanned. */
  #text = '';
  #unscannedCharacters = 0;

  /** The delimiter of cells; known after the header. */
  get delimiter(): string {
    return this.#delimiter ?? ',';
  }

  /**
   * Yields the records that the chunks complete, the header first.
   * @throws AppError `invalid_data`
   */
  async *read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly CsvRecord[], void, void> {
    for await (const text of decodeUtf8(chunks)) {
      this.#text += text ?? '';
      this.#unscannedCharacters += text?.length ?? 0;
      const isEnough = this.#unscannedCharacters >= SCAN_CHARACTERS;
      if (isEnough || text === undefined) yield* this.#take(false);
      if (text === undefined) throw this.#notUtf8();
    }
    yield* this.#take(true);
  }

  /** The error for invalid bytes after the remaining text. */
  #notUtf8(): AppError {
    const line = this.#lineAt(this.#text, 0, this.#text.length);
    if (line === 1 && this.#text === GZIP_START) {
      return invalidFile('The file is compressed with gzip: send "content-encoding: gzip".');
    }
    const fault = `Line ${line} has text that is not UTF-8 (it may be UTF-16 or Windows-1252)`;
    return invalidFile(`${fault}. Save the file as "CSV UTF-8".`);
  }

  /** Yields the complete records; those before an error are yielded before it is thrown. */
  *#take(isLast: boolean): Generator<readonly CsvRecord[], void, void> {
    const records: CsvRecord[] = [];
    try {
      this.#scan(records, isLast);
    } finally {
      yield records;
    }
  }

  /** Splits the text into records, and keeps the rest. */
  #scan(records: CsvRecord[], isLast: boolean): void {
    const text = this.#text;
    const delimiter = this.#delimiter ??= findDelimiter(text, isLast);
    const marks = findMarks(text, delimiter ?? ',');
    let start = 0;
    let openQuote: number | undefined;
    while (delimiter !== undefined && start < text.length) {
      let end = marks.lineBreak(start);
      let cells: string[] | undefined;
      if (marks.quote(start) < end) ({ cells, end, openQuote } = this.#split(text, start, marks));
      if (openQuote !== undefined || !(isLast || isEnded(text, end))) break;
      this.#add(records, text.slice(start, end), cells);
      start = end + (text.startsWith('\r\n', end) ? 2 : 1);
    }
    this.#text = text.slice(start);
    this.#unscannedCharacters = 0;
    const isTooLong = this.#isTooLong(this.#text);
    if (openQuote !== undefined && (isLast || isTooLong)) {
      throw this.#neverClosed(this.#lineAt(text, start, openQuote));
    }
    if (isTooLong) throw this.#tooLong();
  }

  /**
   * Adds a record, unless its text is empty or Excel's `sep=` line; `cells` is undefined if it has
   * no quotes.
   */
  #add(records: CsvRecord[], text: string, cells: string[] | undefined): void {
    if (text === '') {
      this.#blankLines += 1;
      if (this.#blankLines > IMPORT_BLANK_LINES_LIMIT) throw tooManyBlankLines(this.#line);
    } else {
      this.#blankLines = 0;
      const isForExcel = this.#line === 1 && DELIMITER_LINE.test(text);
      if (!isForExcel) records.push(this.#record(text, cells));
    }
    this.#line += 1;
  }

  #neverClosed(line: number): AppError {
    const fault = `The quote that opens a cell on line ${line} is never closed`;
    return invalidFile(`${fault}. Correct the file and send it again.`);
  }

  #record(text: string, cells: string[] | undefined): CsvRecord {
    if (this.#isTooLong(text)) throw this.#tooLong();
    const record = { line: this.#line, cells: cells ?? text.split(this.delimiter), text };
    if (record.cells.length > IMPORT_COLUMNS_LIMIT) {
      throw invalidFile(`Line ${this.#line} has more than ${IMPORT_COLUMNS_LIMIT} columns.`);
    }
    if (cells) this.#line = this.#lineAt(text, 0, text.length);
    return record;
  }

  /** Splits a record with quotes into cells, up to `openQuote` if one is not closed. */
  #split(text: string, start: number, marks: Marks) {
    const cells: string[] = [];
    for (let at = start; ; at += 1) {
      let end: number;
      if (text.charCodeAt(at) === QUOTE) {
        const close = findClosingQuote(text, at);
        if (close < 0) return { cells, end: text.length, openQuote: at };
        cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
        end = close + 1;
      } else {
        end = Math.min(marks.delimiter(at), marks.lineBreak(at));
        cells.push(text.slice(at, end));
      }
      const isLast = end === text.length || isLineBreak(text, end);
      if (isLast) return { cells, end, openQuote: undefined };
      if (!text.startsWith(this.delimiter, end)) {
        const fault = `On line ${this.#lineAt(text, start, end)} text follows a closing quote`;
        throw invalidFile(`${fault}. Double the quotes inside a cell: "a 5"" pipe".`);
      }
      at = end;
    }
  }

  #lineAt(text: string, start: number, at: number): number {
    return this.#line + (text.slice(start, at).match(LINE_BREAK)?.length ?? 0);
  }

  #isTooLong(text: string): boolean {
    // A UTF-16 unit takes up to three bytes, so most texts need not be measured.
    const limit = IMPORT_RECORD_LIMIT_BYTES;
    return text.length * 3 > limit && Buffer.byteLength(text) > limit;
  }

  #tooLong(): AppError {
    const limit = `${IMPORT_RECORD_LIMIT_BYTES / 1024} KiB`;
    return invalidFile(`The record that begins on line ${this.#line} has more than ${limit}.`);
  }
}

/** Whether a record ends here: a carriage return at the end may be half of a line break. */
function isEnded(text: string, end: number): boolean {
  return end < text.length - 1 || text.charCodeAt(end) === LINE_FEED;
}

/** Find the next mark in a text that is read from left to right; its end if there is none. */
type Marks = Readonly<Record<'delimiter' | 'quote' | 'lineBreak', (at: number) => number>>;

function findMarks(text: string, delimiter: string): Marks {
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

/** The delimiter of the first non-blank line; undefined until that line has ended. */
function findDelimiter(text: string, isLast: boolean): string | undefined {
  const line = text.replace(/^[\r\n]+/, '');
  // Quoted cells match first, so that delimiters inside them do not count.
  const marks = /(?<![^,;\t\r\n])"[^"]*(?:""[^"]*)*(?:"|$)|[,;\t\r\n]/g;
  const lineMarks: string[] = [];
  for (const [mark] of line.matchAll(marks)) {
    lineMarks.push(mark);
    if (isLineBreak(mark, 0)) break;
  }
  if (!isLast && !isLineBreak(lineMarks.at(-1) ?? '', 0)) return undefined;
  const count = (delimiter: string): number =>
    lineMarks.filter((mark) => mark === delimiter).length;
  return [';', '\t'].reduce((best, other) => count(other) > count(best) ? other : best, ',');
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

function invalidFile(detail: string): AppError {
  return new AppError('invalid_data', detail);
}

/**
 * Decodes UTF-8 in chunks and drops a byte order mark; at an invalid byte it yields undefined and
 * ends. Unlike TextDecoder it also yields the text before that byte, so that an error can name its
 * line.
 */
async function* decodeUtf8(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<string | undefined, void, void> {
  /** An incomplete character. */
  let incomplete = Buffer.alloc(0);
  let hasStarted = false;
  for await (const chunk of chunks) {
    const bytes = incomplete.length > 0 ? Buffer.concat([incomplete, chunk])
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const complete = completePart(bytes);
    const isValid = isUtf8(complete);
    const valid = isValid ? complete : validPart(bytes);
    const text = valid.toString('utf8');
    yield hasStarted ? text : text.replace(/^\uFEFF/, '');
    hasStarted ||= text !== '';
    incomplete = Buffer.from(bytes.subarray(valid.length));
    if (!isValid) break;
  }
  if (incomplete.length > 0) yield undefined;
}

/** The longest prefix that is UTF-8, by binary search. */
function validPart(bytes: Buffer): Buffer {
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2);
    if (isUtf8(completePart(bytes.subarray(0, middle)))) valid = middle;
    else invalid = middle;
  }
  return completePart(bytes.subarray(0, valid));
}

/** All bytes except an incomplete last character. */
function completePart(bytes: Buffer): Buffer {
  const start = bytes.findLastIndex((byte) => byte < 0x80 || byte >= 0xc0); // no continuation byte
  const first = bytes[start] ?? 0;
  const length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}
