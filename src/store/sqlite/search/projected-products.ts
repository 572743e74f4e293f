/**
 * The products of the projection: how one is written, changed and removed, in all its indexes.
 * Where a statement names a row and no seller, the row was found for that seller, whose ordinal is
 * in it.
 */
import type { DatabaseSync } from 'node:sqlite';
import { SEARCH_MERGE_STEP_PAGES } from './limits.ts';
import type { ProductId } from '../../../domain/id.ts';
import { foldText } from '../../../domain/catalogue/product-query.ts';
import { readInteger, readText } from '../engine/row.ts';
import type { KeptProduct } from './history.ts';
import { prepareWrite } from './projection-file.ts';
import { rowsOf } from './access-paths.ts';

/** What is known of a product that is there: enough to see what changes. */
interface ProjectedProduct {
  readonly row: number;
  readonly position: number;
  readonly sku: string;
  readonly name: string;
  readonly category: string;
  readonly priceMinor: number;
  readonly stock: number;
}

export class ProjectedProducts {
  readonly #find;
  readonly #insert;
  readonly #insertText;
  readonly #updateTexts;
  readonly #replaceText;
  readonly #updateNumbers;
  readonly #updateStock;
  readonly #delete;
  readonly #deleteText;
  readonly #mergeText;
  readonly #countChanges;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(`
      SELECT row, position, sku, name, category, price_minor, stock
      FROM product INDEXED BY product_id WHERE seller = ? AND id = ?`);
    this.#insert = prepareWrite(db, `
      INSERT INTO product (row, seller, id, sku, name, category, price_minor, stock, position,
        created_at, updated_at, name_key, text)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#insertText = prepareWrite(db, 'INSERT INTO product_text (rowid, folded) VALUES (?, ?)');
    this.#updateTexts = prepareWrite(db, `
      UPDATE product SET sku = ?, name = ?, category = ?, name_key = ?, text = ? WHERE row = ?`);
    this.#replaceText = prepareWrite(db, 'UPDATE product_text SET folded = ? WHERE rowid = ?');
    this.#updateNumbers = prepareWrite(db, `
      UPDATE product SET price_minor = ?, stock = ?, position = ?, updated_at = ? WHERE row = ?`);
    this.#updateStock = prepareWrite(db, `
      UPDATE product SET stock = ?, position = ?, updated_at = ? WHERE row = ?`);
    this.#delete = prepareWrite(db, 'DELETE FROM product WHERE row = ?');
    this.#deleteText = prepareWrite(db, 'DELETE FROM product_text WHERE rowid = ?');
    this.#mergeText = prepareWrite(db, `
      INSERT INTO product_text (product_text, rank) VALUES ('merge', ${SEARCH_MERGE_STEP_PAGES})`);
    this.#countChanges = db.prepare('SELECT total_changes() AS changes');
  }

  find(ordinal: number, id: ProductId): ProjectedProduct | undefined {
    const row = this.#find.get(ordinal, id);
    return row && {
      row: readInteger(row, 'row'),
      position: readInteger(row, 'position'),
      sku: readText(row, 'sku'),
      name: readText(row, 'name'),
      category: readText(row, 'category'),
      priceMinor: readInteger(row, 'price_minor'),
      stock: readInteger(row, 'stock'),
    };
  }

  /** Adds the nth product of a seller; its id is above those of all before. */
  insert(ordinal: number, n: number, product: KeptProduct): void {
    const row = rowsOf(ordinal).first + n;
    const { id, sku, name, category, priceMinor, stock, position, createdAt, updatedAt } = product;
    const [nameKey, text] = fold(product);
    this.#insert.run(
      row, ordinal, id, sku, name, category, priceMinor, stock, position, createdAt, updatedAt,
      nameKey, text,
    );
    this.#insertText.run(BigInt(row), text);
  }

  /** Rewrites only the indexes of what has changed: texts rarely do. */
  update(before: ProjectedProduct, product: KeptProduct): void {
    const { sku, name, category, priceMinor, stock, position, updatedAt } = product;
    this.#updateNumbers.run(priceMinor, stock, position, updatedAt, before.row);
    const isSame = sku === before.sku && name === before.name && category === before.category;
    if (isSame) return;
    const [nameKey, text] = fold(product);
    this.#updateTexts.run(sku, name, category, nameKey, text, before.row);
    this.#replaceText.run(text, BigInt(before.row));
  }

  moveStock(row: number, stock: number, position: number, updatedAt: number): void {
    this.#updateStock.run(stock, position, updatedAt, row);
  }

  delete(row: number): void {
    this.#delete.run(row);
    this.#deleteText.run(BigInt(row));
  }

  /** Says whether anything was left to put together: https://www.sqlite.org/fts5.html 6.9 */
  mergeText(): boolean {
    const count = (): number => readInteger(this.#countChanges.get() ?? {}, 'changes');
    const before = count();
    this.#mergeText.run();
    return count() - before >= 2;
  }
}

/** What the name is sorted by, and what is searched: no text that is searched has a line break. */
function fold(product: KeptProduct): [nameKey: string, text: string] {
  const nameKey = foldText(product.name);
  return [nameKey, `${nameKey}\n${foldText(product.sku)}\n${foldText(product.category)}`];
}
