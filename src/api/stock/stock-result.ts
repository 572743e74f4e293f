/** Formats the results of stock changes for responses. */
import { formatProductId, type SellerId } from '../../domain/id.ts';
import {
  isFailure, type SentChange, STOCK_TOO_LARGE, type StockResult,
} from '../../domain/catalogue/stock-change.ts';

const INVALID: StockResult = { status: 'invalid' };

/** Formats the results of a request one by one, and counts them. */
export class StockTally {
  applied = 0;
  unchanged = 0;
  failed = 0;
  /** Products that a stocktake set to 0. */
  zeroed = 0;
  readonly #sellerId: SellerId;

  constructor(sellerId: SellerId) {
    this.#sellerId = sellerId;
  }

  /**
   * The members of one result as JSON, without braces. A valid change takes the next of `results`.
   * Concatenated for speed, since responses have thousands.
   */
  format(sent: SentChange, results: Iterator<StockResult, undefined>): string {
    const result = 'change' in sent ? results.next().value ?? INVALID : INVALID;
    this.#count(result);
    const { status, id, sku, previous, stock, position } = result;
    const named = 'change' in sent ? sent.change : sent.named;
    const shownId = id === undefined ? named?.id : formatProductId(this.#sellerId, id);
    const errors = 'issues' in sent ? sent.issues : [STOCK_TOO_LARGE];
    return `"sku":${JSON.stringify(sku ?? named?.sku ?? null)}`
      + `,"id":${JSON.stringify(shownId ?? null)},"status":"${status}"`
      + `,"previous":${previous ?? null},"stock":${stock ?? null},"position":${position ?? null}`
      + (status === 'invalid' ? `,"errors":${JSON.stringify(errors)}` : '');
  }

  /** As `format`, for a product that no line names; undefined if it was not in stock any more. */
  formatZeroed({ status, id, sku, previous, position }: StockResult): string | undefined {
    if (status !== 'ok' || id === undefined) return undefined;
    this.zeroed += 1;
    const shownId = formatProductId(this.#sellerId, id);
    return `"sku":${JSON.stringify(sku)},"id":"${shownId}","status":"zeroed"`
      + `,"previous":${previous},"stock":0,"position":${position}`;
  }

  #count({ status }: StockResult): void {
    if (isFailure(status)) this.failed += 1;
    else if (status === 'ok') this.applied += 1;
    else this.unchanged += 1;
  }
}

/** Why a stocktake is rejected. @param override How to allow it, such as `raise zero_limit`. */
export function explainZeroLimit(missing: number, limitPercent: number, override: string): string {
  return `${missing} products are not named and would be set to 0: over ${limitPercent} % of the `
    + `products in stock. To allow it, ${override}.`;
}
