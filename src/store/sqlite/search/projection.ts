/**
 * Catches the projection up with the catalogue, in steps of one short transaction each. A seller is
 * first built from the catalogue's products in id order, with vacant rows for deleted ones, and
 * then follows the history from the position where the build started. During a build the products
 * have mixed positions; once the history has reached the position where the build ended, they all
 * have the same. Each step stores its progress, so another process, or the next one, can continue.
 */
import type { DatabaseSync } from 'node:sqlite';
import { SEARCH_STEP_LIMIT } from './limits.ts';
import type { Seller } from '../../../domain/access/seller.ts';
import { AppError } from '../../../domain/error.ts';
import type { Change } from '../../../domain/catalogue/change.ts';
import { parseSnapshot } from '../../../domain/catalogue/product.ts';
import type { StoredProduct } from '../../../domain/catalogue/product-fields.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import type { CatalogueTotals } from '../../search-store.ts';
import { decodeProduct } from '../../sql/product-rows.ts';
import { readInteger, readOptional, readText, type Row } from '../../sql/sql.ts';
import { type CatalogueReader, ForeignProjectionError } from './catalogue-reader.ts';
import { rowsOf } from './access-paths.ts';
import { ProjectedProducts } from './projected-products.ts';
import { prepareWrite } from './projection-file.ts';

/** Running totals: adding up a million products would take too long. */
type Totals = { -readonly [Member in keyof CatalogueTotals]: CatalogueTotals[Member] };

/** A seller's progress, and the totals of its projected products; `all` counts archived ones. */
export interface ProjectionState extends Totals {
  allProducts: number;
  allUnits: bigint;
  allValueMinor: bigint;
  readonly ordinal: number;
  /** All changes up to here are applied. */
  position: number;
  /** The last product read by the first build; undefined when the build is complete. */
  builtTo: number | undefined;
  /** No product has a later position than this. */
  seen: number;
  /** The last row, counted from the seller's first. */
  rows: number;
}

/** Undefined before the first step for a seller. @throws ForeignProjectionError */
type FindState = (sellerId: SellerId) => ProjectionState | undefined;

const STATE_COLUMNS = `ordinal, position, built_to, seen, mark, rows, products, units, value_minor,
  all_products, all_units, all_value_minor`;

export function prepareFindState(db: DatabaseSync, catalogue: CatalogueReader): FindState {
  const find = db.prepare(`SELECT ${STATE_COLUMNS} FROM seller WHERE seller_id = ?`);
  return (sellerId) => {
    const row = find.get(sellerId);
    if (!row) return undefined;
    const state = mapState(row);
    if (catalogue.getMark(sellerId, state.seen) === readText(row, 'mark')) return state;
    throw new ForeignProjectionError('The catalogue was replaced.');
  };
}

/** Whether all products have one position, and at least this one. */
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
  readonly #findOrdinal;
  readonly #remove;

  readonly find: FindState;

  constructor(db: DatabaseSync, catalogue: CatalogueReader) {
    this.#db = db;
    this.#catalogue = catalogue;
    this.#products = new ProjectedProducts(db);
    this.find = prepareFindState(db, catalogue);
    this.#insert = db.prepare(`
      INSERT INTO seller (seller_id, position, built_to, seen, mark, rows)
      VALUES (?, ?, 0, ?, ?, 0) RETURNING ${STATE_COLUMNS}`);
    this.#findOrdinal = db.prepare('SELECT ordinal FROM seller WHERE seller_id = ?');
    this.#remove = prepareWrite(db, 'DELETE FROM seller WHERE seller_id = ?');
    this.#update = prepareWrite(db, `
      UPDATE seller SET position = :position, built_to = :builtTo, seen = :seen, mark = :mark,
        rows = :rows, products = :products, units = :units, value_minor = :valueMinor,
        all_products = :allProducts, all_units = :allUnits, all_value_minor = :allValueMinor
      WHERE ordinal = :ordinal`);
  }

  /** Applies the next products or changes. @throws ForeignProjectionError */
  step(seller: Seller): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      // Read inside the transaction: another process may also be catching up.
      const state = this.find(seller.id) ?? this.#start(seller);
      if (state.builtTo === undefined) this.#follow(seller, state);
      else this.#build(seller, state, state.builtTo);
      this.#update.run({
        ...state, builtTo: state.builtTo ?? null,
        mark: this.#catalogue.getMark(seller.id, state.seen),
        // SQLite's integers could not hold these sums.
        units: String(state.units), valueMinor: String(state.valueMinor),
        allUnits: String(state.allUnits), allValueMinor: String(state.allValueMinor),
      });
      this.#db.exec('COMMIT');
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
  }

  /** Deletes some products of a seller, and finally the seller; returns whether more is left. */
  forget(sellerId: SellerId): boolean {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const row = this.#findOrdinal.get(sellerId);
      const isLeft = row !== undefined && this.#products.forget(readInteger(row, 'ordinal'));
      if (!isLeft) this.#remove.run(sellerId);
      this.#db.exec('COMMIT');
      return isLeft;
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
  }

  /** Merges a part of the text index, which speeds up searches; returns whether more is left. */
  merge(): boolean {
    return this.#products.mergeText();
  }

  #start({ id, position }: Seller): ProjectionState {
    // It may have been deleted since it was read: nothing may be projected again.
    if (!this.#catalogue.findSeller(id)) throw new AppError('not_found', 'No such seller.');
    const mark = this.#catalogue.getMark(id, position);
    return mapState(this.#insert.get(id, position, position, mark) ?? {});
  }

  #build({ id }: Seller, state: ProjectionState, builtTo: number): void {
    const rows = this.#catalogue.listProducts(id, builtTo, SEARCH_STEP_LIMIT);
    const products = new Map(rows.map((row) => {
      const product = decodeProduct({}, row);
      return [product.id, product] as const;
    }));
    const deleted = this.#catalogue.listDeleted(id, builtTo, SEARCH_STEP_LIMIT);
    const ids = [...new Set([...products.keys(), ...deleted])].sort((a, b) => a - b);
    const isLast = rows.length < SEARCH_STEP_LIMIT && deleted.length < SEARCH_STEP_LIMIT;
    // Either list may end before the other.
    const step = isLast ? ids : ids.slice(0, SEARCH_STEP_LIMIT);
    for (const productId of step) {
      const product = products.get(productId);
      if (product) this.#insertProduct(state, product);
      else this.#vacate(state, productId);
    }
    state.builtTo = isLast ? undefined : step.at(-1);
    // Read after the products: none of them has a later position.
    state.seen = this.#catalogue.findSeller(id)?.position ?? 0;
  }

  #follow(seller: Seller, state: ProjectionState): void {
    const changes = this.#catalogue.listChanges(seller.id, state.position, SEARCH_STEP_LIMIT);
    const last = changes.at(-1);
    if (!last) return;
    // Pruning keeps single changes of the old history: no change in between may be missing.
    if (last.position !== state.position + changes.length) {
      throw new ForeignProjectionError(`Changes after ${state.position} are pruned.`);
    }
    for (const change of foldChanges(changes)) this.#apply(seller, state, change);
    state.position = last.position;
    state.seen = Math.max(state.seen, last.position);
  }

  #apply({ currency }: Seller, state: ProjectionState, change: Change): void {
    const { productId: id, product: json, position, movement, at: updatedAt } = change;
    const before = this.#products.find(state.ordinal, id);
    // The build has already read a later state of the product.
    if (before && before.position >= position) return;
    const current = { id, stock: movement.after, position, updatedAt };
    if (change.type === 'deleted') {
      if (!before) {
        this.#vacate(state, id);
        return;
      }
      this.#products.delete(state.ordinal, before);
      count(state, before, -1);
    } else if (before) {
      const base = json === undefined ? before : parseSnapshot(json, currency);
      const product = { ...base, ...current };
      this.#products.update(before, product);
      count(state, before, -1);
      count(state, product, 1);
    } else if (json !== undefined) {
      // A product that was deleted during the build is deleted again before `seen`; one that was
      // deleted before the build reached it cannot be inserted without a snapshot.
      this.#insertProduct(state, { ...parseSnapshot(json, currency), ...current });
    }
  }

  #insertProduct(state: ProjectionState, product: StoredProduct): void {
    const row = this.#takeRow(state, product.id);
    this.#products.insert(state.ordinal, row, product);
    count(state, product, 1);
  }

  #vacate(state: ProjectionState, id: ProductId): void {
    this.#products.vacate(state.ordinal, this.#takeRow(state, id), id);
  }

  /** The row that the product had; without one, the product is newer than all others. */
  #takeRow(state: ProjectionState, id: ProductId): number {
    const vacant = this.#products.takeVacant(state.ordinal, id);
    if (vacant !== undefined) return vacant;
    state.rows += 1;
    return rowsOf(state.ordinal).first + state.rows;
  }
}

/** The last change of each product, with its last snapshot, in the order of first changes. */
function foldChanges(changes: readonly Change[]): Iterable<Change> {
  const last = new Map<ProductId, Change>();
  for (const change of changes) {
    const product = change.product ?? last.get(change.productId)?.product;
    last.set(change.productId, { ...change, product });
  }
  return last.values();
}

/** Adds a product to the totals, or removes it. */
function count(
  state: ProjectionState, { stock, priceMinor, archived }: StoredProduct, sign: 1 | -1,
): void {
  const units = BigInt(sign * stock);
  const valueMinor = units * BigInt(priceMinor);
  state.allProducts += sign;
  state.allUnits += units;
  state.allValueMinor += valueMinor;
  if (archived) return;
  state.products += sign;
  state.units += units;
  state.valueMinor += valueMinor;
}

function mapState(row: Row): ProjectionState {
  return {
    ordinal: readInteger(row, 'ordinal'),
    position: readInteger(row, 'position'),
    builtTo: readOptional(row, 'built_to', readInteger),
    seen: readInteger(row, 'seen'),
    rows: readInteger(row, 'rows'),
    products: readInteger(row, 'products'),
    units: BigInt(readText(row, 'units')),
    valueMinor: BigInt(readText(row, 'value_minor')),
    allProducts: readInteger(row, 'all_products'),
    allUnits: BigInt(readText(row, 'all_units')),
    allValueMinor: BigInt(readText(row, 'all_value_minor')),
  };
}
