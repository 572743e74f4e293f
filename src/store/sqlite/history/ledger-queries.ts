/**
 * The queries behind `ledger.ts`, each with a limit. The changes of a product form its version
 * chain: each has the position of the previous one.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Change } from '../../../domain/catalogue/change.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { MovementFilter } from '../../history-store.ts';
import {
  CHANGE_COLUMNS, mapChange, prepareFindLastDeletion, type Span,
} from './history-queries.ts';
import { readInteger, readOptional, readText, type Row } from '../engine/row.ts';

/** A change in the version chain of a product. */
interface Version {
  readonly position: number;
  /** Undefined for the first change. */
  readonly previousPosition: number | undefined;
}

interface FoundSnapshot {
  readonly product: string | undefined;
  /** How many were read, with the first one, and the position of the oldest. */
  readonly versions: number;
  readonly oldest: number;
}

/** Changes of the given types, or of any type that moved stock. */
const OF_TYPES = `(CASE WHEN :types IS NULL THEN stock_before <> stock_after
  ELSE instr(:types, type) > 0 END)`;
const FILTER = '(:source IS NULL OR source = :source) AND (:reason IS NULL OR reason = :reason)'
  + ' AND (:until IS NULL OR at <= :until) AND (:importId IS NULL OR import_id = :importId)';

export function ledgerQueries(db: DatabaseSync) {
  return {
    ...versionQueries(db), ...scanQueries(db), ...collapsedQueries(db), ...productQueries(db),
  };
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
  // One by one: a recursive query takes several times as long to set up.
  const step = db.prepare('SELECT prior, product FROM change WHERE seller_id = ? AND position = ?');
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
    findPreviousSnapshot(sellerId: SellerId, from: number, limit: number): FoundSnapshot {
      let row = step.get(sellerId, from);
      let oldest = from;
      let versions = 1;
      while (row && versions < limit) {
        const prior = readOptional(row, 'prior', readInteger);
        row = prior === undefined ? undefined : step.get(sellerId, prior);
        if (!row || prior === undefined) break;
        oldest = prior;
        versions += 1;
        const product = readOptional(row, 'product', readText);
        if (product !== undefined) return { product, versions, oldest };
      }
      return { product: undefined, versions, oldest };
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
      { source, reason, until, types, importId }: MovementFilter, isDescending: boolean,
      limit: number,
    ): Change[] {
      return (isDescending ? descending : ascending).all({
        sellerId, after, upTo, limit, source: source ?? null, reason: reason ?? null,
        until: until ?? null, types: types?.join(' ') ?? null, importId: importId ?? null,
      }).map((row) => mapChange(sellerId, row));
    },
  };
}

/** Changes without those of imports, except the last change of each import. */
function collapsedQueries(db: DatabaseSync) {
  // Changes whose record is gone are listed.
  const scan = db.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change AS c
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo
      AND (import_id IS NULL OR position = coalesce((
        SELECT i.last_position FROM import AS i
        WHERE i.seller_id = :sellerId AND i.id = c.import_id), position))
    ORDER BY position DESC LIMIT :limit`);
  return {
    scanCollapsed(sellerId: SellerId, { after, upTo }: Span, limit: number): Change[] {
      return scan.all({ sellerId, after, upTo, limit }).map((row) => mapChange(sellerId, row));
    },
  };
}

/** Products in the history. */
function productQueries(db: DatabaseSync) {
  const findNewest = db.prepare(`
    SELECT position, sku FROM product WHERE seller_id = ? AND id = ?`);
  const findDeletion = prepareFindLastDeletion(db);
  const findNewestBySku = db.prepare(`
    SELECT position FROM product WHERE seller_id = ? AND sku = ?`);
  const listDeletionsBySku = db.prepare(`
    SELECT c.position FROM change AS c INDEXED BY change_deleted_sku
    WHERE c.seller_id = ? AND c.sku = ? AND c.type = 'deleted'
      AND NOT EXISTS (
        SELECT 1 FROM product AS p WHERE p.seller_id = c.seller_id AND p.id = c.product_id)
      AND NOT EXISTS (
        SELECT 1 FROM change AS d WHERE d.seller_id = c.seller_id
          AND d.product_id = c.product_id AND d.type = 'deleted' AND d.position > c.position)
    ORDER BY c.position DESC LIMIT ?`);
  return {
    /** The last changes of the products that a filter names by SKU, id, or both. */
    findNewest(sellerId: SellerId, { sku, productId }: MovementFilter, limit: number): number[] {
      const rows: (Row | undefined)[] = [];
      if (productId !== undefined) {
        const row = findNewest.get(sellerId, productId) ?? findDeletion(sellerId, productId);
        if (row && (sku === undefined || readText(row, 'sku') === sku)) rows.push(row);
      } else if (sku !== undefined) {
        rows.push(findNewestBySku.get(sellerId, sku));
        rows.push(...listDeletionsBySku.all(sellerId, sku, limit));
      }
      return rows.flatMap((row) => (row ? readInteger(row, 'position') : []));
    },
  };
}
