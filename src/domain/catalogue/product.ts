/**
 * Products: what a seller sends, what is kept, and how it is answered. Parsing happens here once;
 * whoever holds a `NewProduct` or a `Product` need not check it again.
 */
import { type Currency, fromMinorUnits, toMinorUnits } from './currency.ts';
import { AppError } from '../error.ts';
import { formatProductId, type ProductId, type SellerId } from '../id.ts';
import {
  CATEGORY_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS, PRICE_LIMIT, SKU_LIMIT_CODE_POINTS,
  STOCK_LIMIT,
} from '../limits.ts';
import { ObjectReader, type ParseResult, parseInteger, parseLine } from '../validation.ts';
import { type ValidationError, validateIdentifier, validateReference } from '../text.ts';
import { formatTime } from '../time.ts';

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

/** What is to change: from none to all five members. */
export type ProductPatch = Partial<NewProduct>;

/**
 * A product as an import row gives it. Members that the row leaves out keep their value in an
 * existing product, and come from `defaults` in a new one.
 */
export interface ProductRow extends ProductPatch {
  readonly sku: Sku;
  readonly defaults?: ProductPatch;
}

/** A product of the caller, named in one of the two ways. */
export type ProductTarget = { readonly id: ProductId } | { readonly sku: Sku };

/** @throws AppError `invalid_data` naming every faulty, missing and unknown member. */
export function parseNewProduct(body: unknown, currency: Currency): NewProduct {
  const reader = new ObjectReader(body);
  return assertComplete(reader, readMembers(reader, currency));
}

/**
 * A product that is put at the address of a SKU. Its own `sku` may be left out, and may not differ.
 * @throws AppError `invalid_data` naming every faulty, missing and unknown member
 */
export function parseReplacement(body: unknown, address: string, currency: Currency): NewProduct {
  const reader = new ObjectReader(body, { sku: address });
  const members = readMembers(reader, currency);
  if (members.sku !== undefined && members.sku !== findSku(address)) {
    const detail = `Must be the SKU of the address, ${JSON.stringify(address)}, or be left out.`;
    reader.note('sku', { code: 'mismatch', detail });
  }
  return assertComplete(reader, members);
}

/**
 * A merge patch (RFC 7396) of a product. A null would remove a member, and none can be removed.
 * A product may keep its `storedSku`, which an earlier version may have accepted by other rules.
 * @throws AppError `invalid_data` naming every faulty and unknown member
 */
export function parseProductPatch(
  body: unknown, currency: Currency, storedSku?: Sku,
): ProductPatch {
  const reader = new ObjectReader(body, {}, true);
  const members = readMembers(reader, currency, storedSku);
  const error = reader.findError();
  if (error) throw error;
  return pickRead(members);
}

/**
 * An import row: every member but the SKU may be missing.
 * @throws AppError `invalid_data` naming every faulty and unknown member
 */
export function parseProductRow(body: unknown, currency: Currency): ProductRow {
  const reader = new ObjectReader(body, {}, true);
  const members = readMembers(reader, currency);
  reader.require('sku');
  const error = reader.findError();
  if (error) throw error;
  const { sku } = members;
  if (sku === undefined) throw unreported();
  return findComplete(members) ?? { ...pickRead(members), sku };
}

/**
 * The product that an import row produces. Missing members come from `base`: the existing product,
 * or the row's defaults for a new one. Undefined if a member is in neither.
 */
export function completeProduct(row: ProductRow, base: ProductPatch = {}): NewProduct | undefined {
  return findComplete({
    name: row.name ?? base.name,
    category: row.category ?? base.category,
    sku: row.sku,
    priceMinor: row.priceMinor ?? base.priceMinor,
    stock: row.stock ?? base.stock,
  });
}

/** The SKU that a text names; undefined for a text that is not a valid SKU. */
export function findSku(text: string): Sku | undefined {
  const parsed = parseSku(text);
  return 'value' in parsed ? parsed.value : undefined;
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

/** The members that were read; those that are missing or faulty are undefined. */
type ReadMembers = { readonly [Member in keyof NewProduct]: NewProduct[Member] | undefined };

function readMembers(reader: ObjectReader, currency: Currency, storedSku?: Sku): ReadMembers {
  const parseOwnSku = (value: unknown): ParseResult<Sku> =>
    storedSku !== undefined && value === storedSku ? { value: storedSku } : parseNewSku(value);
  return {
    name: reader.read('name', (value) => parseLine(value, NAME_LIMIT_CODE_POINTS)),
    category: reader.read('category', (value) => parseLine(value, CATEGORY_LIMIT_CODE_POINTS)),
    sku: reader.read('sku', parseOwnSku),
    priceMinor: reader.read('price', (value) => parsePrice(value, currency)),
    stock: reader.read('stock', parseStock),
  };
}

function assertComplete(reader: ObjectReader, members: ReadMembers): NewProduct {
  const error = reader.findError();
  if (error) throw error;
  const product = findComplete(members);
  if (!product) throw unreported();
  return product;
}

/** Undefined if a member is missing. The order of the members is part of stored fingerprints. */
function findComplete(
  { name, category, sku, priceMinor, stock }: ReadMembers,
): NewProduct | undefined {
  if (name === undefined || category === undefined || sku === undefined) return undefined;
  if (priceMinor === undefined || stock === undefined) return undefined;
  return { name, category, sku, priceMinor, stock };
}

/** Only the members that are present. */
function pickRead({ name, category, sku, priceMinor, stock }: ReadMembers): ProductPatch {
  return {
    ...(name !== undefined && { name }),
    ...(category !== undefined && { category }),
    ...(sku !== undefined && { sku }),
    ...(priceMinor !== undefined && { priceMinor }),
    ...(stock !== undefined && { stock }),
  };
}

/** A reference to a product by its SKU, in normal form C. */
export function parseSku(value: unknown): ParseResult<Sku> {
  return readSku(value, validateReference);
}

/** A SKU to assign to a product. */
function parseNewSku(value: unknown): ParseResult<Sku> {
  return readSku(value, validateIdentifier);
}

function readSku(
  value: unknown, findFault: (text: string, limitCodePoints: number) => ValidationError | undefined,
): ParseResult<Sku> {
  if (typeof value !== 'string') return { error: { code: 'type', detail: 'Must be a string.' } };
  const normalised = value.normalize('NFC');
  const error = findFault(normalised, SKU_LIMIT_CODE_POINTS);
  // The cast is what this function proves.
  return error ? { error } : { value: normalised as Sku };
}

function parsePrice(value: unknown, currency: Currency): ParseResult<number> {
  if (typeof value !== 'number') return { error: { code: 'type', detail: 'Must be a number.' } };
  if (!(value >= 0 && value < PRICE_LIMIT)) {
    return { error: { code: 'range', detail: 'Must be at least 0 and below 1,000,000,000,000.' } };
  }
  const minor = toMinorUnits(value, currency);
  if (minor === undefined) {
    const most = currency.decimals === 0 ? 'no decimals' : `at most ${currency.decimals} decimals`;
    return { error: { code: 'precision', detail: `Must have ${most} in ${currency.code}.` } };
  }
  return { value: minor + 0 }; // -0 + 0 is 0
}

/** A quantity that may be in stock. */
export function parseStock(value: unknown): ParseResult<number> {
  return parseInteger(value, 0, STOCK_LIMIT);
}

function unreported(): AppError {
  return new AppError('internal', 'A faulty member was not reported.');
}
