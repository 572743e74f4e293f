/**
 * Parses products that sellers send, and formats products for clients, by the table of fields. Code
 * that has a `NewProduct` or a `Product` need not validate it again.
 */
import { type Currency, toMinorUnits } from './currency.ts';
import { formatMetadata, hasTooManyPairs, mergeMetadata, TOO_MANY_PAIRS } from './metadata.ts';
import {
  type NewProduct, type Product, PRODUCT_FIELDS, type ProductField, SENT_FIELDS, type SentFieldName,
  type Sku, skuValidator,
} from './product-fields.ts';
import { AppError } from '../error.ts';
import type { ProductId } from '../id.ts';
import { ObjectReader } from '../validation.ts';

export type ProductPatch = Partial<NewProduct>;

/**
 * A product in an import row. Members that the row omits keep their value in an existing product,
 * and come from `defaults` in a new one. A row without a SKU names its product by `barcode`.
 */
export interface ProductRow extends ProductPatch {
  readonly defaults?: ProductPatch;
  /** The id as sent: rejected if it is that of another product, and else ignored. */
  readonly id?: string;
  /** Whether the row is rejected if its SKU is new. */
  readonly createsNone?: boolean;
}

/** The members of a snapshot in the history. */
interface Snapshot extends NewProduct {
  readonly createdAt: number;
}

/** Identifies a product of the caller. */
export type ProductTarget = { readonly id: ProductId } | { readonly sku: Sku };

/** @throws AppError `invalid_data` naming every invalid, missing and unknown member */
export function parseNewProduct(body: unknown, currency: Currency): NewProduct {
  const reader = new ObjectReader(body);
  const members = readMembers(reader, currency);
  reader.assertValid();
  return withoutNullPairs(members as NewProduct); // the reader requires all required members
}

/**
 * A product for PUT, whose path contains the SKU. The member `sku` is optional and must match.
 * @throws AppError `invalid_data` naming every invalid, missing and unknown member
 */
export function parseReplacement(body: unknown, address: string, currency: Currency): NewProduct {
  const reader = new ObjectReader(body, { sku: address });
  const members = readMembers(reader, currency);
  if (members.sku !== undefined && members.sku !== findSku(address)) {
    const detail = `Must be the SKU in the path, ${JSON.stringify(address)}, or be omitted.`;
    reader.addError('sku', { code: 'mismatch', detail });
  }
  reader.assertValid();
  return withoutNullPairs(members as NewProduct); // the reader requires all required members
}

/** A new product's metadata are a patch of none. */
function withoutNullPairs(product: NewProduct): NewProduct {
  if (product.metadata === undefined) return product;
  return { ...product, metadata: mergeMetadata(undefined, product.metadata) };
}

/**
 * A merge patch (RFC 7396) of a product. Null removes a member; required ones cannot be removed.
 * @throws AppError `invalid_data` naming every invalid and unknown member
 */
export function parseProductPatch(body: unknown, currency: Currency): ProductPatch {
  const reader = new ObjectReader(body, {}, true);
  const members = readMembers(reader, currency);
  reader.assertValid();
  return members;
}

/**
 * An import row: only the SKU is required, or a barcode instead of it.
 * @throws AppError `invalid_data` naming every invalid and unknown member
 */
export function parseProductRow(body: unknown, currency: Currency): ProductRow {
  const reader = new ObjectReader(body, {}, true);
  const members = readMembers(reader, currency);
  if (!members.barcode) reader.require('sku');
  reader.assertValid();
  return members;
}

/** The valid members that were sent, in the order of the table. */
function readMembers(reader: ObjectReader, currency: Currency): ProductPatch {
  const members: Record<string, unknown> = {};
  for (const { name, member, isRequired, parse } of SENT_FIELDS) {
    const value = reader.read(name, (input) =>
      (input === null && !isRequired ? { value: null } : parse(input, currency)), isRequired);
    if (value !== undefined) members[member] = value;
  }
  return members as ProductPatch; // each validator returns its member's type
}

/**
 * The product that an import row produces. Missing members come from `base`: the existing product,
 * or the row's defaults for a new one. Undefined if a required member is in neither. Metadata are
 * merged, and may have too many pairs then. The barcode by which a row names its product stays.
 */
export function completeProduct(row: ProductRow, base: ProductPatch = {}): NewProduct | undefined {
  const members: Record<string, unknown> = {};
  for (const { member, isRequired } of SENT_FIELDS) {
    const rowValue = member === 'barcode' && row.sku === undefined ? undefined : row[member];
    const value = rowValue === undefined ? base[member]
      : member === 'metadata' ? mergeMetadata(base.metadata, row.metadata) : rowValue;
    if (value !== undefined) members[member] = value;
    else if (isRequired) return undefined;
  }
  return members as unknown as NewProduct; // each required member was found
}

/** The members of a product after a patch. @throws AppError `invalid_data` for too many pairs */
export function applyPatch<Whole extends NewProduct>(before: Whole, patch: ProductPatch): Whole {
  const after = { ...before, ...patch };
  if (patch.metadata === undefined) return after;
  const metadata = mergeMetadata(before.metadata, patch.metadata);
  if (!hasTooManyPairs(metadata)) return { ...after, metadata };
  throw new AppError('invalid_data', 'The product would have too much metadata.', {
    issues: [{ pointer: '/metadata', code: 'length', detail: TOO_MANY_PAIRS }],
  });
}

/** Whether two products are equal in the members that a seller sends. */
export function isSameProduct(product: NewProduct, other: NewProduct): boolean {
  return SENT_FIELDS.every(({ member }) => (product[member] ?? null) === (other[member] ?? null));
}

/** The name of a member of a patch or a row that is none of these; undefined without one. */
export function findOtherMember(
  members: ProductPatch, names: readonly SentFieldName[],
): SentFieldName | undefined {
  return SENT_FIELDS.find(({ name, member }) =>
    members[member] !== undefined && !names.includes(name))?.name;
}

/** Undefined for a text that is not a valid SKU. */
export function findSku(text: string): Sku | undefined {
  const parsed = skuValidator.parse(text);
  return 'value' in parsed ? parsed.value : undefined;
}

/**
 * Parses a snapshot that `formatProduct` wrote to the history.
 * @throws TypeError or SyntaxError for any other text
 */
export function parseSnapshot(json: string, currency: Currency): Snapshot {
  // The cast: formatProduct wrote an object with these members.
  const snapshot = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const createdAt = Date.parse(String(snapshot['created_at']));
  const members: Record<string, unknown> = { createdAt };
  for (const { name, member, kind } of SENT_FIELDS) {
    const value = snapshot[name];
    if (kind === 'price') members[member] = toMinorUnits(Number(value), currency);
    else if (kind === 'pairs' && value) members[member] = readPairs(value);
    else members[member] = value;
  }
  if (members['priceMinor'] === undefined) throw new TypeError(`No price in ${currency.code}.`);
  return members as unknown as Snapshot; // validated when the product was written
}

function readPairs(value: unknown): string {
  // The cast: formatProduct wrote an object of texts.
  return formatMetadata(new Map(Object.entries(value as Record<string, string>)));
}

/** The JSON text of a product, for responses and the history. */
export const formatProduct = createProductFormatter(PRODUCT_FIELDS);

/**
 * Returns a function that formats these members of products as JSON. It concatenates, since lists
 * and writes spend much of their time here and JSON.stringify of the whole takes twice as long.
 * Optional members come last, and only if they have a value.
 */
export function createProductFormatter(
  fields: readonly ProductField[],
): (product: Product) => string {
  const optional = SENT_FIELDS.filter((field) => !field.isRequired && fields.includes(field));
  let opening = '{';
  const members = fields.filter((field) => !optional.some(({ name }) => name === field.name))
    .map(({ name, read, example, isPlain }) => {
      const quote = isPlain ? '"' : '';
      const before = `${opening}"${name}":${quote}`;
      opening = `${quote},`;
      return { before, read, isEscaped: typeof example === 'string' && !isPlain };
    });
  const end = members.length > 0 ? opening.slice(0, -1) : '';
  return (product) => {
    let json = '';
    for (const { before, read, isEscaped } of members) {
      const value = read(product);
      json += before;
      json += isEscaped ? JSON.stringify(value) : value;
    }
    json += end;
    for (const { name, member, kind } of optional) {
      const value = product[member];
      if (value === undefined || value === null) continue;
      // Metadata are JSON already.
      const text = kind === 'text' || kind === 'paragraphs' ? JSON.stringify(value) : value;
      json += `${json === '' ? '{' : ','}"${name}":${text}`;
    }
    return `${json === '' ? '{' : json}}`;
  };
}
