/**
 * The queries behind `ledger.ts`, each with a limit. The changes of a product form its version
 * chain: each has the position of the previous one.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Change } from '../../../domain/catalogue/change.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { MovementFilter, StockLevelAt } from '../../history-store.ts';
import { CHANGE_COLUMNS, mapChange } from './history-queries.ts';
import { readInteger, readOptional, readText, type Row } from '../engine/row.ts';

/** A change in the version chain of a product. */
interface Version {
  readonly position: number;
  /** Undefined for the first change. */
  readonly previousPosition: number | undefined;
}

/** After one position, up to and including another. */
export interface Span {
  readonly after: number;
  readonly upTo: number;
}

/** Changes of the given types, or of any type that moved stock. */
const OF_TYPES = `(CASE WHEN :types IS NULL THEN stock_before <> stock_after
  ELSE instr(:types, type) > 0 END)`;
const FILTER = '(:source IS NULL OR source = :source) AND (:reason IS NULL OR reason = :reason)'
  + ' AND (:until IS NULL OR at <= :until)';

export function ledgerQueries(db: DatabaseSync) {
  return { ...versionQueries(db), ...scanQueries(db), ...productQueries(db) };
}

/** Single changes, and version chains. */
function versionQueries(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change WHERE seller_id = ? AND position = ?`);
  const listVersions = db.prepare(`
    WITH RECURSIVE version (position, prior) AS (
      SELECT position, prior FROM change WHERE seller_id = :sellerId AND position = :from
      UNION ALL
      SELECT c.position, c.prior FROM version CROSS JOIN change AS c
      ON c.seller_id = :sellerId AND c.position = version.prior
      WHERE version.prior > :after LIMIT :limit)
    SELECT position, prior FROM version`);
  const findSnapshot = db.prepare(`
    WITH RECURSIVE version (prior, product) AS (
      SELECT prior, NULL FROM change WHERE seller_id = :sellerId AND position = :from
      UNION ALL
      SELECT c.prior, c.product FROM version CROSS JOIN change AS c
      ON c.seller_id = :sellerId AND c.position = version.prior
      WHERE version.product IS NULL LIMIT :limit)
    SELECT count(*) AS versions, max(product) AS product FROM version`);
  return {
    findChange(sellerId: SellerId, position: number): Change | undefined {
      const row = find.get(sellerId, position);
      return row && mapChange(sellerId, row);
    },
    /** From a change back to the first one after a position, newest first. */
    listVersions(sellerId: SellerId, from: number, after: number, limit: number): Version[] {
      return listVersions.all({ sellerId, from, after, limit }).map((row) => ({
        position: readInteger(row, 'position'),
        previousPosition: readOptional(row, 'prior', readInteger),
      }));
    },
    /** The last earlier snapshot of a change's product, within `limit` versions. */
    findPreviousSnapshot(
      sellerId: SellerId, from: number, limit: number,
    ): { readonly product: string | undefined; readonly versions: number } {
      const row = findSnapshot.get({ sellerId, from, limit }) ?? {};
      return {
        product: readOptional(row, 'product', readText), versions: readInteger(row, 'versions'),
      };
    },
  };
}

/** Movements of any product. */
function scanQueries(db: DatabaseSync) {
  const prepareScan = (direction: 'ASC' | 'DESC') => db.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo
      AND ${OF_TYPES} AND ${FILTER}
    ORDER BY position ${direction} LIMIT :limit`);
  const [ascending, descending] = [prepareScan('ASC'), prepareScan('DESC')];
  return {
    scanMovements(
      sellerId: SellerId, { after, upTo }: Span,
      { source, reason, until, types }: MovementFilter, isDescending: boolean, limit: number,
    ): Change[] {
      return (isDescending ? descending : ascending).all({
        sellerId, after, upTo, limit, source: source ?? null, reason: reason ?? null,
        until: until ?? null, types: types?.join(' ') ?? null,
      }).map((row) => mapChange(sellerId, row));
    },
  };
}

/** Products in the history. */
function productQueries(db: DatabaseSync) {
  const findNewest = db.prepare(`
    SELECT position, sku FROM product WHERE seller_id = ? AND id = ?`);
  const findDeletion = db.prepare(`
    SELECT position, sku FROM change WHERE seller_id = ? AND product_id = ? AND type = 'deleted'`);
  const findNewestBySku = db.prepare(`
    SELECT position FROM product WHERE seller_id = ? AND sku = ?`);
  const listDeletionsBySku = db.prepare(`
    SELECT position FROM change WHERE seller_id = ? AND sku = ? AND type = 'deleted'
    ORDER BY position DESC LIMIT ?`);
  const listProducts = db.prepare(`
    SELECT id, sku, stock, position FROM product WHERE seller_id = :sellerId AND id > :after
    UNION ALL
    SELECT product_id, sku, stock_after, position FROM change
    WHERE seller_id = :sellerId AND product_id > :after AND type = 'deleted'
      AND position > :position
    ORDER BY 1 LIMIT :limit`);
  return {
    /** The last changes of the products that a filter names by SKU, id, or both. */
    findNewest(sellerId: SellerId, { sku, productId }: MovementFilter, limit: number): number[] {
      const rows: (Row | undefined)[] = [];
      if (productId !== undefined) {
        const row = findNewest.get(sellerId, productId) ?? findDeletion.get(sellerId, productId);
        if (row && (sku === undefined || readText(row, 'sku') === sku)) rows.push(row);
      } else if (sku !== undefined) {
        rows.push(findNewestBySku.get(sellerId, sku));
        rows.push(...listDeletionsBySku.all(sellerId, sku, limit));
      }
      return rows.flatMap((row) => (row ? readInteger(row, 'position') : []));
    },
    /** The last levels of products that exist or were deleted after `position`, by id. */
    listKnown(
      sellerId: SellerId, after: number, position: number, limit: number,
    ): StockLevelAt[] {
      return listProducts.all({ sellerId, after, position, limit }).map((row) => ({
        // The columns match these brands.
        id: readInteger(row, 'id') as ProductId,
        sku: readText(row, 'sku') as Sku,
        stock: readInteger(row, 'stock'),
        position: readInteger(row, 'position'),
      }));
    },
  };
}
