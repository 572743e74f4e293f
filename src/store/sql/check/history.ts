/**
 * Checks the history. Positions have no gap from the start of a seller's history to the seller's
 * position. In the ledger, each change continues the previous change of its product, and the last
 * one matches the product's row, so a product's stock is the sum of its movements. After pruning,
 * the first kept change is the start.
 */
import { readText } from '../sql.ts';
import { fault, fillIn, type Rule, type Scan, scanRows } from './finding.ts';

const selectSellers: Scan['select'] = ({ of }) => `
  SELECT s.id AS seller_id, s.position, s.pruned_to, s.last_product_id,
    (SELECT max(c.position) FROM change AS c WHERE c.seller_id = s.id) AS changed,
    (SELECT max(p.position) FROM product AS p WHERE p.seller_id = s.id) AS newest,
    (SELECT max(p.id) FROM product AS p WHERE p.seller_id = s.id) AS product_id,
    (SELECT max(m.position) FROM change_minute AS m WHERE m.seller_id = s.id) AS timed
  FROM seller AS s WHERE ${of('s.id')}`;

const SELLER_RULES: readonly Rule[] = [
  ['coalesce(changed, 0) <> position',
    'seller {seller} is at position {position}, and its history ends at {changed}.'],
  ['newest > position',
    'seller {seller} is at position {position}, and has a product of position {newest}.'],
  ['coalesce(timed, 0) <> position',
    'seller {seller} is at position {position}, and the times of its history end at {timed}.'],
  ['pruned_to > position',
    'seller {seller} is at position {position}, and its history begins after {pruned_to}.'],
  ['product_id > last_product_id',
    'seller {seller} has a product with an id that was not assigned yet.'],
];

/** Each kept change with the previous position. */
const selectPositions: Scan['select'] = ({ of }) => `
  SELECT c.seller_id, c.position - 1 AS last, lag(c.position, 1, s.pruned_to) OVER (
    PARTITION BY c.seller_id ORDER BY c.position) + 1 AS first
  FROM change AS c JOIN seller AS s ON s.id = c.seller_id 
  WHERE c.position > s.pruned_to AND ${of('c.seller_id')}`;

const POSITION_RULES: readonly Rule[] = [
  ['first = last', 'The history of seller {seller} has no change at position {first}.'],
  ['first < last', 'The history of seller {seller} has no change at positions {first} to {last}.'],
];

export const POSITION_SCANS: readonly Scan[] = [
  scanRows(selectSellers, SELLER_RULES), scanRows(selectPositions, POSITION_RULES),
];

/** Each change with its product and the previous change. Engines sort in a temporary file. */
const selectChain: Scan['select'] = ({ of, isJson }) => `
  SELECT w.*, p.stock, p.position AS product_position, p.id IS NOT NULL AS exists_now,
    s.pruned_to, p.sku <> w.sku AS is_renamed
  FROM (
    SELECT seller_id, position, type, product_id, sku, prior, stock_before, stock_after,
      product IS NULL OR ${isJson('product')} AS is_valid,
      lag(position) OVER chain AS previous,
      lag(stock_after) OVER chain AS previous_stock,
      lag(type) OVER chain AS previous_type,
      lead(position) OVER chain IS NULL AS is_last
    FROM change WHERE ${of('seller_id')}
    WINDOW chain AS (PARTITION BY seller_id, product_id ORDER BY position)
  ) AS w
  JOIN seller AS s ON s.id = w.seller_id
  LEFT JOIN product AS p ON p.seller_id = w.seller_id AND p.id = w.product_id`;

const CHANGE = 'The change of product {product} at position {position}';

const NOT_JSON = `${CHANGE} has a snapshot that is not JSON.`;

const CHANGE_RULES: readonly Rule[] = [
  ['NOT is_valid', NOT_JSON],
  // The change that an older one continues may be pruned, and so may the deletion of a product that
  // a revert created again.
  [`position > pruned_to AND ((type = 'created') <> (coalesce(previous_type, 'deleted') = 'deleted')
    OR (prior IS DISTINCT FROM previous
      AND NOT (type = 'created' AND previous IS NULL AND prior <= pruned_to)))`,
  `${CHANGE} does not follow the one before it, at {previous}.`],
  ['position > pruned_to AND stock_before <> coalesce(previous_stock, 0)',
    `${CHANGE} begins with a stock of {stock_before}, and the one before it ended with `
      + '{previous_stock}.'],
  ["is_last AND type <> 'deleted' AND NOT exists_now",
    `${CHANGE} is its last, and the product does not exist.`],
  ["is_last AND type = 'deleted' AND exists_now", `${CHANGE} deleted it, and the product exists.`],
  [`is_last AND type <> 'deleted' AND exists_now
    AND (product_position <> position OR is_renamed)`,
  `${CHANGE} is its last, and the product is at position {product_position}, or has another SKU.`],
  ["is_last AND type <> 'deleted' AND exists_now AND stock <> stock_after",
    'The stock of product {product} is {stock}, and the sum of its movements is {stock_after}.'],
];

const selectProducts: Scan['select'] = ({ of }) => `
  SELECT p.seller_id, p.id AS product_id, c.product_id AS changed FROM product AS p
  LEFT JOIN change AS c ON c.seller_id = p.seller_id AND c.position = p.position
  WHERE ${of('p.seller_id')}`;

export const LEDGER_SCANS: readonly Scan[] = [
  scanRows(selectChain, CHANGE_RULES),
  scanRows(selectProducts, [
    ['changed IS DISTINCT FROM product_id',
      'The history does not have the last change of product {product}.'],
  ]),
];

/** For engines whose SQL cannot tell whether a text is JSON. */
export const JSON_SCAN: Scan = {
  select: ({ of }) => `
    SELECT seller_id, position, product_id, product FROM change
    WHERE product IS NOT NULL AND ${of('seller_id')}`,
  begin: () => (row) => {
    try {
      JSON.parse(readText(row, 'product'));
      return [];
    } catch {
      return [fault(fillIn(NOT_JSON, row))];
    }
  },
};
