/**
 * The products of the projection: inserts, updates and deletes one in all indexes, and keeps the
 * totals of its seller. A statement that names a row and no seller is safe: the row was found for
 * that seller, whose ordinal is in it.
 */
import type { DatabaseSync } from 'node:sqlite';
import { SEARCH_MERGE_STEP_PAGES } from './limits.ts';
import type { ProductId } from '../../../domain/id.ts';
import {
  SENT_FIELDS, type SentField, type StoredProduct,
} from '../../../domain/catalogue/product-fields.ts';
import { foldText } from '../../../domain/catalogue/product-query.ts';
import {
  decodeProduct, encodeProduct, prepareSelect, PRODUCT_COLUMNS, type ProductRow,
} from '../catalogue/products.ts';
import type { CatalogueTotals } from '../../search-store.ts';
import { readInteger, readText, type Row } from '../engine/row.ts';
import { prepareWrite } from './projection-file.ts';
import { rowsOf } from './access-paths.ts';

interface ProjectedProduct extends StoredProduct {
  readonly row: number;
}

/** The columns of the totals: SQLite's integers could not hold the sums, so they are text. */
export const TOTALS_COLUMNS = 'products, units, value_minor';

/** The running totals of a seller: adding up a million products would take too long. */
export type Totals = { -readonly [Member in keyof CatalogueTotals]: CatalogueTotals[Member] };

type Counted = Pick<StoredProduct, 'stock' | 'priceMinor'>;

const TEXT_FIELDS = SENT_FIELDS.filter(({ kind }) => kind === 'text');
const NUMBER_FIELDS = SENT_FIELDS.filter(({ kind }) => kind !== 'text');

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
    this.#find = prepareSelect(db, `
      , row FROM product INDEXED BY product_id WHERE seller = ? AND id = ?`);
    this.#insert = prepareWrite(db, `
      INSERT INTO product (row, seller, name_key, text, ${PRODUCT_COLUMNS.join(', ')})
      VALUES (?, ?, ?, ?${', ?'.repeat(PRODUCT_COLUMNS.length)})`);
    this.#insertText = prepareWrite(db, 'INSERT INTO product_text (rowid, folded) VALUES (?, ?)');
    this.#updateTexts = prepareWrite(db, `
      UPDATE product SET ${listAssignments(TEXT_FIELDS)}, name_key = ?, text = ? WHERE row = ?`);
    this.#replaceText = prepareWrite(db, 'UPDATE product_text SET folded = ? WHERE rowid = ?');
    this.#updateNumbers = prepareWrite(db, `
      UPDATE product SET ${listAssignments(NUMBER_FIELDS)}, position = ?, updated_at = ?
      WHERE row = ?`);
    this.#updateStock = prepareWrite(db, `
      UPDATE product SET stock = ?, position = ?, updated_at = ? WHERE row = ?`);
    this.#delete = prepareWrite(db, 'DELETE FROM product WHERE row = ?');
    this.#deleteText = prepareWrite(db, 'DELETE FROM product_text WHERE rowid = ?');
    this.#mergeText = prepareWrite(db, `
      INSERT INTO product_text (product_text, rank) VALUES ('merge', ${SEARCH_MERGE_STEP_PAGES})`);
    this.#countChanges = db.prepare('SELECT total_changes() AS changes');
  }

  find(ordinal: number, id: ProductId): ProjectedProduct | undefined {
    // The cast: prepareSelect asks for arrays.
    const values = this.#find.get(ordinal, id) as unknown as ProductRow | undefined;
    return values && decodeProduct({ row: Number(values.at(-1)) }, values);
  }

  /** Adds the nth product of a seller; its id is above those of all before. */
  insert(ordinal: number, n: number, product: StoredProduct): void {
    const row = rowsOf(ordinal).first + n;
    const [nameKey, text] = fold(product);
    this.#insert.run(row, ordinal, nameKey, text, ...encodeProduct(product));
    this.#insertText.run(BigInt(row), text);
  }

  /** Rewrites the text indexes only if a text has changed, which is rare. */
  update(before: ProjectedProduct, product: StoredProduct): void {
    const valuesOf = (fields: readonly SentField[]) =>
      fields.map(({ member }) => product[member] ?? null);
    this.#updateNumbers.run(
      ...valuesOf(NUMBER_FIELDS), product.position, product.updatedAt, before.row,
    );
    const isSame = TEXT_FIELDS.every(({ member }) =>
      (product[member] ?? null) === (before[member] ?? null));
    if (isSame) return;
    const [nameKey, text] = fold(product);
    this.#updateTexts.run(...valuesOf(TEXT_FIELDS), nameKey, text, before.row);
    this.#replaceText.run(text, BigInt(before.row));
  }

  setStock(row: number, stock: number, position: number, updatedAt: number): void {
    this.#updateStock.run(stock, position, updatedAt, row);
  }

  delete(row: number): void {
    this.#delete.run(row);
    this.#deleteText.run(BigInt(row));
  }

  /** Merges a part of the text index; returns whether more is left (FTS5 section 6.9). */
  mergeText(): boolean {
    const count = (): number => readInteger(this.#countChanges.get() ?? {}, 'changes');
    const before = count();
    this.#mergeText.run();
    return count() - before >= 2;
  }
}

function listAssignments(fields: readonly SentField[]): string {
  return fields.map(({ column }) => `${column} = ?`).join(', ');
}

/** The sort key of the name, and the searched text: no query contains a line break. */
function fold(product: StoredProduct): [nameKey: string, text: string] {
  const nameKey = foldText(product.name);
  return [nameKey, `${nameKey}\n${foldText(product.sku)}\n${foldText(product.category)}`];
}

export function mapTotals(row: Row): Totals {
  return {
    products: readInteger(row, 'products'),
    units: BigInt(readText(row, 'units')),
    valueMinor: BigInt(readText(row, 'value_minor')),
  };
}

/** Counts a product that was inserted (`before` is undefined), updated or deleted. */
export function countChange(
  totals: Totals, before: Counted | undefined, after: Counted | undefined,
): void {
  totals.products += Number(after !== undefined) - Number(before !== undefined);
  totals.units += BigInt((after?.stock ?? 0) - (before?.stock ?? 0));
  totals.valueMinor += valueOf(after) - valueOf(before);
}

function valueOf(product: Counted | undefined): bigint {
  return product ? BigInt(product.stock) * BigInt(product.priceMinor) : 0n;
}
