/**
 * Reads CSV (RFC 4180) of any length. Lines end in CRLF, LF or CR; blank lines are ignored, and so
 * are titles above the column names, and a first line such as `sep=;` for Excel. Text after a
 * closing quote, or an unclosed quote, rejects the file, since the rest is ambiguous. Lines without
 * quotes, nearly all, are split by the engine.
 */
import {
  IMPORT_BLANK_LINES_LIMIT, IMPORT_COLUMNS_LIMIT, IMPORT_RECORD_LIMIT_BYTES,
} from './limits.ts';
import { AppError, type Issue } from '../domain/error.ts';
import type { ValidationError } from '../domain/text.ts';
import { formatCount } from '../domain/wording.ts';
import { countColumns, type ShortRows } from './csv-cells.ts';
import { type CountMembers, detectDialect, type Dialect, FileHead } from './csv-dialect.ts';
import {
  countLineBreaks, type Delimiter, findMarks, isEnded, looksLikeRows, splitPlain, splitQuoted,
} from './csv-record.ts';
import { decodeText, type Encoding, type InvalidBytes } from './decode.ts';
import { checkRows } from './foreign-file.ts';
import { tooManyBlankLines } from './import-row.ts';

export interface CsvRecord {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** As sent, without its final line break. */
  readonly text: string;
  /** Why it must be rejected, whatever its cells say. */
  readonly issue?: Issue;
  /** Of a row of a workbook: in CSV, all cells are text. */
  readonly types?: CellTypes;
}

/**
 * The size of a record without quotes and white space: a retry has the same batches, in whatever
 * order its columns are. These count a little, since cells keep the whole text in memory.
 */
export function countCharacters({ cells, text }: CsvRecord): number {
  const content = cells.reduce((sum, { length }) => sum + length + 1, -1);
  return Math.max(content, text.length >> 4);
}

/** A SKU, an id or a barcode; a price or a quantity; any other text. */
export type CellUse = 'identifier' | 'number' | 'text';

/** The types of the cells of a row, by column from 0. */
export interface CellTypes {
  isBlank(column: number): boolean;
  /** Whether it is text. A number has a decimal point. */
  isText(column: number): boolean;
  /** Why a cell must not be used like this, and the remedy. */
  validate(column: number, use: CellUse): ValidationError | undefined;
}

export interface CsvReaderOptions {
  /** The encoding of a file without a byte order mark. Default: UTF-8. */
  readonly encoding?: Encoding | undefined;
  /** Recognises the line of column names. Default: the first line has them. */
  readonly countMembers?: CountMembers | undefined;
  /** Default: `reject`. */
  readonly shortRows?: ShortRows | undefined;
}

/** Text is scanned in portions of at least this size, so that short chunks cost no more. */
const SCAN_CHARACTERS = 32 * 1024;
const SWALLOWED_ROWS: Issue = {
  pointer: '', code: 'format',
  detail: 'Each line of a cell in quotes looks like a row of this file. Double a quote that is '
    + 'part of a text, or remove the line breaks from the cell.',
};

/** What files of DOS end in: Ctrl-Z. */
const DOS_END = /(?<!\x1a)\x1a+$/;

function explainUtf16(head: string): string {
  // In Latin scripts, big-endian text begins with a zero byte.
  const encoding = head.startsWith('\0') ? 'utf-16be' : 'utf-16le';
  return 'The first line has NUL characters: the file may be UTF-16 without a byte order mark. '
    + `Save it as "CSV UTF-8", or set encoding=${encoding} if that is its encoding.`;
}

/** Reads the records of one file. */
export class CsvReader {
  readonly #options: CsvReaderOptions;
  readonly #head = new FileHead();
  #dialect: Dialect | undefined;
  #header: CsvRecord | undefined;
  #hasTitles = false;
  #line = 1;
  #blankLines = 0;
  /** Rows whose last cells are read as blank, and the cells of a complete row. */
  #shortRows = 0;
  #columns = 0;
  /** Text that is not part of a record yet, and how much of it is unscanned. */
  #text = '';
  #unscannedCharacters = 0;

  constructor(options: CsvReaderOptions = {}) {
    this.#options = options;
  }

  /** The delimiter of cells; known after the header. */
  get delimiter(): Delimiter {
    return this.#dialect?.delimiter ?? ',';
  }

  /** Sentences for the summary; known after the last record. */
  get notes(): readonly string[] {
    const notes: string[] = [];
    const line = this.#header?.line;
    if (this.#hasTitles) notes.push(`The column names are on line ${line}, below titles.`);
    if (this.#shortRows > 0) {
      const count = formatCount(this.#shortRows);
      notes.push(`Short rows, whose last cells are read as blank: ${count}.`);
    }
    return notes;
  }

  /** Whether quotes are part of the text; known after the header. */
  get hasLiteralQuotes(): boolean {
    return this.#dialect?.hasLiteralQuotes ?? false;
  }

  /**
   * Yields the records that the chunks complete: first the header with the records of the head.
   * @throws AppError `invalid_data`
   */
  async *read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly CsvRecord[], void, void> {
    for await (const text of decodeText(checkRows(chunks, 'csv'), this.#options.encoding)) {
      const isValid = typeof text === 'string';
      let added: string | undefined = isValid ? text : '';
      if (!this.#dialect) {
        added = this.#head.add(added);
        if (added === undefined && isValid) continue;
        yield* this.#open(false);
      }
      this.#text += added ?? '';
      this.#unscannedCharacters += added?.length ?? 0;
      const isEnough = this.#unscannedCharacters >= SCAN_CHARACTERS;
      if (isEnough || !isValid) yield* this.#take(false);
      if (!isValid) throw this.#invalidBytes(text);
    }
    if (this.#dialect) yield* this.#take(true);
    else yield* this.#open(true);
  }

  /** Yields the records of the head, without the titles above the header. */
  *#open(isWhole: boolean): Generator<readonly CsvRecord[], void, void> {
    const { text } = this.#head;
    if (/^[^\n]*\0/.test(text)) throw invalidFile(explainUtf16(text));
    const { headerStart, hasTitles } = this.#dialect = detectDialect(
      text, isWhole, this.#options.countMembers,
    );
    const [blankLines = ''] = /^[\r\n]*/.exec(text) ?? [];
    const blankCount = countLineBreaks(blankLines);
    if (blankCount > IMPORT_BLANK_LINES_LIMIT) throw tooManyBlankLines(blankCount);
    this.#line += countLineBreaks(text.slice(0, headerStart));
    this.#hasTitles = hasTitles;
    this.#text = text.slice(headerStart);
    this.#head.text = '';
    yield* this.#take(isWhole);
  }

  /** The error for invalid bytes after the remaining text. */
  #invalidBytes({ encoding, isAssumed, isUtf8 }: InvalidBytes): AppError {
    const line = this.#line + countLineBreaks(this.#text);
    if (isUtf8) return invalidFile(`Line ${line} is UTF-8, not ${encoding}: set encoding=utf-8.`);
    const fault = `Line ${line} has text that is not ${encoding.toUpperCase()}`;
    const other = isAssumed ? ', or set encoding=windows-1252 if that is its encoding' : '';
    return invalidFile(`${fault}. Save the file as "CSV UTF-8"${other}.`);
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

  /** Splits the text into records, up to a NUL character, such as a power cut leaves. */
  #scan(records: CsvRecord[], isLast: boolean): void {
    const text = isLast ? this.#text.replace(DOS_END, '') : this.#text;
    const damage = text.indexOf('\0');
    if (damage < 0) return this.#split(records, text, isLast);
    this.#split(records, text.slice(0, damage), false);
    const fault = `Line ${this.#line + countLineBreaks(this.#text)} has a NUL character`;
    throw invalidFile(`${fault}: the file is damaged, or it is not text. Write the file again, or `
      + 'remove the character if it is part of a text.');
  }

  /** Splits a text into records, and keeps the rest. */
  #split(records: CsvRecord[], text: string, isLast: boolean): void {
    const { delimiter } = this;
    const hasQuotes = !this.hasLiteralQuotes;
    const marks = findMarks(text, delimiter);
    let start = 0;
    let openQuote: number | undefined;
    while (start < text.length) {
      let end = marks.lineBreak(start);
      let cells: readonly string[] | undefined;
      let misplaced: number | undefined;
      if (hasQuotes && marks.quote(start) < end) {
        ({ cells, end, openQuote, misplaced } = splitQuoted(text, start, marks));
      }
      if (misplaced !== undefined) throw this.#textAfterQuote(text.slice(start, misplaced));
      if (openQuote !== undefined || !(isLast || isEnded(text, end))) break;
      this.#add(records, text.slice(start, end), cells);
      start = end + (text.startsWith('\r\n', end) ? 2 : 1);
    }
    this.#text = text.slice(start);
    this.#unscannedCharacters = 0;
    const isTooLong = this.#isTooLong(this.#text);
    if (openQuote !== undefined && (isLast || isTooLong)) {
      throw this.#neverClosed(text.slice(start, openQuote));
    }
    if (isTooLong) throw this.#tooLong();
  }

  /** Adds a record, unless its text is empty; `cells` is undefined if it has no quotes. */
  #add(records: CsvRecord[], text: string, cells: readonly string[] | undefined): void {
    if (text === '') {
      this.#blankLines += 1;
      if (this.#blankLines > IMPORT_BLANK_LINES_LIMIT) throw tooManyBlankLines(this.#line);
    } else {
      this.#blankLines = 0;
      records.push(this.#record(text, cells));
    }
    this.#line += 1;
  }

  #record(text: string, quotedCells: readonly string[] | undefined): CsvRecord {
    if (this.#isTooLong(text)) throw this.#tooLong();
    const { delimiter } = this;
    const line = this.#line;
    const cells = quotedCells ?? splitPlain(text, delimiter);
    if (cells.length > IMPORT_COLUMNS_LIMIT) {
      throw invalidFile(`Line ${line} has more than ${IMPORT_COLUMNS_LIMIT} columns.`);
    }
    if (quotedCells) this.#line += countLineBreaks(text);
    const isSuspect = this.#line > line && this.#header !== undefined
      && looksLikeRows(text, this.#header, delimiter);
    const record = isSuspect ? { line, cells, text, issue: SWALLOWED_ROWS } : { line, cells, text };
    if (this.#header) this.#shortRows += cells.length < this.#columns ? 1 : 0;
    else {
      this.#header = record;
      this.#columns = this.#options.shortRows === 'blank' ? countColumns(cells) : 0;
    }
    return record;
  }

  /** @param text the record, up to the quote */
  #neverClosed(text: string): AppError {
    const line = this.#line + countLineBreaks(text);
    const fault = `The quote that opens a cell on line ${line} is never closed`;
    return invalidFile(`${fault}. Correct the file and send it again.`);
  }

  /** @param text the record, up to the text after the quote */
  #textAfterQuote(text: string): AppError {
    const fault = `On line ${this.#line + countLineBreaks(text)} text follows a closing quote`;
    return invalidFile(`${fault}. Double the quotes inside a cell: "a 5"" pipe".`);
  }

  #isTooLong(text: string): boolean {
    // A UTF-16 unit takes up to three bytes, so most texts need not be measured.
    const limit = IMPORT_RECORD_LIMIT_BYTES;
    return text.length * 3 > limit && Buffer.byteLength(text) > limit;
  }

  #tooLong(): AppError {
    const limit = `${IMPORT_RECORD_LIMIT_BYTES / 1024} KiB`;
    const fault = `The record that begins on line ${this.#line} has more than ${limit}`;
    return invalidFile(`${fault}. Shorten its texts. If it should be several rows, close the quote `
      + 'that joins them.');
  }
}

function invalidFile(detail: string): AppError {
  return new AppError('invalid_data', detail);
}
