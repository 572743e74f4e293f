/**
 * The mutation that removes old history. It keeps a catalogue's last change, whatever its age, and
 * for each product that existed at the new start of the history, its last change and last snapshot
 * until then. So the catalogue can be derived now and at every kept position.
 */
import type { DatabaseSync } from 'node:sqlite';
import { nextId, type SellerId } from '../../../domain/id.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/time.ts';
import { readInteger, readOptional } from '../engine/row.ts';

interface PruneStep {
  readonly sellerId: SellerId;
  /** Changes after this position, ... */
  readonly after: number;
  /** ... up to this one. */
  readonly upTo: number;
  /** Milliseconds since 1970: only older changes are removed. */
  readonly before: number;
}

export function pruningMutations(db: DatabaseSync) {
  const removeSuperseded = prepareRemoval(db);
  // The last change kept by an earlier step may not be the last one any more.
  const removeDeletions = db.prepare(`
    DELETE FROM change
    WHERE seller_id = :sellerId AND position >= :after AND position <= :upTo AND type = 'deleted'
      AND position <> (SELECT s.position FROM seller AS s WHERE s.id = :sellerId)`);
  const removeMinutes = db.prepare(`
    DELETE FROM change_minute
    WHERE seller_id = :sellerId AND minute < :minute AND position < :upTo`);
  const removeDays = db.prepare('DELETE FROM stock_day WHERE seller_id = ? AND day < ?');
  // The newest record stays, since its id is the lower limit of the next one.
  const removeImports = db.prepare(`
    DELETE FROM import
    WHERE seller_id = :sellerId AND id < :id AND coalesce(last_position, 0) <= :upTo
      AND id < (SELECT max(i.id) FROM import AS i WHERE i.seller_id = :sellerId)`);
  const note = db.prepare(`
    UPDATE seller SET pruned_to = max(pruned_to, ?) WHERE id = ?`);
  return {
    pruneHistory({ sellerId, after, upTo, before }: PruneStep): void {
      removeSuperseded(sellerId, after, upTo);
      removeDeletions.run({ sellerId, after, upTo });
      removeMinutes.run({ sellerId, upTo, minute: Math.floor(before / MINUTE_MS) });
      removeDays.run(sellerId, Math.floor(before / DAY_MS));
      removeImports.run({ sellerId, upTo, id: nextId(0, before) });
      note.run(upTo, sellerId);
    },
  };
}

/**
 * A change is superseded once the next change of its product is being pruned too, unless it has the
 * product's last snapshot until then. That one becomes the previous change in the version chain,
 * replacing those in between, so a later step finds it: `before` is always a snapshot.
 */
function prepareRemoval(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT c.prior, a.prior AS before, c.product IS NOT NULL AS has_snapshot,
      a.product IS NOT NULL AS follows_snapshot
    FROM change AS c
    JOIN change AS a ON a.seller_id = c.seller_id AND a.position = c.prior
    WHERE c.seller_id = ? AND c.position = ?`);
  const remove = db.prepare('DELETE FROM change WHERE seller_id = ? AND position = ?');
  const relink = db.prepare('UPDATE change SET prior = ? WHERE seller_id = ? AND position = ?');
  return (sellerId: SellerId, after: number, upTo: number): void => {
    for (let position = after + 1; position <= upTo; position += 1) {
      const row = find.get(sellerId, position);
      if (!row) continue; // the first change of a product
      const hasSnapshot = row['has_snapshot'] === 1;
      const previous = readInteger(row, 'prior');
      if (!hasSnapshot && row['follows_snapshot'] === 1) continue;
      remove.run(sellerId, previous);
      const before = readOptional(row, 'before', readInteger);
      if (before === undefined) continue;
      if (hasSnapshot) remove.run(sellerId, before);
      else relink.run(before, sellerId, position);
    }
  };
}
