/** How a file of rows is written, as far as its sender must say so, and how it is opened. */
import type { CsvReaderOptions, CsvRecord } from './csv-reader.ts';
import type { DecimalMark } from './numbers.ts';
import type { SkuSource } from './sku-source.ts';

export interface FileOptions extends Pick<CsvReaderOptions, 'encoding' | 'shortRows'> {
  /** What separates decimals. Default: what the cells of a column say. */
  readonly decimal?: DecimalMark | undefined;
  /** What makes the SKUs of rows without one. Default: such rows are rejected. */
  readonly skuFrom?: SkuSource | undefined;
  /** The sheet of a workbook, in any case. Default: the first one that is not hidden. */
  readonly sheet?: string | undefined;
  /** Keeps the file of a workbook while it is read. Without it, workbooks are rejected. */
  readonly spool?: Spool | undefined;
}

/** A file that is read at any offset. */
export interface SeekableFile {
  readonly sizeBytes: number;
  /** Reads these bytes, or fewer if the file ends before. */
  readAt(offset: number, lengthBytes: number): Promise<Buffer>;
}

/**
 * Stores a file of up to this size; `close` releases its disk space.
 * @throws AppError `body_too_large` with this remedy, `storage_full`
 */
export type Spool = (
  chunks: AsyncIterable<Uint8Array>, limitBytes: number, remedy: string,
) => Promise<SeekableFile & { close(): Promise<void> }>;

/**
 * Opens a sheet of a workbook.
 * @throws AppError `invalid_data` if the file cannot be read, `invalid_query` without that sheet
 */
export type OpenWorkbook = (
  file: SeekableFile,
  options: Pick<FileOptions, 'sheet'> & Pick<CsvReaderOptions, 'countMembers'>,
) => Promise<OpenedSheet>;

export interface OpenedSheet {
  /** Yields the records: first the header with the records of the head. */
  read(): AsyncGenerator<readonly CsvRecord[], void, void>;
  /** Sentences for the summary; complete once all records were read. */
  readonly notes: readonly string[];
}
