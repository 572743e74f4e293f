/**
 * A product as a form: its fields, and the way from what was typed to what the API would be sent,
 * so that both know the same faults.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { AppError } from '../../../domain/error.ts';
import {
  CATEGORY_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS, SKU_LIMIT_CODE_POINTS,
} from '../../../domain/limits.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import { textField } from '../forms/fields.ts';
import { type FieldErrors, type Form, NO_ERRORS, fieldErrorsFrom } from '../forms/form.ts';
import type { Format } from '../html/format.ts';
import { html, type Html } from '../html/html.ts';
import type { PageRequest } from '../route.ts';
import { parseTypedPrice, parseTypedWhole } from '../forms/typed-values.ts';
import type { EditedField, EditedValues } from './product-merge.ts';

/** What stands in the fields. */
export interface ProductTexts extends Readonly<Record<EditedField, string>> {
  /** Undefined where the form has no such field. */
  readonly stock: string | undefined;
}

export const PRODUCT_LABELS: Readonly<Record<keyof ProductTexts, string>> = {
  name: 'Name', category: 'Category', sku: 'SKU', price: 'Price', stock: 'Stock',
};

/** Why a form is not taken that was sent before with something else in it. */
export const SENT_BEFORE = 'This form was already submitted with different values, and those '
  + 'were saved. To save these values as well, submit it again.';

export const NO_TEXTS: ProductTexts = { name: '', category: '', sku: '', price: '', stock: '0' };

export function readTexts(form: Form): ProductTexts {
  const read = (name: keyof ProductTexts): string => form.getTrimmed(name);
  return {
    name: read('name'), category: read('category'), sku: read('sku'), price: read('price'),
    stock: form.has('stock') ? read('stock') : undefined,
  };
}

/** The fields of a product that is there; its stock has forms of its own. */
export function describeTexts(
  { name, category, sku, priceMinor }: EditedValues, format: Format,
): ProductTexts {
  return { name, category, sku, price: format.amount(priceMinor), stock: undefined };
}

type ReadProduct<Value> =
  | { readonly value: Value; readonly errors?: undefined }
  | { readonly errors: FieldErrors };

/** What `parse` makes of the texts, or all that is wrong with them. */
export function parseTexts<Value>(
  texts: ProductTexts, { account: { currency }, format }: PageRequest,
  parse: (body: unknown, currency: Currency) => Value,
): ReadProduct<Value> {
  const { name, category, sku } = texts;
  const members: Record<string, unknown> = { name, category, sku };
  const unread = new Map<string, string>();
  const take = (member: 'price' | 'stock', parsed: ParseResult<number>): void => {
    if ('value' in parsed) members[member] = parsed.value;
    else unread.set(member, parsed.error.detail);
  };
  take('price', parseTypedPrice(texts.price, currency, format.decimalMark));
  if (texts.stock !== undefined) take('stock', parseTypedWhole(texts.stock));
  let refused = NO_ERRORS;
  try {
    const value = parse(members, currency);
    if (unread.size === 0) return { value };
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_data')) throw error;
    refused = fieldErrorsFrom(error.issues);
  }
  const errors = Object.keys(PRODUCT_LABELS).flatMap((member) => {
    const detail = unread.get(member) ?? explain(member, refused.get(member), members['price']);
    return detail === undefined ? [] : [[member, detail] as const];
  });
  return { errors: new Map(errors) };
}

/** `sku_taken` is a fault of a field; everything else that is thrown goes on its way. */
export function readTaken(error: unknown): FieldErrors {
  if (error instanceof AppError && error.code === 'sku_taken') {
    return new Map([['sku', error.publicDetail]]);
  }
  throw error;
}

export function productFields(
  { account }: PageRequest, texts: ProductTexts, errors: FieldErrors,
): Html {
  const text = (name: keyof ProductTexts, most: number): Html => textField({
    name, label: PRODUCT_LABELS[name], value: texts[name] ?? '', errors, isRequired: true,
    maxLength: 2 * most, // in UTF-16 code units, of which a character has one or two
  });
  const { code, decimals } = account.currency;
  const example = decimals === 0 ? '1200' : `${12.5.toFixed(decimals)} or ${
    12.5.toFixed(decimals).replace('.', ',')}`;
  return html`${text('name', NAME_LIMIT_CODE_POINTS)}
    ${text('category', CATEGORY_LIMIT_CODE_POINTS)}
    ${text('sku', SKU_LIMIT_CODE_POINTS)}
    ${textField({
    name: 'price', label: `Price in ${code}`, value: texts.price, errors, isRequired: true,
    inputMode: 'decimal', hint: `For example ${example}, without a thousands separator.`,
  })}
    ${texts.stock !== undefined && textField({
    name: 'stock', label: 'Stock', value: texts.stock, errors, isRequired: true,
    inputMode: 'numeric',
  })}`;
}

/** A price that was read and is refused: what it was taken for may be what is wrong with it. */
function explain(
  member: string, detail: string | undefined, price: unknown,
): string | undefined {
  if (detail === undefined || member !== 'price') return detail;
  return `${detail} It was read as ${String(price)}.`;
}
