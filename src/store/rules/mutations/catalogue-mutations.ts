/** The mutations of the catalogue, composed. */
import type { StockLevelCache } from '../stock-levels.ts';
import { editMutations } from './edit-mutations.ts';
import { type ImportRows, prepareOpenRecord } from './import-records.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { productMutations } from './product-mutations.ts';
import { revertMutations, type RevertRows } from './revert-mutations.ts';
import { stockMutations, type StockRows } from './stock-mutations.ts';

/** The rows that the mutations read and write. */
interface CatalogueRows {
  readonly products: RevertRows;
  readonly stock: StockRows;
  readonly imports: ImportRows;
}

export type CatalogueMutations = ReturnType<typeof catalogueMutations>;

/** @param cache Clear it after every rollback. */
export function catalogueMutations(
  { products, stock, imports }: CatalogueRows, positions: PositionAllocator, cache: StockLevelCache,
) {
  const openRecord = prepareOpenRecord(imports, positions);
  return {
    ...productMutations(products, positions, openRecord),
    ...editMutations(products, positions, openRecord),
    ...revertMutations(products, positions, openRecord),
    ...stockMutations(stock, positions, openRecord, cache),
  };
}
