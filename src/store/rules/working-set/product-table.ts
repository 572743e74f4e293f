/**
 * The products of one seller in a transaction: those that were loaded, as the mutations leave them.
 * Only the last state of each is written.
 */
import { toGtin } from '../../../domain/catalogue/barcode.ts';
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ProductTarget } from '../../../domain/catalogue/product.ts';
import type { ProductId } from '../../../domain/id.ts';
import { skuTaken } from '../product-changes.ts';
import { NotLoadedError } from './loaded-levels.ts';

interface Entry {
  readonly existed: boolean;
  product: Product | undefined;
  isWritten: boolean;
  /** Position of the last snapshot in this transaction. */
  snapshotPosition: number | undefined;
}

/** A product to write. */
export interface WrittenProduct {
  readonly product: Product;
  /** Undefined if the one in the database stays. */
  readonly snapshotPosition: number | undefined;
}

export class ProductTable {
  readonly #entries = new Map<ProductId, Entry>();
  /** Null if no product has the SKU. */
  readonly #ids = new Map<Sku, ProductId | null>();
  /** Products that have, or had, a barcode; undefined if products with it were not loaded. */
  readonly #byGtin = new Map<number, Set<ProductId>>();
  /** Barcodes of more products than were loaded: none of them is the only one. */
  readonly #crowded = new Map<number, readonly Product[]>();
  readonly #deletions = new Map<ProductId, number>();

  /** Products are looked up under these names: what is not found does not exist. */
  expect(skus: Iterable<Sku>, ids: Iterable<ProductId>, gtins: Iterable<number>): void {
    for (const gtin of gtins) this.#byGtin.set(gtin, new Set());
    for (const id of ids) this.#entries.set(id, makeEntry(undefined));
    for (const sku of skus) this.#ids.set(sku, null);
  }

  load(product: Product): void {
    this.#entries.set(product.id, makeEntry(product));
    this.#ids.set(product.sku, product.id);
    this.#noteBarcode(product);
  }

  /** The products that have a barcode, at least two if there are so many. */
  loadCrowded(products: readonly Product[]): void {
    const [{ barcode } = {}] = products;
    if (barcode) this.#crowded.set(toGtin(barcode), products);
  }

  findByBarcode(gtin: number): readonly Product[] {
    const ids = this.#byGtin.get(gtin);
    if (!ids) throw new NotLoadedError();
    return this.#crowded.get(gtin) ?? [...ids].sort((one, other) => one - other)
      .flatMap((id) => this.#get(id).product ?? [])
      .filter(({ barcode }) => barcode && toGtin(barcode) === gtin);
  }

  find(target: ProductTarget): Product | undefined {
    const id = 'id' in target ? target.id : this.#ids.get(target.sku);
    if (id === null) return undefined;
    return this.#get(id).product;
  }

  /** Position of the last deletion of a product. */
  findDeletion(id: ProductId): number | undefined {
    return this.#deletions.get(id);
  }

  noteDeletion(id: ProductId, position: number): void {
    this.#deletions.set(id, position);
  }

  /** A SKU that was not loaded is left to the unique index. @throws AppError `sku_taken` */
  insert(product: Product): void {
    const { id, sku, position } = product;
    if (this.#ids.get(sku)) throw skuTaken(sku);
    const entry = this.#entries.get(id) ?? makeEntry(undefined);
    this.#entries.set(id, entry);
    this.#ids.set(sku, id);
    Object.assign(entry, { product, isWritten: true, snapshotPosition: position });
    this.#noteBarcode(product);
  }

  update(product: Product, isMovement: boolean): void {
    const { id, sku, position } = product;
    const entry = this.#get(id);
    if (entry.product && entry.product.sku !== sku) this.#ids.set(entry.product.sku, null);
    this.#ids.set(sku, id);
    Object.assign(entry, { product, isWritten: true });
    if (!isMovement) entry.snapshotPosition = position;
    this.#noteBarcode(product);
  }

  remove({ id, sku }: Product): void {
    Object.assign(this.#get(id), { product: undefined, isWritten: true });
    this.#ids.set(sku, null);
  }

  /** What to write, in this order: a SKU that one product gives up may be another's. */
  listWritten() {
    const deleted: ProductId[] = [];
    const updated: WrittenProduct[] = [];
    const created: WrittenProduct[] = [];
    for (const [id, { existed, product, isWritten, snapshotPosition }] of this.#entries) {
      if (!isWritten) continue;
      if (product) (existed ? updated : created).push({ product, snapshotPosition });
      else if (existed) deleted.push(id);
    }
    return { deleted, updated, created };
  }

  #noteBarcode({ id, barcode }: Product): void {
    if (barcode) this.#byGtin.get(toGtin(barcode))?.add(id);
  }

  #get(id: ProductId | undefined): Entry {
    const entry = id === undefined ? undefined : this.#entries.get(id);
    if (!entry) throw new NotLoadedError();
    return entry;
  }
}

function makeEntry(product: Product | undefined): Entry {
  return {
    product, existed: product !== undefined, isWritten: false, snapshotPosition: undefined,
  };
}
