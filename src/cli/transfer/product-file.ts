/**
 * Product files: their format, given by `--format` or the file extension, how an import reads them,
 * and how their rows are counted.
 */
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CommandFailure, UsageError } from '../command.ts';

type TextFormat = 'csv' | 'ndjson';

interface FileFormat {
  readonly format: TextFormat;
  /** Whether it is a gzip file. */
  readonly isCompressed: boolean;
}

export interface ImportSource extends FileFormat {
  /** `-` for standard input. */
  readonly path: string;
  /** Undefined if it can be read only once. */
  readonly sizeBytes: number | undefined;
}

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const FORMATS: Readonly<Record<string, TextFormat>> = {
  csv: 'csv', tsv: 'csv', txt: 'csv', ndjson: 'ndjson', jsonl: 'ndjson',
};
const EXTENSION = /\.(?:(csv|tsv|txt|ndjson|jsonl)(?:\.gz)?|gz)$/i;

export const FORMAT_FLAG = {
  value: 'csv|ndjson', help: 'format of the file (default: by its extension)',
};

/** The format of a file of this name. @throws UsageError */
export function findFormat(path: string, flag: string | undefined): FileFormat {
  if (flag !== undefined && flag !== 'csv' && flag !== 'ndjson') {
    throw new UsageError(`--format must be csv or ndjson, not "${flag}".`);
  }
  const format = flag ?? FORMATS[EXTENSION.exec(path)?.[1]?.toLowerCase() ?? ''];
  if (format) return { format, isCompressed: /\.gz$/i.test(path) };
  throw new UsageError(`Give the format of ${nameFile(path)}: --format csv or --format ndjson.`);
}

/** The name of a file in messages. */
export function nameFile(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** The path without the extensions of a format. */
export function withoutExtension(path: string): string {
  return path.replace(EXTENSION, '');
}

/** @throws UsageError; CommandFailure if there is no such file */
export function openSource(path: string, formatFlag: string | undefined): ImportSource {
  const format = findFormat(path, formatFlag);
  const file = path === '-' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (path !== '-' && !file) throw new CommandFailure(`There is no file ${path}.`);
  return { ...format, path, sizeBytes: file?.isFile() ? file.size : undefined };
}

/**
 * Reads the bytes without decompressing them, and reports the rows and bytes read so far.
 * @throws CommandFailure
 */
export async function* readSource(
  source: ImportSource, onRead: (rows: number, bytes: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  const counter = new RowCounter(source.format);
  const count = source.isCompressed ? makeInflater(counter) : (chunk: Buffer) => counter.add(chunk);
  let bytes = 0;
  try {
    const chunks: AsyncIterable<Buffer> = openBytes(source);
    for await (const chunk of chunks) {
      await count(chunk);
      bytes += chunk.length;
      onRead(counter.rows, bytes);
      yield chunk;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandFailure(`${nameFile(source.path)} cannot be read: ${error.message}.`);
  }
}

/** Reads the decompressed text of a file. */
export function openText(source: ImportSource): AsyncIterable<Buffer> {
  const bytes = openBytes(source);
  // Errors of the file are forwarded to the decoder, and thrown to its reader.
  return source.isCompressed ? pipeline(bytes, createGunzip(), () => {}) : bytes;
}

function openBytes({ path }: ImportSource): NodeJS.ReadableStream & AsyncIterable<Buffer> {
  return path === '-' ? process.stdin : createReadStream(path);
}

/** Decompresses chunks only to count their rows; resolves when a chunk is counted. */
function makeInflater(counter: RowCounter): (chunk: Buffer) => Promise<void> {
  const inflate = createGunzip();
  inflate.on('data', (chunk: Buffer) => counter.add(chunk));
  return (chunk) => new Promise((resolve, reject) => {
    inflate.once('error', reject);
    inflate.write(chunk, () => {
      inflate.off('error', reject);
      resolve();
    });
  });
}

/**
 * Counts rows by line feeds. In CSV, the header and line feeds inside quotes do not count (a
 * doubled quote closes and reopens).
 */
export class RowCounter {
  readonly #isCsv: boolean;
  #isQuoted = false;
  #lines = 0;

  constructor(format: TextFormat) {
    this.#isCsv = format === 'csv';
  }

  get rows(): number {
    return this.#isCsv ? Math.max(0, this.#lines - 1) : this.#lines;
  }

  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (byte === QUOTE && this.#isCsv) this.#isQuoted = !this.#isQuoted;
      else if (byte === LINE_FEED && !this.#isQuoted) this.#lines += 1;
    }
  }
}
