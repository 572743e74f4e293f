/**
 * Reads NDJSON: one JSON value per line, in UTF-8 with or without a byte order mark, lines ended by
 * LF or CRLF. Blank lines are ignored. An invalid line is rejected alone, since the next line
 * starts after it in any case. A line of an import may leave out members of an existing product,
 * but not set them to null or blank; members that only our own export has are ignored.
 */
import { IMPORT_BLANK_LINES_LIMIT, IMPORT_RECORD_LIMIT_BYTES, LINE_LIMIT_BYTES } from './limits.ts';
import type { Currency } from '../domain/catalogue/currency.ts';
import { AppError, type Issue } from '../domain/error.ts';
import { parseJson } from '../http/request/json.ts';
import { DEFAULTABLE_FIELDS } from './columns.ts';
import {
  findCurrencyIssue, type ImportRow, missingMember, parseContent, type RowContent, type RowReader,
  sliceRows, tooManyBlankLines,
} from './import-row.ts';

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** The value of a line, or the errors in its JSON. */
export type JsonLine = Pick<ImportRow, 'line' | 'characters'> & (
  | { readonly value: unknown }
  | { readonly issues: readonly Issue[] }
);

/** Reads the products of one NDJSON file. */
export class NdjsonRows implements RowReader {
  readonly ignoredColumns = [];
  readonly #currency: Currency;
  readonly #lines = new NdjsonLines();

  constructor(currency: Currency) {
    this.#currency = currency;
  }

  read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ImportRow[], void, void> {
    return this.#lines.read(chunks, (line) => this.#parse(line));
  }

  #parse({ line, characters, ...sent }: JsonLine): ImportRow {
    const row = { line, characters };
    if ('issues' in sent) return { ...row, sku: null, content: { issues: sent.issues } };
    const { value } = sent;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const issue = { pointer: '', code: 'type', detail: 'Must be an object.' } as const;
      return { ...row, sku: null, content: { issues: [issue] } };
    }
    // Any object can be read by name: its values stay unknown.
    const members = value as Readonly<Record<string, unknown>>;
    const sku = typeof members['sku'] === 'string' ? members['sku'] : null;
    return { ...row, sku, content: this.#parseContent(members) };
  }

  #parseContent(members: Readonly<Record<string, unknown>>): RowContent {
    const { id, position, created_at, updated_at, currency, ...own } = members;
    const issue = currency === undefined ? undefined : findCurrencyIssue(currency, this.#currency);
    const missing = DEFAULTABLE_FIELDS
      .filter(({ name, isRequired }) => isRequired && !Object.hasOwn(own, name))
      .map(({ name }) => missingMember(name, 'required'));
    const leftOut = missing.length > 0 ? { defaults: {}, missing } : undefined;
    return parseContent(own, issue ? [issue] : [], this.#currency, leftOut);
  }
}

/** Reads the lines of one NDJSON file. */
export class NdjsonLines {
  #line = 0;
  #isEmpty = true;
  #blankLines = 0;
  /** Chunks of a line that has not ended. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  /**
   * Yields what `map` makes of each line, in slices of a few rows.
   * @throws AppError `invalid_data` if the file as a whole is invalid
   */
  async *read<Row>(
    chunks: AsyncIterable<Uint8Array>, map: (line: JsonLine) => Row,
  ): AsyncGenerator<readonly Row[], void, void> {
    for await (const chunk of chunks) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      yield* sliceRows(this.#split(bytes, map));
    }
    yield* sliceRows(this.#split(Buffer.from('\n'), map));
    if (this.#isEmpty) throw new AppError('invalid_data', 'The file is empty. Send lines of JSON.');
  }

  /** The lines that end in a chunk. */
  *#split<Row>(chunk: Buffer, map: (line: JsonLine) => Row): Generator<Row, void, void> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#append(chunk.subarray(start, end));
      const line = this.#endLine();
      if (line) yield map(line);
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  #append(chunk: Buffer): void {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes <= IMPORT_RECORD_LIMIT_BYTES) return;
    const limit = `${IMPORT_RECORD_LIMIT_BYTES / 1024} KiB`;
    throw new AppError('invalid_data', `Line ${this.#line + 1} has more than ${limit}.`);
  }

  /** Undefined for a blank line. */
  #endLine(): JsonLine | undefined {
    this.#line += 1;
    const [chunk] = this.#pending;
    let bytes = this.#pending.length === 1 && chunk ? chunk : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    const hasMark = this.#line === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
    if (hasMark) bytes = bytes.subarray(BYTE_ORDER_MARK.length);
    if (isBlank(bytes)) {
      this.#blankLines += 1;
      if (this.#blankLines > IMPORT_BLANK_LINES_LIMIT) throw tooManyBlankLines(this.#line);
      return undefined;
    }
    this.#isEmpty = false;
    this.#blankLines = 0;
    const line = { line: this.#line, characters: bytes.length };
    try {
      return { ...line, value: parseJson(bytes) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const detail = error.publicDetail.replace('The body', 'The line');
      if (error.issues.length > 0) return { ...line, issues: error.issues };
      return { ...line, issues: [{ pointer: '', code: 'format', detail }] };
    }
  }
}

/**
 * Splits bytes into lines, without their line feeds and without parsing them.
 * @throws AppError `body_too_large`
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, void> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([pending, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    pending = bytes.subarray(start);
    if (pending.length <= LINE_LIMIT_BYTES) continue;
    throw new AppError('body_too_large', `A line has more than ${LINE_LIMIT_BYTES} bytes.`);
  }
  if (pending.length > 0) yield pending;
}

/** Whether a line has only white space. */
function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}
