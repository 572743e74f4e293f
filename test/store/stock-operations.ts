/** Random store calls on one catalogue, each with the same operation on a model. */
import { formatProductId, type ProductId, type SellerId } from '../../src/domain/id.ts';
import type { ProductPatch, ProductTarget } from '../../src/domain/catalogue/product.ts';
import type { NewProduct, Sku } from '../../src/domain/catalogue/product-fields.ts';
import type { StockChange } from '../../src/domain/catalogue/stock-change.ts';
import type { StockSync } from '../../src/domain/catalogue/stock-sync.ts';
import type { ImportMode } from '../../src/store/catalogue-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { Idempotency, WriteContext } from '../../src/store/write.ts';
import type { Random } from '../domain/random.ts';
import type { CatalogueModel } from './stock-model.ts';

export interface Operation {
  /** The request, for the message of a failure. */
  readonly asked: readonly unknown[];
  readonly idempotency: Idempotency | undefined;
  send(store: Store): Promise<object>;
  /** @throws Rejection */
  apply(model: CatalogueModel, now: number): object;
}

type Body = (write: WriteContext) => Pick<Operation, 'asked' | 'send' | 'apply'>;

const SOURCES = ['erp', 'shop', 'till'];
const REASONS = ['sold', 'returned', 'counted'];
/** None has more than one product; most are there at any time. */
const SKUS = Array.from({ length: 14 }, (_, index) => `S-${index}`);
const LARGEST = 1_000_000_000;

/** Creates calls on one catalogue; remembers those with an idempotency key, to repeat them. */
export class OperationMaker {
  readonly #random: Random;
  readonly #writes: readonly WriteContext[];
  readonly #foreign: SellerId;
  readonly #sent: { readonly idempotency: Idempotency; readonly body: Body }[] = [];
  #keys = 0;
  #names = 0;

  /** `writes` are actors of one seller; `foreign` is another seller. */
  constructor(random: Random, writes: readonly WriteContext[], foreign: SellerId) {
    this.#random = random;
    this.#writes = writes;
    this.#foreign = foreign;
  }

  make(model: CatalogueModel): Operation {
    const { below, pick } = this.#random;
    if (this.#sent.length > 0 && below(8) === 0) return this.#repeat(model);
    const body = this.#makeBody(model);
    if (below(4) > 0) return this.#finish(body, undefined);
    this.#keys += 1;
    const idempotency = { key: `k-${this.#keys}`, part: below(3) };
    this.#sent.push({ idempotency, body });
    if (this.#sent.length > 20) this.#sent.splice(pick([0, 5, 10]), 1);
    return this.#finish(body, idempotency);
  }

  /** Changes of one source, for a dry run. */
  makeChanges(model: CatalogueModel, hasSource: boolean): StockChange[] {
    const { below } = this.#random;
    const count = below(25) === 0 ? 50 : below(7);
    return Array.from({ length: count }, () => this.#makeChange(model, hasSource));
  }

  pickSource(): string | undefined {
    return this.#random.pick([undefined, ...SOURCES]);
  }

  #repeat(model: CatalogueModel): Operation {
    const { idempotency, body } = this.#random.pick(this.#sent);
    const isOther = this.#random.below(4) === 0;
    return this.#finish(isOther ? this.#makeBody(model) : body, idempotency);
  }

  #finish(body: Body, idempotency: Idempotency | undefined): Operation {
    const write = { ...this.#random.pick(this.#writes), idempotency };
    return { ...body(write), idempotency };
  }

  #makeBody(model: CatalogueModel): Body {
    const choice = this.#random.below(16);
    if (choice < 9) return this.#makeSync(model);
    if (choice < 11) return this.#makeCreation();
    if (choice < 12) return this.#makePut(model);
    if (choice < 14) return this.#makePatch(model);
    if (choice < 15) return this.#makeDeletion(model);
    return this.#makeImport();
  }

  #makeSync(model: CatalogueModel): Body {
    const { below, pick } = this.#random;
    const source = this.pickSource();
    const zeroLimitPercent = pick([0, 20, 50, 50, 75, 100]);
    const sync: StockSync = {
      changes: this.makeChanges(model, source !== undefined), source,
      isAtomic: below(6) === 0, reason: pick([undefined, ...REASONS]),
      faulty: below(8) === 0 ? [0, 1].map(() => this.#makeName(model).member) : [],
      completion: below(8) === 0 ? { zeroLimitPercent } : undefined,
    };
    const isDryRun = below(8) === 0;
    const asked = ['sync', sync, isDryRun];
    return (write) => ({
      asked,
      send: (store) => store.syncStock(write, sync, isDryRun),
      apply: (model, now) => model.once(write, asked, () =>
        model.sync(write, sync, isDryRun, now)),
    });
  }

  #makeChange(model: CatalogueModel, hasSource: boolean): StockChange {
    const { below, pick } = this.#random;
    const name = this.#makeName(model);
    const stock = model.find(name.target)?.stock ?? 0;
    const set = pick([below(6), below(6), stock, LARGEST, LARGEST - below(3), 0]);
    const adjust = pick([below(9) - 4, below(9) - 4, 0, -stock, LARGEST, -LARGEST]);
    return {
      ...name.member,
      ...(below(2) === 0 ? { set } : { adjust }),
      ...(below(5) === 0 && { expect: pick([stock, stock, below(6)]) }),
      ...(hasSource && below(2) === 0 && { sequence: this.#keys + below(12) }),
      ...(below(5) === 0 && { reason: pick(REASONS) }),
    };
  }

  /** Mostly an existing product; otherwise a missing one, or one of another seller. */
  #makeName(model: CatalogueModel) {
    const { below, pick } = this.#random;
    const sku = pick(SKUS) as Sku; // a legal one
    if (below(3) > 0) return { member: { sku }, target: { sku } };
    const [first] = model.history;
    const product = pick([...model.products.values(), first && { id: first.productId }]);
    const other = pick([first, ...model.history.slice(-40)])?.productId;
    const id = below(6) === 0 ? other : product?.id;
    const sellerId = below(10) === 0 ? this.#foreign : model.sellerId;
    const text = id === undefined || below(20) === 0 ? 'none' : formatProductId(sellerId, id);
    return { member: { id: text }, target: { id: sellerId === model.sellerId ? id : undefined } as
      { id: ProductId } }; // a target that is not found has no id
  }

  #makeCreation(): Body {
    const product = this.#makeProduct();
    const asked = ['create', product];
    return (write) => ({
      asked,
      send: (store) => store.createProduct(write, product),
      apply: (model, now) => model.once(write, asked, () => model.create(write, product, now)),
    });
  }

  #makePut(model: CatalogueModel): Body {
    const product = this.#makeProduct();
    const ifMatch = this.#makeCondition(model, { sku: product.sku });
    const asked = ['put', product, ifMatch];
    return (write) => ({
      asked,
      send: (store) => store.putProduct(write, product, { ifMatch }),
      apply: (model, now) => model.once(write, asked, () =>
        model.put(write, product, ifMatch, now)),
    });
  }

  #makePatch(model: CatalogueModel): Body {
    const { below, pick } = this.#random;
    const { name, stock, sku } = this.#makeProduct();
    const patches: ProductPatch[] = [
      { stock }, { stock }, { sku }, { sku, stock }, { name }, { name, stock }, {},
    ];
    const [patch, target] = [pick(patches), this.#makeTarget(model)];
    const ifMatch = below(2) === 0 ? this.#makeCondition(model, target) : undefined;
    const asked = ['patch', target, patch, ifMatch];
    return (write) => ({
      asked,
      send: (store) => store.patchProduct(write, target, patch, { ifMatch }),
      apply: (model, now) => model.once(write, asked, () =>
        model.patch(write, target, patch, ifMatch, now)),
    });
  }

  #makeDeletion(model: CatalogueModel): Body {
    const target = this.#makeTarget(model);
    const ifMatch = this.#makeCondition(model, target);
    const asked = ['delete', target, ifMatch];
    return (write) => ({
      asked,
      send: (store) => store.deleteProduct(write, target, { ifMatch }),
      apply: (model, now) => model.once(write, asked, () =>
        model.delete(write, target, ifMatch, now)),
    });
  }

  #makeImport(): Body {
    const { below, pick } = this.#random;
    const products = Array.from({ length: below(8) }, () => this.#makeProduct());
    const mode: ImportMode = pick(['upsert', 'create']);
    const asked = ['import', products, mode];
    return (write) => ({
      asked,
      send: (store) => store.importProducts(write, products, mode),
      apply: (model, now) => model.once(write, asked, () =>
        model.import(write, products, mode, now)),
    });
  }

  #makeProduct(): NewProduct {
    const { below, pick } = this.#random;
    this.#names += 1;
    return {
      name: `Product ${below(4) === 0 ? 'of old' : this.#names}`, category: 'Kitchen',
      sku: pick(SKUS) as Sku, // a legal one
      priceMinor: 100, stock: below(9),
    };
  }

  #makeTarget(model: CatalogueModel): ProductTarget {
    const ids = [...model.products.keys()];
    if (ids.length > 0 && this.#random.below(2) === 0) return { id: this.#random.pick(ids) };
    return { sku: this.#random.pick(SKUS) as Sku }; // a legal one
  }

  #makeCondition(model: CatalogueModel, target: ProductTarget): number[] | undefined {
    const { below } = this.#random;
    if (below(3) > 0) return undefined;
    return [below(2) === 0 ? model.find(target)?.position ?? 1 : 1 + below(model.position + 1)];
  }
}
