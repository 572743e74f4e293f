/**
 * What the projection reads of the catalogue: where a seller stands, the products for the first
 * build, and the history from then on. Every statement is a snapshot of its own, and short: no
 * reading transaction ever keeps the catalogue's log from being cut back.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { parseSnapshot } from '../../../domain/catalogue/product.ts';
import type { StoredProduct } from '../../../domain/catalogue/product-fields.ts';
import { openReader } from '../engine/connection.ts';
import { decodeProduct, prepareListProducts } from '../catalogue/products.ts';
import { readCurrency, readInteger, readOptional, readText, type Row } from '../engine/row.ts';

/** A seller, and the position at which the catalogue stands. */
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
  /** The product's JSON, undefined where only its stock moved. */
  readonly json: string | undefined;
}

const SELLER_COLUMNS = 'id, position, currency, currency_decimals';

export class History {
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

  /** The first seller after this one, of all that there are. */
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
   * By what the change at a position is known again: a catalogue that was put back to an older copy
   * comes by each position once more, with another change. Position 0 is the same in all.
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

/** The product that a change left, from the JSON that it was answered with. */
export function readSnapshot(change: Change, json: string, currency: Currency): StoredProduct {
  const { productId: id, stock, position, at: updatedAt } = change;
  return { ...parseSnapshot(json, currency), id, stock, position, updatedAt };
}

function mapSeller(row: Row): CatalogueSeller {
  return {
    // The primary key of the table of sellers is what a SellerId is.
    id: readInteger(row, 'id') as SellerId,
    position: readInteger(row, 'position'),
    currency: readCurrency(row),
  };
}

function mapChange(row: Row): Change {
  return {
    position: readInteger(row, 'position'),
    isDeletion: readText(row, 'type') === 'deleted',
    // The column holds the ids of products.
    productId: readInteger(row, 'product_id') as ProductId,
    at: readInteger(row, 'at'),
    stock: readInteger(row, 'stock_after'),
    json: readOptional(row, 'product', readText),
  };
}
