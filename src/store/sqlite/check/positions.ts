/** Positions: without a gap from where the history begins to where the seller stands. */
import type { DatabaseSync } from 'node:sqlite';
import { formatSellerId, type SellerId } from '../../../domain/id.ts';
import { readInteger, readOptional, type Row } from '../engine/row.ts';
import { fault, type Finding, RESTORE } from './finding.ts';

export function* checkPositions(db: DatabaseSync): Generator<Finding, void, void> {
  yield* findEnds(db);
  const gaps = db.prepare(`
    SELECT seller_id, before + 1 AS first, position - 1 AS last FROM (
      SELECT c.seller_id, c.position, lag(c.position, 1, s.pruned_to) OVER (
        PARTITION BY c.seller_id ORDER BY c.position) AS before
      FROM change AS c JOIN seller AS s ON s.id = c.seller_id
      WHERE c.position > s.pruned_to)
    WHERE position > before + 1`);
  for (const row of gaps.iterate()) {
    const [first, last] = [readInteger(row, 'first'), readInteger(row, 'last')];
    const which = first === last ? `position ${first}` : `positions ${first} to ${last}`;
    yield fault(`The history of ${nameSeller(row)} has no change at ${which}.`, RESTORE);
  }
}

/** What stands beyond the position of its seller, or does not come up to it. */
function* findEnds(db: DatabaseSync): Generator<Finding, void, void> {
  const ends = db.prepare(`
    SELECT s.id AS seller_id, s.position, s.pruned_to, s.last_product_id,
      (SELECT max(c.position) FROM change AS c WHERE c.seller_id = s.id) AS changed,
      (SELECT max(p.position) FROM product AS p WHERE p.seller_id = s.id) AS newest,
      (SELECT max(p.id) FROM product AS p WHERE p.seller_id = s.id) AS product_id,
      (SELECT max(m.position) FROM change_minute AS m WHERE m.seller_id = s.id) AS noted
    FROM seller AS s ORDER BY s.id`);
  for (const row of ends.iterate()) {
    const [seller, position] = [nameSeller(row), readInteger(row, 'position')];
    const read = (column: string): number => readOptional(row, column, readInteger) ?? 0;
    const stands = `${seller} stands at position ${position}`;
    if (read('changed') !== position) {
      yield fault(`${stands}, and its history ends at ${read('changed')}.`, RESTORE);
    }
    if (read('newest') > position) {
      yield fault(`${stands}, and has a product of position ${read('newest')}.`, RESTORE);
    }
    if (read('noted') !== position) {
      yield fault(`${stands}, and the times of its history end at ${read('noted')}.`, RESTORE);
    }
    if (read('pruned_to') > position) {
      yield fault(`${stands}, and its history begins after ${read('pruned_to')}.`, RESTORE);
    }
    if (read('product_id') > read('last_product_id')) {
      yield fault(`${seller} has a product with an id that was not given yet.`, RESTORE);
    }
  }
}

function nameSeller(row: Row): string {
  // The column holds what this brand means.
  return `seller ${formatSellerId(readInteger(row, 'seller_id') as SellerId)}`;
}
