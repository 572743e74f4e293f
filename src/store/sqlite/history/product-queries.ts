/** Finds many products by their ids or SKUs. */
import type { DatabaseSync } from 'node:sqlite';
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ProductTarget } from '../../../domain/catalogue/product.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { readCurrency } from '../../sql/row.ts';
import { prepareFindProduct } from '../catalogue/products.ts';

export function productBatchQueries(db: DatabaseSync) {
  const findSeller = db.prepare('SELECT currency, currency_decimals FROM seller WHERE id = ?');
  const find = prepareFindProduct(db);

  /** One by one, which is as quick as one statement for all. */
  function findAll<Key>(
    sellerId: SellerId, keys: readonly Key[], name: (key: Key) => ProductTarget,
  ): ReadonlyMap<Key, Product> {
    const found = new Map<Key, Product>();
    const seller = findSeller.get(sellerId);
    if (!seller) return found;
    const currency = readCurrency(seller);
    for (const key of keys) {
      const product = find(sellerId, currency, name(key));
      if (product) found.set(key, product);
    }
    return found;
  }

  return {
    findProducts: (sellerId: SellerId, ids: readonly ProductId[]) =>
      findAll(sellerId, ids, (id) => ({ id })),
    findProductsBySku: (sellerId: SellerId, skus: readonly Sku[]) =>
      findAll(sellerId, skus, (sku) => ({ sku })),
  };
}
