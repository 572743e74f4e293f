/**
 * The categories of a seller's products, for adapters whose table of products has an index of
 * them. SQLite reads them from its search projection.
 */
import type { SearchStore } from '../search-store.ts';
import { prepareList, readInteger, readText, type Sql } from './sql.ts';

export function categoryQueries(sql: Sql): Pick<SearchStore, 'listCategories'> {
  const list = prepareList(sql, (row) => ({
    category: readText(row, 'category'),
    products: readInteger(row, 'products'), archived: readInteger(row, 'archived'),
  }), `
    SELECT category, count(*) FILTER (WHERE archived = 0) AS products,
      count(*) FILTER (WHERE archived = 1) AS archived
    FROM product
    WHERE seller_id = :sellerId AND category >= :from
    GROUP BY category ORDER BY category LIMIT :limit`);
  return {
    listCategories: (sellerId, { from = '', limit }) => list({ sellerId, from, limit }),
  };
}
