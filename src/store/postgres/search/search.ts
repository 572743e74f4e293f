/**
 * The search port on the table of products. An export is copied by one short transaction, since a
 * long one would keep PostgreSQL from removing old versions of rows.
 */
import { anchorOf, type KeysetAnchor } from '../../../domain/catalogue/product-query.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { ProductPage } from '../../catalogue-store.ts';
import type { ExportQuery, SearchStore } from '../../search-store.ts';
import { readInteger, readText } from '../../sql/sql.ts';
import { prepareSpooledExports } from '../../temporary/spooled-exports.ts';
import { explainFailure } from '../engine/failures.ts';
import { POSTGRES_EXPORT_PAGE_SIZE } from '../limits.ts';
import { type Query, queryOf } from '../sql.ts';
import type { Pool } from '../wire/pool.ts';
import { countProducts, lookUpProducts, searchProducts } from './product-search.ts';

/** Sums are exact: numeric has no limit. */
const READ_TOTALS = `
  SELECT (SELECT position FROM seller WHERE id = $1) AS position, count(*) AS products,
    coalesce(sum(p.stock), 0)::text AS units,
    coalesce(sum(p.stock::numeric * p.price_minor), 0)::text AS value_minor
  FROM product AS p WHERE p.seller_id = $1 AND p.archived <= $2`;

/** @param exports Not the pool of requests: a copy has a connection for seconds. */
export function searchMethods(query: Query, exports: Pool): Omit<SearchStore, 'listCategories'> {
  return {
    searchProducts: (sellerId, search, position) =>
      searchProducts(query, sellerId, search, position),
    lookUpProducts: (sellerId, filters) => lookUpProducts(query, sellerId, filters),
    countProducts: (sellerId, filter, position) =>
      countProducts(query, sellerId, filter, position),
    async readTotals(sellerId, _position, archived) {
      const [row = {}] = await query(READ_TOTALS, sellerId, archived === 'any' ? 1 : 0);
      return {
        position: readInteger(row, 'position'), products: readInteger(row, 'products'),
        units: BigInt(readText(row, 'units')),
        valueMinor: BigInt(readText(row, 'value_minor')),
      };
    },
    countLowStock: async (sellerId, { stockMax, limit }) => Math.min(
      limit, (await countProducts(query, sellerId, { lowStock: stockMax }, 0)).count),
    exportProducts: prepareSpooledExports((sellerId, exported, position, add) =>
      exports.use((connection) =>
        copyPages(queryOf(connection), sellerId, exported, position, add))
        .catch((error: unknown) => {
          throw explainFailure(error);
        })),
  };
}

async function copyPages(
  query: Query, sellerId: SellerId, { filter, sort }: ExportQuery, position: number,
  add: (page: ProductPage) => void,
): Promise<void> {
  await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const limit = POSTGRES_EXPORT_PAGE_SIZE;
  for (let after: KeysetAnchor | undefined; ;) {
    const page = await searchProducts(query, sellerId, { filter, sort, after, limit }, position);
    add(page);
    const last = page.products.at(-1);
    if (!page.hasMore || !last) break;
    after = anchorOf(last, sort);
  }
  await query('COMMIT');
}
