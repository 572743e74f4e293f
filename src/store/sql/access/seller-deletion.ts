/**
 * Deletes all rows of a disabled seller, in steps, so that no other write waits long. The first
 * step marks the seller, which can then no longer be enabled; each further one deletes some rows,
 * and the last one the seller. The next call continues an interrupted deletion. The seller's audit
 * log is deleted, too, since it names people: the server's log keeps the id.
 */
import { AppError } from '../../../domain/error.ts';
import { formatSellerId, type SellerId } from '../../../domain/id.ts';
import { DELETION_STEP_LARGE_ROWS, PRUNE_STEP_CHANGES } from '../../limits.ts';
import type { AuditLog } from '../../rules/audit.ts';
import { readInteger, type Sql } from '../sql.ts';

/** Tables that may have many rows of a seller, and a column by which some of them are found. */
const LARGE_TABLES: readonly (readonly [table: string, column: string, rows: number])[] = [
  ['webhook_attempt', 'n', DELETION_STEP_LARGE_ROWS],
  ['idempotency', 'key_hash', DELETION_STEP_LARGE_ROWS],
  ['product', 'id', PRUNE_STEP_CHANGES],
  ['change', 'position', PRUNE_STEP_CHANGES],
  ['change_minute', 'minute', PRUNE_STEP_CHANGES],
  ['stock_sequence', 'product_id', PRUNE_STEP_CHANGES],
  ['stock_day', 'day', PRUNE_STEP_CHANGES],
  ['import', 'id', PRUNE_STEP_CHANGES],
  ['key_usage', 'hour', PRUNE_STEP_CHANGES],
];
/** All tables, each after those that refer to it; the large ones again, for rows added since. */
const TABLES = [
  ...LARGE_TABLES.map(([table]) => table), 'webhook', 'recovery_code', 'passkey', 'session',
  'account_email', 'account', 'invitation', 'column_mapping', 'saved_filter', 'api_key',
  'seller_external_id', 'audit_event', 'audit_segment',
];

export interface DeletionStep {
  /** When the deletion began, in milliseconds since 1970. */
  readonly deletedAt: number;
  /** Whether nothing is left. */
  readonly isDone: boolean;
}

/** @param ownTables Tables with rows of sellers that only this engine has. */
export function sellerDeletionMutations(sql: Sql, audit: AuditLog, ownTables: readonly string[]) {
  const find = sql.prepare('SELECT position, disabled_at FROM seller WHERE id = :sellerId');
  const findDeleted = prepareFindDeleted(sql);
  const mark = sql.prepare(`
    INSERT INTO deleted_seller (id, position, deleted_at) VALUES (:sellerId, 0, :at)`);
  const notePosition = sql.prepare(`
    UPDATE deleted_seller SET position = :position WHERE id = :sellerId`);
  const parts = LARGE_TABLES.map(([table, column, limit]) => ({
    limit,
    remove: sql.prepare(`
      DELETE FROM ${table} WHERE seller_id = :sellerId AND ${column} IN (
        SELECT t.${column} FROM ${table} AS t WHERE t.seller_id = :sellerId LIMIT :limit)`),
  }));
  const rest = [...ownTables, ...TABLES].map((table) =>
    sql.prepare(`DELETE FROM ${table} WHERE seller_id = :sellerId`));
  const removeSeller = sql.prepare('DELETE FROM seller WHERE id = :sellerId');

  return {
    async deleteSeller([sellerId]: readonly [SellerId], at: number): Promise<DeletionStep> {
      const seller = await find.get({ sellerId });
      const deletedAt = await findDeleted(sellerId);
      if (!seller) {
        if (deletedAt !== undefined) return { deletedAt, isDone: true };
        throw new AppError('not_found', 'There is no such seller.');
      }
      if (seller['disabled_at'] === null) {
        throw new AppError('seller_enabled', 'Disable the seller first, then delete it.');
      }
      if (deletedAt === undefined) {
        await mark.run({ sellerId, at });
        return { deletedAt: at, isDone: false };
      }
      for (const { limit, remove } of parts) {
        if (await remove.run({ sellerId, limit }) > 0) return { deletedAt, isDone: false };
      }
      for (const remove of rest) await remove.run({ sellerId });
      await removeSeller.run({ sellerId });
      await notePosition.run({ sellerId, position: readInteger(seller, 'position') });
      const subject = formatSellerId(sellerId);
      await audit.add({ sellerId: undefined, type: 'seller_deleted', subject }, at);
      return { deletedAt, isDone: true };
    },
  };
}

/** When the deletion of a seller began; undefined if none did. */
export function prepareFindDeleted(sql: Sql) {
  const find = sql.prepare('SELECT deleted_at FROM deleted_seller WHERE id = :sellerId');
  return async (sellerId: SellerId): Promise<number | undefined> => {
    const row = await find.get({ sellerId });
    return row && readInteger(row, 'deleted_at');
  };
}

/** For mutations that do not read the seller, which may have been deleted since the request. */
export function prepareAssertSeller(sql: Sql) {
  const find = sql.prepare('SELECT id FROM seller WHERE id = :sellerId');
  /** @throws AppError `not_found` */
  return async (sellerId: SellerId): Promise<void> => {
    if (!await find.get({ sellerId })) throw new AppError('not_found', 'There is no such seller.');
  };
}
