/**
 * The unit of work that removes old history. What is kept of it at any age are the last change of a
 * catalogue, and of each product that there is the last change and the last one that describes it:
 * so the history alone always tells the catalogue as it stands.
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
  const removeChanges = db.prepare(`
    DELETE FROM change
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo
      AND position <> (SELECT s.position FROM seller AS s WHERE s.id = :sellerId)
      AND NOT EXISTS (
        SELECT 1 FROM product AS p
        WHERE p.seller_id = :sellerId AND p.id = change.product_id
          AND change.position IN (p.position, p.snapshot_position))`);
  const removeMinutes = db.prepare(`
    DELETE FROM change_minute
    WHERE seller_id = :sellerId AND minute < :minute AND position < :upTo`);
  const note = db.prepare(`
    UPDATE seller SET pruned_to = max(pruned_to, ?) WHERE id = ?`);
  return {
    pruneHistory({ sellerId, after, upTo, before }: PruneStep): void {
      removeChanges.run({ sellerId, after, upTo });
      removeMinutes.run({ sellerId, upTo, minute: Math.floor(before / MINUTE_MS) });
      note.run(upTo, sellerId);
    },
  };
}
