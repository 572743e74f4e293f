/**
 * The projection: how it comes to where the catalogue stands, in steps of one short transaction
 * each. A seller is first built from the products of the catalogue, in the order of their ids, and
 * then follows the history from the position at which that began. So the products of a build that
 * is under way are those of many positions; once the history has brought them to the position at
 * which it ended, and ever after, they are those of one. What a step did is in the file with how
 * far it came: a process that is killed, or another one, goes on from there.
 */
import type { DatabaseSync } from 'node:sqlite';
import { SEARCH_STEP_LIMIT } from './limits.ts';
import type { StoredProduct } from '../../../domain/catalogue/product-fields.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { readInteger, readOptional, readText } from '../engine/row.ts';
import { type CatalogueSeller, type Change, type History, readSnapshot } from './history.ts';
import { ProjectedProducts } from './projected-products.ts';
import { prepareWrite } from './projection-file.ts';
import { countChange, mapTotals, type Totals, TOTALS_COLUMNS } from './totals.ts';

/** How far a seller's part of the projection has come. */
export interface ProjectionState {
  readonly ordinal: number;
  /** All changes up to here were taken over. */
  position: number;
  /** The product up to which the first build has come; undefined once it has read them all. */
  builtTo: number | undefined;
  /** No product is of a later position than this. */
  seen: number;
  /** How many products were ever added. */
  rows: number;
  /** Of the products as they are here: of one position where they are. */
  readonly totals: Totals;
}

/** The projection is of another catalogue, or of a later state of one that was put back. */
export class ForeignProjectionError extends Error {}

/** Undefined for a seller of whom there is nothing yet. @throws ForeignProjectionError */
type FindStanding = (sellerId: SellerId) => ProjectionState | undefined;

export function prepareFindStanding(db: DatabaseSync, history: History): FindStanding {
  const find = db.prepare(`
    SELECT ordinal, position, built_to, seen, mark, rows, ${TOTALS_COLUMNS} FROM seller
    WHERE seller_id = ?`);
  return (sellerId) => {
    const row = find.get(sellerId);
    if (!row) return undefined;
    const seen = readInteger(row, 'seen');
    if (history.findMark(sellerId, seen) !== readText(row, 'mark')) {
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

/** Whether the products are those of one position, its own, and no earlier one than `position`. */
export function isCaughtUp(
  standing: ProjectionState | undefined, position: number,
): standing is ProjectionState {
  return standing !== undefined && standing.builtTo === undefined
    && standing.position === standing.seen && standing.position >= position;
}

export class Projection {
  readonly #db: DatabaseSync;
  readonly #history: History;
  readonly #products: ProjectedProducts;
  readonly #insert;
  readonly #update;

  readonly find: FindStanding;

  constructor(db: DatabaseSync, history: History) {
    this.#db = db;
    this.#history = history;
    this.#products = new ProjectedProducts(db);
    this.find = prepareFindStanding(db, history);
    this.#insert = db.prepare(`
      INSERT INTO seller (seller_id, position, built_to, seen, mark, rows)
      VALUES (?, ?, 0, ?, ?, 0) RETURNING ordinal`);
    this.#update = prepareWrite(db, `
      UPDATE seller SET position = ?, built_to = ?, seen = ?, mark = ?, rows = ?, products = ?,
        units = ?, value_minor = ?
      WHERE ordinal = ?`);
  }

  /** Takes over what comes next. @throws ForeignProjectionError */
  step(seller: CatalogueSeller): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      // Read inside of the transaction: another process may be at it too.
      const standing = this.find(seller.id) ?? this.#start(seller);
      if (standing.builtTo === undefined) this.#follow(seller, standing);
      else this.#build(seller, standing, standing.builtTo);
      this.#write(seller, standing);
      this.#db.exec('COMMIT');
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
  }

  /** Puts some of the text index together, which makes searches faster; says if more is left. */
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

  #write(seller: CatalogueSeller, standing: ProjectionState): void {
    const { ordinal, position, builtTo, seen, rows } = standing;
    const { products, units, valueMinor } = standing.totals;
    this.#update.run(
      position, builtTo ?? null, seen, this.#getMark(seller, seen), rows, products, String(units),
      String(valueMinor), ordinal,
    );
  }

  #build(seller: CatalogueSeller, standing: ProjectionState, builtTo: number): void {
    const products = this.#history.listProducts(seller, builtTo, SEARCH_STEP_LIMIT);
    for (const product of products) this.#insertProduct(standing, product);
    standing.builtTo = products.length < SEARCH_STEP_LIMIT ? undefined : products.at(-1)?.id;
    // Read after the products were: none of them has come further than this.
    standing.seen = this.#history.findSeller(seller.id)?.position ?? 0;
  }

  #follow(seller: CatalogueSeller, standing: ProjectionState): void {
    const changes = this.#history.listChanges(seller.id, standing.position, SEARCH_STEP_LIMIT);
    const [first, last] = [changes[0], changes.at(-1)];
    if (!first || !last) return;
    // Of history that is too old to be kept, single changes are: none may be missing between.
    if (last.position !== standing.position + changes.length) {
      throw new ForeignProjectionError(`Changes after ${standing.position} are not kept.`);
    }
    for (const change of foldChanges(changes)) this.#apply(seller, standing, change);
    standing.position = last.position;
    standing.seen = Math.max(standing.seen, last.position);
  }

  #apply({ currency }: CatalogueSeller, standing: ProjectionState, change: Change): void {
    const { productId, json, stock, position, at } = change;
    const { ordinal, totals } = standing;
    const before = this.#products.find(ordinal, productId);
    // The build has read the product later than it read where the history stood.
    if (before && before.position >= position) return;
    if (change.isDeletion) {
      if (!before) return;
      this.#products.delete(before.row);
      countChange(totals, before, undefined);
    } else if (json === undefined) {
      // Without a snapshot, one that is not there was removed before the build came to it.
      if (!before) return;
      this.#products.moveStock(before.row, stock, position, at);
      countChange(totals, before, { ...before, stock });
    } else {
      const product = readSnapshot(change, json, currency);
      if (before) {
        this.#products.update(before, product);
        countChange(totals, before, product);
      } else {
        // Such a removed one comes back here, and goes before the position is `seen`.
        this.#insertProduct(standing, product);
      }
    }
  }

  #insertProduct(standing: ProjectionState, product: StoredProduct): void {
    standing.rows += 1;
    this.#products.insert(standing.ordinal, standing.rows, product);
    countChange(standing.totals, undefined, product);
  }

  #getMark({ id }: CatalogueSeller, position: number): string {
    const mark = this.#history.findMark(id, position);
    if (mark === undefined) throw new ForeignProjectionError(`There is no change ${position}.`);
    return mark;
  }
}

/** The last change of each product, with the last snapshot; in the order of their first changes. */
function foldChanges(changes: readonly Change[]): Iterable<Change> {
  const last = new Map<ProductId, Change>();
  for (const change of changes) {
    const json = change.json ?? last.get(change.productId)?.json;
    last.set(change.productId, { ...change, json });
  }
  return last.values();
}
