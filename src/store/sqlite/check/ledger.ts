/**
 * The ledger: what each change says of the stock before it, and of the change before it, is what
 * that one says; and the last change of a product is its row. So the stock of every product is the
 * sum of its movements. What pruning keeps of a product is where its sum begins.
 */
import type { DatabaseSync } from 'node:sqlite';
import { formatProductId, type ProductId, type SellerId } from '../../../domain/id.ts';
import { readInteger, readOptional, type Row } from '../engine/row.ts';
import { fault, type Finding, RESTORE } from './finding.ts';

/** Sorted by product in a temporary file, where it does not fit into the cache. */
const WAYS = `
  SELECT w.*, p.stock, p.position AS product_position, p.id IS NOT NULL AS is_there,
    s.pruned_to, p.sku <> w.sku AS is_renamed
  FROM (
    SELECT seller_id, position, type, product_id, sku, prior, stock_before, stock_after,
      product IS NULL OR json_valid(product) AS is_valid,
      lag(position) OVER way AS previous,
      lag(stock_after) OVER way AS previous_stock,
      lag(type) OVER way AS previous_type,
      lead(position) OVER way IS NULL AS is_last
    FROM change WINDOW way AS (PARTITION BY seller_id, product_id ORDER BY position)
  ) AS w
  JOIN seller AS s ON s.id = w.seller_id
  LEFT JOIN product AS p ON p.seller_id = w.seller_id AND p.id = w.product_id`;

/** Of the changes that are all kept: those before may have lost the one that they follow. */
const IS_TORN = `position > pruned_to AND (
  (type = 'created') <> (previous IS NULL) OR prior IS NOT previous
  OR previous_type IS 'deleted')`;
const IS_UNSTEADY = 'position > pruned_to AND stock_before <> coalesce(previous_stock, 0)';
const IS_LOST = "is_last AND type <> 'deleted' AND NOT is_there";
const IS_RISEN = "is_last AND type = 'deleted' AND is_there";
const IS_OTHER = `is_last AND type <> 'deleted' AND is_there
  AND (product_position <> position OR is_renamed)`;
const IS_MISCOUNTED = `is_last AND type <> 'deleted' AND is_there AND stock <> stock_after`;

export function* checkLedger(db: DatabaseSync): Generator<Finding, void, void> {
  const faults = db.prepare(`
    SELECT *, ${IS_TORN} AS is_torn, ${IS_UNSTEADY} AS is_unsteady, ${IS_LOST} AS is_lost,
      ${IS_RISEN} AS is_risen, ${IS_OTHER} AS is_other, ${IS_MISCOUNTED} AS is_miscounted
    FROM (${WAYS})
    WHERE NOT is_valid OR (${IS_TORN}) OR (${IS_UNSTEADY}) OR (${IS_LOST}) OR (${IS_RISEN})
      OR (${IS_OTHER}) OR (${IS_MISCOUNTED})`);
  for (const row of faults.iterate()) {
    for (const what of describe(row)) yield fault(what, RESTORE);
  }
  yield* findUntold(db);
}

function* describe(row: Row): Generator<string, void, void> {
  const is = (column: string): boolean => readInteger(row, column) === 1;
  const read = (column: string): number => readOptional(row, column, readInteger) ?? 0;
  const [product, position] = [nameProduct(row), read('position')];
  const change = `The change of ${product} at position ${position}`;
  if (!is('is_valid')) yield `${change} describes it in what is no JSON.`;
  if (is('is_torn')) yield `${change} does not follow the one before it, at ${read('previous')}.`;
  if (is('is_unsteady')) {
    yield `${change} begins with a stock of ${read('stock_before')}, and the one before it ended `
      + `with ${read('previous_stock')}.`;
  }
  if (is('is_lost')) yield `${change} is its last, and the product is not there.`;
  if (is('is_risen')) yield `${change} deleted it, and the product is there.`;
  if (is('is_other')) {
    yield `${change} is its last, and the product stands at ${read('product_position')}, or has `
      + 'another SKU.';
  }
  if (is('is_miscounted')) {
    yield `The stock of ${product} is ${read('stock')}, and its movements come to `
      + `${read('stock_after')}.`;
  }
}

/** Products of which the history does not tell. */
function* findUntold(db: DatabaseSync): Generator<Finding, void, void> {
  const rows = db.prepare(`
    SELECT p.seller_id, p.id AS product_id FROM product AS p
    LEFT JOIN change AS c ON c.seller_id = p.seller_id AND c.position = p.position
    WHERE c.product_id IS NOT p.id`);
  for (const row of rows.iterate()) {
    yield fault(`The history does not have the last change of ${nameProduct(row)}.`, RESTORE);
  }
}

function nameProduct(row: Row): string {
  // The columns hold what these brands mean.
  const sellerId = readInteger(row, 'seller_id') as SellerId;
  return `product ${formatProductId(sellerId, readInteger(row, 'product_id') as ProductId)}`;
}
