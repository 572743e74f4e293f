/**
 * A client of a store that works on its own products and keys, and records which mutations were
 * acknowledged, rejected, or reported as unknown. Unknown ones are left alone until `settle` checks
 * that each was done wholly or not at all.
 */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import { AppError } from '../../../src/domain/error.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor, Idempotency, ImportPart } from '../../../src/store/write.ts';
import type { Random } from '../../domain/random.ts';
import { countTo, makeNewKey, makeNewProduct, makeSecret } from '../../store/contract/fixture.ts';
import { makeSync } from '../../store/contract/stock.ts';

const REMEMBERED = 5;
const PAUSE_MS = 10;

/** A mutation, and the stock of products after it; undefined if they are deleted. */
interface Mutation {
  readonly after: ReadonlyMap<Sku, number | undefined>;
  /** The hash of a key that it creates. */
  readonly hash?: string;
  readonly idempotency: Idempotency | undefined;
  send(): Promise<object>;
}

export interface Counts {
  acknowledged: number;
  rejected: number;
  /** The codes of all errors. */
  readonly codes: Set<string>;
  /** Mutations reported as unknown, and then found to be done, and not done. */
  readonly unknown: { done: number; undone: number };
}

export class StoreClerk {
  readonly actor: Actor;
  readonly store: Store;
  /** The products that exist. */
  readonly stocks = new Map<Sku, number>();
  readonly keys: string[] = [];
  /** How many changes of the catalogue it has made. */
  changes = 0;
  /** How many of its mutations were acknowledged. */
  acknowledged = 0;
  readonly #name: string;
  readonly #random: Random;
  readonly #counts: Counts;
  #unknown: Mutation[] = [];
  readonly #done: { readonly mutation: Mutation; readonly outcome: object }[] = [];
  /** The products that it works on now. */
  #skus: Sku[] = [];
  #mutations = 0;

  constructor(name: string, actor: Actor, store: Store, random: Random, counts: Counts) {
    this.#name = name;
    this.actor = actor;
    this.store = store;
    this.#random = random;
    this.#counts = counts;
  }

  async work(): Promise<void> {
    const mutation = this.#choose();
    try {
      this.#note(mutation, await mutation.send());
      this.#counts.acknowledged += 1;
      this.acknowledged += 1;
    } catch (error) {
      assertTemporary(error);
      this.#counts.codes.add(error.code);
      if (isUnknown(error)) {
        this.#unknown.push(mutation);
        this.#skus = [];
      } else {
        this.#counts.rejected += 1;
      }
      await wait(PAUSE_MS);
    }
  }

  /** Checks whether unknown mutations were done, and repeats those with an idempotency key. */
  async settle(): Promise<void> {
    for (const { mutation, outcome } of this.#done.splice(0)) {
      const again = await mutation.send();
      assert.deepEqual(toPlain(again), toPlain({ ...outcome, isReplay: true }));
    }
    for (const mutation of this.#unknown.splice(0)) {
      const isDone = await this.#look(mutation);
      this.#counts.unknown[isDone ? 'done' : 'undone'] += 1;
      const again = mutation.idempotency && !mutation.hash ? await mutation.send() : undefined;
      if (again) assert.equal('isReplay' in again && again.isReplay, isDone);
      if (isDone || again) this.#note(mutation);
    }
  }

  async #look({ after, hash }: Mutation): Promise<boolean> {
    if (hash !== undefined) return await this.store.findGrant(hash) !== undefined;
    const skus = [...after.keys()];
    const found = await Promise.all(skus.map((sku) =>
      this.store.findProduct(this.actor.sellerId, { sku })));
    const stocks = found.map((product) => product?.stock);
    const isDone = JSON.stringify(stocks) === JSON.stringify([...after.values()]);
    if (!isDone) assert.deepEqual(stocks, skus.map((sku) => this.stocks.get(sku)), 'half done');
    return isDone;
  }

  #note(mutation: Mutation, outcome?: object): void {
    if (mutation.hash !== undefined) this.keys.push(mutation.hash);
    this.changes += mutation.after.size;
    for (const [sku, stock] of mutation.after) {
      if (stock === undefined) this.stocks.delete(sku);
      else this.stocks.set(sku, stock);
    }
    if (!outcome || !mutation.idempotency || mutation.hash !== undefined) return;
    this.#done.push({ mutation, outcome });
    if (this.#done.length > REMEMBERED) this.#done.shift();
  }

  #choose(): Mutation {
    const { below } = this.#random;
    this.#mutations += 1;
    const idempotency = below(3) === 0 ? { key: `${this.#name}-${this.#mutations}`, part: 0 }
      : undefined;
    const write = { ...this.actor, idempotency };
    this.#skus = this.#skus.filter((sku) => this.stocks.has(sku));
    const choice = below(12);
    if (choice === 0) {
      const secret = makeSecret();
      const { sellerId } = this.actor;
      return {
        hash: secret.hash, after: new Map(), idempotency,
        send: () => this.store.createKey(sellerId, secret, makeNewKey(), { idempotency }),
      };
    }
    if (this.#skus.length < 3 || choice < 3) {
      return choice % 2 === 0 ? this.#create(write) : this.#import(write);
    }
    if (choice === 3) {
      const sku = this.#random.pick(this.#skus);
      return {
        after: new Map([[sku, undefined]]), idempotency,
        send: () => this.store.deleteProduct(write, { sku }, {}),
      };
    }
    return this.#adjust(write);
  }

  #create(write: Actor & { readonly idempotency: Idempotency | undefined }): Mutation {
    const product = makeNewProduct({ sku: this.#newSku(0), stock: 1_000 });
    return {
      after: new Map([[product.sku, product.stock]]), idempotency: write.idempotency,
      send: () => this.store.createProduct(write, product),
    };
  }

  #import(write: Actor & { readonly idempotency: Idempotency | undefined }): Mutation {
    const products = countTo(2 + this.#random.below(10)).map((n) =>
      makeNewProduct({ sku: this.#newSku(n), stock: 1_000 + n }));
    const part: ImportPart = {
      id: undefined, record: { kind: 'products' }, counts: {}, isLast: true,
    };
    return {
      after: new Map(products.map(({ sku, stock }) => [sku, stock])),
      idempotency: write.idempotency,
      send: () => this.store.importProducts({ ...write, import: part }, products, 'upsert'),
    };
  }

  #adjust(write: Actor & { readonly idempotency: Idempotency | undefined }): Mutation {
    const count = 1 + this.#random.below(this.#skus.length);
    const after = new Map(this.#skus.slice(0, count).map((sku) =>
      [sku, (this.stocks.get(sku) ?? 0) + this.#random.pick([-2, -1, 1, 2, 3])] as const));
    const changes = [...after].map(([sku, stock]) =>
      ({ sku, adjust: stock - (this.stocks.get(sku) ?? 0) }));
    return {
      after, idempotency: write.idempotency,
      send: () => this.store.syncStock(write, makeSync(changes), false),
    };
  }

  #newSku(n: number): Sku {
    const sku = `${this.#name}-${this.#mutations}-${n}` as Sku; // a legal one
    this.#skus.push(sku);
    return sku;
  }
}

/** Whether the error says that the outcome of the mutation is unknown. */
function isUnknown({ publicDetail }: AppError): boolean {
  return /the outcome is unknown/.test(publicDetail);
}

function assertTemporary(error: unknown): asserts error is AppError {
  assert.ok(error instanceof AppError, String((error as Error).stack));
  const { code, publicDetail, retryAfterSeconds } = error;
  assert.ok(code === 'unavailable' || code === 'storage_full', `${code}: ${error.stack}`);
  if (isUnknown(error)) return;
  assert.match(publicDetail, /Nothing was changed|are waiting for the database/);
  assert.ok(code === 'storage_full' || (retryAfterSeconds ?? 0) > 0, publicDetail);
}

function toPlain(value: object): object {
  return JSON.parse(JSON.stringify(value));
}
