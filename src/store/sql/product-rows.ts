/** Rows of products, in the catalogue and in the search projection. */
import { STORED_FIELDS, type StoredProduct } from '../../domain/catalogue/product-fields.ts';
import type { Row } from './sql.ts';

type StoredField = Pick<(typeof STORED_FIELDS)[number], 'member' | 'isFlag'>;

/** The fields that sellers change. */
export const SENT_COLUMNS = STORED_FIELDS.filter(({ isSent }) => isSent);

/** The columns of a product, in the order of a `ProductRow`. */
export const PRODUCT_COLUMNS: readonly string[] = STORED_FIELDS.map(({ column }) => column);

/**
 * The values of `PRODUCT_COLUMNS`, in that order. Rows are arrays, not objects: SQLite reads them
 * in two thirds of the time, and they cross to another thread in a third of it.
 */
export type ProductRow = readonly Row[string][];

/** Adds the members of a product to `owner`: the only way from a row to a product. */
export function decodeProduct<Owner extends object>(
  owner: Owner, row: ProductRow,
): Owner & StoredProduct {
  // Any object can be written by name.
  const product = { ...owner } as Record<string, unknown>;
  let index = 0;
  for (const { member, column, isText, isFlag } of STORED_FIELDS) {
    const value = row[index];
    index += 1;
    if (value === null) continue; // an optional member without a value
    if (typeof value !== (isText ? 'string' : 'number')) {
      throw new TypeError(`Column ${column} has another type.`);
    }
    if (!isFlag) product[member] = value;
    else if (value === 1) product[member] = true;
  }
  // The columns match the types of the members.
  return product as unknown as Owner & StoredProduct;
}

/** The values to write to `PRODUCT_COLUMNS`. */
export function encodeProduct(product: StoredProduct): (string | number | null)[] {
  return STORED_FIELDS.map((field) => encodeMember(product, field));
}

/** The value to write to the column of a field. */
export function encodeMember(
  product: StoredProduct, { member, isFlag }: StoredField,
): string | number | null {
  const value = product[member] ?? null;
  if (isFlag) return Number(value === true);
  return value as string | number | null; // only flags are other values
}
