/**
 * The results of stock changes as flat JSON, which takes a quarter of the time of objects to write
 * and to read. It crosses threads, and is stored in idempotency records, so the order of values and
 * statuses must never change.
 */
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import type { StockChange, StockResult, StockStatus } from '../../domain/catalogue/stock-change.ts';
import type { ProductId } from '../../domain/id.ts';

const STATUSES: readonly StockStatus[] =
  ['ok', 'unchanged', 'not_found', 'conflict', 'stale', 'insufficient', 'invalid', 'ambiguous'];

/** Values of one result. */
const WIDTH = 6;

/**
 * Status, id, SKU unless it is the one that the change names, stock before and after, position. The
 * SKU of an ambiguous one is the JSON of all SKUs.
 */
type EncodedResults = readonly (number | string | null)[];

export function encodeResults(
  results: readonly StockResult[], changes: readonly StockChange[],
): EncodedResults {
  const values: (number | string | null)[] = [];
  results.forEach(({ status, id, sku, skus, previous, stock, position }, index) => {
    const name = skus ? JSON.stringify(skus) : sku;
    values.push(
      STATUSES.indexOf(status), id ?? null, name === changes[index]?.sku ? null : name ?? null,
      previous ?? null, stock ?? null, position ?? null,
    );
  });
  return values;
}

export function decodeResults(
  values: EncodedResults, changes: readonly StockChange[],
): readonly StockResult[] {
  // The casts: `encodeResults` wrote the values, in this order.
  return changes.map(({ sku }, index): StockResult => {
    const at = index * WIDTH;
    const status = STATUSES[values[at] as number] ?? 'invalid';
    if (status === 'ambiguous') {
      return { status, skus: JSON.parse(values[at + 2] as string) as readonly Sku[] };
    }
    return {
      status,
      id: (values[at + 1] ?? undefined) as ProductId | undefined,
      sku: (values[at + 2] ?? sku) as Sku | undefined,
      previous: (values[at + 3] ?? undefined) as number | undefined,
      stock: (values[at + 4] ?? undefined) as number | undefined,
      position: (values[at + 5] ?? undefined) as number | undefined,
    };
  });
}
