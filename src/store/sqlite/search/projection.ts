/**
 * Catches the projection up with the catalogue, in steps of one short transaction each. A seller is
 * first built from the products of the catalogue, in the order of their ids, and then follows the
 * history from the position where the build started. During a build the products are of many
 * positions; once the history has reached the position where the build ended, they are of one. Each
 * step stores how far it came, so another process, or the next one, continues there.
 */
import type { DatabaseSync } from 'node:sqlite';
import { SEARCH_STEP_LIMIT } from './limits.ts';
import type { StoredProduct } from '../../../domain/catalogue/product-fields.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { readInteger, readOptional, readText } from '../engine/row.ts';
import {
  type CatalogueSeller, type Change, type CatalogueReader, readSnapshot,
} from './catalogue-reader.ts';
import {
  countChange, mapTotals, ProjectedProducts, type Totals, TOTALS_COLUMNS,
} from './projected-products.ts';
import { prepareWrite } from './projection-file.ts';

/** How far the projection of a seller has come. */
export interface ProjectionState {
  readonly ordinal: number;
  /** All changes up to here are applied. */
  position: number;
  /** The last product that the first build has read; undefined when it is complete. */
  builtTo: number | undefined;
  /** No product is of a later position than this. */
  seen: number;
  /** How many products were ever inserted. */
  rows: number;
  /** Of the products as they are now. */
  readonly totals: Totals;
}

/** The projection is of another catalogue, or the catalogue was restored from a backup. */
export class ForeignProjectionError extends Error {}

/** Undefined before the first step for a seller. @throws ForeignProjectionError */
type FindState = (sellerId: SellerId) => ProjectionState | undefined;

export function prepareFindState(db: DatabaseSync, catalogue: CatalogueReader): FindState {
  const find = db.prepare(`
    SELECT ordinal, position, built_to, seen, mark, rows, ${TOTALS_COLUMNS} FROM seller
    WHERE seller_id = ?`);
  return (sellerId) => {
    const row = find.get(sellerId);
    if (!row) return undefined;
    const seen = readInteger(row, 'seen');
    if (catalogue.findMark(sellerId, seen) !== readText(row, 'mark')) {
      throw new ForeignProjectionError('The catalogue was replaced.');
    }
    return {
      ordinal: readInteger(row, 'ordinal'),
      position: readInteger(row, 'position'),
      builtTo: readOptional(row, 'built_to', readInteger),
      seen,
      rows: readInteger(row, 'rows'),
      totals: mapTotals(row),
    };
  };
}

/** Whether all products are of one position, and at least of this one. */
export function isCaughtUp(
  state: ProjectionState | undefined, position: number,
): state is ProjectionState {
  return state !== undefined && state.builtTo === undefined
    && state.position === state.seen && state.position >= position;
}

export class Projection {
  readonly #db: DatabaseSync;
  readonly #catalogue: CatalogueReader;
  readonly #products: ProjectedProducts;
  readonly #insert;
  readonly #update;

  readonly find: FindState;

  constructor(db: DatabaseSync, catalogue: CatalogueReader) {
    this.#db = db;
    this.#catalogue = catalogue;
    this.#products = new ProjectedProducts(db);
    this.find = prepareFindState(db, catalogue);
    this.#insert = db.prepare(`
      INSERT INTO seller (seller_id, position, built_to, seen, mark, rows)
      VALUES (?, ?, 0, ?, ?, 0) RETURNING ordinal`);
    this.#update = prepareWrite(db, `
      UPDATE seller SET position = ?, built_to = ?, seen = ?, mark = ?, rows = ?, products = ?,
        units = ?, value_minor = ?
      WHERE ordinal = ?`);
  }

  /** Applies the next products or changes. @throws ForeignProjectionError */
  step(seller: CatalogueSeller): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      // Read inside the transaction: another process may also be catching up.
      const state = this.find(seller.id) ?? this.#start(seller);
      if (state.builtTo === undefined) this.#follow(seller, state);
      else this.#build(seller, state, state.builtTo);
      this.#write(seller, state);
      this.#db.exec('COMMIT');
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
  }

  /** Merges a part of the text index, which speeds up searches; returns whether more is left. */
  merge(): boolean {
    return this.#products.mergeText();
  }

  #start(seller: CatalogueSeller): ProjectionState {
    const { id, position } = seller;
    const row = this.#insert.get(id, position, position, this.#getMark(seller, position)) ?? {};
    const totals = { products: 0, units: 0n, valueMinor: 0n };
    const ordinal = readInteger(row, 'ordinal');
    return { ordinal, position, builtTo: 0, seen: position, rows: 0, totals };
  }

  #write(seller: CatalogueSeller, state: ProjectionState): void {
    const { ordinal, position, builtTo, seen, rows } = state;
    const { products, units, valueMinor } = state.totals;
    this.#update.run(
      position, builtTo ?? null, seen, this.#getMark(seller, seen), rows, products, String(units),
      String(valueMinor), ordinal,
    );
  }

  #build(seller: CatalogueSeller, state: ProjectionState, builtTo: number): void {
    const products = this.#catalogue.listProducts(seller, builtTo, SEARCH_STEP_LIMIT);
    for (const product of products) this.#insertProduct(state, product);
    state.builtTo = products.length < SEARCH_STEP_LIMIT ? undefined : products.at(-1)?.id;
    // Read after the products: none of them is of a later position than this.
    state.seen = this.#catalogue.findSeller(seller.id)?.position ?? 0;
  }

  #follow(seller: CatalogueSeller, state: ProjectionState): void {
    const changes = this.#catalogue.listChanges(seller.id, state.position, SEARCH_STEP_LIMIT);
    const [first, last] = [changes[0], changes.at(-1)];
    if (!first || !last) return;
    // Pruning keeps single changes of the old history: none may be missing in between.
    if (last.position !== state.position + changes.length) {
      throw new ForeignProjectionError(`Changes after ${state.position} are pruned.`);
    }
    for (const change of foldChanges(changes)) this.#apply(seller, state, change);
    state.position = last.position;
    state.seen = Math.max(state.seen, last.position);
  }

  #apply({ currency }: CatalogueSeller, state: ProjectionState, change: Change): void {
    const { productId, json, stock, position, at } = change;
    const { ordinal, totals } = state;
    const before = this.#products.find(ordinal, productId);
    // The build has already read a later state of the product.
    if (before && before.position >= position) return;
    if (change.isDeletion) {
      if (!before) return;
      this.#products.delete(before.row);
      countChange(totals, before, undefined);
    } else if (json === undefined) {
      // It was deleted before the build reached it; without a snapshot it cannot be inserted.
      if (!before) return;
      this.#products.setStock(before.row, stock, position, at);
      countChange(totals, before, { ...before, stock });
    } else {
      const product = readSnapshot(change, json, currency);
      if (before) {
        this.#products.update(before, product);
        countChange(totals, before, product);
      } else {
        // A product that was deleted during the build is deleted again before `seen`.
        this.#insertProduct(state, product);
      }
    }
  }

  #insertProduct(state: ProjectionState, product: StoredProduct): void {
    state.rows += 1;
    this.#products.insert(state.ordinal, state.rows, product);
    countChange(state.totals, undefined, product);
  }

  #getMark({ id }: CatalogueSeller, position: number): string {
    const mark = this.#catalogue.findMark(id, position);
    if (mark === undefined) throw new ForeignProjectionError(`There is no change ${position}.`);
    return mark;
  }
}

/** The last change of each product, with its last snapshot, in the order of first changes. */
function foldChanges(changes: readonly Change[]): Iterable<Change> {
  const last = new Map<ProductId, Change>();
  for (const change of changes) {
    const json = change.json ?? last.get(change.productId)?.json;
    last.set(change.productId, { ...change, json });
  }
  return last.values();
}
