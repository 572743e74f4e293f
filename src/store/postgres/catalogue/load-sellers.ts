/**
 * Loads sellers and the rows that their mutations name: in one round trip, as of a snapshot or with
 * the sellers locked; or locked, and in pages. PostgreSQL keeps the locks of a transaction while it
 * waits for a paused node to read a result, so results that it sends under a lock must be small.
 */
import { toGtin } from '../../../domain/catalogue/barcode.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { BARCODE_PRODUCTS_NAMED_LIMIT } from '../../../domain/limits.ts';
import type { ImportId, ProductId, SellerId } from '../../../domain/id.ts';
import { forgottenUpTo } from '../../../runtime/clock.ts';
import { IDEMPOTENCY_LIFE_MS } from '../../limits.ts';
import { mapSellerState } from '../../sql/access/sellers.ts';
import { readCounts } from '../../sql/history/import-queries.ts';
import { decodeProduct, PRODUCT_COLUMNS } from '../../sql/product-rows.ts';
import { readBytes, readId, readInteger, readText, type Row } from '../../sql/sql.ts';
import { type IdempotencyRecords, keyOfRecord } from '../../rules/working-set/decision.ts';
import type { Connection } from '../wire/connection.ts';
import { BEGIN, COMMIT, type Statement } from '../wire/statement-run.ts';
import type { Parameter, Value } from '../wire/values.ts';
import { readByCursor } from '../sql.ts';
import { type LoadedSeller, makeLoadedSeller } from '../../rules/working-set/loaded-seller.ts';
import {
  LEVEL_QUERIES, mapLevel, mapOwner, mapSequence, selectByBarcode,
} from './level-queries.ts';
import type { NamedRows } from '../../rules/working-set/named-rows.ts';

const SELECT_PRODUCTS = `SELECT ${PRODUCT_COLUMNS.join(', ')} FROM product WHERE seller_id = $1`;
/** Most rows that ids name were loaded by their SKUs ($3): a file may name products by both. */
const OTHERS = 'AND sku NOT IN (SELECT unnest($3::text[]))';
/** Of a seller ($1), most of them by names ($2). */
const QUERIES = {
  seller: `
    SELECT position, last_at, last_product_id, currency, currency_decimals, disabled_at
    FROM seller WHERE id = $1`,
  productsBySku: `${SELECT_PRODUCTS} AND sku = ANY ($2::text[])`,
  productsById: `${SELECT_PRODUCTS} AND id = ANY ($2::bigint[]) ${OTHERS}`,
  productsByBarcode: `
    SELECT p.* FROM unnest($2::bigint[]) AS named (gtin)
    CROSS JOIN LATERAL (${selectByBarcode(PRODUCT_COLUMNS.join(', '))}) AS p`,
  deletions: `
    SELECT product_id, position FROM change
    WHERE seller_id = $1 AND product_id = ANY ($2::bigint[]) AND type = 'deleted'
    ORDER BY position`,
  ...LEVEL_QUERIES,
  levelsById: `${LEVEL_QUERIES.levelsById} ${OTHERS}`,
  imports: 'SELECT id, counts FROM import WHERE seller_id = $1 AND id = ANY ($2::bigint[])',
  lastImport: 'SELECT coalesce(max(id), 0) AS id FROM import WHERE seller_id = $1',
  records: `
    SELECT key_hash, part, fingerprint, outcome FROM idempotency
    WHERE seller_id = $1 AND key_hash = ANY ($2::bytea[]) AND lived_at > $3`,
} as const;

const BEGIN_SNAPSHOT = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', values: [] };

type QueryName = keyof typeof QUERIES;
type Lookup = readonly [QueryName, readonly Parameter[]];
/** Without a lock; with one; or with one, and in pages. */
type Access = 'snapshot' | 'locked' | 'paged';

/**
 * Each statement is about one seller, as Citus demands of those that lock. Sellers are locked in
 * the order of ids, so that two transactions never wait for each other.
 * @param connection Has no transaction yet; afterwards it has one if sellers are locked.
 */
export async function loadSellers(
  connection: Connection, rowsBySeller: ReadonlyMap<SellerId, NamedRows>, lived: number,
  access: Access,
): Promise<{
  readonly sellers: ReadonlyMap<SellerId, LoadedSeller>; readonly records: IdempotencyRecords;
}> {
  const all = [...rowsBySeller].sort(([one], [other]) => one - other).map(([sellerId, rows]) =>
    ({ sellerId, rows, lookups: listLookups(sellerId, rows, lived) }));
  const results = await readLookups(connection, all.flatMap(({ lookups }) => lookups), access);
  const records: IdempotencyRecords = new Map();
  const sellers = new Map(all.map(({ sellerId, rows, lookups }) => {
    const rowsByName = new Map(lookups.map(([name]) => [name, results.shift()] as const));
    const read = (name: QueryName): readonly Row[] => rowsByName.get(name) ?? [];
    for (const row of read('records')) {
      const key = keyOfRecord(sellerId, readBytes(row, 'key_hash'), readInteger(row, 'part'));
      const outcome = readText(row, 'outcome');
      records.set(key, { fingerprint: readBytes(row, 'fingerprint'), outcome });
    }
    return [sellerId, loadSeller(sellerId, rows, read)] as const;
  }));
  return { sellers, records };
}

/** The rows of each lookup. */
async function readLookups(
  connection: Connection, lookups: readonly Lookup[], access: Access,
): Promise<(readonly Row[])[]> {
  const statements = lookups.map(([name, values]): Statement => {
    const isLock = name === 'seller' && access !== 'snapshot';
    return { text: isLock ? `${QUERIES[name]} FOR UPDATE` : QUERIES[name], values };
  });
  if (access !== 'paged') {
    const [, ...results] = await connection.run(access === 'locked' ? [BEGIN, ...statements]
      : [BEGIN_SNAPSHOT, ...statements, COMMIT]);
    return results.map(({ rows }) => rows);
  }
  await connection.run([BEGIN]);
  const lists = [];
  for (const statement of statements) {
    lists.push((await Array.fromAsync(readByCursor(connection, statement))).flat());
  }
  return lists;
}

function listLookups(sellerId: SellerId, rows: NamedRows, lived: number): readonly Lookup[] {
  const { skus, ids, isStock, hasSource } = rows;
  const lookups: Lookup[] = [['seller', [sellerId]]];
  const add = (name: QueryName, names: Iterable<Value>, ...others: readonly Parameter[]): void => {
    const list = [...names];
    if (list.length > 0) lookups.push([name, [sellerId, list, ...others]]);
  };
  add(isStock ? 'levelsBySku' : 'productsBySku', skus);
  add(isStock ? 'levelsById' : 'productsById', ids, [...skus]);
  add(isStock ? 'levelsByBarcode' : 'productsByBarcode', rows.gtins);
  add('deletions', rows.deleted);
  if (hasSource) add('sequencesBySku', skus);
  if (hasSource) add('sequencesById', ids);
  if (hasSource) add('sequencesByBarcode', rows.gtins);
  if (rows.isStocktake) lookups.push(['inStock', [sellerId]]);
  add('imports', rows.imports);
  if (rows.startsImport) lookups.push(['lastImport', [sellerId]]);
  add('records', rows.idempotencyHashes, forgottenUpTo(lived, IDEMPOTENCY_LIFE_MS));
  return lookups;
}

function loadSeller(
  sellerId: SellerId, rows: NamedRows, read: (query: QueryName) => readonly Row[],
): LoadedSeller {
  const [row] = read('seller');
  const [lastImport] = read('lastImport');
  const state = row && mapSellerState(row);
  const seller = makeLoadedSeller(state, true, lastImport && readInteger(lastImport, 'id'));
  const { products, levels, imports } = seller;
  if (!rows.isStock) products.expect(rows.skus, rows.ids, rows.gtins);
  const decode = (query: QueryName): readonly Product[] => (state ? read(query).map((row) =>
    decodeProduct({ sellerId, currency: state.currency }, Object.values(row))) : []);
  const named = decode('productsByBarcode');
  for (const product of [...decode('productsBySku'), ...decode('productsById'), ...named]) {
    products.load(product);
  }
  for (const group of Map.groupBy(named, ({ barcode }) => toGtin(barcode ?? '')).values()) {
    if (group.length > BARCODE_PRODUCTS_NAMED_LIMIT) products.loadCrowded(group);
  }
  for (const row of read('deletions')) {
    products.noteDeletion(readId<ProductId>(row, 'product_id'), readInteger(row, 'position'));
  }
  for (const row of read('levelsByBarcode')) levels.loadOwner(mapOwner(row));
  for (const name of ['inStock', 'levelsBySku', 'levelsById', 'levelsByBarcode'] as const) {
    for (const row of read(name)) levels.load(mapLevel(row));
  }
  for (const name of ['sequencesBySku', 'sequencesById', 'sequencesByBarcode'] as const) {
    for (const row of read(name)) levels.loadSequence(mapSequence(row));
  }
  for (const id of rows.imports) imports.load(id, undefined);
  for (const row of read('imports')) imports.load(readId<ImportId>(row, 'id'), readCounts(row));
  return seller;
}
