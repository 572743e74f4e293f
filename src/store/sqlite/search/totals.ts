/**
 * What the products of a seller come to. Each step of the projection counts what it changes and
 * writes it with how far it came: to add a million products up takes longer than a page may wait.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { CatalogueTotals } from '../../search-store.ts';
import { readInteger, readText, type Row } from '../engine/row.ts';

export const TOTALS_COLUMNS = 'products, units, value_minor';

/** As they are counted: sums that no integer of SQLite may hold are texts in its tables. */
export type Totals = { -readonly [Member in keyof CatalogueTotals]: CatalogueTotals[Member] };

/** What a product adds to them. */
interface Counted {
  readonly stock: number;
  readonly priceMinor: number;
}

export function mapTotals(row: Row): Totals {
  return {
    products: readInteger(row, 'products'),
    units: BigInt(readText(row, 'units')),
    valueMinor: BigInt(readText(row, 'value_minor')),
  };
}

/** Counts a product as it is now for the same as it was; undefined where it was not, or is not. */
export function countChange(
  totals: Totals, before: Counted | undefined, after: Counted | undefined,
): void {
  totals.products += Number(after !== undefined) - Number(before !== undefined);
  totals.units += BigInt((after?.stock ?? 0) - (before?.stock ?? 0));
  totals.valueMinor += valueOf(after) - valueOf(before);
}

/** Counts products with no more than `stockMax` in stock, no further than to a limit. */
export function prepareCountLowStock(db: DatabaseSync) {
  const count = db.prepare(`
    SELECT count(*) AS products FROM (
      SELECT 1 FROM product INDEXED BY product_stock WHERE seller = ? AND stock <= ? LIMIT ?)`);
  return (ordinal: number, stockMax: number, limit: number): number =>
    readInteger(count.get(ordinal, stockMax, limit) ?? {}, 'products');
}

function valueOf(product: Counted | undefined): bigint {
  return product ? BigInt(product.stock) * BigInt(product.priceMinor) : 0n;
}
