/**
 * The rows of the grid: the values of each product when it was shown, which the form carries, and
 * the ones that the seller typed. A row of an unknown product is like one of a deleted product.
 */
import { parseProductPatch } from '../../../../domain/catalogue/product.ts';
import { type Product, SENT_FIELDS } from '../../../../domain/catalogue/product-fields.ts';
import { AppError } from '../../../../domain/error.ts';
import { formatProductId, parseProductId, type ProductId } from '../../../../domain/id.ts';
import type { ProductEdit } from '../../../../store/catalogue-store.ts';
import { type FieldErrors, Form, NO_ERRORS } from '../../forms/form.ts';
import { findWholeNumber } from '../../forms/typed-values.ts';
import type { Format } from '../../html/format.ts';
import { PORTAL_PAGE_PRODUCTS } from '../../limits.ts';
import type { PageRequest } from '../../route.ts';
import { readProduct } from '../product-form.ts';

type Values = Pick<Product, 'stock' | 'priceMinor'>;

/** The form fields of a row; the first one carries the values when it was shown. */
export const ROW_FIELDS = ['row', 'stock', 'price'] as const;
const GRID_FIELDS = SENT_FIELDS.filter(({ name }) => name === 'stock' || name === 'price');

/** No product has this id. */
const NO_PRODUCT = 0 as ProductId;

export interface GridRow {
  readonly id: ProductId;
  readonly shown: Values;
  /** As a text for each field. */
  readonly typed: { readonly stock: string; readonly price: string };
  /** By field. */
  readonly errors: FieldErrors;
}

/** The row of a product as it is now. */
export function makeRow({ id, stock, priceMinor }: Product, format: Format): GridRow {
  const typed = { stock: String(stock), price: format.amount(priceMinor) };
  return { id, shown: { stock, priceMinor }, typed, errors: NO_ERRORS };
}

/** The text of the hidden field. */
export function formatShown(
  { sellerId }: Pick<Product, 'sellerId'>, { id, shown: { stock, priceMinor } }: GridRow,
): string {
  return `${formatProductId(sellerId, id)} ${stock} ${priceMinor}`;
}

/** @throws AppError `invalid_data` for a form that is not the grid's */
export function readRows(form: Form, { account: { sellerId } }: PageRequest): readonly GridRow[] {
  const [rows, stocks, prices] = ROW_FIELDS.map((name) => form.getAll(name));
  const count = rows?.length ?? 0;
  if (count > PORTAL_PAGE_PRODUCTS || [stocks, prices].some((all) => all?.length !== count)) {
    const detail = 'Nothing was saved. Reload the page and submit the form again.';
    throw new AppError('invalid_data', detail);
  }
  const rowsById = new Map<ProductId, GridRow>();
  for (const [index, text] of (rows ?? []).entries()) {
    const [idText = '', ...numbers] = text.split(' ');
    const id = parseProductId(sellerId, idText) ?? NO_PRODUCT;
    const [stock, priceMinor] = numbers.map(findWholeNumber);
    if (stock === undefined || priceMinor === undefined) continue;
    const typed = { stock: stocks?.[index] ?? '', price: prices?.[index] ?? '' };
    rowsById.set(id, { id, shown: { stock, priceMinor }, typed, errors: NO_ERRORS });
  }
  return [...rowsById.values()];
}

/** The edit of a row: undefined if nothing was changed. Adds the row's errors, by field. */
export function readEdit(
  { id, shown, typed }: GridRow, request: PageRequest, errors: Map<string, string>,
): ProductEdit | undefined {
  const form = new Form([['stock', typed.stock], ['price', typed.price]]);
  const values = readProduct(form, errors, request, {
    fields: GRID_FIELDS, parse: parseProductPatch,
  });
  if (!values || errors.size > 0) return undefined;
  const members = (['stock', 'priceMinor'] as const)
    .filter((member) => values[member] !== shown[member]);
  if (members.length === 0) return undefined;
  const pick = (from: Partial<Values>): Partial<Values> =>
    Object.fromEntries(members.map((member) => [member, from[member]]));
  return { id, expected: pick(shown), patch: pick(values) };
}

/**
 * The row of a conflict: with the current values, and with what was typed where it differs from
 * them. Submitting it again overwrites the current values.
 */
export function makeConflictRow(row: GridRow, product: Product, format: Format): GridRow {
  const now = makeRow(product, format);
  const was = makeRow({ ...product, ...row.shown }, format);
  const errors = new Map<string, string>();
  const choose = (name: 'stock' | 'price'): string => {
    if (row.typed[name] === was.typed[name]) return now.typed[name]; // not edited
    if (now.typed[name] !== was.typed[name] && now.typed[name] !== row.typed[name]) {
      errors.set(name, `Someone else changed it from ${was.typed[name]} to ${
        now.typed[name]}. Save again to overwrite it.`);
    }
    return row.typed[name];
  };
  const typed = { stock: choose('stock'), price: choose('price') };
  return { ...now, typed, errors };
}
