/**
 * The table of product fields. Validation, JSON Schemas, SQL columns, the search projection, CSV
 * columns, exports and the portal's forms derive from it; `src/README.md` says how to add a field.
 * Its order is the order of JSON members and CSV columns. Snapshots in the history depend on it:
 * add new fields at the end.
 */
import { fromMinorUnits, priceValidator } from './currency.ts';
import { formatProductId } from '../id.ts';
import {
  CATEGORY_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS, SKU_LIMIT_CODE_POINTS,
} from '../limits.ts';
import { invalid, lineValidator, type Validator } from '../validation.ts';
import { validateIdentifier } from '../text.ts';
import { formatTime } from '../time.ts';
import { optionalDefinitions } from './optional-fields.ts';
import {
  type FieldDefinition, type NewProduct, type Product, type SentFieldDefinition, type ShopSystem,
  type Sku, stockQuantity,
} from './product-definition.ts';

export type { Definition, NewProduct, Product, ShopSystem, Sku };

const time = {
  schema: { type: 'string', format: 'date-time' }, example: '2026-11-20T10:48:13.257Z',
  isPlain: true,
};

/** Parses a SKU, to NFC. */
export const skuValidator: Validator<Sku> = {
  schema: { type: 'string', minLength: 1, maxLength: SKU_LIMIT_CODE_POINTS },
  parse(value) {
    if (typeof value !== 'string') return invalid('type', 'Must be a string.');
    const normalised = value.normalize('NFC');
    const error = validateIdentifier(normalised, SKU_LIMIT_CODE_POINTS);
    // The cast is what this function proves.
    return error ? { error } : { value: normalised as Sku };
  },
};

const definitions = [
  {
    name: 'id', member: 'id', column: 'id', description: 'Opaque.',
    schema: { type: 'string', pattern: '^prd_[0-9a-z]{1,36}$' },
    example: 'prd_1k7s94cm9001k7s94bi600', isPlain: true,
    read: ({ sellerId, id }) => formatProductId(sellerId, id),
  },
  {
    name: 'name', member: 'name', column: 'name', kind: 'text', isRequired: true, label: 'Name',
    ...lineValidator(NAME_LIMIT_CODE_POINTS),
    description: 'Kept exactly as sent. At least one visible character; no control characters or '
      + 'line breaks.',
    example: 'Blue mug',
    read: ({ name }) => name,
    shopColumns: {
      shopify: ['title'], shopifyUrlHandle: ['title'], wooCommerce: ['name'], magento: ['name'],
    },
  },
  {
    name: 'category', member: 'category', column: 'category', kind: 'text', isRequired: true,
    label: 'Category',
    ...lineValidator(CATEGORY_LIMIT_CODE_POINTS),
    description: 'Any text, with the same rules as `name`.',
    example: 'Kitchen',
    read: ({ category }) => category,
    shopColumns: {
      shopify: ['type', 'product category'], shopifyUrlHandle: ['type', 'product category'],
      wooCommerce: ['categories'], magento: ['categories'],
    },
  },
  {
    name: 'sku', member: 'sku', column: 'sku', kind: 'text', isRequired: true, label: 'SKU',
    ...skuValidator,
    description: 'Your own code: case-sensitive, unique in your catalogue, normalised to NFC. '
      + 'Allowed are letters, marks, numbers, punctuation and symbols (Unicode categories L, M, N, '
      + 'P and S) and inner spaces (U+0020); not allowed are invisible characters and a leading '
      + 'combining mark.',
    example: 'MUG-1',
    read: ({ sku }) => sku,
    shopColumns: {
      shopify: ['variant sku'], shopifyUrlHandle: ['sku'], wooCommerce: ['sku'], magento: ['sku'],
    },
  },
  {
    name: 'price', member: 'priceMinor', column: 'price_minor', kind: 'price', isRequired: true,
    label: 'Price',
    ...priceValidator,
    description: 'In your currency, with at most its number of decimals: EUR 2, JPY 0, KWD 3.',
    example: 12, // a price in every currency: some have no decimals
    read: ({ priceMinor, currency }) => fromMinorUnits(priceMinor, currency),
    shopColumns: {
      shopify: ['variant price'], shopifyUrlHandle: ['price'], wooCommerce: ['regular price'],
      magento: ['price'],
    },
  },
  {
    name: 'currency', member: 'currency', description: 'ISO 4217. The same for all your products.',
    schema: { type: 'string', pattern: '^[A-Z]{3}$' },
    example: 'EUR', isPlain: true,
    read: ({ currency }) => currency.code,
  },
  {
    name: 'stock', member: 'stock', column: 'stock', kind: 'quantity', isRequired: true,
    label: 'Stock',
    ...stockQuantity,
    description: 'The available quantity.',
    example: 40,
    read: ({ stock }) => stock,
    shopColumns: {
      shopify: ['variant inventory qty'], shopifyUrlHandle: ['inventory quantity'],
      wooCommerce: ['stock'], magento: ['qty'],
    },
  },
  {
    name: 'position', member: 'position', column: 'position',
    schema: { type: 'integer', minimum: 1 },
    description: 'Position of the product\'s last change in your catalogue\'s history.',
    example: 12,
    read: ({ position }) => position,
  },
  {
    name: 'created_at', member: 'createdAt', column: 'created_at', ...time,
    read: ({ createdAt }) => formatTime(createdAt),
  },
  {
    name: 'updated_at', member: 'updatedAt', column: 'updated_at', ...time,
    read: ({ updatedAt }) => formatTime(updatedAt),
  },
  ...optionalDefinitions,
] as const satisfies readonly (FieldDefinition | SentFieldDefinition)[];

type Definition = (typeof definitions)[number];
export type ProductFieldName = Definition['name'];
export type SentFieldName = Extract<Definition, { readonly kind: string }>['name'];

export type ProductField = FieldDefinition & { readonly name: ProductFieldName };
export type SentField = SentFieldDefinition & { readonly name: SentFieldName };

/** All fields, in the order of a product's JSON. */
export const PRODUCT_FIELDS: readonly ProductField[] = definitions;

export const PRODUCT_FIELD_NAMES = PRODUCT_FIELDS.map(({ name }) => name);

/** The fields that sellers send, in the same order. */
export const SENT_FIELDS: readonly SentField[] = definitions.filter((field) => 'kind' in field);

const TEXT_KINDS: ReadonlySet<SentField['kind']> = new Set(['text', 'paragraphs', 'pairs']);

/** The fields with an SQL column: texts that sellers send, and integers. A flag is 0 or 1. */
export const STORED_FIELDS = definitions.flatMap((field) => ('column' in field ? {
  member: field.member, column: field.column, isSent: 'kind' in field,
  isText: 'kind' in field && TEXT_KINDS.has(field.kind),
  isFlag: 'kind' in field && field.kind === 'flag',
  isRequired: !('isRequired' in field) || field.isRequired,
} : []));

/** A product without the members that all of its seller's products share. */
export type StoredProduct = Omit<Product, 'sellerId' | 'currency'>;

/** The fields with these names, in the order of the names. */
export function selectFields(names: readonly ProductFieldName[]): readonly ProductField[] {
  return names.flatMap((name) => PRODUCT_FIELDS.filter((field) => field.name === name));
}
