/**
 * Checks of the history. Positions have no gap between where a seller's history begins and the
 * seller's position. In the ledger, each change continues the change of its product before it, and
 * the last one agrees with the product's row; so a product's stock is the sum of its movements.
 * Where history was pruned, the first change that is kept is the beginning.
 */
import type { DatabaseSync } from 'node:sqlite';
import { readInteger, readOptional, type Row } from '../engine/row.ts';
import { fault, type Findings, nameProduct, nameSeller, RESTORE } from './finding.ts';

/** Reads a column as a number; 0 for NULL. */
type ReadNumber = (column: string) => number;

export function* checkPositions(db: DatabaseSync): Findings {
  yield* checkSellers(db);
  const gaps = db.prepare(`
    SELECT seller_id, previous + 1 AS first, position - 1 AS last FROM (
      SELECT c.seller_id, c.position, lag(c.position, 1, s.pruned_to) OVER (
        PARTITION BY c.seller_id ORDER BY c.position) AS previous
      FROM change AS c JOIN seller AS s ON s.id = c.seller_id
      WHERE c.position > s.pruned_to)
    WHERE position > previous + 1`);
  for (const row of gaps.iterate()) {
    const [first, last] = [readInteger(row, 'first'), readInteger(row, 'last')];
    const which = first === last ? `position ${first}` : `positions ${first} to ${last}`;
    yield fault(`The history of ${nameSeller(row)} has no change at ${which}.`, RESTORE);
  }
}

function* checkSellers(db: DatabaseSync): Findings {
  const sellers = db.prepare(`
    SELECT s.id AS seller_id, s.position, s.pruned_to, s.last_product_id,
      (SELECT max(c.position) FROM change AS c WHERE c.seller_id = s.id) AS changed,
      (SELECT max(p.position) FROM product AS p WHERE p.seller_id = s.id) AS newest,
      (SELECT max(p.id) FROM product AS p WHERE p.seller_id = s.id) AS product_id,
      (SELECT max(m.position) FROM change_minute AS m WHERE m.seller_id = s.id) AS timed
    FROM seller AS s ORDER BY s.id`);
  for (const row of sellers.iterate()) {
    const read = reader(row);
    const position = read('position');
    const what = `${nameSeller(row)} is at position ${position}`;
    if (read('changed') !== position) {
      yield fault(`${what}, and its history ends at ${read('changed')}.`, RESTORE);
    }
    if (read('newest') > position) {
      yield fault(`${what}, and has a product of position ${read('newest')}.`, RESTORE);
    }
    if (read('timed') !== position) {
      yield fault(`${what}, and the times of its history end at ${read('timed')}.`, RESTORE);
    }
    if (read('pruned_to') > position) {
      yield fault(`${what}, and its history begins after ${read('pruned_to')}.`, RESTORE);
    }
    if (read('product_id') > read('last_product_id')) {
      yield fault(
        `${nameSeller(row)} has a product with an id that was not assigned yet.`, RESTORE,
      );
    }
  }
}

/** Each change beside its product and the change before. SQLite sorts it in a temporary file. */
const CHAINED_CHANGES = `
  SELECT w.*, p.stock, p.position AS product_position, p.id IS NOT NULL AS exists_now,
    s.pruned_to, p.sku <> w.sku AS is_renamed
  FROM (
    SELECT seller_id, position, type, product_id, sku, prior, stock_before, stock_after,
      product IS NULL OR json_valid(product) AS is_valid,
      lag(position) OVER chain AS previous,
      lag(stock_after) OVER chain AS previous_stock,
      lag(type) OVER chain AS previous_type,
      lead(position) OVER chain IS NULL AS is_last
    FROM change WINDOW chain AS (PARTITION BY seller_id, product_id ORDER BY position)
  ) AS w
  JOIN seller AS s ON s.id = w.seller_id
  LEFT JOIN product AS p ON p.seller_id = w.seller_id AND p.id = w.product_id`;

interface LedgerRule {
  /** The SQL condition of a change that breaks the rule. */
  readonly isBroken: string;
  describe(change: string, read: ReadNumber, product: string): string;
}

const RULES: readonly LedgerRule[] = [
  {
    isBroken: 'NOT is_valid',
    describe: (change) => `${change} has a snapshot that is not JSON.`,
  },
  { // Of older changes, the one that they continue may be pruned.
    isBroken: `position > pruned_to AND ((type = 'created') <> (previous IS NULL)
      OR prior IS NOT previous OR previous_type IS 'deleted')`,
    describe: (change, read) =>
      `${change} does not follow the one before it, at ${read('previous')}.`,
  },
  {
    isBroken: 'position > pruned_to AND stock_before <> coalesce(previous_stock, 0)',
    describe: (change, read) => `${change} begins with a stock of ${read('stock_before')}, and the `
      + `one before it ended with ${read('previous_stock')}.`,
  },
  {
    isBroken: "is_last AND type <> 'deleted' AND NOT exists_now",
    describe: (change) => `${change} is its last, and the product does not exist.`,
  },
  {
    isBroken: "is_last AND type = 'deleted' AND exists_now",
    describe: (change) => `${change} deleted it, and the product exists.`,
  },
  {
    isBroken: `is_last AND type <> 'deleted' AND exists_now
      AND (product_position <> position OR is_renamed)`,
    describe: (change, read) => `${change} is its last, and the product is at position `
      + `${read('product_position')}, or has another SKU.`,
  },
  {
    isBroken: "is_last AND type <> 'deleted' AND exists_now AND stock <> stock_after",
    describe: (_, read, product) => `The stock of ${product} is ${read('stock')}, and the sum of `
      + `its movements is ${read('stock_after')}.`,
  },
];

export function* checkLedger(db: DatabaseSync): Findings {
  const broken = RULES.map(({ isBroken }) => `(${isBroken})`);
  const changes = db.prepare(`
    SELECT *, ${broken.map((sql, n) => `${sql} AS rule_${n}`).join(', ')}
    FROM (${CHAINED_CHANGES}) WHERE ${broken.join(' OR ')}`);
  for (const row of changes.iterate()) {
    const [read, product] = [reader(row), nameProduct(row)];
    const change = `The change of ${product} at position ${read('position')}`;
    for (const [n, { describe }] of RULES.entries()) {
      if (read(`rule_${n}`) === 1) yield fault(describe(change, read, product), RESTORE);
    }
  }
  const unrecorded = db.prepare(`
    SELECT p.seller_id, p.id AS product_id FROM product AS p
    LEFT JOIN change AS c ON c.seller_id = p.seller_id AND c.position = p.position
    WHERE c.product_id IS NOT p.id`);
  for (const row of unrecorded.iterate()) {
    yield fault(`The history does not have the last change of ${nameProduct(row)}.`, RESTORE);
  }
}

function reader(row: Row): ReadNumber {
  return (column) => readOptional(row, column, readInteger) ?? 0;
}
