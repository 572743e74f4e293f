/**
 * The rows of NDJSON: one JSON object a line, in UTF-8, with or without a byte order mark, ended by
 * LF or CRLF; blank lines do not count. The members that only our own export has may stand in it
 * and are ignored. A faulty line fails alone, for the next one begins after it in any case.
 */
import { IMPORT_BLANK_LINES_LIMIT, IMPORT_RECORD_LIMIT_BYTES } from '../config.ts';
import type { Currency } from '../domain/currency.ts';
import { AppError } from '../domain/error.ts';
import { parseJson } from '../http/json.ts';
import {
  findCurrencyIssue, gatherTurns, type ImportRow, parseContent, type RowContent, type RowReader,
  tooManyBlankLines,
} from './import-row.ts';

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

export class NdjsonRows implements RowReader {
  readonly ignoredColumns = [];
  readonly #currency: Currency;
  #line = 0;
  #isEmpty = true;
  #blankLines = 0;
  /** What has come of a line that has not ended, in pieces. */
  #begun: Buffer[] = [];
  #begunBytes = 0;

  constructor(currency: Currency) {
    this.#currency = currency;
  }

  async *read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ImportRow[], void, void> {
    for await (const chunk of chunks) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      yield* gatherTurns(this.#take(bytes));
    }
    yield* gatherTurns(this.#take(Buffer.from('\n')));
    if (this.#isEmpty) throw new AppError('invalid_data', 'The file is empty. Send lines of JSON.');
  }

  /** The rows whose lines end in a chunk. */
  *#take(chunk: Buffer): Generator<ImportRow, void, void> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#gather(chunk.subarray(start, end));
      const row = this.#endLine();
      if (row) yield row;
      start = end + 1;
    }
    this.#gather(chunk.subarray(start));
  }

  #gather(piece: Buffer): void {
    this.#begun.push(piece);
    this.#begunBytes += piece.length;
    if (this.#begunBytes <= IMPORT_RECORD_LIMIT_BYTES) return;
    const most = `${IMPORT_RECORD_LIMIT_BYTES / 1024} KiB`;
    throw new AppError('invalid_data', `Line ${this.#line + 1} has more than ${most}.`);
  }

  /** The row of a line; undefined where it is blank. */
  #endLine(): ImportRow | undefined {
    this.#line += 1;
    const [piece] = this.#begun;
    let bytes = this.#begun.length === 1 && piece ? piece : Buffer.concat(this.#begun);
    this.#begun = [];
    this.#begunBytes = 0;
    const isMarked = this.#line === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
    if (isMarked) bytes = bytes.subarray(BYTE_ORDER_MARK.length);
    if (isBlank(bytes)) {
      this.#blankLines += 1;
      if (this.#blankLines > IMPORT_BLANK_LINES_LIMIT) throw tooManyBlankLines(this.#line);
      return undefined;
    }
    this.#isEmpty = false;
    this.#blankLines = 0;
    return this.#parse(bytes);
  }

  #parse(bytes: Buffer): ImportRow {
    const row = { line: this.#line, characters: bytes.length };
    let value: unknown;
    try {
      value = parseJson(bytes);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const detail = error.publicDetail.replace('The body', 'The line');
      const issues = error.issues.length > 0
        ? error.issues : [{ pointer: '', code: 'format', detail } as const];
      return { ...row, sku: null, content: { issues } };
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const issue = { pointer: '', code: 'type', detail: 'Must be an object.' } as const;
      return { ...row, sku: null, content: { issues: [issue] } };
    }
    // Any object can be read by name: what it holds stays unknown.
    const members = value as Readonly<Record<string, unknown>>;
    const sku = typeof members['sku'] === 'string' ? members['sku'] : null;
    return { ...row, sku, content: this.#parseContent(members) };
  }

  #parseContent(members: Readonly<Record<string, unknown>>): RowContent {
    const { id, position, created_at, updated_at, currency, ...own } = members;
    const issue = currency === undefined ? undefined : findCurrencyIssue(currency, this.#currency);
    return parseContent(own, issue ? [issue] : [], this.#currency);
  }
}

/** Whether a line holds white space alone. */
function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}
