/**
 * Splits a filter into parts without common products, each of which is one range of every index:
 * archived products and others, and products with a low-stock threshold of their own and others.
 * Merges what the parts found.
 */
import {
  anchorOf, type KeysetAnchor, type ProductFilter, type ProductSort,
} from '../../../domain/catalogue/product-query.ts';
import { decodeProduct, type ProductRow } from '../../sql/product-rows.ts';

export interface FilterPart extends Omit<ProductFilter, 'archived' | 'lowStock'> {
  readonly isArchived: boolean;
  /** Only products with low stock by a threshold of their own, or only those without one. */
  readonly threshold?: 'own' | 'shop';
}

export function partsOf({ archived, lowStock, ...filter }: ProductFilter): readonly FilterPart[] {
  const sides = archived === 'any' ? [false, true] : [archived === true];
  return sides.flatMap((isArchived): FilterPart[] => {
    const part = { ...filter, isArchived };
    if (lowStock === undefined) return [part];
    const stockMax = Math.min(filter.stockMax ?? lowStock, lowStock);
    return [{ ...part, stockMax, threshold: 'shop' }, { ...part, threshold: 'own' }];
  });
}

/** The rows of sorted lists as one. */
export function mergeRows(
  lists: readonly (readonly ProductRow[])[], sort: ProductSort,
): readonly ProductRow[] {
  const [first = [], ...others] = lists.filter(({ length }) => length > 0);
  if (others.length === 0) return first;
  const direction = sort.isDescending ? -1 : 1;
  return [first, ...others].flat()
    .map((row) => ({ row, anchor: anchorOf(decodeProduct({}, row), sort) }))
    .sort((one, other) => direction * compareAnchors(one.anchor, other.anchor))
    .map(({ row }) => row);
}

/** As SQLite does: texts by their bytes in UTF-8. */
function compareAnchors(one: KeysetAnchor, other: KeysetAnchor): number {
  const order = typeof one.key === 'number' || typeof other.key === 'number'
    ? Number(one.key) - Number(other.key)
    : Buffer.compare(Buffer.from(one.key), Buffer.from(other.key));
  return order || one.id - other.id;
}
