/**
 * Product form fields, and the form that creates a product, also from an edit of a product that
 * someone else deleted. Input is translated to the body that an API client would send, so the same
 * code validates both.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import {
  type NewProduct, SENT_FIELDS, type SentField, type SentFieldName,
} from '../../../domain/catalogue/product-fields.ts';
import { parseNewProduct } from '../../../domain/catalogue/product.ts';
import { AppError } from '../../../domain/error.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Field } from '../forms/fields.ts';
import { defineForm, renderFormPage } from '../forms/form-page.ts';
import {
  fieldErrorsFrom, Form, type FormState, NO_ERRORS, nonceField, toWriteContext,
} from '../forms/form.ts';
import { hasPairs, pairInputs, parsePairs } from '../forms/pairs.ts';
import { parseTypedPrice, parseTypedWhole } from '../forms/typed-values.ts';
import { didChange } from '../history/undo.ts';
import { alert } from '../html/elements.ts';
import type { Format } from '../html/format.ts';
import { type Content, html } from '../html/html.ts';
import { redirect } from '../html/page.ts';
import type { PageRequest, Portal } from '../route.ts';
import { pathOf } from './product-path.ts';

/** The values that the edit form changes. Stock has its own forms, and archiving its button. */
export type EditedValues = Omit<NewProduct, 'stock' | 'archived'>;

export interface EditedField extends SentField {
  readonly name: Exclude<SentFieldName, 'stock' | 'archived'>;
  readonly member: keyof EditedValues;
}

/** The fields of a new product. */
const CREATED_FIELDS = SENT_FIELDS.filter(({ kind }) => kind !== 'flag');
export const EDITED_FIELDS =
  CREATED_FIELDS.filter((field): field is EditedField => field.name !== 'stock');

/** The names of a form's inputs, which a draft keeps. */
export function inputNames(fields: readonly SentField[]): readonly string[] {
  return fields.flatMap(({ name, kind }) =>
    (kind === 'pairs' ? [name, ...pairInputs(name)] : [name]));
}

/** Form fields, with hints in the seller's currency. */
export function describeFields(
  { account: { currency: { code, decimals }, lowStock }, format }: PageRequest,
  fields: readonly SentField[],
): readonly Field[] {
  const example = decimals === 0 ? '1200' : `${12.5.toFixed(decimals)} or ${
    12.5.toFixed(decimals).replace('.', ',')}`;
  return fields.map(({ name, kind, label: short, isRequired, schema }): Field => {
    const label = isRequired ? short : `${short} (optional)`;
    switch (kind) {
      // Browsers count UTF-16 code units, of which a character has one or two.
      case 'text': return { name, label, isRequired, maxLength: 2 * Number(schema['maxLength']) };
      case 'price': return {
        name, label: `${label} in ${code}`, isRequired, inputMode: 'decimal',
        hint: `For example ${example}, without a thousands separator.`,
      };
      case 'quantity': return {
        name, label, isRequired, inputMode: 'numeric',
        ...(isRequired ? { initial: '0' }
          : { hint: `If blank, the shop's applies: ${format.number(lowStock)}.` }),
      };
      case 'paragraphs': return { name, label, control: 'textarea', rows: 6 };
      case 'pairs': return {
        name, label, control: 'pairs', rowsLimit: Number(schema['maxProperties']),
        hint: 'Names and values, such as ids in other systems. Empty a row to remove it. After '
          + 'saving, there are rows for more.',
      };
      case 'flag': return { name, label, control: 'checkboxes', choices: [] };
    }
  });
}

/** A field's value as a user would type it. */
export function toText(
  { kind, member }: EditedField, values: EditedValues, { amount }: Format,
): string {
  const value = values[member] ?? '';
  if (value === '') return '';
  return kind === 'price' ? amount(Number(value)) : String(value);
}

interface ProductReader<Value> {
  readonly fields: readonly SentField[];
  /** In an edit, the values that the form was opened with. */
  readonly base?: { readonly [Member in keyof NewProduct]?: unknown };
  /** Parses the body that an API client would send. */
  readonly parse: (body: unknown, currency: Currency) => Value;
}

/**
 * Adds an error for each invalid field; ignore the returned value then. Fields that the form lacks
 * are left alone.
 */
export function readProduct<Value>(
  form: Form, errors: Map<string, string>, { account: { currency }, format }: PageRequest,
  { fields, base, parse }: ProductReader<Value>,
): Value | undefined {
  const members: Record<string, unknown> = {};
  for (const field of fields) {
    const { name, member, isRequired } = field;
    if ((base || !isRequired) && !hasPairs(form, name)) continue;
    const parsed = readField(form, field, base?.[member], currency, format);
    if ('value' in parsed) members[name] = parsed.value;
    else errors.set(name, parsed.error.detail);
  }
  try {
    return parse(members, currency);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_data')) throw error;
    for (const [name, detail] of fieldErrorsFrom(error.issues)) {
      // The form may have misread the price: show how.
      const addition = name === 'price' ? ` It was read as ${String(members[name])}.` : '';
      if (!errors.has(name)) errors.set(name, detail + addition);
    }
    return undefined;
  }
}

/** @param was The value that the form was opened with, if it is of an edit. */
function readField(
  form: Form, { name, kind, isRequired }: SentField, was: unknown, currency: Currency,
  format: Format,
): ParseResult<unknown> {
  if (kind === 'pairs') return parsePairs(form, name, was);
  const text = form.getTrimmed(name).replaceAll('\r\n', '\n');
  if (text === '' && !isRequired) return { value: null };
  // Keep white space around a text from the API, unless the user enters another text.
  if (typeof was === 'string' && was.trim() === text) return { value: was };
  if (kind === 'price') return parseTypedPrice(text, currency, format.decimalMark);
  return kind === 'quantity' ? parseTypedWhole(text) : { value: text };
}

/** GET /portal/products/new: 200. POST: 303, 400, 409, 422 */
export const newProductForm = defineForm<NewProduct>({
  fields: inputNames(CREATED_FIELDS).map((name) => ({ name, label: name })),
  render: (request, portal, state) => renderForm(request, portal, state),
  read: (form, errors, request) =>
    readProduct(form, errors, request, { fields: CREATED_FIELDS, parse: parseNewProduct }),
  async save(product, request, portal, { form }) {
    const write = toWriteContext(request, form);
    const { id, position } = await portal.store.createProduct(write, product);
    const path = pathOf({ sellerId: write.sellerId, id });
    return redirect(request.link(path, didChange(request, position)));
  },
});

/** The response to an edit of a deleted product. */
export function renderGoneProduct(request: PageRequest, portal: Portal, form: Form): Reply {
  return renderForm(request, portal, {
    form: new Form([...form, ['stock', '0']]), errors: NO_ERRORS, status: 404,
  }, {
    title: 'Someone else deleted this product',
    before: alert('low', html`
        <p>Your changes were not saved. The form below keeps your input: create a new product from
          it, or cancel.</p>`),
  });
}

function renderForm(
  request: PageRequest, portal: Portal, state: FormState,
  page: { readonly title: string; readonly before?: Content } = { title: 'New product' },
): Reply {
  return renderFormPage(request, portal, {
    ...page, action: '/products/new', cancel: '/products', submit: 'Create product',
    fields: describeFields(request, CREATED_FIELDS), hidden: nonceField(),
  }, state);
}
