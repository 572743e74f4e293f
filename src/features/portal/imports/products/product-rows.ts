/**
 * Reads the rows of an uploaded file into the catalogue or a dry run, and counts them. A dry run
 * keeps the first rows of each kind for the preview, within limits.
 */
import { completeProduct, findSku, type ProductRow } from '../../../../domain/catalogue/product.ts';
import type { NewProduct } from '../../../../domain/catalogue/product-fields.ts';
import type { ImportNotes } from '../../../../domain/catalogue/import.ts';
import type { SellerId } from '../../../../domain/id.ts';
import { SKU_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import { copyText } from '../../../../domain/text.ts';
import type { ImportedProducts } from '../../../../store/catalogue-store.ts';
import type { Store } from '../../../../store/store.ts';
import { type BatchTarget, writeBatches } from '../../../../transfer/batches.ts';
import { type CommonCause, RejectionCauses } from '../../../../transfer/import-advice.ts';
import { RowNotes } from '../../../../transfer/import-notes.ts';
import type { ImportRow, RowReader } from '../../../../transfer/import-row.ts';
import { formatRowErrors } from '../../../../transfer/rejected-rows.ts';
import type { DuplicateRows } from '../../../imports/duplicate-rows.ts';
import { readOutcomes, startCounts } from '../../../imports/import-target.ts';
import { PREVIEW_ROWS_LIMIT, PREVIEW_ROWS_SHOWN } from '../../limits.ts';
import { type FileProgress, startFileProgress } from '../job-kind.ts';

type RowOutcomes = ReturnType<typeof readOutcomes>;

/** Counts rows, those without a product included; `readRows` updates it. */
export interface RowProgress extends FileProgress<ReturnType<typeof startCounts>> {
  /** Rows that override an earlier one, and the first of them. */
  duplicates: Pick<DuplicateRows, 'count' | 'first'>;
  commonCause: CommonCause | undefined;
  notes: ImportNotes;
}

export function startRowProgress(): RowProgress {
  return {
    ...startFileProgress(startCounts()), duplicates: { count: 0, first: [] },
    commonCause: undefined, notes: {},
  };
}

/**
 * Writes a file's rows to a target and yields their outcomes, batch by batch.
 * @throws AppError `invalid_data` if the file as a whole is invalid
 */
export async function* readRows(
  reader: RowReader, chunks: AsyncIterable<Buffer>, duplicates: DuplicateRows,
  target: BatchTarget<ImportRow, ImportedProducts>, progress: RowProgress,
): AsyncGenerator<RowOutcomes, void, void> {
  const causes = new RejectionCauses();
  const notes = new RowNotes(reader);
  const slices = duplicates.find(reader, countBytes(chunks, progress));
  for await (const batch of writeBatches({ slices, target })) {
    const outcomes = readOutcomes(batch);
    progress.ignoredColumns = reader.ignoredColumns;
    progress.importId ??= batch.written?.importId;
    for (const outcome of outcomes) {
      const { status, errors } = outcome;
      progress.counts[status] += 1;
      duplicates.add(outcome);
      notes.add(outcome);
      if (errors) causes.add(errors);
    }
    progress.duplicates = { count: duplicates.count, first: duplicates.first };
    progress.commonCause = causes.findCommon();
    notes.addUnknownIds(batch.written?.unknownIds);
    progress.notes = notes.members;
    progress.fileNotes = reader.notes;
    progress.processed += outcomes.length;
    yield outcomes;
  }
}

/** Counts a chunk when the reader asks for the next one. */
export async function* countBytes(
  chunks: AsyncIterable<Buffer>, progress: { readBytes: number },
): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of chunks) {
    yield chunk;
    progress.readBytes += chunk.length;
  }
}

/** A row that would be rejected. */
export interface RejectedLine {
  readonly line: number;
  readonly sku: string | undefined;
  readonly reason: string;
}

/** The result of a dry run: the first rows of each kind. */
export interface DryRun {
  /** Products that would be updated. */
  readonly differences: readonly {
    readonly line: number; readonly before: NewProduct; readonly after: NewProduct;
  }[];
  readonly rejected: readonly RejectedLine[];
  /** Whether all rows were evaluated. */
  readonly isComplete: boolean;
}

/** Reads a dry run's outcomes up to the preview limit, or until it is aborted. */
export async function previewRows(
  batches: AsyncIterable<RowOutcomes>, store: Store, sellerId: SellerId, signal: AbortSignal,
): Promise<DryRun> {
  const differences = new Map<string, DryRun['differences'][number]>();
  const rejected: DryRun['rejected'][number][] = [];
  let [rows, isComplete] = [0, true];
  for await (const outcomes of batches) {
    for (const { line, sku, status, errors, content } of outcomes) {
      if (errors && rejected.length < PREVIEW_ROWS_SHOWN) {
        const shortSku = sku?.slice(0, SKU_LIMIT_CODE_POINTS);
        const reason = formatRowErrors(errors);
        rejected.push({ line, sku: shortSku && copyText(shortSku), reason });
      }
      // As read, or of the product that the barcode names.
      const name = status === 'updated' ? findSku(sku ?? '') : undefined;
      // A product's second row would be compared with the first row's result, which is not stored.
      if (!name || differences.has(name) || differences.size === PREVIEW_ROWS_SHOWN) continue;
      const before = await store.findProduct(sellerId, { sku: name });
      const after = completeUpdate(content?.product, before);
      if (!before || !after) continue;
      differences.set(copyText(name), { line, before, after: copyTexts(after) });
    }
    rows += outcomes.length;
    isComplete = rows < PREVIEW_ROWS_LIMIT && !signal.aborted;
    if (!isComplete) break;
  }
  return { differences: [...differences.values()], rejected, isComplete };
}

function completeUpdate(
  row: ProductRow | undefined, before: NewProduct | undefined,
): NewProduct | undefined {
  return row && before && completeProduct(row, before);
}

/** A row's texts are slices, which would keep the whole chunk in memory. */
function copyTexts(product: NewProduct): NewProduct {
  const copies = Object.entries(product).map(([member, value]: [string, unknown]) =>
    [member, typeof value === 'string' ? copyText(value) : value]);
  return Object.fromEntries(copies) as NewProduct; // the same values
}
