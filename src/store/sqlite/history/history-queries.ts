/**
 * Reads the history by position, its storage order, and finds positions by time. Every query limits
 * the changes that it scans, and returns how far it got.
 */
import type { DatabaseSync } from 'node:sqlite';
import { HISTORY_SCAN_LIMIT } from '../limits.ts';
import type { Change, ChangeType } from '../../../domain/catalogue/change.ts';
import { AppError } from '../../../domain/error.ts';
import type { ImportId, KeyId, ProductId, SellerId } from '../../../domain/id.ts';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ChangePage, ChangeQuery } from '../../history-store.ts';
import { assertReached, type Reach } from '../../rules/history.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import { readId, readInteger, readOptional, readText, type Row } from '../engine/row.ts';

export const CHANGE_COLUMNS = `position, type, product_id, sku, key_id, at, stock_before,
  stock_after, product, reason, source, sequence, actor, import_id`;

/** After one position, up to and including another. */
export interface Span {
  readonly after: number;
  readonly upTo: number;
}

export function historyQueries(db: DatabaseSync) {
  const findReach = prepareFindReach(db);
  const list = prepareListChanges(db);
  const findSpan = prepareFindImportSpan(db);
  const listMatching = db.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change
    WHERE seller_id = :sellerId AND position > :from AND position <= :end
      AND (:types IS NULL OR instr(:types, type) > 0)
      AND (:importId IS NULL OR import_id = :importId)
    ORDER BY position LIMIT :limit`);

  return {
    ...timeQueries(db),
    findReach,
    findImportSpan: findSpan,
    listChanges(sellerId: SellerId, { after, limit, types, importId }: ChangeQuery): ChangePage {
      const reach = findReach(sellerId);
      const { position } = reach;
      const span = importId === undefined ? undefined : findSpan(sellerId, importId);
      const from = Math.max(after, span?.after ?? 0);
      assertReached(reach, from, 'after');
      if (!types && importId === undefined) {
        const changes = list(sellerId, after, limit);
        return { changes, next: changes.at(-1)?.position ?? after, position };
      }
      const upTo = importId === undefined ? position : span?.upTo ?? 0;
      const end = Math.min(upTo, from + HISTORY_SCAN_LIMIT);
      const changes = listMatching.all({
        sellerId, from, end, limit, types: types?.join(' ') ?? null, importId: importId ?? null,
      }).map((row) => mapChange(sellerId, row));
      const last = changes.length < limit ? undefined : changes.at(-1)?.position;
      return { changes, next: last ?? (end >= upTo ? position : end), position };
    },
  };
}

/** Lists the changes after a position. */
export function prepareListChanges(db: DatabaseSync) {
  const list = db.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change
    WHERE seller_id = ? AND position > ? ORDER BY position LIMIT ?`);
  return (sellerId: SellerId, after: number, limit: number): Change[] =>
    list.all(sellerId, after, limit).map((row) => mapChange(sellerId, row));
}

/** Finds the span that has the changes of an import; undefined if there are none. */
function prepareFindImportSpan(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT first_position, last_position FROM import
    WHERE seller_id = ? AND id = ? AND first_position IS NOT NULL`);
  return (sellerId: SellerId, id: ImportId): Span | undefined => {
    const row = find.get(sellerId, id);
    return row && {
      after: readInteger(row, 'first_position') - 1, upTo: readInteger(row, 'last_position'),
    };
  };
}

/** For an existing seller. */
function prepareFindReach(db: DatabaseSync): (sellerId: SellerId) => Reach {
  const find = db.prepare('SELECT pruned_to, position FROM seller WHERE id = ?');
  return (sellerId) => {
    const row = find.get(sellerId);
    if (!row) throw new AppError('not_found', 'There is no such seller.');
    return { prunedTo: readInteger(row, 'pruned_to'), position: readInteger(row, 'position') };
  };
}

/**
 * Maps times to positions. The history has no index on time: a small table has the last change of
 * each minute, and within a minute time follows position.
 */
function timeQueries(db: DatabaseSync) {
  const listMinutes = db.prepare(`
    SELECT minute, position FROM change_minute WHERE seller_id = ? AND minute <= ?
    ORDER BY minute DESC LIMIT 2`);
  const findTime = db.prepare('SELECT at FROM change WHERE seller_id = ? AND position = ?');

  // Across all sellers, and so without seller_id.
  const findNewest = db.prepare(`
    SELECT max(
      coalesce((SELECT at FROM audit_event WHERE n > 0 ORDER BY n DESC LIMIT 1), 0),
      coalesce((SELECT max(c.at) FROM seller AS s
        JOIN change AS c ON c.seller_id = s.id AND c.position = s.position), 0)) AS at`);

  /** Whether a change was made at or before a time; undefined if it was pruned. */
  function isMade(sellerId: SellerId, position: number, at: number): boolean | undefined {
    const row = findTime.get(sellerId, position);
    return row && readInteger(row, 'at') <= at;
  }

  return {
    /** 0 for an empty history. */
    findNewestTime(): number {
      return readInteger(findNewest.get() ?? {}, 'at');
    },
    /** Whether a change was made at or before a time; false if that is no longer known. */
    isBefore(sellerId: SellerId, position: number, at: number): boolean {
      if (position === 0) return true;
      const [last] = listMinutes.all(sellerId, Math.floor(at / MINUTE_MS) - 1);
      return isMade(sellerId, position, at)
        ?? (last !== undefined && readInteger(last, 'position') >= position);
    },
    /** The last change at or before a time; `prunedTo` if it was pruned. */
    findPositionAt(sellerId: SellerId, at: number, prunedTo: number): number {
      const minute = Math.floor(at / MINUTE_MS);
      const [last, before] = listMinutes.all(sellerId, minute);
      if (!last) return prunedTo;
      const end = readInteger(last, 'position');
      if (readInteger(last, 'minute') < minute) return Math.max(end, prunedTo);
      if (isMade(sellerId, end, at)) return Math.max(end, prunedTo);
      let low = Math.max(prunedTo, before ? readInteger(before, 'position') : 0);
      for (let high = end; low < high;) {
        const middle = Math.ceil((low + high) / 2);
        if (isMade(sellerId, middle, at)) low = middle;
        else high = middle - 1;
      }
      return low;
    },
  };
}

export function mapChange(sellerId: SellerId, row: Row): Change {
  return {
    sellerId,
    position: readInteger(row, 'position'),
    // The columns match these types and brands.
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
    actor: readOptional(row, 'actor', readText),
    importId: readOptional(row, 'import_id', readId<ImportId>),
  };
}

/** Finds the last deletion of a product; a revert may have created it again since. */
export function prepareFindLastDeletion(db: DatabaseSync) {
  // INDEXED BY: SQLite would read the history in the order of positions instead.
  const find = db.prepare(`
    SELECT position, sku FROM change INDEXED BY change_deleted
    WHERE seller_id = ? AND product_id = ? AND type = 'deleted'
    ORDER BY position DESC LIMIT 1`);
  return (sellerId: SellerId, id: ProductId) => {
    const row = find.get(sellerId, id);
    return row && { position: readInteger(row, 'position'), sku: readText(row, 'sku') };
  };
}
