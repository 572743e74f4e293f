/** Reads of products by id, by SKU and in creation order: one statement each. */
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { BY_ID } from '../../../domain/catalogue/product-query.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { CatalogueStore } from '../../catalogue-store.ts';
import type { HistoryQueries } from '../../rules/history/queries.ts';
import type { QueriesOf } from '../../sql/port-methods.ts';
import { decodeProduct, PRODUCT_COLUMNS } from '../../sql/product-rows.ts';
import { readCurrency } from '../../sql/sql.ts';
import { LEVEL_QUERIES, mapOwner } from './level-queries.ts';
import { searchProducts } from '../search/product-search.ts';
import type { Query } from '../sql.ts';

const FIND = `
  SELECT s.currency, s.currency_decimals, ${PRODUCT_COLUMNS.map((name) => `p.${name}`).join(', ')}
  FROM seller AS s JOIN product AS p ON p.seller_id = s.id WHERE s.id = $1 AND p.seller_id = $1`;
const FIND_BY_ID = `${FIND} AND p.id = ANY ($2::bigint[])`;
const FIND_BY_SKU = `${FIND} AND p.sku = ANY ($2::text[])`;

export function productReads(query: Query) {
  async function find(
    text: string, sellerId: SellerId, names: readonly (string | number)[],
  ): Promise<readonly Product[]> {
    const rows = await query(text, sellerId, names);
    return rows.map((row) => {
      const [, , ...columns] = Object.values(row);
      return decodeProduct({ sellerId, currency: readCurrency(row) }, columns);
    });
  }

  return {
    async findProduct(sellerId, target) {
      const [product] = await ('id' in target ? find(FIND_BY_ID, sellerId, [target.id])
        : find(FIND_BY_SKU, sellerId, [target.sku]));
      return product;
    },
    async findProducts(sellerId, ids) {
      const products = await find(FIND_BY_ID, sellerId, ids);
      return new Map(products.map((product) => [product.id, product]));
    },
    async findProductsBySku(sellerId, skus) {
      const products = await find(FIND_BY_SKU, sellerId, skus);
      return new Map(products.map((product) => [product.sku, product]));
    },
    async listBarcodeOwners(sellerId, gtins) {
      if (gtins.length === 0) return [];
      return (await query(LEVEL_QUERIES.levelsByBarcode, sellerId, gtins)).map(mapOwner);
    },
    async listProducts(sellerId, { after: id, limit, archived }) {
      const after = id === undefined ? undefined : { key: id, id };
      const search = { filter: { archived }, sort: BY_ID, after, limit };
      return searchProducts(query, sellerId, search, 0);
    },
  } satisfies Partial<HistoryQueries & QueriesOf<CatalogueStore>>;
}
