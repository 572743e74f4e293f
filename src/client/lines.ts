/**
 * Bodies in lines, in both directions: sends text, bytes or objects of any length as a request
 * body with backpressure, and reads the lines of a response, such as a report.
 */
import {
  ConnectionError, createApiError, describeUnexpected, parseObject, spellIssue,
  spellOptions, toProblem,
} from './errors.ts';
import {
  BOOLEAN, oneOf, type OptionTable, PAIRS, REQUEST_OPTIONS, type RequestOptions, SENT,
} from './options.ts';
import type { Position } from './product.ts';
import type { ApiResponse, Query, Sender } from './sender.ts';

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
/** Longest line of a response, in characters; a line reports one row or one change. */
const LINE_LIMIT_CHARACTERS = 1_000_000;

/**
 * What a streamed request sends: a file as text or bytes (also in pieces, as Node's streams and web
 * streams have them), or objects, which are sent as lines of JSON.
 */
export type Source<Item> =
  | string | Uint8Array | Blob
  | Iterable<Item | string | Uint8Array> | AsyncIterable<Item | string | Uint8Array>;

/** A workbook may also be sent as CSV: its first bytes say what it is. */
export type FileType = (typeof TYPES)[number];

/** How a file is written, where the file itself leaves it open. */
export interface CsvOptions {
  /**
   * CSV: the encoding of a file without a byte order mark, such as `windows-1252`. Default: UTF-8;
   * it is never guessed.
   */
  readonly encoding?: string | undefined;
  /** CSV: what separates decimals, so that `1.200` is either 1.2 or 1200. */
  readonly decimal?: 'point' | 'comma' | undefined;
  /** CSV: whether rows with too few cells are rejected (default), or end in blank cells. */
  readonly shortRows?: 'reject' | 'blank' | undefined;
  /** Shopify: how variants without a SKU get one. By default, their rows are rejected. */
  readonly skuFrom?: 'handle+options' | undefined;
  /** Workbooks (.xlsx): the name of the sheet. Default: the first one that is not hidden. */
  readonly sheet?: string | undefined;
}

/** A request body and its kind, made of the first piece of a source. */
interface SourceBody {
  /** Whether the source has objects rather than text or bytes. */
  readonly hasObjects: boolean;
  /** Whether it can be sent again. */
  readonly isRepeatable: boolean;
  readonly open: () => AsyncIterable<Uint8Array>;
}

/** Names and values, or their text: `name:value`. */
type Pairs = Readonly<Record<string, string | number>> | string;

/** What is sent with every file. */
export interface FileOptions extends RequestOptions, CsvOptions {
  /** What the source is. Default: as the method says. */
  readonly type?: FileType | undefined;
  /** Whether the bytes are compressed with gzip. Default false. */
  readonly isGzip?: boolean | undefined;
  /** CSV: the column of each member: `{ name: 'Title' }`, or as text, `name:Title`. */
  readonly map?: Readonly<Record<string, string>> | string | undefined;
  /** The name of the file, for the record of the import. */
  readonly fileName?: string | undefined;
}

/** The media types of files. */
const TYPES = [
  'text/csv', 'application/x-ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
] as const;

export const FILE_OPTIONS: OptionTable<FileOptions> = {
  ...REQUEST_OPTIONS, type: oneOf(...TYPES), isGzip: BOOLEAN, map: PAIRS, fileName: SENT,
  encoding: SENT, decimal: SENT, shortRows: SENT, skuFrom: SENT, sheet: SENT,
};

/** Sends a file, and starts reading the report on it. */
export function sendFile<Line, Summary>(
  sender: Sender, path: string, { open, isRepeatable }: SourceBody,
  [request, query]: readonly [request: RequestOptions, query: Query],
  { type, isGzip, map, default: defaults }: FileOptions & {
    readonly type: FileType; readonly default?: Pairs | undefined;
  },
): Promise<Report<Line, Summary>> {
  return sender.send({
    ...request,
    method: 'POST', path, body: open, isRepeatable,
    query: { ...query, map: formatPairs(map), default: formatPairs(defaults) },
    headers: {
      'content-type': type,
      accept: 'application/x-ndjson',
      ...(isGzip && { 'content-encoding': 'gzip' }),
    },
  }, async (response) => new Report<Line, Summary>(response));
}

/** Pairs as a parameter of the API. */
function formatPairs(pairs: Pairs | undefined) {
  if (typeof pairs === 'string' || !pairs) return pairs;
  return Object.entries(pairs).map(([name, value]) => `${name}:${value}`);
}

/** Reads the first piece of the source, to see what it has. */
export async function openSource(source: Source<object>): Promise<SourceBody> {
  if (source instanceof Blob) {
    return { hasObjects: false, isRepeatable: true, open: () => source.stream() };
  }
  if (isText(source) || Array.isArray(source)) {
    const pieces: readonly unknown[] = isText(source) ? [source] : source;
    const hasObjects = pieces.length === 0 || !isText(pieces[0]);
    return { hasObjects, isRepeatable: true, open: () => encode(pieces) };
  }
  const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]()
    : source[Symbol.iterator]();
  const first = await iterator.next();
  const hasObjects = first.done !== true && !isText(first.value);
  const pieces = async function* (): AsyncGenerator<unknown, void, void> {
    try {
      for (let step = first; step.done !== true; step = await iterator.next()) yield step.value;
    } finally {
      await iterator.return?.();
    }
  };
  return { hasObjects, isRepeatable: false, open: () => encode(pieces()) };
}

function isText(piece: unknown): piece is string | Uint8Array {
  return typeof piece === 'string' || piece instanceof Uint8Array;
}

/** Objects are collected into chunks: each costs a turn. Those of a slow source must not wait. */
const CHUNK_CHARACTERS = 65_536;
const CHUNK_INTERVAL_MS = 20;

/** The chunks of a body. If its reader ends early, the source is read no further. */
function encode(
  pieces: Iterable<unknown> | AsyncIterable<unknown>,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = { hasEnded: false };
  const chunks = readChunks(pieces, reader);
  const end = chunks.return.bind(chunks); // waits for the next chunk
  return Object.assign(chunks, {
    return() {
      reader.hasEnded = true;
      return end();
    },
  });
}

async function* readChunks(
  pieces: Iterable<unknown> | AsyncIterable<unknown>, reader: { readonly hasEnded: boolean },
): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  let text = '';
  let sentAt = performance.now();
  for await (const piece of pieces) {
    if (reader.hasEnded) return;
    if (piece instanceof Uint8Array) {
      yield piece;
      continue;
    }
    text += typeof piece === 'string' ? piece : `${JSON.stringify(piece)}\n`;
    const isDue = performance.now() - sentAt >= CHUNK_INTERVAL_MS;
    if (text.length < CHUNK_CHARACTERS && !isDue) continue;
    yield encoder.encode(text);
    text = '';
    sentAt = performance.now();
  }
  if (text !== '') yield encoder.encode(text);
}

/** The lines of a response, without their ends: line feeds, alone or after a carriage return. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LIMIT_CHARACTERS) throw createApiError(describeUnexpected(200));
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/**
 * Counts rows by line feeds. In CSV, the header and line feeds inside quotes do not count (a
 * doubled quote closes and reopens).
 */
export class RowCounter {
  readonly #isCsv: boolean;
  #isQuoted = false;
  #lines = 0;

  constructor(format: 'csv' | 'ndjson') {
    this.#isCsv = format === 'csv';
  }

  get rows(): number {
    return this.#isCsv ? Math.max(0, this.#lines - 1) : this.#lines;
  }

  add(chunk: Uint8Array): void {
    // By index: iterating over the bytes takes three to four times as long.
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE && this.#isCsv) this.#isQuoted = !this.#isQuoted;
      else if (byte === LINE_FEED && !this.#isQuoted) this.#lines += 1;
    }
  }
}

/** The record that ends an export on request (`end=record`). */
const CSV_END = /^#end rows=(\d+) position=([\w-]+),*\r?\n$/;
const NDJSON_END = /^\{"end":\{"rows":(\d+),"position":"?([\w-]+)"?\}\}\r?\n$/;

/**
 * The rows of an export, without the record that ends it.
 * @throws ConnectionError if that record is missing, or is not that of these rows
 */
export async function* readToEndRecord(
  chunks: AsyncIterable<Uint8Array>, format: 'csv' | 'ndjson', position: Position,
): AsyncGenerator<Uint8Array, void, void> {
  const counter = new RowCounter(format);
  let line = new Uint8Array(); // the last one, which may be the record
  for await (const chunk of chunks) {
    const bytes = new Uint8Array(line.length + chunk.length);
    bytes.set(line);
    bytes.set(chunk, line.length);
    const start = bytes.lastIndexOf(LINE_FEED, bytes.length - 2) + 1;
    if (bytes.length - start > LINE_LIMIT_CHARACTERS) throw createApiError(describeUnexpected(200));
    line = bytes.subarray(start);
    counter.add(bytes.subarray(0, start));
    if (start > 0) yield bytes.subarray(0, start);
  }
  const end = format === 'csv' ? CSV_END : NDJSON_END;
  const [, rows, endPosition] = end.exec(new TextDecoder().decode(line)) ?? [];
  if (rows === String(counter.rows) && endPosition === String(position)) return;
  throw new ConnectionError(rows === undefined
    ? 'The connection broke before the end of the file.'
    : `The file has ${counter.rows} of ${rows} rows: a part is missing. Export it again.`);
}

/**
 * The report on a file or on a stream of stock changes: a line for each row that the server
 * reports, while the rest is still being sent, and then a summary. Iterate over it for the lines,
 * or call `summary` to skip them. It must be read: the server stops taking rows while nobody reads
 * its report.
 */
export class Report<Line, Summary> implements AsyncIterable<Line> {
  readonly #lines: AsyncGenerator<string, void, void>;
  #summary: Summary | undefined;

  /** @internal */
  constructor(response: ApiResponse) {
    this.#lines = readLines(response.chunks());
  }

  /**
   * The lines of the report, each once.
   * @throws ApiError if the server had to stop early; its `problem.summary` counts what was
   *   written before and stays. ConnectionError if the report breaks off.
   */
  async* [Symbol.asyncIterator](): AsyncGenerator<Line, void, void> {
    for await (const text of this.#lines) {
      const { summary, problem, ...line } = parseObject(text);
      // The casts: a line of the server is a problem, a summary or a row. Most rows have no text.
      if (problem !== undefined) throw createApiError(toProblem(problem));
      if (summary !== undefined) this.#summary = spellTexts(summary) as Summary;
      else yield ('errors' in line ? spellTexts(line) : line) as Awaited<Line>;
    }
    if (this.#summary === undefined) {
      const text = 'The connection broke before the end. What was written stays: send it again.';
      throw new ConnectionError(text);
    }
  }

  /**
   * Reads the rest of the report, and returns its summary.
   * @throws ApiError and ConnectionError, as iterating does
   * @example
   * ```ts
   * const report = await client.products.import([{ sku: 'MUG-1', stock: 7 }]);
   * const { updated } = await report.summary();
   * console.log(updated); // 1
   * ```
   */
  async summary(): Promise<Summary> {
    for await (const _ of this);
    if (this.#summary !== undefined) return this.#summary;
    throw new ConnectionError('This report was not read to its end.');
  }
}

/** A line or a summary whose texts for people name options as the client does. */
function spellTexts(members: unknown): object {
  // The cast: any value can be copied, and its members stay unknown.
  const { errors, advice, notes, ...others } = members as Record<string, unknown>;
  return {
    ...others,
    ...(Array.isArray(errors) && { errors: errors.map(spellIssue) }),
    ...(typeof advice === 'string' && { advice: spellOptions(advice) }),
    ...(Array.isArray(notes) && { notes: notes.map((note) => spellOptions(`${note}`)) }),
  };
}
