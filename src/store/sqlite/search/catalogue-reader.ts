/**
 * What the projection reads from the catalogue: sellers and their positions, the products for the
 * first build, and the history after it. Every statement is short and outside a transaction, so
 * reading never keeps the catalogue's write-ahead log from being truncated.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { parseSnapshot } from '../../../domain/catalogue/product.ts';
import type { StoredProduct } from '../../../domain/catalogue/product-fields.ts';
import { openReader } from '../engine/connection.ts';
import { decodeProduct, prepareListProducts } from '../catalogue/products.ts';
import {
  readCurrency, readId, readInteger, readOptional, readText, type Row,
} from '../engine/row.ts';

export interface CatalogueSeller {
  readonly id: SellerId;
  readonly position: number;
  readonly currency: Currency;
}

export interface Change {
  readonly position: number;
  readonly isDeletion: boolean;
  readonly productId: ProductId;
  readonly at: number;
  readonly stock: number;
  /** The product's snapshot; undefined where only its stock changed. */
  readonly json: string | undefined;
}

const SELLER_COLUMNS = 'id, position, currency, currency_decimals';

export class CatalogueReader {
  readonly #db: DatabaseSync;
  readonly #findSeller;
  readonly #nextSeller;
  readonly #listProducts;
  readonly #listChanges;
  readonly #findMark;

  constructor(file: string) {
    const db = openReader(file);
    this.#db = db;
    this.#findSeller = db.prepare(`SELECT ${SELLER_COLUMNS} FROM seller WHERE id = ?`);
    this.#nextSeller = db.prepare(`
      SELECT ${SELLER_COLUMNS} FROM seller WHERE id > ? ORDER BY id LIMIT 1`);
    this.#listProducts = prepareListProducts(db);
    this.#listChanges = db.prepare(`
      SELECT position, type, product_id, at, stock_after, product FROM change
      WHERE seller_id = ? AND position > ? ORDER BY position LIMIT ?`);
    this.#findMark = db.prepare(`
      SELECT at, product_id FROM change WHERE seller_id = ? AND position = ?`);
  }

  findSeller(id: SellerId): CatalogueSeller | undefined {
    const row = this.#findSeller.get(id);
    return row && mapSeller(row);
  }

  /** The first of all sellers after this id. */
  nextSeller(after: number): CatalogueSeller | undefined {
    const row = this.#nextSeller.get(after);
    return row && mapSeller(row);
  }

  listProducts({ id }: CatalogueSeller, after: number, limit: number): StoredProduct[] {
    return this.#listProducts(id, after, limit).map((row) => decodeProduct({}, row));
  }

  listChanges(sellerId: SellerId, after: number, limit: number): Change[] {
    return this.#listChanges.all(sellerId, after, limit).map(mapChange);
  }

  /**
   * Identifies the change at a position: a catalogue that was restored from a backup reaches each
   * position again, with another change. Position 0 is the same in all.
   */
  findMark(sellerId: SellerId, position: number): string | undefined {
    if (position === 0) return '';
    const row = this.#findMark.get(sellerId, position);
    return row && `${readInteger(row, 'product_id')}@${readInteger(row, 'at')}`;
  }

  close(): void {
    this.#db.close();
  }
}

/** The product after a change with a snapshot. */
export function readSnapshot(change: Change, json: string, currency: Currency): StoredProduct {
  const { productId: id, stock, position, at: updatedAt } = change;
  return { ...parseSnapshot(json, currency), id, stock, position, updatedAt };
}

function mapSeller(row: Row): CatalogueSeller {
  return {
    id: readId<SellerId>(row, 'id'),
    position: readInteger(row, 'position'),
    currency: readCurrency(row),
  };
}

function mapChange(row: Row): Change {
  return {
    position: readInteger(row, 'position'),
    isDeletion: readText(row, 'type') === 'deleted',
    productId: readId<ProductId>(row, 'product_id'),
    at: readInteger(row, 'at'),
    stock: readInteger(row, 'stock_after'),
    json: readOptional(row, 'product', readText),
  };
}
