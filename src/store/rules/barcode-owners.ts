/**
 * Finds the products that stock changes name by their barcodes: in the transaction that applies
 * them, since another change may have given the barcode to another product.
 */
import { toGtin } from '../../domain/catalogue/barcode.ts';
import type { ProductReference } from '../../domain/catalogue/stock-change.ts';
import { formatProductId, type SellerId } from '../../domain/id.ts';
import type { BarcodeOwner } from '../catalogue-store.ts';

/** The products with the barcodes of changes, by barcode. */
export type BarcodeOwners = ReadonlyMap<number, readonly BarcodeOwner[]>;

export function groupOwners(owners: readonly BarcodeOwner[]): BarcodeOwners {
  return Map.groupBy(owners, ({ gtin }) => gtin);
}

/** The barcodes that these references have, as numbers. */
export function listGtins(references: readonly ProductReference[]): readonly number[] {
  const gtins = new Set<number>();
  for (const { barcode } of references) if (barcode !== undefined) gtins.add(toGtin(barcode));
  return [...gtins];
}

/** The same references; those whose barcode only one product has name it by its id, too. */
export function resolveBarcodes<Reference extends ProductReference>(
  sellerId: SellerId, references: readonly Reference[], owners: BarcodeOwners,
): readonly Reference[] {
  if (owners.size === 0) return references;
  return references.map((reference) => {
    const [owner, ...others] = findOwners(reference, owners);
    if (!owner || others.length > 0) return reference;
    return { ...reference, id: formatProductId(sellerId, owner.id) };
  });
}

export function findOwners(
  { barcode }: ProductReference, owners: BarcodeOwners,
): readonly BarcodeOwner[] {
  return barcode === undefined ? [] : owners.get(toGtin(barcode)) ?? [];
}
