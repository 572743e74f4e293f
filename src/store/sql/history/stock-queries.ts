/**
 * The queries behind the stock over time: what changes did to it, what products cost, and the units
 * moved in and out per day.
 */
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ProductId } from '../../../domain/id.ts';
import type { HistoryQueries } from '../../rules/history/queries.ts';
import { readId, readInteger, readOptional, readText, type Sql } from '../sql.ts';
import type { HistoryStore } from '../../history-store.ts';
import type { QueriesOf } from '../port-methods.ts';

export function stockQueries(sql: Sql) {
  const scan = sql.prepare(`
    SELECT position, type, product_id, sku, at, stock_before, stock_after, product FROM change
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo
    ORDER BY position DESC LIMIT :limit`);
  const listPrices = sql.prepare(`
    SELECT id, price_minor, snapshot_position FROM product
    WHERE seller_id = :sellerId AND ${sql.isAmong('id', ':ids')}`);
  return {
    async scanStock(sellerId, { after, upTo }, limit) {
      const rows = await scan.all({ sellerId, after, upTo, limit });
      return rows.map((row) => ({
        position: readInteger(row, 'position'),
        // The columns match these types and brands.
        type: readText(row, 'type') as ChangeType,
        productId: readId<ProductId>(row, 'product_id'),
        sku: readText(row, 'sku') as Sku,
        at: readInteger(row, 'at'),
        before: readInteger(row, 'stock_before'),
        after: readInteger(row, 'stock_after'),
        snapshot: readOptional(row, 'product', readText),
      }));
    },
    async listCurrentPrices(sellerId, ids) {
      const rows = await listPrices.all({ sellerId, ids });
      return rows.map((row) => ({
        productId: readId<ProductId>(row, 'id'),
        priceMinor: readInteger(row, 'price_minor'),
        since: readInteger(row, 'snapshot_position'),
      }));
    },
  } satisfies Partial<HistoryQueries>;
}

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
