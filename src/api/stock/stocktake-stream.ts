/**
 * A stocktake as a stream of any length: when all of its batches are written, the products in stock
 * that none of them named are set to 0, in further batches under the same Idempotency-Key. It
 * zeroes nothing if the body is cut off, if a line does not identify its product, if two lines have
 * a stock of one product, if a product to be zeroed may be meant by an unknown SKU, or if the zero
 * limit is exceeded. Only products that existed when its first batch was written are zeroed, so a
 * product created during the stream is left alone.
 */
import { STOCKTAKE_BATCH_PRODUCTS } from '../limits.ts';
import { explainUnknownSku, foldSku, unclearSku } from '../../domain/catalogue/spreadsheet-sku.ts';
import { isMismatch, type StockResult } from '../../domain/catalogue/stock-change.ts';
import { listReferences, namesProduct } from '../../domain/catalogue/stock-sync.ts';
import { AppError } from '../../domain/error.ts';
import type { ProductId } from '../../domain/id.ts';
import { formatCount } from '../../domain/wording.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { MissingProducts, StreamedStocktake } from '../../store/catalogue-store.ts';
import { isUnidentified } from '../../store/rules/stock-batch.ts';
import { SkuLines } from '../../store/temporary/sku-lines.ts';
import type { StockRow } from '../../transfer/stock-rows.ts';
import { isDuplicate } from './duplicate-levels.ts';
import { explainZeroLimit } from './stock-result.ts';
import type { StockTarget, WrittenStock } from './stock-targets.ts';

const NOT_ZEROED = 'no product was set to 0';

interface StocktakeOptions {
  readonly target: StockTarget;
  readonly stocktake: StreamedStocktake;
  /** Maximum share of the products in stock that it may set to 0, in percent: 0 to 100. */
  readonly zeroLimitPercent: number;
  /** Position of the catalogue when the request arrived. */
  readonly position: number;
  readonly isDryRun: boolean;
  /** How to exceed the limit, for a person: `raise zero_limit`. */
  readonly override: string;
}

/** Wraps a target so that its stream is a stocktake. */
export function createStocktakeTarget(
  { position, isDryRun, ...options }: StocktakeOptions,
): StockTarget {
  const { target, stocktake } = options;
  const unidentified = { count: 0, firstLine: 0 };
  const duplicates = { count: 0, firstLine: 0 };
  const unknown = new SkuLines();
  let hasUnknown = false;
  /** The first line whose unknown SKU a spreadsheet may have changed. */
  let changed: { readonly line: number; readonly reason: string } | undefined;
  let startPosition: number | undefined;
  return {
    ...target,
    async write(rows, part) {
      const outcome = await target.write(rows, part);
      // Recorded with the first batch, so a retry has the same one.
      if (!isDryRun) startPosition ??= outcome.position;
      const results = outcome.results.values();
      const named: StockResult[] = [];
      const references = rows.flatMap((row) => {
        const result = 'change' in row.entry ? results.next().value : undefined;
        const invalid = listUnclear(row, result);
        if (result?.status === 'not_found') {
          const { sku = '' } = result;
          unknown.note(foldSku(sku), row.line);
          hasUnknown = true;
          const reason = explainUnknownSku(sku);
          if (reason !== undefined) changed ??= { line: row.line, reason };
        }
        const fault = invalid?.length === 0 ? unidentified
          : isDuplicate(row) ? duplicates : undefined;
        if (fault) {
          fault.firstLine ||= row.line;
          fault.count += 1;
        }
        if (!invalid && result) named.push(result);
        return invalid ?? [];
      });
      await stocktake.addNamed(named, references);
      return outcome;
    },
    async *finish(part) {
      if (unidentified.count > 0) throw explain(unidentified, UNIDENTIFIED);
      if (duplicates.count > 0) throw explain(duplicates, DUPLICATE);
      if (changed) throw unclearSku(`Line ${changed.line}`, NOT_ZEROED, changed);
      const total = await stocktake.findMissing(startPosition ?? position);
      if (hasUnknown) await assertDistinct(stocktake, unknown);
      yield* zeroMissing({ ...options, total }, part);
    },
    async close() {
      unknown[Symbol.dispose]();
      await stocktake.close();
      await target.close();
    },
  };
}

/** @throws AppError `sync_refused` if an unknown SKU may be that of a product to be set to 0 */
async function assertDistinct(stocktake: StreamedStocktake, unknown: SkuLines): Promise<void> {
  for (let after: ProductId | undefined; ;) {
    await yieldToEventLoop();
    const products = await stocktake.listMissing({ after, limit: STOCKTAKE_BATCH_PRODUCTS });
    for (const { sku } of products) {
      const line = unknown.find(foldSku(sku));
      if (line !== undefined) throw unclearSku(`Line ${line}`, NOT_ZEROED, { product: sku });
    }
    if (products.length < STOCKTAKE_BATCH_PRODUCTS) return;
    after = products.at(-1)?.id;
  }
}

/**
 * Ends with a batch without products. What a batch has zeroed is read from its outcome: in a retry,
 * it is the recorded one, and the next batch begins after it.
 */
async function* zeroMissing(
  { target, stocktake, zeroLimitPercent, override, total }:
    Omit<StocktakeOptions, 'position' | 'isDryRun'> & { readonly total: MissingProducts },
  firstPart: number,
): AsyncGenerator<WrittenStock, void, void> {
  let after: ProductId | undefined;
  for (let part = firstPart; ; part += 1) {
    const missing = await stocktake.listMissing({ after, limit: STOCKTAKE_BATCH_PRODUCTS });
    const outcome = await target.zero({
      missing, zeroLimitPercent, total: part === firstPart ? total : undefined,
    }, part);
    if (outcome.rejection) {
      const detail = explainZeroLimit(total.missing, zeroLimitPercent, override);
      throw new AppError('sync_refused', `${detail} No product was set to 0.`);
    }
    yield outcome;
    if (outcome.results.length === 0) return;
    after = outcome.results.at(-1)?.id;
  }
}

/** The products that an invalid row may mean, none if it can be any; undefined for a valid one. */
function listUnclear(
  { entry }: StockRow, result: StockResult | undefined,
): ReturnType<typeof listReferences> | undefined {
  if (!('change' in entry)) {
    return namesProduct(entry.reference) ? listReferences(entry.reference) : [];
  }
  const { change } = entry;
  if (change.barcode !== undefined && result && isUnidentified(result.status)) return [];
  return result && isMismatch(result) ? listReferences(change) : undefined;
}

const UNIDENTIFIED = {
  singular: 'does not identify its product', plural: 'do not identify their products',
  remedy: 'Correct the file and send it again.',
};
const DUPLICATE: typeof UNIDENTIFIED = {
  singular: 'shares its product with another line', plural: 'share products with other lines',
  remedy: 'Set duplicates=sum or duplicates=last, or correct the file, and send it again.',
};

function explain(
  { count, firstLine }: { readonly count: number; readonly firstLine: number },
  { singular, plural, remedy }: typeof UNIDENTIFIED,
): AppError {
  const fault = count === 1 ? `Line ${firstLine} ${singular}`
    : `${formatCount(count)} lines ${plural}, the first is line ${firstLine}`;
  return new AppError('sync_refused', `${fault}, so ${NOT_ZEROED}. ${remedy}`);
}
