/**
 * From a time to a position. The history has no index on times: a small table has the last change
 * of each minute, and within a minute time follows position.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import { readInteger } from '../engine/row.ts';

export function timeQueries(db: DatabaseSync) {
  const listMinutes = db.prepare(`
    SELECT minute, position FROM change_minute WHERE seller_id = ? AND minute <= ?
    ORDER BY minute DESC LIMIT 2`);
  const findTime = db.prepare('SELECT at FROM change WHERE seller_id = ? AND position = ?');

  // Of all sellers, and so a statement that no seller_id narrows.
  const findNewest = db.prepare(`
    SELECT max(
      coalesce((SELECT at FROM audit_event WHERE n > 0 ORDER BY n DESC LIMIT 1), 0),
      coalesce((SELECT max(c.at) FROM seller AS s
        JOIN change AS c ON c.seller_id = s.id AND c.position = s.position), 0)) AS at`);

  return {
    /** 0 where nothing has happened yet. */
    findNewestTime(): number {
      return readInteger(findNewest.get() ?? {}, 'at');
    },
    /** Whether a change was made at a time or before: false where that is not known any more. */
    isBefore(sellerId: SellerId, position: number, at: number): boolean {
      if (position === 0) return true;
      const row = findTime.get(sellerId, position);
      if (row) return readInteger(row, 'at') <= at;
      const [last] = listMinutes.all(sellerId, Math.floor(at / MINUTE_MS) - 1);
      return last !== undefined && readInteger(last, 'position') >= position;
    },
    /** The last change at a time or before; `prunedTo` where that is not kept any more. */
    findPositionAt(sellerId: SellerId, at: number, prunedTo: number): number {
      const minute = Math.floor(at / MINUTE_MS);
      const [last, before] = listMinutes.all(sellerId, minute);
      if (!last) return prunedTo;
      const end = readInteger(last, 'position');
      if (readInteger(last, 'minute') < minute) return Math.max(end, prunedTo);
      const isAt = (position: number): boolean => {
        const row = findTime.get(sellerId, position);
        return row !== undefined && readInteger(row, 'at') <= at;
      };
      if (isAt(end)) return Math.max(end, prunedTo);
      let low = Math.max(prunedTo, before ? readInteger(before, 'position') : 0);
      for (let high = end; low < high;) {
        const middle = Math.ceil((low + high) / 2);
        if (isAt(middle)) low = middle;
        else high = middle - 1;
      }
      return low;
    },
  };
}
