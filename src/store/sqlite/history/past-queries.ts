/**
 * The queries behind `past-catalogue.ts`, each with a limit. They start at a product's row or at a
 * deletion, and follow the version chain back from there.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import type { StockLevelAt } from '../../history-store.ts';
import { readId, readInteger, readOptional, readText } from '../engine/row.ts';
import type { Span } from './history-queries.ts';

/** What a version chain shows of its product at a position. */
export interface PastVersion {
  /** Of the last change until the position; of the oldest one read if all were later. */
  readonly position: number;
  readonly type: ChangeType;
  readonly sku: Sku;
  readonly stock: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly snapshot: string | undefined;
  /** Whether it is the first change that the product ever had. */
  readonly isFirst: boolean;
  /** Whether a later change altered more than the stock. */
  readonly isEdited: boolean;
  /** How many changes were read. */
  readonly versions: number;
}

export function pastQueries(db: DatabaseSync) {
  return { ...chainQueries(db), ...startQueries(db) };
}

function chainQueries(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT prior, type, sku, stock_after, at, product FROM change
    WHERE seller_id = ? AND position = ?`);
  // One by one: a recursive query takes several times as long to set up.
  const step = db.prepare('SELECT prior, type FROM change WHERE seller_id = ? AND position = ?');
  const findRename = db.prepare(`
    SELECT c.product_id FROM change AS c
    JOIN change AS b ON b.seller_id = c.seller_id AND b.position = c.prior
    WHERE c.seller_id = :sellerId AND c.position > :after AND c.position <= :upTo
      AND c.type = 'updated' AND c.sku <> :sku AND b.sku = :sku
    ORDER BY c.position LIMIT 1`);
  return {
    /** Follows a chain from a change back to `position`, for up to `limit` changes. */
    findVersion(
      sellerId: SellerId, from: number, position: number, limit: number,
    ): PastVersion | undefined {
      let last = from;
      let versions = 1;
      let isEdited = false;
      while (last > position && versions < limit) {
        const row = step.get(sellerId, last);
        const prior = row && readOptional(row, 'prior', readInteger);
        if (!row || prior === undefined) break;
        isEdited ||= row['type'] === 'created' || row['type'] === 'updated';
        last = prior;
        versions += 1;
      }
      const row = find.get(sellerId, last);
      return row && {
        position: last,
        // The columns match these types.
        type: readText(row, 'type') as ChangeType,
        sku: readText(row, 'sku') as Sku,
        stock: readInteger(row, 'stock_after'),
        at: readInteger(row, 'at'),
        snapshot: readOptional(row, 'product', readText),
        isFirst: row['type'] === 'created' && row['prior'] === null,
        isEdited, versions,
      };
    },
    /** The first product in a span of the history that gave up this SKU for another one. */
    findRename(sellerId: SellerId, sku: Sku, { after, upTo }: Span): ProductId | undefined {
      const row = findRename.get({ sellerId, sku, after, upTo });
      return row && readId<ProductId>(row, 'product_id');
    },
  };
}

/** Where the chains of products begin that may have existed at a position. */
function startQueries(db: DatabaseSync) {
  const listProducts = db.prepare(`
    SELECT id, sku, stock, position FROM product WHERE seller_id = :sellerId AND id > :after
    UNION ALL
    SELECT product_id, sku, stock_after, position FROM change
    WHERE seller_id = :sellerId AND product_id > :after AND type = 'deleted'
      AND position > :position
    ORDER BY 1 LIMIT :limit`);
  // INDEXED BY: SQLite would read the history in the order of positions instead.
  const findDeletion = db.prepare(`
    SELECT position, product FROM change INDEXED BY change_deleted
    WHERE seller_id = ? AND product_id = ? AND type = 'deleted' AND position > ?
    ORDER BY position LIMIT 1`);
  const findSkuDeletion = db.prepare(`
    SELECT product_id FROM change INDEXED BY change_deleted_sku
    WHERE seller_id = ? AND sku = ? AND type = 'deleted' AND position > ?
    ORDER BY position LIMIT 1`);
  return {
    /**
     * The last levels of products that exist or were deleted after `position`, by id. A product
     * that a revert created again is listed once for each of its deletions, too: any of its levels
     * begins a chain to the same past.
     */
    listKnown(
      sellerId: SellerId, after: number, position: number, limit: number,
    ): StockLevelAt[] {
      return listProducts.all({ sellerId, after, position, limit }).map((row) => ({
        id: readId<ProductId>(row, 'id'),
        // The column matches this brand.
        sku: readText(row, 'sku') as Sku,
        stock: readInteger(row, 'stock'),
        position: readInteger(row, 'position'),
      }));
    },
    /** The first deletion of a product after a position, and the product before it. */
    findDeletionAfter(
      sellerId: SellerId, id: ProductId, position: number,
    ): { readonly position: number; readonly snapshot: string } | undefined {
      const row = findDeletion.get(sellerId, id, position);
      return row && {
        position: readInteger(row, 'position'), snapshot: readText(row, 'product'),
      };
    },
    /** The product of the first deletion after a position that freed this SKU. */
    findSkuDeletionAfter(sellerId: SellerId, sku: Sku, position: number): ProductId | undefined {
      const row = findSkuDeletion.get(sellerId, sku, position);
      return row && readId<ProductId>(row, 'product_id');
    },
  };
}
