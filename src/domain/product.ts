/**
 * Products: what a seller sends, what is kept, and how it is answered. Parsing happens here once;
 * whoever holds a `NewProduct` or a `Product` need not check it again.
 */
import { type Currency, fromMinorUnits, toMinorUnits } from './currency.ts';
import { AppError } from './error.ts';
import { formatProductId, type ProductId, type SellerId } from './id.ts';
import {
  CATEGORY_LIMIT_CODE_POINTS,
  NAME_LIMIT_CODE_POINTS,
  PRICE_LIMIT,
  SKU_LIMIT_CODE_POINTS,
  STOCK_LIMIT,
} from './limits.ts';
import { ObjectReader, type Parsed } from './parsed.ts';
import { findIdentifierFault, findTextFault } from './text.ts';
import { formatTime } from './time.ts';

declare const brand: unique symbol;
/** A seller's stock-keeping code: 1..64 code points, NFC, nothing invisible in it. */
export type Sku = string & { readonly [brand]: 'Sku' };

/** The five members that a seller sends. */
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

/** A product as it stands at `position`. Times are milliseconds since 1970. */
export interface Product extends NewProduct {
  readonly sellerId: SellerId;
  readonly id: ProductId;
  readonly currency: Currency;
  /** Position of the product's last change in the history of its seller, from 1. */
  readonly position: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** @throws AppError `invalid_data` naming every faulty, missing and unknown member. */
export function parseNewProduct(body: unknown, currency: Currency): NewProduct {
  const reader = new ObjectReader(body);
  const name = reader.read('name', (value) => parseTitle(value, NAME_LIMIT_CODE_POINTS));
  const category = reader.read('category', (value) =>
    parseTitle(value, CATEGORY_LIMIT_CODE_POINTS));
  const sku = reader.read('sku', parseSku);
  const priceMinor = reader.read('price', (value) => parsePrice(value, currency));
  const stock = reader.read('stock', parseStock);
  const error = reader.findError();
  if (error) throw error;
  if (name === undefined || category === undefined || sku === undefined) throw unreported();
  if (priceMinor === undefined || stock === undefined) throw unreported();
  return { name, category, sku, priceMinor, stock };
}

/**
 * The JSON text of a product, as every answer and the history have it. Concatenated, since lists
 * and writes spend much of their time here: JSON.stringify of the whole takes three times as long.
 */
export function formatProduct(product: Product): string {
  const { sellerId, id, name, category, sku, priceMinor, currency, stock, position } = product;
  return `{"id":"${formatProductId(sellerId, id)}","name":${JSON.stringify(name)}`
    + `,"category":${JSON.stringify(category)},"sku":${JSON.stringify(sku)}`
    + `,"price":${fromMinorUnits(priceMinor, currency)},"currency":"${currency.code}"`
    + `,"stock":${stock},"position":${position},"created_at":"${formatTime(product.createdAt)}"`
    + `,"updated_at":"${formatTime(product.updatedAt)}"}`;
}

function parseTitle(value: unknown, limitCodePoints: number): Parsed<string> {
  if (typeof value !== 'string') return { fault: { code: 'type', detail: 'Must be a string.' } };
  const fault = findTextFault(value, limitCodePoints);
  return fault ? { fault } : { value };
}

function parseSku(value: unknown): Parsed<Sku> {
  if (typeof value !== 'string') return { fault: { code: 'type', detail: 'Must be a string.' } };
  const normalised = value.normalize('NFC');
  const fault = findIdentifierFault(normalised, SKU_LIMIT_CODE_POINTS);
  // The cast is what this function proves.
  return fault ? { fault } : { value: normalised as Sku };
}

function parsePrice(value: unknown, currency: Currency): Parsed<number> {
  if (typeof value !== 'number') return { fault: { code: 'type', detail: 'Must be a number.' } };
  if (!(value >= 0 && value < PRICE_LIMIT)) {
    return { fault: { code: 'range', detail: 'Must be at least 0 and below 1,000,000,000,000.' } };
  }
  const minor = toMinorUnits(value, currency);
  if (minor === undefined) {
    const most = currency.decimals === 0 ? 'no decimals' : `at most ${currency.decimals} decimals`;
    return { fault: { code: 'precision', detail: `Must have ${most} in ${currency.code}.` } };
  }
  return { value: minor + 0 }; // -0 + 0 is 0
}

function parseStock(value: unknown): Parsed<number> {
  if (typeof value !== 'number') return { fault: { code: 'type', detail: 'Must be a number.' } };
  if (!Number.isInteger(value)) {
    return { fault: { code: 'precision', detail: 'Must be a whole number.' } };
  }
  if (value < 0 || value > STOCK_LIMIT) {
    return { fault: { code: 'range', detail: 'Must be from 0 to 1,000,000,000.' } };
  }
  return { value: value + 0 }; // -0 + 0 is 0
}

function unreported(): AppError {
  return new AppError('internal', 'A faulty member was not reported.');
}
