/**
 * Writes the history, and has stock movements counted. Nothing else adds changes to it, and nothing
 * alters them: `history-pruning.ts` removes old ones, and links each change that it keeps to the
 * one before.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Change } from '../../../domain/catalogue/change.ts';
import type { PositionAllocator } from './position-allocator.ts';

/** A change, and where the one of the same product before it stands. */
export interface NewChange extends Change {
  readonly previousPosition: number | undefined;
}

const COLUMNS = `seller_id, position, type, product_id, key_id, at, stock_before, stock_after,
  product, sku, prior, reason, source, sequence`;
const VALUES = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
/** Rows of one statement: a row takes half the time of one alone, and not less in larger groups. */
const GROUP_ROWS = 16;

export class HistoryWriter {
  readonly #insert;
  readonly #insertGroup;
  readonly #positions: PositionAllocator;

  constructor(db: DatabaseSync, positions: PositionAllocator) {
    this.#positions = positions;
    const into = `INSERT INTO change (${COLUMNS}) VALUES`;
    this.#insert = db.prepare(`${into} ${VALUES}`);
    this.#insertGroup = db.prepare(`${into} ${Array(GROUP_ROWS).fill(VALUES).join(', ')}`);
  }

  /** Changes of one seller. */
  add(changes: readonly NewChange[]): void {
    const grouped = changes.length - (changes.length % GROUP_ROWS);
    for (let start = 0; start < grouped; start += GROUP_ROWS) {
      this.#insertGroup.run(...valuesOf(changes.slice(start, start + GROUP_ROWS)));
    }
    for (const change of changes.slice(grouped)) this.#insert.run(...valuesOf([change]));
    this.#positions.noteMovements(changes);
  }
}

function valuesOf(changes: readonly NewChange[]): SQLInputValue[] {
  const values: SQLInputValue[] = [];
  for (const change of changes) {
    const { before, after, reason, source, sequence } = change.movement;
    values.push(
      change.sellerId, change.position, change.type, change.productId, change.keyId, change.at,
      before, after, change.product ?? null, change.sku, change.previousPosition ?? null,
      reason ?? null, source ?? null, sequence ?? null,
    );
  }
  return values;
}
