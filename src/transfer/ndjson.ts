/**
 * Reads NDJSON: one JSON value per line, in UTF-8 with or without a byte order mark, with lines
 * ended by LF or CRLF. Blank lines are ignored. An invalid line is rejected alone, since the next
 * one is unaffected. A line may leave out members of an existing product, and set optional ones to
 * null, which removes them, but not the others. Of members that occur only in our own export, an id
 * must be that of the product, and the others are ignored.
 */
import { IMPORT_BLANK_LINES_LIMIT, IMPORT_RECORD_LIMIT_BYTES, LINE_LIMIT_BYTES } from './limits.ts';
import type { Currency } from '../domain/catalogue/currency.ts';
import { AppError, type Issue } from '../domain/error.ts';
import { parseJson } from '../http/request/json.ts';
import { checkRows } from './foreign-file.ts';
import {
  DEFAULTABLE_FIELDS, findCurrencyIssue, type ImportRow, isPart, missingMember, parseContent, PART,
  type RowContent, type RowReader, sliceRows, tooManyBlankLines,
} from './import-row.ts';

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** The value of a line, or the errors in its JSON. */
type JsonLine = Pick<ImportRow, 'line' | 'characters'> & (
  | { readonly value: unknown }
  | { readonly issues: readonly Issue[] }
) & {
  /** Whether it is of a file of rejected rows. */
  readonly hasError?: boolean;
};

/** Reads the products of one NDJSON file. */
export function makeNdjsonReader(currency: Currency): RowReader {
  return {
    format: 'ndjson', notes: [], ignoredColumns: [],
    read: (chunks) => readJsonLines(chunks, (line) => parseRow(line, currency)),
  };
}

function parseRow({ line, characters, ...json }: JsonLine, currency: Currency): ImportRow {
  const row = { line, characters };
  if ('issues' in json) return { ...row, sku: null, content: { issues: json.issues } };
  const { value } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const issue = { pointer: '', code: 'type', detail: 'Must be an object.' } as const;
    return { ...row, sku: null, content: { issues: [issue] } };
  }
  // Any object can be read by name: its values stay unknown.
  const members = value as Readonly<Record<string, unknown>>;
  const sku = typeof members['sku'] === 'string' ? members['sku'] : null;
  return { ...row, sku, content: parseMembers(members, currency) };
}

function parseMembers(
  members: Readonly<Record<string, unknown>>, sellerCurrency: Currency,
): RowContent {
  const { id, position, created_at, updated_at, currency, ...own } = members;
  const issue = currency === undefined ? undefined : findCurrencyIssue(currency, sellerCurrency);
  const missing = DEFAULTABLE_FIELDS
    .filter(({ name, isRequired }) => isRequired && !Object.hasOwn(own, name))
    .map(({ name }) => missingMember(name, 'required'));
  const leftOut = missing.length > 0 ? { defaults: {}, missing } : undefined;
  const conditions = id === undefined || id === null || id === '' ? undefined
    : { id: typeof id === 'string' ? id : JSON.stringify(id) };
  return parseContent(own, issue ? [issue] : [], sellerCurrency, leftOut, conditions);
}

/**
 * Reads the lines of one NDJSON file and yields what `map` returns for each, in slices, without the
 * end record of an export.
 * @throws AppError `invalid_data` if the file as a whole is invalid
 */
export async function* readJsonLines<Row>(
  chunks: AsyncIterable<Uint8Array>, map: (line: JsonLine) => Row,
): AsyncGenerator<readonly Row[], void, void> {
  const splitter = new LineSplitter();
  let line = 0;
  let blankLines = 0;
  let isEmpty = true;
  function* parse(chunk: Uint8Array): Generator<Row, void, void> {
    for (const whole of splitter.split(chunk)) {
      line += 1;
      assertLength(whole.length, line);
      const hasMark = line === 1 && whole.subarray(0, 3).equals(BYTE_ORDER_MARK);
      const bytes = hasMark ? whole.subarray(3) : whole;
      blankLines = isBlank(bytes) ? blankLines + 1 : 0;
      if (blankLines > IMPORT_BLANK_LINES_LIMIT) throw tooManyBlankLines(line);
      if (blankLines > 0) continue;
      const json = parseLine(bytes);
      if (isEnd(json.value)) continue;
      isEmpty = false;
      // Without white space: a retry has the same batches, however its lines are written.
      const characters = 'value' in json ? Buffer.byteLength(JSON.stringify(json.value))
        : bytes.length;
      yield map({ line, characters, ...json });
    }
    assertLength(splitter.pendingBytes, line + 1);
  }
  for await (const chunk of checkRows(chunks, 'ndjson')) yield* sliceRows(parse(chunk));
  yield* sliceRows(parse(Buffer.from('\n')));
  if (isEmpty) throw new AppError('invalid_data', 'The file is empty. Send lines of JSON.');
}

function assertLength(bytes: number, line: number): void {
  if (bytes <= IMPORT_RECORD_LIMIT_BYTES) return;
  const limit = `${IMPORT_RECORD_LIMIT_BYTES / 1024} KiB`;
  throw new AppError('invalid_data', `Line ${line} has more than ${limit}.`);
}

function parseLine(bytes: Buffer) {
  try {
    const value = parseJson(bytes);
    const hasError = typeof value === 'object' && value !== null && 'error' in value;
    return hasError && isPart(value.error) ? { issues: [PART], hasError } : { value, hasError };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.issues.length > 0) return { issues: error.issues };
    const detail = error.publicDetail.replace('The body', 'The line');
    return { issues: [{ pointer: '', code: 'format', detail } as const] };
  }
}

/** Whether a value is the end record of an export: no row has its only member. */
function isEnd(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('end' in value)) return false;
  const { end } = value;
  return typeof end === 'object' && end !== null && 'rows' in end
    && Object.keys(value).length === 1;
}

/** Whether a line has only white space. */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

/**
 * Splits bytes into lines without their line feeds.
 * @throws AppError `body_too_large`
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, void> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) {
    yield* splitter.split(chunk);
    if (splitter.pendingBytes <= LINE_LIMIT_BYTES) continue;
    throw new AppError('body_too_large', `A line has more than ${LINE_LIMIT_BYTES} bytes.`);
  }
  if (splitter.pendingBytes > 0) yield* splitter.split(Buffer.from('\n'));
}

class LineSplitter {
  /** Chunks of a line that has not ended. */
  #pending: Buffer[] = [];
  pendingBytes = 0;

  /** Returns the lines that end in a chunk. */
  split(chunk: Uint8Array): Buffer[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    if (lines[0] && this.pendingBytes > 0) lines[0] = Buffer.concat([...this.#pending, lines[0]]);
    if (lines[0]) [this.#pending, this.pendingBytes] = [[], 0];
    this.#pending.push(bytes.subarray(start));
    this.pendingBytes += bytes.length - start;
    return lines;
  }
}
