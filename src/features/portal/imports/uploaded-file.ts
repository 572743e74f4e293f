/**
 * Uploaded files. `guardUpload` ends uploads that are too slow or whose session has ended.
 * `readFileHead` detects NDJSON, CSV and workbooks by content, not by file name. Other common file
 * types are rejected with a specific message.
 */
import { REAUTHORIZE_INTERVAL_MS } from '../../../api/limits.ts';
import { AppError } from '../../../domain/error.ts';
import { copyText } from '../../../domain/text.ts';
import { reauthorizeAtInterval } from '../../../http/response/guarded-stream.ts';
import type {
  ImportFile, ImportJobKey, ImportJobStore,
} from '../../../store/nodes/import-job-store.ts';
import { findUntrusted } from '../../../transfer/column-names.ts';
import { countMembers, recognizeContent } from '../../../transfer/columns.ts';
import type { CsvRecord } from '../../../transfer/csv-reader.ts';
import { RejectedRows } from '../../../transfer/rejected-rows.ts';
import { countStockMembers } from '../../../transfer/stock-columns.ts';
import { TableReader } from '../../../transfer/table-reader.ts';
import { TemporaryFile } from '../../../store/temporary/temporary-file.ts';
import { type CsvSettings, toFields, toFileOptions, type UploadOptions } from './csv-fields.ts';
import {
  EXAMPLE_LIMIT_CHARACTERS, EXAMPLE_ROWS, REJECTED_ROWS_LIMIT_BYTES, UPLOAD_GRACE_MS,
  UPLOAD_MIN_RATE_BYTES_PER_SECOND,
} from '../limits.ts';

/** What the pages show of a file: plain data. */
export interface FileDescription {
  /** File name to display. */
  readonly name: string;
  readonly head: FileHead;
  readonly sizeBytes: number;
  /** Undefined until the import starts. */
  readonly rejected?: RejectedDescription | undefined;
}

interface RejectedDescription {
  /** Undefined if nothing was written: no row was rejected, or the disk is full. */
  readonly sizeBytes: number | undefined;
  /** Whether it has all rejected rows. */
  readonly isComplete: boolean;
  /** Whether some are only right in the whole file. */
  readonly hasParts?: boolean;
}

/** A row of the file that was not imported. */
export interface RejectedRow {
  readonly line: number;
  readonly reason: string;
}

/** An import, and how it reads the file. */
interface FileTask {
  readonly kind: FileHead['kind'];
  readonly settings: CsvSettings & {
    readonly map: readonly (readonly [member: string, column: string])[];
    readonly duplicates?: string | undefined;
  };
}

/** Where the files of a job are. */
interface JobFiles {
  readonly key: ImportJobKey;
  readonly store: Pick<ImportJobStore, 'createFile' | 'openFile'>;
}

/** A file, and its rejected rows once it is imported. */
export class UploadedFile {
  /** File name to display. */
  readonly name: string;
  readonly file: ImportFile;
  readonly head: FileHead;
  readonly #files: JobFiles;
  #rejected: RejectedDescription | undefined;
  #collected: RejectedRows<ImportFile> | undefined;

  /** Opens a file that was received, by this node or another one. */
  constructor({ name, head, sizeBytes, rejected }: FileDescription, files: JobFiles) {
    this.name = name;
    this.file = files.store.openFile(files.key, 'upload', sizeBytes);
    this.head = head;
    this.#files = files;
    this.#rejected = rejected;
  }

  get description(): FileDescription {
    const { name, head, file: { sizeBytes } } = this;
    return { name, head, sizeBytes, rejected: this.rejected };
  }

  /** Undefined until the import starts. */
  get rejected(): RejectedDescription | undefined {
    if (!this.#collected) return this.#rejected;
    const { isComplete, hasParts, file } = this.#collected;
    return { isComplete, hasParts, sizeBytes: file?.sizeBytes };
  }

  /** Reads the rejected rows; undefined if there is no file of them. */
  openRejected(): ImportFile | undefined {
    const { key, store } = this.#files;
    const sizeBytes = this.rejected?.sizeBytes;
    return sizeBytes === undefined ? undefined : store.openFile(key, 'rejected', sizeBytes);
  }

  /**
   * Collects the rejected rows of each batch until the run is aborted, and ends the file. Returns
   * whether all batches were written.
   */
  async collectRejected(
    { kind, settings }: FileTask, batches: AsyncIterable<readonly RejectedRow[]>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { key, store } = this.#files;
    const collected = this.#collected = new RejectedRows({
      source: {
        ...toFileOptions(settings, this.head), format: this.head.format, content: kind,
        map: new Map(settings.map), duplicates: settings.duplicates, open: () => this.file.read(),
      },
      create: () => store.createFile(key, 'rejected'),
      limitBytes: REJECTED_ROWS_LIMIT_BYTES,
    });
    try {
      for await (const rows of batches) {
        for (const { line, reason } of rows) await collected.add(line, toFields(reason));
        if (signal.aborted) return false;
      }
      return true;
    } finally {
      await this.end();
    }
  }

  /** Notes that the node that collected the rejected rows did not complete them. */
  noteIncomplete(): void {
    this.#rejected = { sizeBytes: undefined, ...this.rejected, isComplete: false };
  }

  /** Completes the rejected rows, and deletes the file itself. */
  async end(): Promise<void> {
    await this.#collected?.end();
    await this.file.close();
  }
}

export interface FileHead extends UploadOptions {
  readonly format: 'csv' | 'ndjson';
  /** What the file seems to be. The seller may decide otherwise. */
  readonly kind: 'products' | 'stock';
  /** Sentences about how it was read. */
  readonly notes?: readonly string[];
  /** Column names; none in NDJSON. */
  readonly header: readonly string[];
  /** Columns that are not what their names say, by their index from 0. */
  readonly untrusted?: readonly number[];
  /** Cells of the first rows, shortened. */
  readonly examples: readonly (readonly string[])[];
}

/**
 * Passes on an upload's chunks, and reauthorizes at an interval and after the last one. The HTTP
 * server itself ends uploads that send nothing.
 * @throws AppError `request_timeout`, and errors of `reauthorize`
 */
export async function* guardUpload(
  content: AsyncIterable<Buffer>, reauthorize: () => Promise<void>,
  now = () => performance.now(),
): AsyncGenerator<Buffer, void, void> {
  const reauthorization = reauthorizeAtInterval(reauthorize, REAUTHORIZE_INTERVAL_MS, now);
  const startedAt = now();
  let readBytes = 0;
  for await (const chunk of content) {
    readBytes += chunk.length;
    const dueAt = startedAt + UPLOAD_GRACE_MS + readBytes / UPLOAD_MIN_RATE_BYTES_PER_SECOND * 1000;
    if (now() > dueAt) {
      throw new AppError('request_timeout', 'The upload was too slow. The file was not kept.');
    }
    if (reauthorization.isDue()) await reauthorization.run();
    yield chunk;
  }
  await reauthorization.run();
}

/** @param open Reads the file from its beginning. @throws AppError `invalid_data` */
export async function readFileHead(
  open: () => AsyncIterable<Buffer>, options: UploadOptions = {},
): Promise<FileHead> {
  for await (const chunk of open()) {
    // A JSON object: no column name starts with a brace.
    const text = chunk.toString();
    if (/^\uFEFF?\s*\{/.test(text)) {
      return { format: 'ndjson', kind: recognizeObject(text), header: [], examples: [] };
    }
    break;
  }
  const { header, sample, examples, notes } = await readRecords(open(), options);
  if (!header) throw new AppError('invalid_data', 'The file is empty.');
  const untrusted = findUntrusted(header.cells, sample.map(({ cells }) => cells));
  return {
    format: 'csv', ...options, ...(notes.length > 0 && { notes }),
    kind: recognizeContent(header.cells, untrusted) === 'stock' ? 'stock' : 'products',
    header: header.cells.map(copyText), ...(untrusted.length > 0 && { untrusted }),
    examples: examples.map(({ cells }) =>
      cells.map((cell) => copyText(cell.slice(0, EXAMPLE_LIMIT_CHARACTERS)))),
  };
}

/** Only stock changes have these members; a product has `stock`. */
function recognizeObject(text: string): FileHead['kind'] {
  const [line = ''] = text.replace(/^\uFEFF?\s+/, '').split('\n', 1);
  return /"(?:set|adjust)"\s*:/.test(line) && !/"(?:name|price)"\s*:/.test(line)
    ? 'stock' : 'products';
}

/**
 * The header, the records by which an import recognises columns, and the example rows. With a
 * chosen encoding, these show what depends on it.
 */
async function readRecords(
  chunks: AsyncIterable<Buffer>, options: UploadOptions,
): Promise<{
  readonly header: CsvRecord | undefined;
  readonly sample: readonly CsvRecord[];
  readonly examples: readonly CsvRecord[];
  readonly notes: readonly string[];
}> {
  const first: CsvRecord[] = [];
  let sample: readonly CsvRecord[] | undefined;
  const reader = new TableReader({
    ...options, spool: TemporaryFile.spool,
    countMembers: (names) =>
      Math.max(countMembers(names, new Map()), countStockMembers(names, new Map())),
  });
  try {
    for await (const records of reader.read(chunks)) {
      first.push(...records);
      if (records.length > 0) sample ??= records.slice(1);
      if (first.length > EXAMPLE_ROWS) break;
    }
  } catch (error) {
    // Errors after the header are left to the dry run, which reports them with their line.
    if (first.length === 0) throw error;
  }
  const [header, ...rows] = first;
  const affected = options.encoding === undefined ? []
    : rows.filter(({ text }) => /[^\0-\x7f]/.test(text));
  const examples = [...new Set([...affected, ...rows])].slice(0, EXAMPLE_ROWS);
  return { header, sample: sample ?? [], examples, notes: reader.notes };
}
