/** Takes the rows of an uploaded file to a target, and keeps count of them while it does. */
import { readOutcomes, startCounts } from '../../imports/import-target.ts';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { ImportMode, ImportedProducts } from '../../../store/store.ts';
import type { ColumnMap, Defaults } from '../../../transfer/columns.ts';
import { CsvRows, type CsvSettings } from '../../../transfer/csv-rows.ts';
import { RejectionCauses } from '../../../transfer/import-advice.ts';
import type { ImportRow, RowReader } from '../../../transfer/import-row.ts';
import { NdjsonRows } from '../../../transfer/ndjson.ts';
import { type BatchTarget, writeBatches } from '../../../transfer/batches.ts';
import type { FileHead } from './file-head.ts';
import type { TemporaryFile } from './temporary-file.ts';

/** How a seller wants a file to be imported. */
export interface ImportSettings {
  readonly mode: ImportMode;
  /** Both are for CSV. */
  readonly map: ColumnMap;
  readonly defaults: Defaults;
}

export function toCsvSettings({ mode, map, defaults }: ImportSettings): CsvSettings {
  return { map, defaults, isPartial: mode === 'upsert' };
}

/** An uploaded file, and how its rows are to be read. */
export interface RowFile {
  readonly file: TemporaryFile;
  readonly format: FileHead['format'];
  readonly settings: ImportSettings;
  readonly currency: Currency;
}

/** How far it is, and what became of the rows so far. */
export type RowCounts = Readonly<ReturnType<typeof startCounts>>;

export class RowProgress {
  readonly sizeBytes: number;
  readonly #counts = startCounts();
  /** Why rows were rejected so far. */
  readonly causes = new RejectionCauses();
  #ignoredColumns: readonly string[] = [];
  #readBytes = 0;
  #rows = 0;

  constructor(sizeBytes: number) {
    this.sizeBytes = sizeBytes;
  }

  get readBytes(): number {
    return this.#readBytes;
  }

  /** Those that hold no product among them. */
  get rows(): number {
    return this.#rows;
  }

  get counts(): RowCounts {
    return this.#counts;
  }

  /** Ignored columns; known once the first rows are read. */
  get ignoredColumns(): readonly string[] {
    return this.#ignoredColumns;
  }

  /**
   * What became of the rows, unit by unit.
   * @throws AppError `invalid_data` where the file as a whole is faulty
   */
  async *take(
    { file, format, settings, currency }: RowFile,
    target: BatchTarget<ImportRow, ImportedProducts>,
  ): AsyncGenerator<ReturnType<typeof readOutcomes>, void, void> {
    const reader: RowReader = format === 'ndjson'
      ? new NdjsonRows(currency) : new CsvRows(currency, toCsvSettings(settings));
    const slices = reader.read(this.#watch(file.read()));
    for await (const unit of writeBatches({ slices, target })) {
      const outcomes = readOutcomes(unit);
      this.#ignoredColumns = reader.ignoredColumns;
      for (const { status, errors } of outcomes) {
        this.#counts[status] += 1;
        if (errors) this.causes.add(errors);
      }
      this.#rows += outcomes.length;
      yield outcomes;
    }
  }

  async *#watch(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
    for await (const chunk of chunks) {
      yield chunk;
      this.#readBytes += chunk.length; // now its reader asks for more
    }
  }
}
