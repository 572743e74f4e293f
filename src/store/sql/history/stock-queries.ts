/**
 * The queries behind the stock over time: what changes did to it, what products cost, and the units
 * moved in and out per day.
 */
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ProductId } from '../../../domain/id.ts';
import type { HistoryQueries } from '../../rules/history/queries.ts';
import { prepareList, readId, readInteger, readOptional, readText, type Sql } from '../sql.ts';
import type { HistoryStore } from '../../history-store.ts';
import type { QueriesOf } from '../port-methods.ts';

export function stockQueries(sql: Sql) {
  const scan = prepareList(sql, (row) => ({
    position: readInteger(row, 'position'),
    // The columns match these types and brands.
    type: readText(row, 'type') as ChangeType,
    productId: readId<ProductId>(row, 'product_id'),
    sku: readText(row, 'sku') as Sku,
    at: readInteger(row, 'at'),
    before: readInteger(row, 'stock_before'),
    after: readInteger(row, 'stock_after'),
    snapshot: readOptional(row, 'product', readText),
  }), `
    SELECT position, type, product_id, sku, at, stock_before, stock_after, product FROM change
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo
    ORDER BY position DESC LIMIT :limit`);
  const listPrices = prepareList(sql, (row) => ({
    productId: readId<ProductId>(row, 'id'),
    priceMinor: readInteger(row, 'price_minor'),
    since: readInteger(row, 'snapshot_position'),
  }), `
    SELECT id, price_minor, snapshot_position FROM product
    WHERE seller_id = :sellerId AND ${sql.isAmong('id', ':ids')}`);
  return {
    scanStock: (sellerId, { after, upTo }, limit) => scan({ sellerId, after, upTo, limit }),
    listCurrentPrices: (sellerId, ids) => listPrices({ sellerId, ids }),
  } satisfies Partial<HistoryQueries>;
}

export function stockDayQueries(sql: Sql) {
  const list = prepareList(sql, (row) => ({
    day: readInteger(row, 'day'),
    unitsIn: readInteger(row, 'units_in'),
    unitsOut: readInteger(row, 'units_out'),
  }), `
    SELECT day, units_in, units_out FROM stock_day
    WHERE seller_id = :sellerId AND day >= :since ORDER BY day LIMIT :limit`);
  return {
    listStockDays: (sellerId, { since, limit }) => list({ sellerId, since, limit }),
  } satisfies Partial<QueriesOf<HistoryStore>>;
}
