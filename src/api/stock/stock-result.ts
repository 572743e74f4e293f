/** Describes the results of stock changes in responses. */
import type { Issue } from '../../domain/error.ts';
import { formatProductId, type SellerId } from '../../domain/id.ts';
import { formatCount } from '../../domain/wording.ts';
import {
  describeInvalid, isFailure, isMismatch, type SentChange, type StockResult,
} from '../../domain/catalogue/stock-change.ts';

const INVALID: StockResult = { status: 'invalid' };

/** Describes the results of a request one by one, and counts them. */
export class StockTally {
  applied = 0;
  unchanged = 0;
  failed = 0;
  /** Products that a stocktake set to 0. */
  zeroed = 0;
  /** Changes with a SKU, and an id that no product has. */
  unknownIds = 0;
  readonly #sellerId: SellerId;

  constructor(sellerId: SellerId) {
    this.#sellerId = sellerId;
  }

  /**
   * One result for `JSON.stringify`, with its members in their order. A valid change takes the next
   * of `results`.
   */
  describe(entry: SentChange, results: Iterator<StockResult, undefined>): object {
    const result = 'change' in entry ? results.next().value ?? INVALID : INVALID;
    this.#count(result);
    const { status, previous, stock, position } = result;
    const reference = entry.reference ?? ('change' in entry ? entry.change : undefined);
    // The product of a mismatch is another one.
    const { id, sku } = isMismatch(result) ? INVALID : result;
    const shownId = id === undefined ? reference?.id : formatProductId(this.#sellerId, id);
    if (isIdUnknown(this.#sellerId, entry, result)) this.unknownIds += 1;
    return {
      sku: sku ?? reference?.sku ?? null, id: shownId ?? null, barcode: reference?.barcode, status,
      previous: previous ?? null, stock: stock ?? null, position: position ?? null,
      errors: 'issues' in entry ? entry.issues : listErrors(result),
    };
  }

  /** The same for a product that no line names; undefined if it was not in stock any more. */
  describeZeroed({ status, id, sku, previous, position }: StockResult): object | undefined {
    if (status !== 'ok' || id === undefined) return undefined;
    this.zeroed += 1;
    const shownId = formatProductId(this.#sellerId, id);
    return { sku, id: shownId, status: 'zeroed', previous, stock: 0, position };
  }

  #count({ status }: StockResult): void {
    if (isFailure(status)) this.failed += 1;
    else if (status === 'ok') this.applied += 1;
    else this.unchanged += 1;
  }
}

function listErrors(result: StockResult): readonly Issue[] | undefined {
  const { status } = result;
  return status === 'invalid' || status === 'ambiguous' ? [describeInvalid(result)] : undefined;
}

/** Whether the id of a change with a SKU is of none of the seller's products. */
export function isIdUnknown(sellerId: SellerId, entry: SentChange, result: StockResult): boolean {
  if (!('change' in entry) || entry.change.id === undefined || entry.change.sku === undefined) {
    return false;
  }
  const { id } = result;
  const isProduct = id !== undefined && formatProductId(sellerId, id) === entry.change.id;
  return !isProduct && !isMismatch(result);
}

/** Why a stocktake is rejected. @param override How to allow it, such as `raise zero_limit`. */
export function explainZeroLimit(missing: number, limitPercent: number, override: string): string {
  const products = missing === 1 ? '1 product is' : `${formatCount(missing)} products are`;
  return `${products} not named and would be set to 0: over ${limitPercent} % of the products in `
    + `stock. To allow it, ${override}.`;
}
