/** Change events: their columns, and how rows are read and written. */
import type { Change, ChangeType } from '../../../domain/catalogue/change.ts';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ImportId, KeyId, ProductId, SellerId } from '../../../domain/id.ts';
import type { ChainedChange } from '../../rules/history.ts';
import type { PastVersion } from '../../rules/history/queries.ts';
import { readId, readInteger, readOptional, readText, type Row } from '../sql.ts';

/** The columns of a row after `seller_id`, with their types in PostgreSQL. */
export const CHANGE_ROW = {
  position: 'bigint', type: 'text', product_id: 'bigint', key_id: 'bigint', at: 'bigint',
  stock_before: 'bigint', stock_after: 'bigint', product: 'text', sku: 'text', prior: 'bigint',
  reason: 'text', source: 'text', sequence: 'bigint', actor: 'text', import_id: 'bigint',
} as const;

/** Columns for `mapChange`. */
export const CHANGE_COLUMNS = Object.keys(CHANGE_ROW).filter((name) => name !== 'prior').join(', ');

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

/** Columns for `mapVersion`. */
export const VERSION_COLUMNS = 'position, prior, type, sku, stock_after, at, product';

/** The version at which following a chain back to `position` ended. */
export function mapVersion(row: Row, position: number, isEdited: boolean): PastVersion {
  const last = readInteger(row, 'position');
  const isFirst = row['type'] === 'created' && row['prior'] === null;
  return {
    position: last,
    // The columns match these types.
    type: readText(row, 'type') as ChangeType,
    sku: readText(row, 'sku') as Sku,
    stock: readInteger(row, 'stock_after'),
    at: readInteger(row, 'at'),
    snapshot: readOptional(row, 'product', readText),
    isEnd: last <= position || row['prior'] === null,
    isFirst, isEdited,
  };
}

/** A row: its seller, and the values of `CHANGE_ROW`. */
export function encodeChange(change: ChainedChange): [SellerId, ...(number | string | null)[]] {
  const { before, after, reason, source, sequence } = change.movement;
  return [
    change.sellerId, change.position, change.type, change.productId, change.keyId, change.at,
    before, after, change.product ?? null, change.sku, change.previousPosition ?? null,
    reason ?? null, source ?? null, sequence ?? null, change.actor ?? null,
    change.importId ?? null,
  ];
}
