/**
 * The unit of work that removes old history. What is kept of it at any age are the last change of a
 * catalogue, and of each product that is there where the history begins the last change until then,
 * and the last one that describes it: so the history alone always tells the catalogue as it stands,
 * and as it stood at every position that is kept.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../domain/id.ts';
import { MINUTE_MS } from './positions.ts';

interface PruneStep {
  readonly sellerId: SellerId;
  /** Changes after the one and up to the other position. */
  readonly after: number;
  readonly upTo: number;
  /** Milliseconds since 1970: before it lies all that is removed. */
  readonly before: number;
}

export function pruningUnits(db: DatabaseSync) {
  // A change is of no use once the next one of its product is where the history has not begun yet.
  const removeSuperseded = db.prepare(`
    DELETE FROM change
    WHERE seller_id = :sellerId
      AND position IN (
        SELECT next.prior FROM change AS next
        WHERE next.seller_id = :sellerId AND next.position > :after AND next.position <= :upTo)
      AND NOT EXISTS (
        SELECT 1 FROM product AS p
        WHERE p.seller_id = :sellerId AND p.id = change.product_id
          AND p.snapshot_position = change.position)`);
  const removeDeletions = db.prepare(`
    DELETE FROM change
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo AND type = 'deleted'
      AND position <> (SELECT s.position FROM seller AS s WHERE s.id = :sellerId)`);
  const removeMinutes = db.prepare(`
    DELETE FROM change_minute
    WHERE seller_id = :sellerId AND minute < :minute AND position < :upTo`);
  const note = db.prepare(`
    UPDATE seller SET pruned_to = max(pruned_to, ?) WHERE id = ?`);
  return {
    pruneHistory({ sellerId, after, upTo, before }: PruneStep): void {
      removeSuperseded.run({ sellerId, after, upTo });
      removeDeletions.run({ sellerId, after, upTo });
      removeMinutes.run({ sellerId, upTo, minute: Math.floor(before / MINUTE_MS) });
      note.run(upTo, sellerId);
    },
  };
}
