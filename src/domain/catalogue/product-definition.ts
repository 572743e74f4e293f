/** A product, and what the table of product fields says about each of its members. */
import type { Currency } from './currency.ts';
import type { Metadata } from './metadata.ts';
import type { ProductId, SellerId } from '../id.ts';
import { STOCK_LIMIT } from '../limits.ts';
import { integerValidator, type ParseResult, type Schema, type Validator } from '../validation.ts';

declare const brand: unique symbol;
/** A seller's stock-keeping unit: 1..64 code points, NFC, no invisible characters. */
export type Sku = string & { readonly [brand]: 'Sku' };

/** The members that a seller sends. Optional ones without a value are null or undefined. */
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
  /** A GTIN: 8, 12, 13 or 14 digits. */
  readonly barcode?: string | null;
  /** 1..5,000 code points, with line breaks as LF. */
  readonly description?: string | null;
  /** In a patch or an import row, pairs to merge. */
  readonly metadata?: Metadata | null;
  /** Stock up to which the product is low, instead of the shop's. */
  readonly lowStock?: number | null;
  /** Hidden from lists; never false. */
  readonly archived?: true | null;
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

/** A quantity that may be in stock. */
export const stockQuantity: Validator<number> = integerValidator(0, STOCK_LIMIT);

/** A shop system whose CSV exports an import reads; Shopify changed its column names once. */
export type ShopSystem = 'shopify' | 'shopifyUrlHandle' | 'wooCommerce' | 'magento';

export interface FieldDefinition {
  /** The name in JSON, CSV and queries. */
  readonly name: string;
  /** The value as a CSV cell; null or undefined if there is none. */
  readonly read: (product: Product) => string | number | boolean | null | undefined;
  readonly schema: Schema;
  readonly description?: string;
  readonly example: string | number | boolean | Readonly<Record<string, string>>;
  /** Whether the value is always a string that needs no escapes in JSON. */
  readonly isPlain?: boolean;
  /** The member of `Product`, and the SQL column; the currency is stored with the seller. */
  readonly member: keyof Product;
  readonly column?: string;
}

export interface SentFieldDefinition extends FieldDefinition {
  readonly member: keyof NewProduct;
  readonly column: string;
  /** Decides how values are stored, how CSV cells are parsed, and how pages show the value. */
  readonly kind: 'text' | 'price' | 'quantity' | 'paragraphs' | 'pairs' | 'flag';
  /** Optional fields may be omitted; undefined or null then means no value. */
  readonly isRequired: boolean;
  readonly label: string;
  /** Parses a value other than null. */
  readonly parse: (
    value: unknown, currency: Currency,
  ) => ParseResult<string | number | boolean | null>;
  /** Column names in lower case; the first column with a non-blank cell is used. */
  readonly shopColumns: Readonly<Partial<Record<ShopSystem, readonly string[]>>>;
}
