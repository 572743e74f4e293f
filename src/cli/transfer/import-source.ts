/** What is imported: a file, which can be read again, or a pipe, which cannot. */
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CommandFailure } from '../command.ts';
import { type FileFormat, findFormat, nameFile, RowCounter } from './text-format.ts';

export interface ImportSource extends FileFormat {
  /** `-` for standard input. */
  readonly path: string;
  /** Undefined for what can be read only once. */
  readonly sizeBytes: number | undefined;
}

/** @throws UsageError; the error of the system where there is no such file */
export function openSource(path: string, formatFlag: string | undefined): ImportSource {
  const format = findFormat(path, formatFlag);
  const file = path === '-' ? undefined : statSync(path);
  return { ...format, path, sizeBytes: file?.isFile() ? file.size : undefined };
}

/**
 * The bytes as they are, compressed or not; `onRead` is told how many rows and bytes were read.
 * @throws CommandFailure
 */
export async function* readSource(
  source: ImportSource, onRead: (rows: number, bytes: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  const counter = new RowCounter(source.format);
  const count = source.isCompressed ? makeInflater(counter) : undefined;
  let bytes = 0;
  try {
    const chunks: AsyncIterable<Buffer> = openBytes(source);
    for await (const chunk of chunks) {
      if (count) await count(chunk);
      else counter.add(chunk);
      bytes += chunk.length;
      onRead(counter.rows, bytes);
      yield chunk;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandFailure(`${nameFile(source.path)} cannot be read: ${error.message}.`);
  }
}

/** The text of a file, a second time. */
export function openText(source: ImportSource): AsyncIterable<Buffer> {
  const bytes = openBytes(source);
  // What goes wrong in the file goes on to the decoder, whose reader hears of it.
  return source.isCompressed ? pipeline(bytes, createGunzip(), () => {}) : bytes;
}

function openBytes({ path }: ImportSource): NodeJS.ReadableStream & AsyncIterable<Buffer> {
  return path === '-' ? process.stdin : createReadStream(path);
}

/** Decompresses beside the sending, to count the rows: resolves when a chunk has been counted. */
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
