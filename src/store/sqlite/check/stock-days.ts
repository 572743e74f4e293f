/**
 * Whether the sums of days agree with the ledger. Old days are removed before all of their changes
 * are; of a day whose changes are not all kept any more a sum can only be larger; and a clock that
 * was once far ahead may have moved a later day, too.
 */
import type { DatabaseSync } from 'node:sqlite';
import { formatSellerId, type SellerId } from '../../../domain/id.ts';
import { DAY_MS, formatTime } from '../../../domain/time.ts';
import { readInteger } from '../engine/row.ts';
import { fault, type Finding, RESTORE, warning } from './finding.ts';

const MOST = Number.MAX_SAFE_INTEGER;

export function* checkStockDays(db: DatabaseSync): Generator<Finding, void, void> {
  const rows = db.prepare(`
    WITH moved AS (
      SELECT c.seller_id, c.at / ${DAY_MS} AS day,
        min(sum(max(c.stock_after - c.stock_before, 0)), ${MOST}) AS units_in,
        min(sum(max(c.stock_before - c.stock_after, 0)), ${MOST}) AS units_out
      FROM change AS c JOIN seller AS s ON s.id = c.seller_id
      WHERE c.position > s.pruned_to AND c.stock_after <> c.stock_before
      GROUP BY 1, 2
    ), both AS (
      SELECT coalesce(d.seller_id, m.seller_id) AS seller_id, coalesce(d.day, m.day) AS day,
        d.day IS NULL AS is_missing,
        coalesce(d.units_in, 0) - coalesce(m.units_in, 0) AS more_in,
        coalesce(d.units_out, 0) - coalesce(m.units_out, 0) AS more_out
      FROM stock_day AS d FULL JOIN moved AS m ON m.seller_id = d.seller_id AND m.day = d.day
    )
    SELECT b.*, s.pruned_to > 0 AS is_pruned, coalesce((
      SELECT c.at / ${DAY_MS} FROM change AS c
      WHERE c.seller_id = b.seller_id AND c.position > s.pruned_to ORDER BY c.position LIMIT 1
    ), b.day) AS first_day, coalesce((
      SELECT min(d.day) FROM stock_day AS d WHERE d.seller_id = b.seller_id
    ), b.day + 1) AS kept_from
    FROM both AS b JOIN seller AS s ON s.id = b.seller_id
    WHERE more_in <> 0 OR more_out <> 0 ORDER BY b.seller_id, b.day`);
  for (const row of rows.iterate()) {
    const [more, others] = [readInteger(row, 'more_in'), readInteger(row, 'more_out')];
    const isLess = more < 0 || others < 0;
    const isPruned = readInteger(row, 'is_pruned') === 1;
    const [day, isMissing] = [readInteger(row, 'day'), readInteger(row, 'is_missing') === 1];
    if (isPruned && isMissing && day < readInteger(row, 'kept_from')) continue;
    if (isPruned && !isLess && day <= readInteger(row, 'first_day')) continue;
    // The column holds what this brand means.
    const seller = formatSellerId(readInteger(row, 'seller_id') as SellerId);
    const date = formatTime(day * DAY_MS).slice(0, 10);
    const what = `The units that seller ${seller} moved on ${date} do not agree with its ledger: `
      + `${describe(more)} came in, and ${describe(others)} went out.`;
    yield isLess || !isPruned ? fault(what, RESTORE)
      : warning(what, 'A clock that was once wrong does that; only the plot of that day is wrong.');
  }
}

function describe(more: number): string {
  return more < 0 ? `${-more} less` : `${more} more`;
}
