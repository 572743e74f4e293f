/**
 * Files to send: their format, by `--format`, the file extension or the first bytes, how they are
 * read, and how their rows are counted.
 */
import { once } from 'node:events';
import { createReadStream, statSync } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import { type CsvOptions, RowCounter } from '../../client/lines.ts';
import { isWorkbookStart } from '../../transfer/foreign-file.ts';
import { DECIMAL_MARKS } from '../../transfer/numbers.ts';
import { SKU_SOURCES } from '../../transfer/sku-source.ts';
import { CommandFailure, type CommandIo, type Input, UsageError } from '../command.ts';

/** A workbook is sent like CSV: its first bytes say what it is. */
type TextFormat = 'csv' | 'ndjson';

interface FileFormat {
  readonly format: TextFormat;
  /** Whether it is a gzip file. */
  readonly isCompressed: boolean;
}

export interface SourceFile extends FileFormat {
  /** `-` for standard input. */
  readonly path: string;
  /** Undefined if it can be read only once. */
  readonly sizeBytes: number | undefined;
  /** Whether it has rows in lines of text, which can be counted while it is sent. */
  readonly hasLines: boolean;
  /** Its bytes. */
  readonly open: () => Readable;
}

const FORMATS: Readonly<Record<string, TextFormat>> = {
  csv: 'csv', tsv: 'csv', txt: 'csv', ndjson: 'ndjson', jsonl: 'ndjson',
};
const EXTENSION = /\.(?:(csv|tsv|txt|xlsx|ndjson|jsonl)(?:\.gz)?|gz)$/i;

/** The first bytes of a gzip file (RFC 1952, section 2.3.1). */
const GZIP = Buffer.from([0x1f, 0x8b]);
/** Read to recognize a format. Decompressed, they have at most 1,032 times this size. */
const START_BYTES = 4_096;

export const FORMAT_FLAG = {
  choices: ['csv', 'ndjson'],
  help: 'format of the file (default: by its extension, or its content)',
} as const;

export const CSV_FLAGS = {
  encoding: {
    value: 'NAME', help: 'encoding of a CSV file that is not Unicode, such as windows-1252',
  },
  decimal: {
    choices: DECIMAL_MARKS,
    help: 'what separates decimals, so that 1.200 is either 1.2 or 1200',
  },
  'short-rows': {
    choices: ['reject', 'blank'],
    help: 'rows with fewer cells than the header: reject them (default), or read blank cells',
  },
  'sku-from': {
    choices: SKU_SOURCES, help: 'make the SKUs of Shopify variants that have none',
  },
  sheet: { value: 'NAME', help: 'sheet of a workbook (default: the first that is not hidden)' },
};

export function readCsvOptions(flags: Input['flags']): CsvOptions {
  const { encoding, decimal, sheet, 'short-rows': shortRows, 'sku-from': skuFrom } = flags;
  return { encoding, sheet, decimal, shortRows, skuFrom } as CsvOptions; // the server checks them
}

/** The file does not exist, or cannot be read. */
export class UnreadableFile extends CommandFailure {
  override readonly name = 'UnreadableFile';
}

/** The format of a file of this name. @throws UsageError */
export function findFormat(path: string, flag: string | undefined): FileFormat {
  // The cast: these are the choices of the flag.
  const format = flag as TextFormat | undefined ?? requireFormat(path);
  return { format, isCompressed: /\.gz$/i.test(path) };
}

/** Whether the name says that it has rows: CSV, a workbook or NDJSON. */
export function isRowsFile(path: string): boolean {
  return EXTENSION.exec(path)?.[1] !== undefined;
}

/** The format of the file extension; undefined for a workbook, which is recognised by content. */
function findFormatByName(path: string): TextFormat | undefined {
  return FORMATS[EXTENSION.exec(path)?.[1]?.toLowerCase() ?? ''];
}

function requireFormat(path: string): TextFormat {
  const format = findFormatByName(path);
  if (format) return format;
  throw new UsageError(`Give the format of ${nameFile(path)}: --format csv or --format ndjson.`);
}

/** @throws UsageError, UnreadableFile */
function rejectUnknown(path: string): TextFormat {
  if (!isRowsFile(path)) return requireFormat(path);
  throw new UnreadableFile(`${path} is not a workbook, or it is damaged. Save it again as .xlsx.`);
}

/** The name of a file in messages. */
export function nameFile(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** The path without the extensions of a format. */
export function withoutExtension(path: string): string {
  return path.replace(EXTENSION, '');
}

/** @throws UsageError, UnreadableFile */
export async function openSource(
  path: string, formatFlag: string | undefined, io: CommandIo,
): Promise<SourceFile> {
  const file = path === '-' ? undefined : statSync(path, { throwIfNoEntry: false });
  if (path !== '-' && !file) throw new UnreadableFile(`There is no file ${path}.`);
  if (file?.isDirectory()) throw new UnreadableFile(`${path} is a folder. Name a file in it.`);
  try {
    // Other files, such as named pipes, can be read only once.
    const start = path === '-' ? await peek(io.stdin)
      : file?.isFile() ? await readStart(path) : Buffer.of();
    const isGzip = start.subarray(0, GZIP.length).equals(GZIP);
    // The rest of the compressed text is missing.
    const text = isGzip ? gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH }) : start;
    return {
      path,
      open: () => (path === '-' ? io.stdin : createReadStream(path)),
      sizeBytes: file?.isFile() ? file.size : undefined,
      isCompressed: isGzip || /\.gz$/i.test(path),
      hasLines: !isWorkbookStart(text),
      // The cast: these are the choices of the flag.
      format: formatFlag as TextFormat | undefined
        ?? findFormatByName(path) ?? recognize(text) ?? rejectUnknown(path),
    };
  } catch (error) {
    throw explainUnreadable(path, error);
  }
}

/** NDJSON begins with a brace; undefined for an empty file, or one that is no text. */
function recognize(start: Buffer): TextFormat | undefined {
  if (isWorkbookStart(start)) return 'csv';
  const text = start.toString('latin1').replace(/^\xef\xbb\xbf/, '').trimStart();
  if (text === '' || text.includes('\0')) return undefined;
  return text.startsWith('{') ? 'ndjson' : 'csv';
}

async function readStart(path: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(createReadStream(path, { end: START_BYTES - 1 })));
}

/** The first bytes of standard input, which stay to be read. */
async function peek(stdin: CommandIo['stdin']): Promise<Buffer> {
  await once(stdin, 'readable');
  // The cast: without an encoding, a stream has buffers.
  const chunk = stdin.read() as Buffer | null;
  if (!chunk) return Buffer.alloc(0);
  stdin.unshift(chunk);
  return chunk.subarray(0, START_BYTES);
}

function explainUnreadable(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof UsageError) return error;
  return new UnreadableFile(`${nameFile(path)} cannot be read: ${error.message}.`);
}

/**
 * Reads the bytes without decompressing them, and reports the rows and bytes read so far.
 * @throws UnreadableFile
 */
export async function* readSource(
  source: SourceFile, onRead: (rows: number | undefined, bytes: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  const counter = new RowCounter(source.format);
  const count = !source.hasLines ? () => {}
    : source.isCompressed ? makeInflater(counter) : (chunk: Buffer) => counter.add(chunk);
  let bytes = 0;
  try {
    const chunks: AsyncIterable<Buffer> = source.open();
    for await (const chunk of chunks) {
      await count(chunk);
      bytes += chunk.length;
      onRead(source.hasLines ? counter.rows : undefined, bytes);
      yield chunk;
    }
  } catch (error) {
    throw explainUnreadable(source.path, error);
  }
}

/** Reads the decompressed text of a file. */
export function openText(source: SourceFile): AsyncIterable<Buffer> {
  const bytes = source.open();
  // Errors of the file are forwarded to the decoder, and thrown to its reader.
  return source.isCompressed ? pipeline(bytes, createGunzip(), () => {}) : bytes;
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
