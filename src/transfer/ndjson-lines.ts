/**
 * The lines of NDJSON: one JSON value a line, in UTF-8, with or without a byte order mark, ended by
 * LF or CRLF; blank lines do not count. A faulty line fails alone, for the next one begins after it
 * in any case.
 */
import { IMPORT_BLANK_LINES_LIMIT, IMPORT_RECORD_LIMIT_BYTES } from './limits.ts';
import { AppError, type Issue } from '../domain/error.ts';
import { parseJson } from '../http/request/json.ts';
import { sliceRows, tooManyBlankLines } from './import-row.ts';

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

interface Line {
  /** From 1. */
  readonly line: number;
  /** How much text it was. */
  readonly characters: number;
}

/** A line's value, or what is wrong with its JSON. */
export type JsonLine = Line & (
  | { readonly value: unknown }
  | { readonly issues: readonly Issue[] }
);

export class NdjsonLines {
  #line = 0;
  #isEmpty = true;
  #blankLines = 0;
  /** What has come of a line that has not ended, in pieces. */
  #begun: Buffer[] = [];
  #begunBytes = 0;

  /**
   * What `map` makes of each line, a turn's worth at a time.
   * @throws AppError `invalid_data` where the file as a whole is faulty
   */
  async *read<Row>(
    chunks: AsyncIterable<Uint8Array>, map: (line: JsonLine) => Row,
  ): AsyncGenerator<readonly Row[], void, void> {
    for await (const chunk of chunks) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      yield* sliceRows(this.#take(bytes, map));
    }
    yield* sliceRows(this.#take(Buffer.from('\n'), map));
    if (this.#isEmpty) throw new AppError('invalid_data', 'The file is empty. Send lines of JSON.');
  }

  /** The lines that end in a chunk. */
  *#take<Row>(chunk: Buffer, map: (line: JsonLine) => Row): Generator<Row, void, void> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#gather(chunk.subarray(start, end));
      const line = this.#endLine();
      if (line) yield map(line);
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

  /** Undefined for a blank line. */
  #endLine(): JsonLine | undefined {
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
    const place = { line: this.#line, characters: bytes.length };
    try {
      return { ...place, value: parseJson(bytes) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const detail = error.publicDetail.replace('The body', 'The line');
      if (error.issues.length > 0) return { ...place, issues: error.issues };
      return { ...place, issues: [{ pointer: '', code: 'format', detail }] };
    }
  }
}

/** Whether a line holds white space alone. */
function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}
