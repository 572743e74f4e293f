/**
 * A catalogue as it should behave, in memory and as simple as possible: products, sequence numbers
 * by product and source, the whole history, and idempotency records. It shares no code with the
 * store except the types and the text of a product.
 */
import type { Change, ChangeType } from '../../src/domain/catalogue/change.ts';
import type { Currency } from '../../src/domain/catalogue/currency.ts';
import { formatProductId, type ProductId, type SellerId } from '../../src/domain/id.ts';
import {
  formatProduct, type ProductPatch, type ProductTarget,
} from '../../src/domain/catalogue/product.ts';
import type { NewProduct, Product } from '../../src/domain/catalogue/product-fields.ts';
import type {
  ProductReference, StockChange, StockResult, StockStatus,
} from '../../src/domain/catalogue/stock-change.ts';
import type { StockSync } from '../../src/domain/catalogue/stock-sync.ts';
import type {
  ImportedProducts, ImportEffect, ImportMode, WrittenProduct,
} from '../../src/store/catalogue-store.ts';
import type { SyncedStock } from '../../src/store/catalogue-store.ts';
import type { ImportReference, Actor as Sender, WriteContext } from '../../src/store/write.ts';
import { DAY_MS } from './contract/fixture.ts';

/** The actor of a change, and its import. */
type Actor = Sender & ImportReference;

/** The rejection that a store has to answer a call with: its code. */
export class Rejection extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

interface Answered {
  readonly asked: string;
  readonly outcome: object;
}

export class CatalogueModel {
  readonly sellerId: SellerId;
  readonly #currency: Currency;
  products = new Map<ProductId, Product>();
  #sequences = new Map<string, number>();
  #records = new Map<string, Answered>();
  /** The change at each position, from 1. */
  history: Change[] = [];
  #lastId = 0;
  /** Changes up to this position are not kept. */
  prunedTo = 0;
  /** Days before this one, since 1970, need not be listed. */
  daysFrom = 0;

  constructor(sellerId: SellerId, currency: Currency) {
    this.sellerId = sellerId;
    this.#currency = currency;
  }

  get position(): number {
    return this.history.length;
  }

  clone(): CatalogueModel {
    const clone = new CatalogueModel(this.sellerId, this.#currency);
    clone.#adopt(this);
    return clone;
  }

  #adopt(other: CatalogueModel): void {
    this.products = new Map(other.products);
    this.#sequences = new Map(other.#sequences);
    this.#records = new Map(other.#records);
    this.history = [...other.history];
    this.#lastId = other.#lastId;
    this.prunedTo = other.prunedTo;
    this.daysFrom = other.daysFrom;
  }

  /** The recorded outcome under the idempotency key of a write, or else the outcome of `run`. */
  once<Outcome extends object>(
    { idempotency }: WriteContext, what: unknown, run: () => Outcome,
  ): Outcome {
    if (!idempotency) return run();
    const name = JSON.stringify([idempotency.key, idempotency.part]);
    const asked = JSON.stringify(what);
    const record = this.#records.get(name);
    if (record) {
      if (record.asked !== asked) throw new Rejection('idempotency_mismatch');
      // The same request, so the outcome has the same type.
      return { ...record.outcome, isReplay: true } as unknown as Outcome;
    }
    const outcome = run();
    const isRejected = 'rejection' in outcome && outcome.rejection !== undefined;
    if (!isRejected) this.#records.set(name, { asked, outcome });
    return outcome;
  }

  find(target: ProductTarget): Product | undefined {
    if ('id' in target) return this.products.get(target.id);
    return [...this.products.values()].find(({ sku }) => sku === target.sku);
  }

  create(actor: Actor, product: NewProduct, now: number): WrittenProduct {
    if (this.find({ sku: product.sku })) throw new Rejection('sku_taken');
    const at = this.#timeAt(now);
    this.#lastId = Math.max(this.#lastId + 1, at * 1024);
    const created: Product = {
      ...product, sellerId: this.sellerId, currency: this.#currency,
      id: this.#lastId as ProductId, // as a store gives them
      position: this.position + 1, createdAt: at, updatedAt: at,
    };
    return this.#write('created', actor, undefined, created);
  }

  put(actor: Actor, product: NewProduct, ifMatch: number[] | undefined, now: number) {
    const before = this.find({ sku: product.sku });
    if (ifMatch && !(before && ifMatch.includes(before.position))) {
      throw new Rejection('precondition_failed');
    }
    return before ? this.#update(actor, before, product, now) : this.create(actor, product, now);
  }

  patch(
    actor: Actor, target: ProductTarget, patch: ProductPatch, ifMatch: number[] | undefined,
    now: number,
  ): WrittenProduct {
    return this.#update(actor, this.#get(target, ifMatch), patch, now);
  }

  delete(actor: Actor, target: ProductTarget, ifMatch: number[] | undefined, now: number) {
    const before = this.#get(target, ifMatch);
    this.products.delete(before.id);
    for (const name of this.#sequences.keys()) {
      if (name.startsWith(`${before.id} `)) this.#sequences.delete(name);
    }
    this.#record('deleted', actor, { ...before, stock: 0 }, before.stock, {
      at: this.#timeAt(now), product: formatProduct(before),
    });
    return { isReplay: false };
  }

  /** Gives a product this state: deletes it without one, and creates a deleted one again. */
  restore(
    actor: Actor, id: ProductId, to: (NewProduct & { createdAt: number }) | undefined, now: number,
  ): void {
    if (!to) {
      this.delete(actor, { id }, undefined, now);
      return;
    }
    const { createdAt, ...members } = to;
    const before = this.products.get(id);
    if (before) {
      this.#update(actor, before, members, now);
      return;
    }
    this.#write('created', actor, undefined, {
      ...members, sellerId: this.sellerId, currency: this.#currency, id, createdAt,
      position: this.position + 1, updatedAt: this.#timeAt(now),
    });
  }

  import(
    actor: Actor, products: readonly NewProduct[], mode: ImportMode, now: number,
  ): ImportedProducts {
    const effects = products.map((product): ImportEffect => {
      const before = this.find({ sku: product.sku });
      if (!before && mode === 'update') return 'not_found';
      if (!before) return this.create(actor, product, now).effect;
      return mode === 'create' ? 'taken' : this.#update(actor, before, product, now).effect;
    });
    return { effects, position: this.position, isReplay: false };
  }

  sync(actor: Actor, sync: StockSync, isDryRun: boolean, now: number): SyncedStock {
    const after = this.clone();
    const results = sync.changes.map((change) => after.#move(actor, sync, change, now));
    const also = (sync.faulty ?? []).map((name) => this.#findNamed(name));
    const named = new Set([...results, ...also].flatMap((one) => one?.id ?? []));
    const inStock = [...this.products.values()].filter(({ stock }) => stock > 0)
      .toSorted((one, other) => one.id - other.id);
    const unnamed = sync.completion ? inStock.filter(({ id }) => !named.has(id)) : [];
    const counted = inStock.filter(({ id }) => named.has(id)).length + unnamed.length;
    const isFailed = results.some(({ status }) => status !== 'ok' && status !== 'unchanged');
    const limit = sync.completion?.zeroLimitPercent ?? 100;
    const isFaulty = isFailed || (sync.faulty ?? []).length > 0;
    const rejection = sync.isAtomic && isFaulty ? 'failures'
      : unnamed.length * 100 > counted * limit ? 'zero_limit' : undefined;
    if (!rejection) {
      for (const { sku } of unnamed) after.#move(actor, sync, { sku, set: 0 }, now);
      if (!isDryRun) this.#adopt(after);
    }
    const { position } = rejection ? this : after;
    return { results, zeroed: unnamed.length, rejection, position, isReplay: false };
  }

  /** Position of the last change at a time or before. */
  positionAt(at: number): number {
    return this.history.filter((change) => change.at <= at).at(-1)?.position ?? 0;
  }

  /** Every product's level at a position, in the order of ids. */
  stockAt(position: number) {
    const levels = new Map<ProductId, object>();
    for (const change of this.history.slice(0, position)) {
      const { productId: id, sku, movement: { after: stock } } = change;
      if (change.type === 'deleted') levels.delete(id);
      else levels.set(id, { id, sku, stock, position: change.position });
    }
    return [...levels].toSorted(([one], [other]) => one - other).map(([, level]) => level);
  }

  /** Every product at a position, as JSON, in the order of ids. */
  productsAt(position: number): string[] {
    const products = new Map<ProductId, object>();
    for (const change of this.history.slice(0, position)) {
      const { type, productId: id, product = '{}', movement: { after: stock } } = change;
      const moved = () => ({
        stock, position: change.position, updated_at: new Date(change.at).toISOString(),
      });
      if (type === 'deleted') products.delete(id);
      else if (type !== 'stock') products.set(id, JSON.parse(product));
      else products.set(id, { ...products.get(id), ...moved() });
    }
    return [...products].toSorted(([one], [other]) => one - other)
      .map(([, product]) => JSON.stringify(product));
  }

  /** The units in and out on each listed day. */
  days() {
    const days = new Map<number, { day: number; unitsIn: number; unitsOut: number }>();
    for (const { at, movement: { before, after } } of this.history) {
      const day = Math.floor(at / DAY_MS);
      if (day < this.daysFrom || after === before) continue;
      const { unitsIn, unitsOut } = days.get(day) ?? { unitsIn: 0, unitsOut: 0 };
      const delta = after - before;
      const [added, taken] = delta > 0 ? [delta, 0] : [0, -delta];
      days.set(day, { day, unitsIn: unitsIn + added, unitsOut: unitsOut + taken });
    }
    return [...days.values()];
  }

  #get(target: ProductTarget, ifMatch: number[] | undefined): Product {
    const product = this.find(target);
    if (!product) throw new Rejection('not_found');
    if (ifMatch && !ifMatch.includes(product.position)) throw new Rejection('precondition_failed');
    return product;
  }

  #update(actor: Actor, before: Product, patch: ProductPatch, now: number): WrittenProduct {
    const to = { ...before, ...patch };
    const members = ['name', 'category', 'sku', 'priceMinor', 'stock'] as const;
    const changed = members.filter((member) => to[member] !== before[member]);
    if (changed.length === 0) {
      const { id, position } = before;
      const json = formatProduct(before);
      return { effect: 'unchanged', id, position, json, isReplay: false };
    }
    const other = this.find({ sku: to.sku });
    if (other && other.id !== before.id) throw new Rejection('sku_taken');
    const updated = { ...to, position: this.position + 1, updatedAt: this.#timeAt(now) };
    const isStockAlone = changed.length === 1 && changed[0] === 'stock';
    return this.#write(isStockAlone ? 'stock' : 'updated', actor, before, updated);
  }

  #write(
    type: 'created' | 'updated' | 'stock', actor: Actor, before: Product | undefined,
    after: Product,
  ): WrittenProduct {
    this.products.set(after.id, after);
    const json = formatProduct(after);
    const product = type === 'stock' ? undefined : json;
    this.#record(type, actor, after, before?.stock ?? 0, { at: after.updatedAt, product });
    const effect = type === 'created' ? type : 'updated';
    return { effect, id: after.id, position: after.position, json, isReplay: false };
  }

  #move(actor: Actor, sync: StockSync, change: StockChange, now: number): StockResult {
    const product = this.#findNamed(change);
    if (!product) return { status: 'not_found', sku: change.sku };
    const { id, sku, stock: previous, position } = product;
    const name = `${id} ${sync.source}`;
    const to = change.set ?? previous + (change.adjust ?? 0);
    const status = this.#judge(change, previous, to, name);
    if (status !== 'ok' && status !== 'unchanged') {
      return { status, id, sku, previous, stock: previous, position };
    }
    if (change.sequence !== undefined) this.#sequences.set(name, change.sequence);
    if (status === 'unchanged') return { status, id, sku, previous, stock: previous, position };
    const at = this.#timeAt(now);
    const moved = { ...product, stock: to, position: this.position + 1, updatedAt: at };
    this.products.set(id, moved);
    this.#record('stock', actor, moved, previous, {
      at, product: undefined, reason: change.reason ?? sync.reason, source: sync.source,
      sequence: change.sequence,
    });
    return { status, id, sku, previous, stock: to, position: this.position };
  }

  #findNamed(name: ProductReference): Product | undefined {
    return [...this.products.values()].find(({ id, sku }) => (name.sku === undefined
      ? formatProductId(this.sellerId, id) === name.id : sku === name.sku));
  }

  #judge(change: StockChange, stock: number, to: number, name: string): StockStatus {
    const { sequence, expect } = change;
    if (sequence !== undefined && sequence <= (this.#sequences.get(name) ?? -1)) return 'stale';
    if (expect !== undefined && expect !== stock) return 'conflict';
    if (to < 0) return 'insufficient';
    if (to > 1_000_000_000) return 'invalid';
    return to === stock ? 'unchanged' : 'ok';
  }

  /** A clock may step backwards: the time of a catalogue does not. */
  #timeAt(now: number): number {
    return Math.max(now, this.history.at(-1)?.at ?? 0);
  }

  #record(
    type: ChangeType, { keyId, actorName: actor, importId }: Actor,
    { id, sku, stock }: Product,
    before: number,
    { at, product, reason, source, sequence }: {
      at: number; product: string | undefined; reason?: string | undefined;
      source?: string | undefined; sequence?: number | undefined;
    },
  ): void {
    this.history.push({
      sellerId: this.sellerId, position: this.position + 1, type, productId: id, sku, keyId, actor,
      importId, at,
      movement: { before, after: stock, reason, source, sequence }, product,
    });
  }
}
