/**
 * The mutation that removes old history, by the rules of `rules/history/pruning.ts`, and a
 * catalogue's deletions, except its last change. What the delivery logs of webhooks have of the
 * same changes is removed, too.
 */
import { nextId, type SellerId } from '../../../domain/id.ts';
import { DAY_MS, MINUTE_MS } from '../../../domain/time.ts';
import { type Link, pruneChains } from '../../rules/history/pruning.ts';
import { readInteger, readOptional, type Sql } from '../sql.ts';

interface PruneStep {
  readonly sellerId: SellerId;
  /** Changes after this position, ... */
  readonly after: number;
  /** ... up to this one. */
  readonly upTo: number;
  /** Milliseconds since 1970: only older changes are removed. */
  readonly before: number;
}

export function pruningMutations(sql: Sql) {
  const removeSuperseded = prepareRemoveSuperseded(sql);
  // The last change kept by an earlier step may not be the last one any more.
  const removeDeletions = sql.prepare(`
    DELETE FROM change
    WHERE seller_id = :sellerId AND position >= :after AND position <= :upTo AND type = 'deleted'
      AND position <> (SELECT s.position FROM seller AS s WHERE s.id = :sellerId)`);
  const removeMinutes = sql.prepare(`
    DELETE FROM change_minute
    WHERE seller_id = :sellerId AND minute < :minute AND position < :upTo`);
  const removeDays = sql.prepare(`
    DELETE FROM stock_day WHERE seller_id = :sellerId AND day < :day`);
  // The newest record stays, since its id is the lower limit of the next one.
  const removeImports = sql.prepare(`
    DELETE FROM import
    WHERE seller_id = :sellerId AND id < :id AND coalesce(last_position, 0) <= :upTo
      AND id < (SELECT max(i.id) FROM import AS i WHERE i.seller_id = :sellerId)`);
  // They contain products as they were. A message without its changes cannot be sent again.
  const clearAttempts = sql.prepare(`
    UPDATE webhook_attempt SET detail = NULL
    WHERE seller_id = :sellerId AND last_position <= :upTo AND detail IS NOT NULL`);
  const note = sql.prepare(`
    UPDATE seller SET pruned_to = :upTo WHERE id = :sellerId AND pruned_to < :upTo`);
  return {
    async pruneHistory({ sellerId, after, upTo, before }: PruneStep): Promise<void> {
      await removeSuperseded(sellerId, after, upTo);
      await removeDeletions.run({ sellerId, after, upTo });
      await removeMinutes.run({ sellerId, upTo, minute: Math.floor(before / MINUTE_MS) });
      await removeDays.run({ sellerId, day: Math.floor(before / DAY_MS) });
      await removeImports.run({ sellerId, upTo, id: nextId(0, before) });
      await clearAttempts.run({ sellerId, upTo });
      await note.run({ sellerId, upTo });
    },
  };
}

function prepareRemoveSuperseded(sql: Sql) {
  const columns = `position, prior, CASE WHEN product IS NULL THEN 0 ELSE 1 END AS has_snapshot`;
  const list = sql.prepare(`
    SELECT ${columns} FROM change
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo ORDER BY position`);
  const listEarlier = sql.prepare(`
    SELECT ${columns} FROM change
    WHERE seller_id = :sellerId AND ${sql.isAmong('position', ':positions')}`);
  const remove = sql.prepare(`
    DELETE FROM change WHERE seller_id = :sellerId AND ${sql.isAmong('position', ':positions')}`);
  const relink = sql.prepare(`
    UPDATE change SET prior = :previous WHERE seller_id = :sellerId AND position = :position`);
  return async (sellerId: SellerId, after: number, upTo: number): Promise<void> => {
    const rows = await list.all({ sellerId, after, upTo });
    const positions = rows.map((row) => readInteger(row, 'position'));
    const earlier = rows.map((row) => readOptional(row, 'prior', readInteger) ?? 0)
      .filter((position) => position > 0 && position <= after);
    const earlierRows = await listEarlier.all({ sellerId, positions: earlier });
    const links = new Map([...rows, ...earlierRows].map((row): readonly [number, Link] => [
      readInteger(row, 'position'),
      {
        position: readInteger(row, 'position'),
        previousPosition: readOptional(row, 'prior', readInteger),
        hasSnapshot: row['has_snapshot'] === 1,
      },
    ]));
    const { removed, relinked } = pruneChains(positions, links);
    await remove.run({ sellerId, positions: removed });
    await Promise.all([...relinked].map(([position, previous]) =>
      relink.run({ sellerId, position, previous })));
  };
}
