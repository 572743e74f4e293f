/** The subjects that are measured: shops in a store, and the load on them. */
import {
  generateApiKey, parseNewApiKey, toStoredSecret,
} from '../../../src/domain/access/api-key.ts';
import { parseNewSeller } from '../../../src/domain/access/seller.ts';
import { parseNewProduct } from '../../../src/domain/catalogue/product.ts';
import type { NewProduct, Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { EURO } from '../data.ts';
import { makeProduct } from '../load/made-up.ts';

/** A seller with one key. */
export interface Shop {
  readonly actor: Actor;
  readonly hash: string;
}

export interface Subject {
  create(shop: Shop, product: NewProduct): Promise<unknown>;
  /** Adds 1 to the stock of products, in one transaction. */
  adjust(shop: Shop, skus: readonly Sku[]): Promise<unknown>;
  /** Rejects if the key does not exist. */
  findKey(hash: string): Promise<unknown>;
  close(): Promise<unknown>;
}

export function subjectOf(store: Store): Subject {
  return {
    create: ({ actor }, product) => store.createProduct(actor, product),
    async adjust({ actor }, skus) {
      const changes = skus.map((sku) => ({ sku, adjust: 1 }));
      const origin = { source: undefined, reason: undefined };
      const sync = { changes, isAtomic: true, completion: undefined, ...origin };
      const { rejection } = await store.syncStock(actor, sync, false);
      if (rejection) throw new Error(`The changes were rejected: ${rejection}.`);
    },
    async findKey(hash) {
      if (!await store.findGrant(hash)) throw new Error('There is no such key.');
    },
    close: () => store.close(),
  };
}

export function makeShops(store: Store, count: number): Promise<readonly Shop[]> {
  return Promise.all(Array.from({ length: count }, async (_, n) => {
    const { id: sellerId } = await store.createSeller(parseNewSeller(`Shop ${n}`, 'EUR'));
    const secret = toStoredSecret(generateApiKey());
    const members = { name: 'bench', scopes: [], addressRanges: [], expiresAt: undefined };
    const { id: keyId } = await store.createKey(sellerId, secret, parseNewApiKey(members));
    return { actor: { sellerId, keyId }, hash: secret.hash };
  }));
}

export function productOf(n: number, series: string): NewProduct {
  return parseNewProduct(makeProduct(n, series), EURO);
}

/** Operations per second: each caller starts its next operation when the last one has ended. */
export async function measureRate(
  callers: number, durationMs: number, operate: (n: number) => Promise<unknown>,
): Promise<number> {
  let [started, ended] = [0, 0];
  const start = performance.now();
  await Promise.all(Array.from({ length: callers }, async () => {
    while (performance.now() < start + durationMs) {
      started += 1;
      await operate(started - 1);
      ended += 1;
    }
  }));
  return ended * 1000 / (performance.now() - start);
}
