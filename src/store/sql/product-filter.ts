/** Comparisons of columns with values, which a filter of products makes. */
import { toGtin } from '../../domain/catalogue/barcode.ts';
import type { ProductFilter, SortKey } from '../../domain/catalogue/product-query.ts';

/** The columns that filters compare. */
type FilterColumn =
  | 'id' | 'sku' | 'barcode' | 'category' | 'price_minor' | 'stock' | 'updated_at' | 'position';

export interface Comparison {
  readonly column: FilterColumn;
  readonly operator: '=' | '>' | '>=' | '<=';
  readonly value: number | string;
}

/** A barcode as a number (`toGtin`), in both engines; an index has this expression. */
const GTIN = 'CAST(p.barcode AS bigint)';
/** For a partial index, which SQLite does not use without this condition. */
export const IS_GTIN = `p.barcode IS NOT NULL AND ${GTIN}`;

/** What is compared, in SQL, in the table `p`. */
export function comparedBy({ column, operator }: Pick<Comparison, 'column' | 'operator'>): string {
  return `${column === 'barcode' ? IS_GTIN : `p.${column}`} ${operator}`;
}

/** The pattern of `LIKE` for texts that contain this one; a backslash is the escape character. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/** The columns that lists are sorted by. */
export const SORT_COLUMNS = {
  id: 'id', name: 'name_key', sku: 'sku', price: 'price_minor', stock: 'stock',
  updated_at: 'updated_at',
} as const satisfies Record<SortKey, string>;

/** All of a filter, except its text, metadata, archived products and low stock. */
export function comparisonsOf(filter: ProductFilter): Comparison[] {
  const candidates: { [Member in keyof Comparison]: Comparison[Member] | undefined }[] = [
    { column: 'id', operator: '=', value: filter.id },
    { column: 'sku', operator: '=', value: filter.sku },
    { column: 'barcode', operator: '=',
      value: filter.barcode === undefined ? undefined : toGtin(filter.barcode) },
    { column: 'position', operator: '>', value: filter.changedSince },
    { column: 'updated_at', operator: '>=', value: filter.updatedSince },
    { column: 'category', operator: '=', value: filter.category },
    { column: 'price_minor', operator: '>=', value: filter.priceMin },
    { column: 'price_minor', operator: '<=', value: filter.priceMax },
    { column: 'stock', operator: '>=', value: filter.stockMin },
    { column: 'stock', operator: '<=', value: filter.stockMax },
  ];
  return candidates.filter((candidate): candidate is Comparison => candidate.value !== undefined);
}
