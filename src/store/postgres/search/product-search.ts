/**
 * Filters and sorts a seller's products by the indexes of their table. A statement reads its rows
 * and the seller's position in one snapshot. `LIKE` uses the trigram index if the database has the
 * extension pg_trgm.
 */
import {
  type ProductFilter, type ProductQuery, searchTermsOf,
} from '../../../domain/catalogue/product-query.ts';
import { toGtin } from '../../../domain/catalogue/barcode.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { SellerId } from '../../../domain/id.ts';
import { LOOKUP_MATCHES_LIMIT, LOOKUP_PRODUCTS_LIMIT } from '../../limits.ts';
import type { LookedUpProducts } from '../../search-store.ts';
import type { ProductPage } from '../../catalogue-store.ts';
import { COUNTED_ROWS, toListCount } from '../../rules/list-count.ts';
import { decodeProduct, PRODUCT_COLUMNS } from '../../sql/product-rows.ts';
import { readCurrency, readInteger } from '../../sql/sql.ts';
import {
  comparedBy, comparisonsOf, IS_GTIN, likePattern, SORT_COLUMNS,
} from '../../sql/product-filter.ts';
import type { ListCount } from '../../write.ts';
import type { Query } from '../sql.ts';
import type { Value } from '../wire/values.ts';

/** Changes that are read to find the products that they changed; beyond it, all are compared. */
const RECENT_CHANGES = 10_000;

/** The expression of the index, whose entries begin with the seller. */
const HAS_PAIRS = `p.metadata IS NOT NULL
  AND ('{"' || p.seller_id::text || '":' || p.metadata || '}')::jsonb @>`;
/**
 * Products that the index finds. The planner overestimates how many these are, and would read all
 * products of the seller instead: LIMIT or OFFSET keeps it from doing so.
 */
const BY_PAIRS = `SELECT p.* FROM product AS p WHERE ${HAS_PAIRS}`;
/** Up to this many matches are read by the index and sorted; more are soon found in sort order. */
const FEW_MATCHES = 1_000;
const COUNT_MATCHES = `SELECT count(*) AS matches FROM (${BY_PAIRS} $2::jsonb LIMIT $3) AS m
  WHERE m.seller_id = $1`;

/** The condition of a filter by metadata. */
async function conditionOfPairs(
  query: Query, sellerId: SellerId, { metadata }: ProductFilter, bind: (value: Value) => string,
): Promise<string[]> {
  if (!metadata) return [];
  const pairs = pairsOf(sellerId, metadata);
  const [row = {}] = await query(COUNT_MATCHES, sellerId, pairs, FEW_MATCHES);
  if (readInteger(row, 'matches') === FEW_MATCHES) return [`${HAS_PAIRS} ${bind(pairs)}::jsonb`];
  return [`p.id IN (SELECT m.id FROM (${BY_PAIRS} ${bind(pairs)}::jsonb OFFSET 0) AS m
    WHERE m.seller_id = $1)`];
}

function pairsOf(sellerId: SellerId, metadata: Readonly<Record<string, string>>): string {
  return JSON.stringify({ [sellerId]: metadata });
}

/** A page of the products that match, as of now; `position` is one that was reached. */
export async function searchProducts(
  query: Query, sellerId: SellerId, search: ProductQuery, position: number,
): Promise<ProductPage> {
  const { filter, sort, after, limit } = search;
  const values: Value[] = [sellerId, limit + 1];
  const bind = (value: Value): string => `$${values.push(value)}`;
  const conditions = ['p.seller_id = $1', ...conditionsOf(filter, position, bind),
    ...await conditionOfPairs(query, sellerId, filter, bind)];
  const [direction, beyond] = sort.isDescending ? ['DESC', '<'] : ['ASC', '>'];
  const column = SORT_COLUMNS[sort.by];
  if (after && sort.by === 'id') conditions.push(`p.id ${beyond} ${bind(after.id)}`);
  else if (after) {
    conditions.push(`(p.${column}, p.id) ${beyond} (${bind(after.key)}, ${bind(after.id)})`);
  }
  const order = sort.by === 'id' ? `p.id ${direction}`
    : `p.${column} ${direction}, p.id ${direction}`;
  // The left join returns the seller even if no product matches.
  const rows = await query(`
    SELECT s.position AS seller_position, s.currency, s.currency_decimals,
      ${PRODUCT_COLUMNS.map((name) => `f.${name}`).join(', ')}
    FROM seller AS s LEFT JOIN LATERAL (
      SELECT * FROM product AS p WHERE ${conditions.join(' AND ')}
      ORDER BY ${order} LIMIT $2
    ) AS f ON true
    WHERE s.id = $1 ORDER BY ${order.replaceAll('p.', 'f.')}`, ...values);
  const [first] = rows;
  if (!first) return { products: [], hasMore: false, position: 0 }; // there is no such seller
  const owner = { sellerId, currency: readCurrency(first) };
  const products = rows.filter(({ id }) => id !== null)
    .map((row) => decodeProduct(owner, Object.values(row).slice(3)));
  return {
    products: products.slice(0, limit), hasMore: products.length > limit,
    position: readInteger(first, 'seller_position'),
  };
}

const OWN = 'SELECT p.* FROM product AS p WHERE p.seller_id = $1 AND';
const FIRST = `ORDER BY p.id LIMIT ${LOOKUP_MATCHES_LIMIT + 1}`;
/** How each kind of lookup finds products by `q.value`; any will do if too many match. */
const LOOKUPS = [
  ['id', `${OWN} p.id = q.value::bigint`], ['sku', `${OWN} p.sku = q.value`],
  ['barcode', `${OWN} ${IS_GTIN} = q.value::bigint ${FIRST}`],
  ['metadata', `SELECT * FROM (${BY_PAIRS} q.value::jsonb LIMIT ${LOOKUP_MATCHES_LIMIT + 1}) AS p
    WHERE p.seller_id = $1`],
] as const;
/** A subquery for each: a query for all would use no index. */
const LOOK_UP = `
  SELECT s.position AS seller_position, s.currency, s.currency_decimals, f.*
  FROM seller AS s LEFT JOIN LATERAL (
    SELECT * FROM (${LOOKUPS.map(([kind, select]) => `
      SELECT q.query, ${PRODUCT_COLUMNS.map((name) => `p.${name}`).join(', ')}
      FROM json_to_recordset($2::json) AS q (query bigint, kind text, value text)
      CROSS JOIN LATERAL (${select}) AS p WHERE q.kind = '${kind}'`).join(' UNION ALL ')}
    ) AS matched LIMIT ${LOOKUP_PRODUCTS_LIMIT + 1}
  ) AS f ON true
  WHERE s.id = $1 ORDER BY f.query, f.id`;

/** As `SearchStore.lookUpProducts`, as of now: one statement, and so one snapshot. */
export async function lookUpProducts(
  query: Query, sellerId: SellerId, filters: readonly ProductFilter[],
): Promise<LookedUpProducts> {
  const lookups = filters.map(({ id, sku, barcode, metadata }, index) => ({
    query: index, ...metadata ? { kind: 'metadata', value: pairsOf(sellerId, metadata) }
      : barcode === undefined ? { kind: sku === undefined ? 'id' : 'sku', value: sku ?? String(id) }
      : { kind: 'barcode', value: String(toGtin(barcode)) },
  }));
  const rows = await query(LOOK_UP, sellerId, JSON.stringify(lookups));
  const results = filters.map((): Product[] => []);
  const [first] = rows;
  if (!first) return { results, position: 0 }; // there is no such seller
  const owner = { sellerId, currency: readCurrency(first) };
  for (const row of rows) {
    if (row['id'] === null) continue;
    results[readInteger(row, 'query')]?.push(decodeProduct(owner, Object.values(row).slice(4)));
  }
  return { results, position: readInteger(first, 'seller_position') };
}

export async function countProducts(
  query: Query, sellerId: SellerId, filter: ProductFilter, position: number,
): Promise<ListCount> {
  const values: Value[] = [sellerId, COUNTED_ROWS];
  const bind = (value: Value): string => `$${values.push(value)}`;
  const where = ['p.seller_id = $1', ...conditionsOf(filter, position, bind),
    ...await conditionOfPairs(query, sellerId, filter, bind)].join(' AND ');
  const [row = {}] = await query(`SELECT count(*) AS products FROM (
    SELECT FROM product AS p WHERE ${where} LIMIT $2) AS counted`, ...values);
  return toListCount(readInteger(row, 'products'));
}

function conditionsOf(
  filter: ProductFilter, position: number, bind: (value: Value) => string,
): string[] {
  const { q, changedSince, archived, lowStock } = filter;
  return [
    ...(archived === 'any' ? [] : [`p.archived = ${Number(archived === true)}`]),
    ...(lowStock === undefined ? [] : [`p.stock <= coalesce(p.low_stock, ${bind(lowStock)})`]),
    ...comparisonsOf(filter).map((comparison) =>
      `${comparedBy(comparison)} ${bind(comparison.value)}`),
    // No index orders products by position. The history has the last change of each.
    ...(changedSince === undefined || position - changedSince > RECENT_CHANGES ? [] : [`p.id IN (
      SELECT c.product_id FROM change AS c
      WHERE c.seller_id = $1 AND c.position > ${bind(changedSince)})`]),
    ...searchTermsOf(q ?? '').map(({ text, bareSku }) => {
      const [whole, bare = ''] = [text, bareSku].map((term) => term && bind(likePattern(term)));
      return `(p.search_text LIKE ${whole}${bare && ` OR p.search_text LIKE ${bare}
        AND split_part(p.search_text, E'\\n', 1) LIKE ${bare}`})`;
    }),
  ];
}
