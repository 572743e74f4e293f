/**
 * The form of a product. Entered texts are translated to the body that a client of the API would
 * send, so both are validated by the same code.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { AppError } from '../../../domain/error.ts';
import {
  SENT_FIELDS, type SentField, type SentFieldName,
} from '../../../domain/catalogue/product-fields.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import { textField } from '../forms/fields.ts';
import { type FieldErrors, type Form, NO_ERRORS, fieldErrorsFrom } from '../forms/form.ts';
import type { Format } from '../html/format.ts';
import { html, type Html } from '../html/html.ts';
import type { PageRequest } from '../route.ts';
import { parseTypedPrice, parseTypedWhole } from '../forms/typed-values.ts';
import type { EditedField, EditedValues } from './product-merge.ts';

/** The texts in the fields; the stock is undefined if the form has no such field. */
export type ProductTexts =
  Readonly<Record<EditedField, string>> & { readonly stock: string | undefined };

// The casts here and below: the table has each field.
export const PRODUCT_LABELS = Object.fromEntries(SENT_FIELDS.map(({ name, label }) =>
  [name, label])) as Readonly<Record<SentFieldName, string>>;

/** The answer to a form that was submitted before with other values. */
export const ALREADY_SUBMITTED = 'This form was already submitted with different values, and those '
  + 'were saved. To save these values as well, submit it again.';

export const NO_TEXTS = mapFields(({ kind }) => (kind === 'quantity' ? '0' : ''));

export function readTexts(form: Form): ProductTexts {
  return mapFields(({ name }) =>
    (name !== 'stock' || form.has(name) ? form.getTrimmed(name) : undefined));
}

/** The texts of an existing product, without its stock, which has its own forms. */
export function describeTexts(product: EditedValues, format: Format): ProductTexts {
  return mapFields(({ kind, member }) => {
    if (member === 'stock') return undefined;
    const value = product[member] ?? '';
    return kind === 'price' ? format.amount(Number(value)) : String(value);
  });
}

function mapFields(toText: (field: SentField) => string | undefined): ProductTexts {
  return Object.fromEntries(SENT_FIELDS.map((field) =>
    [field.name, toText(field)])) as unknown as ProductTexts;
}

type ReadProduct<Value> =
  | { readonly value: Value; readonly errors?: undefined }
  | { readonly errors: FieldErrors };

/** The value that `parse` returns for the texts, or all their errors. */
export function parseTexts<Value>(
  texts: ProductTexts, { account: { currency }, format }: PageRequest,
  parse: (body: unknown, currency: Currency) => Value,
): ReadProduct<Value> {
  const members: Record<string, unknown> = {};
  const unreadable = new Map<string, string>();
  for (const { name, kind, isRequired } of SENT_FIELDS) {
    const text = texts[name];
    if (text === undefined) continue;
    const isNone = text === '' && !isRequired;
    const parsed = isNone ? { value: null } : parseText(text, kind, currency, format);
    if ('value' in parsed) members[name] = parsed.value;
    else unreadable.set(name, parsed.error.detail);
  }
  let rejected = NO_ERRORS;
  try {
    const value = parse(members, currency);
    if (unreadable.size === 0) return { value };
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_data')) throw error;
    rejected = fieldErrorsFrom(error.issues);
  }
  const errors = Object.keys(PRODUCT_LABELS).flatMap((member) => {
    const detail = unreadable.get(member)
      ?? explain(member, rejected.get(member), members['price']);
    return detail === undefined ? [] : [[member, detail] as const];
  });
  return { errors: new Map(errors) };
}

function parseText(
  text: string, kind: SentField['kind'], currency: Currency, { decimalMark }: Format,
): ParseResult<string | number> {
  switch (kind) {
    case 'text': return { value: text };
    case 'price': return parseTypedPrice(text, currency, decimalMark);
    case 'quantity': return parseTypedWhole(text);
  }
}

/** The field error for `sku_taken`; other errors are rethrown. */
export function readTaken(error: unknown): FieldErrors {
  if (error instanceof AppError && error.code === 'sku_taken') {
    return new Map([['sku', error.publicDetail]]);
  }
  throw error;
}

export function productFields(
  { account }: PageRequest, texts: ProductTexts, errors: FieldErrors,
): Html {
  const { code, decimals } = account.currency;
  const example = decimals === 0 ? '1200' : `${12.5.toFixed(decimals)} or ${
    12.5.toFixed(decimals).replace('.', ',')}`;
  return html`${SENT_FIELDS.map(({ name, kind, label, isRequired, schema }) => {
    const value = texts[name];
    if (value === undefined) return undefined;
    const field = { name, label, value, errors, isRequired };
    switch (kind) {
      // Browsers count UTF-16 code units, of which a character has one or two.
      case 'text': return textField({ ...field, maxLength: 2 * Number(schema['maxLength']) });
      case 'price': return textField({
        ...field, label: `${label} in ${code}`, inputMode: 'decimal',
        hint: `For example ${example}, without a thousands separator.`,
      });
      case 'quantity': return textField({ ...field, inputMode: 'numeric' });
    }
  })}`;
}

/** An invalid price may have been misread, so its error says how it was read. */
function explain(
  member: string, detail: string | undefined, price: unknown,
): string | undefined {
  if (detail === undefined || member !== 'price') return detail;
  return `${detail} It was read as ${String(price)}.`;
}
