/**
 * Appends change events to the history, and counts their stock movements. Nothing else adds events,
 * and nothing alters them: `history-pruning.ts` removes old ones and relinks those that it keeps.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { NewChange } from '../../rules/history.ts';
import type { PositionAllocator } from './position-allocator.ts';

const COLUMNS = `seller_id, position, type, product_id, key_id, at, stock_before, stock_after,
  product, sku, prior, reason, source, sequence`;
const VALUES = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
/** Rows of one statement: halves the time of a row; larger groups gain nothing. */
const GROUP_ROWS = 16;

/** Returns a function that adds changes of one seller. */
export function prepareAddChanges(db: DatabaseSync, positions: PositionAllocator) {
  const into = `INSERT INTO change (${COLUMNS}) VALUES`;
  const insert = db.prepare(`${into} ${VALUES}`);
  const insertGroup = db.prepare(`${into} ${Array(GROUP_ROWS).fill(VALUES).join(', ')}`);
  return (changes: readonly NewChange[]): void => {
    const grouped = changes.length - (changes.length % GROUP_ROWS);
    for (let start = 0; start < grouped; start += GROUP_ROWS) {
      insertGroup.run(...changes.slice(start, start + GROUP_ROWS).flatMap(encodeChange));
    }
    for (const change of changes.slice(grouped)) insert.run(...encodeChange(change));
    positions.noteMovements(changes);
  };
}

function encodeChange(change: NewChange): SQLInputValue[] {
  const { before, after, reason, source, sequence } = change.movement;
  return [
    change.sellerId, change.position, change.type, change.productId, change.keyId, change.at,
    before, after, change.product ?? null, change.sku, change.previousPosition ?? null,
    reason ?? null, source ?? null, sequence ?? null,
  ];
}
