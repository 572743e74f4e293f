/**
 * Reads the rows of an uploaded stock file into the catalogue or a dry run, and counts them. A dry
 * run keeps the first rows of each kind for the preview, within limits.
 */
import { isIdUnknown } from '../../../../api/stock/stock-result.ts';
import type { WrittenStock } from '../../../../api/stock/stock-targets.ts';
import { AppError } from '../../../../domain/error.ts';
import {
  describeInvalid, explainFailure, isFailure, isMismatch, type StockResult,
} from '../../../../domain/catalogue/stock-change.ts';
import type { SellerId } from '../../../../domain/id.ts';
import { SKU_LIMIT_CODE_POINTS } from '../../../../domain/limits.ts';
import { copyText } from '../../../../domain/text.ts';
import { type BatchTarget, writeBatches } from '../../../../transfer/batches.ts';
import { formatRowErrors } from '../../../../transfer/rejected-rows.ts';
import type { StockReader, StockRow } from '../../../../transfer/stock-rows.ts';
import { PREVIEW_ROWS_SHOWN } from '../../limits.ts';
import { type FileProgress, startFileProgress } from '../job-kind.ts';
import type { DryRun, RejectedLine } from '../products/product-rows.ts';

function startStockCounts() {
  return {
    /** Rows of products that the seller has. */
    matched: 0,
    applied: 0,
    unchanged: 0,
    /** Rejected rows, `unknown` ones included. */
    failed: 0,
    /** Rows of products that the seller does not have. */
    unknown: 0,
    /** Products that a stocktake set to 0. */
    zeroed: 0,
  };
}

/** Counts the rows of the file; `readStockRows` updates it. */
export interface StockProgress extends FileProgress<ReturnType<typeof startStockCounts>> {
  /** Rows with a SKU, and an id that no product has. */
  unknownIds: number;
}

export function startStockProgress(): StockProgress {
  return { ...startFileProgress(startStockCounts()), unknownIds: 0 };
}

/** A row and its outcome. */
interface StockOutcome {
  readonly line: number;
  /** The SKU of the product, or what the row names it by; undefined if it names none. */
  readonly product: string | undefined;
  readonly result: StockResult;
  /** Why the row was rejected; undefined if it was not. */
  readonly reason: string | undefined;
}

/** A batch of rows, or of products that a stocktake sets to 0. */
interface StockBatch {
  readonly outcomes: readonly StockOutcome[];
  readonly zeroed: readonly StockResult[];
}

/**
 * Writes a file's rows to a target and yields their outcomes, batch by batch.
 * @throws AppError `invalid_data` if the file as a whole is invalid
 */
export async function* readStockRows(
  reader: Pick<StockReader, 'ignoredColumns' | 'notes'>,
  slices: AsyncIterable<readonly StockRow[]>, target: BatchTarget<StockRow, WrittenStock>,
  progress: StockProgress, sellerId: SellerId,
): AsyncGenerator<StockBatch, void, void> {
  for await (const { rows, written } of writeBatches({ slices, target })) {
    const results = (written?.results ?? []).values();
    const outcomes = rows.map((row) => toOutcome(row, results));
    const { counts } = progress;
    for (const [index, { result }] of outcomes.entries()) {
      const { status, previous } = result;
      const entry = rows[index]?.entry;
      if (entry && isIdUnknown(sellerId, entry, result)) progress.unknownIds += 1;
      if (previous !== undefined) counts.matched += 1;
      if (status === 'not_found') counts.unknown += 1;
      if (isFailure(status)) counts.failed += 1;
      else counts[status === 'ok' ? 'applied' : 'unchanged'] += 1;
    }
    progress.processed += rows.length;
    progress.ignoredColumns = reader.ignoredColumns;
    progress.fileNotes = reader.notes;
    progress.importId ??= written?.importId;
    const zeroed = [...results];
    counts.zeroed += zeroed.filter(({ status }) => status === 'ok').length;
    yield { outcomes, zeroed };
  }
}

const INVALID: StockResult = { status: 'invalid' };

/** A valid change takes the next of the results. */
function toOutcome(
  { line, entry }: StockRow, results: Iterator<StockResult, undefined>,
): StockOutcome {
  const result = 'change' in entry ? results.next().value ?? INVALID : INVALID;
  const { sku, id, barcode, expect } = 'change' in entry ? entry.change
    : { ...entry.reference, expect: undefined };
  const { status, stock } = result;
  const issues = ('issues' in entry ? entry.issues : [describeInvalid(result)]).map((issue) =>
    (issue.pointer === '/set' ? { ...issue, pointer: '/stock' } : issue)); // as the page names it
  return {
    line, result, product: isMismatch(result) ? sku : result.sku ?? sku ?? id ?? barcode,
    reason: isFailure(status)
      ? explainFailure({ status, sku, id, barcode, stock }, expect) ?? formatRowErrors(issues)
      : undefined,
  };
}

/** The result of a dry run: the first rows of each kind. */
export interface StockPreview extends Pick<DryRun, 'rejected' | 'isComplete'> {
  readonly changes: readonly {
    readonly line: number; readonly sku: string; readonly before: number; readonly after: number;
  }[];
  /** Rows of products that the seller does not have; `rejected` has the others. */
  readonly unknown: readonly RejectedLine[];
  /** Products that a stocktake would set to 0. */
  readonly zeroed: readonly { readonly sku: string; readonly stock: number }[];
  /** Why a stocktake would set none to 0. */
  readonly rejection: string | undefined;
}

/** Reads a dry run's batches up to the limit of rows, or until it is aborted. */
export async function previewStock(
  batches: AsyncIterable<StockBatch>, signal: AbortSignal, limitRows: number,
): Promise<StockPreview> {
  const examples = new StockExamples();
  let [rows, isComplete] = [0, true];
  let rejection: string | undefined;
  try {
    for await (const { outcomes, zeroed } of batches) {
      for (const outcome of outcomes) examples.add(outcome);
      for (const result of zeroed) examples.addZeroed(result);
      rows += outcomes.length;
      isComplete = rows < limitRows && !signal.aborted;
      if (!isComplete) break;
    }
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'sync_refused')) throw error;
    rejection = error.publicDetail;
  }
  const { changes, unknown, rejected, zeroed } = examples;
  return { changes, unknown, rejected, zeroed, rejection, isComplete };
}

/** The first rows of each kind. Copies their texts, which would keep whole chunks in memory. */
class StockExamples {
  readonly changes: StockPreview['changes'][number][] = [];
  readonly unknown: RejectedLine[] = [];
  readonly rejected: RejectedLine[] = [];
  readonly zeroed: StockPreview['zeroed'][number][] = [];

  add({ line, product, result, reason }: StockOutcome): void {
    const { status, previous = 0, stock = 0 } = result;
    const sku = product?.slice(0, SKU_LIMIT_CODE_POINTS);
    if (reason !== undefined) {
      const list = status === 'not_found' ? this.unknown : this.rejected;
      if (list.length >= PREVIEW_ROWS_SHOWN) return;
      list.push({ line, sku: sku && copyText(sku), reason: copyText(reason) });
    } else if (status === 'ok' && this.changes.length < PREVIEW_ROWS_SHOWN) {
      this.changes.push({ line, sku: copyText(sku ?? ''), before: previous, after: stock });
    }
  }

  addZeroed({ sku, previous = 0 }: StockResult): void {
    if (this.zeroed.length >= PREVIEW_ROWS_SHOWN) return;
    this.zeroed.push({ sku: sku ?? '', stock: previous });
  }
}
