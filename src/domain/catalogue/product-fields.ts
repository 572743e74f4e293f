/**
 * The table of product fields. Validation, JSON Schemas, SQL columns, the search projection, CSV
 * columns, exports and the portal's forms derive from it; `src/README.md` says how to add a field.
 * Its order is the order of JSON members and CSV columns. Idempotency fingerprints and snapshots in
 * the history depend on it: add new fields at the end.
 */
import { type Currency, fromMinorUnits, priceValidator } from './currency.ts';
import { formatProductId, type ProductId, type SellerId } from '../id.ts';
import {
  CATEGORY_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS, SKU_LIMIT_CODE_POINTS, STOCK_LIMIT,
} from '../limits.ts';
import {
  integerValidator, invalid, lineValidator, type ParseResult, type Schema, type Validator,
} from '../validation.ts';
import { validateIdentifier, validateReference } from '../text.ts';
import { formatTime } from '../time.ts';

declare const brand: unique symbol;
/** A seller's stock-keeping unit: 1..64 code points, NFC, no invisible characters. */
export type Sku = string & { readonly [brand]: 'Sku' };

/** The members that a seller sends. */
export interface NewProduct {
  /** 1..200 code points, kept exactly as sent. */
  readonly name: string;
  /** 1..100 code points, kept exactly as sent. */
  readonly category: string;
  readonly sku: Sku;
  /** Price in minor units of the seller's currency: an integer from 0, below 10^15. */
  readonly priceMinor: number;
  /** Available quantity: an integer from 0 to 1,000,000,000. */
  readonly stock: number;
}

/** A product at `position`. Times are milliseconds since 1970. */
export interface Product extends NewProduct {
  readonly sellerId: SellerId;
  readonly id: ProductId;
  readonly currency: Currency;
  /** Position of the product's last change in the history of its seller, from 1. */
  readonly position: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A shop system whose CSV exports an import reads; Shopify changed its column names once. */
export type ShopSystem = 'shopify' | 'shopifyUrlHandle' | 'wooCommerce' | 'magento';

interface FieldDefinition {
  /** The name in JSON, CSV and queries. */
  readonly name: string;
  /** The value that clients read; null if there is none. */
  readonly read: (product: Product) => string | number | null;
  readonly schema: Schema;
  readonly description?: string;
  readonly example: string | number;
  /** Whether the value is always a string that needs no escapes in JSON. */
  readonly isPlain?: boolean;
  /** The member of `Product`, and the SQL column; the currency is stored with the seller. */
  readonly member: keyof Product;
  readonly column?: string;
}

interface SentFieldDefinition extends FieldDefinition {
  readonly member: keyof NewProduct;
  readonly column: string;
  /** Decides how CSV cells are parsed, and how forms and pages show the value. */
  readonly kind: 'text' | 'price' | 'quantity';
  /** Optional fields may be omitted; undefined or null then means no value. */
  readonly isRequired: boolean;
  readonly label: string;
  readonly parse: (value: unknown, currency: Currency) => ParseResult<string | number | null>;
  /** Column names in lower case; the first column with a non-blank cell is used. */
  readonly shopColumns: Readonly<Partial<Record<ShopSystem, readonly string[]>>>;
}

const time = {
  schema: { type: 'string', format: 'date-time' }, example: '2026-11-20T10:48:13.257Z',
  isPlain: true,
};

/** Parses a SKU that refers to an existing product, to NFC. */
export const skuReference: Validator<Sku> = skuValidator(validateReference);

/** A quantity that may be in stock. */
export const stockQuantity: Validator<number> = integerValidator(0, STOCK_LIMIT);

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
    ...skuValidator(validateIdentifier),
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
] as const satisfies readonly (FieldDefinition | SentFieldDefinition)[];

type Definition = (typeof definitions)[number];
export type ProductFieldName = Definition['name'];
export type SentFieldName = Extract<Definition, { readonly kind: string }>['name'];

/** A product as JSON, the same in every response. */
export type ProductJson = {
  readonly [Field in Definition as Field['name']]: Unbranded<ReturnType<Field['read']>>;
};

/** What a client sends as JSON to create a product. */
export type NewProductJson = {
  readonly [Field in RequiredDefinition as Field['name']]: ProductJson[Field['name']];
} & {
  readonly [Field in OptionalDefinition as Field['name']]?: ProductJson[Field['name']];
};

type RequiredDefinition = Extract<Definition, { readonly isRequired: true }>;
type OptionalDefinition = Extract<Definition, { readonly isRequired: false }>;
type Unbranded<Value> = Value extends string ? string : Value;

export type ProductField = FieldDefinition & { readonly name: ProductFieldName };
export type SentField = SentFieldDefinition & { readonly name: SentFieldName };

/** All fields, in the order of a product's JSON. */
export const PRODUCT_FIELDS: readonly ProductField[] = definitions;

export const PRODUCT_FIELD_NAMES = PRODUCT_FIELDS.map(({ name }) => name);

/** The fields that sellers send, in the same order. */
export const SENT_FIELDS: readonly SentField[] = definitions.filter((field) => 'kind' in field);

/** The fields with an SQL column: texts that sellers send, and integers. */
export const STORED_FIELDS = definitions.flatMap((field) => ('column' in field ? {
  member: field.member, column: field.column,
  isText: 'kind' in field && field.kind === 'text',
  isRequired: !('isRequired' in field) || field.isRequired,
} : []));

/** A product without the members that all of its seller's products share. */
export type StoredProduct = Omit<Product, 'sellerId' | 'currency'>;

/** The fields with these names, in the order of the names. */
export function selectFields(names: readonly ProductFieldName[]): readonly ProductField[] {
  return names.flatMap((name) => PRODUCT_FIELDS.filter((field) => field.name === name));
}

function skuValidator(validate: typeof validateIdentifier): Validator<Sku> {
  return {
    schema: { type: 'string', minLength: 1, maxLength: SKU_LIMIT_CODE_POINTS },
    parse(value) {
      if (typeof value !== 'string') return invalid('type', 'Must be a string.');
      const normalised = value.normalize('NFC');
      const error = validate(normalised, SKU_LIMIT_CODE_POINTS);
      // The cast is what this function proves.
      return error ? { error } : { value: normalised as Sku };
    },
  };
}
