/** Fixtures of the store contract: opening stores; and sellers, keys and products to write. */
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import {
  generateApiKey, type NewApiKey, parseNewApiKey, type StoredSecret, toStoredSecret,
} from '../../../src/domain/access/api-key.ts';
import { findCurrency } from '../../../src/domain/catalogue/currency.ts';
import type { ProductId, SellerId } from '../../../src/domain/id.ts';
import { parseNewProduct } from '../../../src/domain/catalogue/product.ts';
import type { NewProduct, Product } from '../../../src/domain/catalogue/product-fields.ts';
import { parseNewSeller, type Seller } from '../../../src/domain/access/seller.ts';
import type { ProductPage } from '../../../src/store/catalogue-store.ts';
import type { CatalogueTotals } from '../../../src/store/search-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';

/** Opens one more store on the data of a test. Every store is closed after the test. */
export type OpenStore = (clock: () => number) => Promise<Store>;
/** Prepares empty data for one test, and removes it after the test. */
export type PrepareStore = (t: TestContext) => OpenStore;

export const DAY_MS = 24 * 60 * 60 * 1000;

export function makeSeller(store: Store, currency = 'EUR'): Promise<Seller> {
  return store.createSeller(parseNewSeller('A shop', currency));
}

/** A seller with one key. */
export async function makeActor(store: Store, currency = 'EUR'): Promise<Actor> {
  const seller = await makeSeller(store, currency);
  const key = await store.createKey(seller.id, makeSecret(), makeNewKey());
  return { sellerId: seller.id, keyId: key.id };
}

/** The hash of a key that does not exist. */
export function makeSecret(): StoredSecret {
  return toStoredSecret(generateApiKey());
}

export function makeNewKey(members: Partial<NewApiKey> = {}): NewApiKey {
  return parseNewApiKey({
    name: 'test', scopes: [], addressRanges: [], expiresAt: undefined, ...members,
  });
}

let products = 0;

/** A valid product; members that are not given have default values. */
export function makeNewProduct(
  members: Readonly<Record<string, unknown>> = {}, currencyCode = 'EUR',
): NewProduct {
  const currency = findCurrency(currencyCode);
  if (!currency) throw new Error(`No such currency: ${currencyCode}`);
  products += 1;
  const defaults = { name: `Product ${products}`, category: 'Kitchen', price: 20, stock: 7 };
  return parseNewProduct({ ...defaults, sku: `SKU-${products}`, ...members }, currency);
}

/** Every page of the product list, including the last one. */
export async function readPages(
  store: Store, sellerId: SellerId, limit: number,
): Promise<ProductPage[]> {
  const pages: ProductPage[] = [];
  let after: ProductId | undefined;
  for (;;) {
    const page = await store.listProducts(sellerId, { after, limit, archived: 'any' });
    pages.push(page);
    if (!page.hasMore) return pages;
    after = page.products.at(-1)?.id;
  }
}

export async function readAll(store: Store, sellerId: SellerId): Promise<Product[]> {
  const pages = await readPages(store, sellerId, 1_000);
  return pages.flatMap((page) => page.products);
}

/** The totals of these products. */
export function addUp(products: readonly Product[]): CatalogueTotals {
  const units = products.map(({ stock }) => BigInt(stock));
  const values = products.map(({ stock, priceMinor }) => BigInt(stock) * BigInt(priceMinor));
  const sum = (numbers: readonly bigint[]): bigint => numbers.reduce((a, b) => a + b, 0n);
  return { products: products.length, units: sum(units), valueMinor: sum(values) };
}

/** Repeats an assertion until it holds, for effects of another store. Fails after 20 s. */
export async function eventually(assertion: () => Promise<void> | void): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await setTimeout(5);
    }
  }
}

/** Without members that are undefined: a recorded outcome does not have them. */
export function plain<Value extends object>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** 1, 2, ... count. */
export function countTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

export function sortNumbers(numbers: readonly number[]): number[] {
  return numbers.toSorted((one, other) => one - other);
}
