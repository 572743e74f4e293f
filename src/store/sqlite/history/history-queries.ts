/**
 * Reads the history: by position, which is the order that it is kept in. What is passed over costs
 * time too, so every look reads no more than a limit, and says how far it came.
 */
import type { DatabaseSync } from 'node:sqlite';
import { HISTORY_SCAN_LIMIT } from '../limits.ts';
import type { Change, ChangeType } from '../../../domain/catalogue/change.ts';
import { AppError } from '../../../domain/error.ts';
import type { KeyId, ProductId, SellerId } from '../../../domain/id.ts';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ChangePage, ChangeQuery } from '../../history-store.ts';
import { readInteger, readOptional, readText, type Row } from '../engine/row.ts';

export const CHANGE_COLUMNS = `position, type, product_id, sku, key_id, at, stock_before,
  stock_after, product, reason, source, sequence`;

/** From where to where the history of a seller reaches. */
interface Reach {
  /** Changes up to here may be gone. */
  readonly prunedTo: number;
  readonly position: number;
}

export function historyQueries(db: DatabaseSync) {
  const findReach = prepareFindReach(db);
  const list = db.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change
    WHERE seller_id = ? AND position > ? ORDER BY position LIMIT ?`);
  const listOfTypes = db.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change
    WHERE seller_id = ? AND position > ? AND position <= ?
      AND type IN (?, ?, ?, ?)
    ORDER BY position LIMIT ?`);

  return {
    findReach,
    listChanges(sellerId: SellerId, { after, limit, types }: ChangeQuery): ChangePage {
      const reach = findReach(sellerId);
      assertReached(reach, after, 'after');
      const { position } = reach;
      const end = Math.min(position, after + HISTORY_SCAN_LIMIT);
      const [a = '', b = a, c = a, d = a] = types ?? [];
      const rows = types
        ? listOfTypes.all(sellerId, after, end, a, b, c, d, limit)
        : list.all(sellerId, after, limit);
      const changes = rows.map((row) => mapChange(sellerId, row));
      const last = changes.at(-1)?.position ?? after;
      return { changes, next: types && changes.length < limit ? end : last, position };
    },
  };
}

/** Of a seller that there is. */
function prepareFindReach(db: DatabaseSync): (sellerId: SellerId) => Reach {
  const find = db.prepare('SELECT pruned_to, position FROM seller WHERE id = ?');
  return (sellerId) => {
    const row = find.get(sellerId);
    if (!row) throw new AppError('not_found', 'There is no such seller.');
    return { prunedTo: readInteger(row, 'pruned_to'), position: readInteger(row, 'position') };
  };
}

/** The refusal of what is not kept any more. */
export function historyPruned(prunedTo: number): AppError {
  const detail = `The history begins after position ${prunedTo}.`;
  const hint = 'Export the catalogue again, and go on from the position that the export names.';
  return new AppError('history_pruned', `${detail} ${hint}`);
}

/** @throws AppError `history_pruned`, `invalid_query` where the history is not at `position` */
export function assertReached(reach: Reach, position: number, parameter: string): void {
  if (position < reach.prunedTo) throw historyPruned(reach.prunedTo);
  if (position <= reach.position) return;
  const what = `The catalogue stands at position ${reach.position}, before ${position}.`;
  const hint = 'If it was restored from a backup, export it again and go on from there.';
  throw new AppError('invalid_query', `${what} ${hint}`, {
    issues: [{ parameter, code: 'range', detail: `Must be at most ${reach.position}.` }],
  });
}

export function mapChange(sellerId: SellerId, row: Row): Change {
  return {
    sellerId,
    position: readInteger(row, 'position'),
    // The columns hold what these types and brands mean.
    type: readText(row, 'type') as ChangeType,
    productId: readInteger(row, 'product_id') as ProductId,
    sku: readText(row, 'sku') as Sku,
    keyId: readInteger(row, 'key_id') as KeyId,
    at: readInteger(row, 'at'),
    movement: {
      before: readInteger(row, 'stock_before'),
      after: readInteger(row, 'stock_after'),
      reason: readOptional(row, 'reason', readText),
      source: readOptional(row, 'source', readText),
      sequence: readOptional(row, 'sequence', readInteger),
    },
    product: readOptional(row, 'product', readText),
  };
}
