/** Units of stock moved in and out per day. */
import type { HistoryStore } from '../../history-store.ts';
import type { QueriesOf } from '../port-methods.ts';
import { readInteger } from '../row.ts';
import type { Sql } from '../sql.ts';

export function stockDayQueries(sql: Sql) {
  const list = sql.prepare(`
    SELECT day, units_in, units_out FROM stock_day
    WHERE seller_id = :sellerId AND day >= :since ORDER BY day LIMIT :limit`);
  return {
    async listStockDays(sellerId, { since, limit }) {
      const rows = await list.all({ sellerId, since, limit });
      return rows.map((row) => ({
        day: readInteger(row, 'day'),
        unitsIn: readInteger(row, 'units_in'),
        unitsOut: readInteger(row, 'units_out'),
      }));
    },
  } satisfies Partial<QueriesOf<HistoryStore>>;
}
