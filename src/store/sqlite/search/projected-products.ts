/**
 * The products of the projection: inserts, updates and deletes one in every index. Statements that
 * name a row without a seller are safe: the row contains the ordinal of the seller it was found
 * for.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SEARCH_MERGE_STEP_PAGES, SEARCH_STEP_LIMIT } from './limits.ts';
import type { ProductId } from '../../../domain/id.ts';
import { readMetadata } from '../../../domain/catalogue/metadata.ts';
import { STORED_FIELDS, type StoredProduct } from '../../../domain/catalogue/product-fields.ts';
import { searchTextsOf } from '../../../domain/catalogue/product-query.ts';
import { prepareSelect } from '../catalogue/products.ts';
import {
  decodeProduct, encodeMember, encodeProduct, PRODUCT_COLUMNS, type ProductRow,
} from '../../sql/product-rows.ts';
import { readInteger } from '../../sql/sql.ts';
import { rowsOf } from './access-paths.ts';
import { prepareWrite } from './projection-file.ts';

/** The members that searches for text look at. */
const SEARCHED: ReadonlySet<string> = new Set(['name', 'sku', 'category', 'barcode']);

interface ProjectedProduct extends StoredProduct {
  readonly row: number;
}

export class ProjectedProducts {
  readonly #db: DatabaseSync;
  readonly #statements;
  /** By SQL: one for each set of columns that changed together. */
  readonly #updates = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#statements = prepareStatements(db);
  }

  find(ordinal: number, id: ProductId): ProjectedProduct | undefined {
    // The cast: prepareSelect asks for arrays.
    const values = this.#statements.find.get(ordinal, id) as unknown as ProductRow | undefined;
    return values && decodeProduct({ row: Number(values.at(-1)) }, values);
  }

  /** Adds a product in a row that orders it by id. */
  insert(ordinal: number, row: number, product: StoredProduct): void {
    const [nameKey, text] = searchTextsOf(product);
    this.#statements.insert.run(row, ordinal, nameKey, text, ...encodeProduct(product));
    this.#statements.insertText.run(BigInt(row), text);
    this.#changePairs(this.#statements.insertPair, row, product);
  }

  /** Writes only changed columns, since each one has an index. */
  update(before: ProjectedProduct, product: StoredProduct): void {
    const changed = STORED_FIELDS.filter(({ member }) =>
      (product[member] ?? null) !== (before[member] ?? null));
    const columns = changed.map(({ column }): string => column);
    const values = changed.map((field) => encodeMember(product, field));
    if (changed.some(({ member }) => SEARCHED.has(member))) {
      const [nameKey, text] = searchTextsOf(product);
      columns.push('name_key', 'text');
      values.push(nameKey, text);
      this.#statements.replaceText.run(text, BigInt(before.row));
    }
    this.#prepareUpdate(columns).run(...values, before.row);
    if (!columns.includes('metadata')) return;
    this.#changePairs(this.#statements.deletePair, before.row, before);
    this.#changePairs(this.#statements.insertPair, before.row, product);
  }

  /** Leaves the product's row vacant. */
  delete(ordinal: number, product: ProjectedProduct): void {
    const { row, id } = product;
    this.#changePairs(this.#statements.deletePair, row, product);
    this.#statements.delete.run(row);
    this.#statements.deleteText.run(BigInt(row));
    this.#statements.vacate.run(row, ordinal, id);
  }

  /** Deletes some products of a seller, and their vacant rows; returns whether there were any. */
  forget(ordinal: number): boolean {
    const { forgetTexts, forgetPairs, forgetProducts, forgetVacant, startMerge } = this.#statements;
    const { first, last } = rowsOf(ordinal);
    const counts = [forgetTexts, forgetPairs, forgetProducts, forgetVacant].map((statement) =>
      Number(statement.run(BigInt(first), BigInt(last)).changes));
    const isLast = counts.every((count) => count === 0);
    if (isLast) startMerge.run();
    return !isLast;
  }

  /** Keeps a row for a product that is deleted. */
  vacate(ordinal: number, row: number, id: ProductId): void {
    this.#statements.vacate.run(row, ordinal, id);
  }

  /** Takes the row that a deleted product left, if there is one. */
  takeVacant(ordinal: number, id: ProductId): number | undefined {
    const row = this.#statements.takeVacant.get(ordinal, id);
    return row && readInteger(row, 'row');
  }

  /** Merges a part of the text index; returns whether more is left (FTS5 section 6.9). */
  mergeText(): boolean {
    const count = (): number => readInteger(this.#statements.countChanges.get() ?? {}, 'changes');
    const before = count();
    this.#statements.mergeText.run();
    return count() - before >= 2;
  }

  #changePairs(change: StatementSync, row: number, { metadata }: StoredProduct): void {
    for (const [name, value] of readMetadata(metadata)) change.run(name, value, row);
  }

  #prepareUpdate(columns: readonly string[]): StatementSync {
    const sql = `UPDATE product SET ${columns.join(' = ?, ')} = ? WHERE row = ?`;
    const statement = this.#updates.get(sql) ?? prepareWrite(this.#db, sql);
    this.#updates.set(sql, statement);
    return statement;
  }
}

function someRows(table: string): string {
  return `
    SELECT row FROM ${table} WHERE row > ? AND row < ? ORDER BY row LIMIT ${SEARCH_STEP_LIMIT}`;
}

function prepareStatements(db: DatabaseSync) {
  return {
    find: prepareSelect(db, `
      , row FROM product INDEXED BY product_id WHERE seller = ? AND id = ?`),
    insert: prepareWrite(db, `
      INSERT INTO product (row, seller, name_key, text, ${PRODUCT_COLUMNS.join(', ')})
      VALUES (?, ?, ?, ?${', ?'.repeat(PRODUCT_COLUMNS.length)})`),
    insertText: prepareWrite(db, 'INSERT INTO product_text (rowid, folded) VALUES (?, ?)'),
    replaceText: prepareWrite(db, 'UPDATE product_text SET folded = ? WHERE rowid = ?'),
    delete: prepareWrite(db, 'DELETE FROM product WHERE row = ?'),
    deleteText: prepareWrite(db, 'DELETE FROM product_text WHERE rowid = ?'),
    insertPair: prepareWrite(db, 'INSERT INTO metadata_pair (name, value, row) VALUES (?, ?, ?)'),
    deletePair: prepareWrite(db, `
      DELETE FROM metadata_pair WHERE name = ? AND value = ? AND row = ?`),
    forgetTexts: prepareWrite(db, `
      DELETE FROM product_text WHERE rowid IN (${someRows('product')})`),
    forgetPairs: prepareWrite(db, `
      DELETE FROM metadata_pair WHERE (name, value, row) IN (
        SELECT pair.key, pair.value, p.row FROM product AS p, json_each(p.metadata) AS pair
        WHERE p.row IN (${someRows('product')}))`),
    forgetProducts: prepareWrite(db, `
      DELETE FROM product WHERE row IN (${someRows('product')})`),
    forgetVacant: prepareWrite(db, `
      DELETE FROM vacant_row WHERE row IN (${someRows('vacant_row')})`),
    // A negative number lets the next merges rewrite all of the index (FTS5 section 6.9).
    startMerge: prepareWrite(db, `
      INSERT INTO product_text (product_text, rank) VALUES ('merge', -${SEARCH_MERGE_STEP_PAGES})`),
    vacate: prepareWrite(db, `
      INSERT INTO vacant_row (row, seller, id) VALUES (?, ?, ?)`),
    takeVacant: db.prepare(`
      DELETE FROM vacant_row WHERE seller = ? AND id = ? RETURNING row`),
    mergeText: prepareWrite(db, `
      INSERT INTO product_text (product_text, rank) VALUES ('merge', ${SEARCH_MERGE_STEP_PAGES})`),
    countChanges: db.prepare('SELECT total_changes() AS changes'),
  };
}
