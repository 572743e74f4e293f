/**
 * The catalogue at an earlier position, from the products and the history. The version chain of a
 * product leads from now back to its last change until the position: stock, position and time are
 * those of that change, the rest is that of the last snapshot until then. Reads short slices and
 * yields in between. Change events are immutable, so the slices need no common snapshot; but the
 * history may be pruned in between, so each read checks at its end that it still has the position.
 */
import { HISTORY_SCAN_LIMIT } from '../limits.ts';
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import { parseSnapshot, type ProductTarget } from '../../../domain/catalogue/product.ts';
import { AppError } from '../../../domain/error.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type { ProductPage } from '../../catalogue-store.ts';
import type { StockLevelAt, StockLevelPage } from '../../history-store.ts';
import { assertReached } from '../../rules/history.ts';
import type { PageQuery } from '../../write.ts';
import type { Reader } from '../engine/reader.ts';
import type { PastVersion } from './past-queries.ts';

/** Versions that one query of a chain reads. */
const SLICE_VERSIONS = 2_000;
/** Fixed cost of reading a product, in versions. */
const PRODUCT_COST_VERSIONS = 50;

/** What a product was at a position. */
interface Past<Item> {
  /** Undefined if the product did not exist. */
  readonly item?: Item | undefined;
  /** Whether the product was created later for the first time. */
  readonly isNewer?: boolean;
  /** How many changes were read. */
  readonly versions: number;
}

export class PastCatalogue {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async listStockAt(
    sellerId: SellerId, position: number, query: PageQuery<ProductId>,
  ): Promise<StockLevelPage> {
    const { items, hasMore } = await this.#list(sellerId, position, query, (known) =>
      this.#readLevel(sellerId, known, position));
    return { levels: items, hasMore };
  }

  async listProductsAt(
    sellerId: SellerId, position: number, query: PageQuery<ProductId>,
  ): Promise<ProductPage> {
    const { items, hasMore } = await this.#list(sellerId, position, query, ({ id }) =>
      this.#readProduct(sellerId, id, position));
    return { products: items, hasMore, position };
  }

  async findProductAt(
    sellerId: SellerId, target: ProductTarget, position: number,
  ): Promise<Product | undefined> {
    this.#assertReached(sellerId, position);
    const product = 'id' in target
      ? (await this.#readProduct(sellerId, target.id, position)).item
      : await this.#findBySku(sellerId, target.sku, position);
    this.#assertReached(sellerId, position);
    return product;
  }

  #assertReached(sellerId: SellerId, position: number): void {
    assertReached(this.#reader.snapshot().findReach(sellerId), position, 'at');
  }

  /** Reads products in creation order until a page is full. */
  async #list<Item>(
    sellerId: SellerId, position: number, { after, limit }: PageQuery<ProductId>,
    read: (known: StockLevelAt) => Promise<Past<Item>>,
  ): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
    this.#assertReached(sellerId, position);
    const items: Item[] = [];
    let cost = 0;
    for (let last: number = after ?? 0, isDone = false; !isDone;) {
      await yieldToEventLoop(); // before the first, too: many requests may start in one iteration
      const known = this.#reader.snapshot().listKnown(sellerId, last, position, limit + 1);
      for (const product of known) {
        if (product.id === last) continue; // listed twice
        last = product.id;
        const { item, isNewer = false, versions } = await read(product);
        if (item) items.push(item);
        // Ids grow in the order of creation: all further products are newer, too.
        isDone = isNewer || items.length > limit;
        if (isDone) break;
        cost += versions === 0 ? 0 : versions + PRODUCT_COST_VERSIONS;
        if (cost < HISTORY_SCAN_LIMIT) continue;
        await yieldToEventLoop(); // short chains add up
        cost = 0;
      }
      isDone ||= known.length <= limit;
    }
    this.#assertReached(sellerId, position);
    return { items: items.slice(0, limit), hasMore: items.length > limit };
  }

  async #readLevel(
    sellerId: SellerId, known: StockLevelAt, position: number,
  ): Promise<Past<StockLevelAt>> {
    if (known.position <= position) return { item: known, versions: 0 };
    const version = await this.#findVersion(sellerId, known.position, position);
    if (!isExisting(version, position)) return describeMissing(version);
    const { sku, stock, versions } = version;
    return { item: { id: known.id, sku, stock, position: version.position }, versions };
  }

  async #readProduct(
    sellerId: SellerId, id: ProductId, position: number,
  ): Promise<Past<Product>> {
    const queries = this.#reader.snapshot();
    const newest = queries.findProduct(sellerId, { id });
    if (newest && newest.position <= position) return { item: newest, versions: 0 };
    const deletion = newest ? undefined : queries.findDeletionAfter(sellerId, id, position);
    const start = newest ?? deletion;
    const currency = newest?.currency ?? queries.findSeller(sellerId)?.currency;
    if (!start || !currency) return { versions: 0 };
    const version = await this.#findVersion(sellerId, start.position, position);
    if (!isExisting(version, position)) return describeMissing(version);
    const { snapshot, versions } = version.isEdited
      ? await this.#findSnapshot(sellerId, version, position)
      : { snapshot: deletion?.snapshot, versions: 0 };
    const members = snapshot === undefined ? newest : parseSnapshot(snapshot, currency);
    const { stock, at: updatedAt } = version;
    const product = members && {
      ...members, sellerId, id, currency, stock, updatedAt, position: version.position,
    };
    return { item: product, versions: version.versions + versions };
  }

  /**
   * The product that had this SKU. The first later change that took the SKU from a product names
   * it: a deletion, which has an index, or a renaming, which has none. Without either, the product
   * still has the SKU.
   */
  async #findBySku(sellerId: SellerId, sku: Sku, position: number): Promise<Product | undefined> {
    const queries = this.#reader.snapshot();
    const owner = queries.findSkuDeletionAfter(sellerId, sku, position)
      ?? queries.findProduct(sellerId, { sku })?.id;
    const product = await this.#readOwner(sellerId, sku, owner, position);
    if (product) return product;
    const renamed = await this.#findRenamed(sellerId, sku, position);
    return this.#readOwner(sellerId, sku, renamed, position);
  }

  async #readOwner(
    sellerId: SellerId, sku: Sku, id: ProductId | undefined, position: number,
  ): Promise<Product | undefined> {
    if (id === undefined) return undefined;
    const { item } = await this.#readProduct(sellerId, id, position);
    return item?.sku === sku ? item : undefined;
  }

  /** The first product that gave up this SKU for another one: reads all changes until then. */
  async #findRenamed(
    sellerId: SellerId, sku: Sku, position: number,
  ): Promise<ProductId | undefined> {
    const end = this.#reader.snapshot().findReach(sellerId).position;
    for (let after = position; after < end; after += HISTORY_SCAN_LIMIT) {
      const upTo = Math.min(end, after + HISTORY_SCAN_LIMIT);
      const found = this.#reader.snapshot().findRename(sellerId, sku, { after, upTo });
      if (found !== undefined) return found;
      await yieldToEventLoop();
    }
    return undefined;
  }

  /** Follows a version chain from a change back to a position, or else to its beginning. */
  async #findVersion(
    sellerId: SellerId, newest: number, position: number,
  ): Promise<PastVersion | undefined> {
    let isEdited = false;
    let versions = 0;
    for (let from = newest; ;) {
      const found = this.#reader.snapshot()
        .findVersion(sellerId, from, position, SLICE_VERSIONS);
      if (!found) return undefined; // pruned by now
      isEdited ||= found.isEdited;
      versions += found.versions;
      const isEnd = found.position <= position || found.versions < SLICE_VERSIONS;
      if (isEnd) return { ...found, isEdited, versions };
      from = found.position;
      await yieldToEventLoop();
    }
  }

  /** The last snapshot of a product up to a version, and how many more changes were read. */
  async #findSnapshot(
    sellerId: SellerId, { position: from, snapshot }: PastVersion, position: number,
  ): Promise<{ readonly snapshot: string; readonly versions: number }> {
    if (snapshot !== undefined) return { snapshot, versions: 0 };
    let versions = 0;
    for (let next = from; ;) {
      const found = this.#reader.snapshot().findPreviousSnapshot(sellerId, next, SLICE_VERSIONS);
      versions += found.versions;
      if (found.product !== undefined) return { snapshot: found.product, versions };
      if (found.versions < SLICE_VERSIONS) break;
      next = found.oldest;
      await yieldToEventLoop();
    }
    this.#assertReached(sellerId, position);
    // Earlier versions of the server pruned snapshots that only past positions need.
    throw new AppError(
      'history_pruned',
      `The history no longer has every product as of position ${position}. Use a later one.`,
    );
  }
}

function isExisting(version: PastVersion | undefined, position: number): version is PastVersion {
  return version !== undefined && version.position <= position && version.type !== 'deleted';
}

/** Of a product that did not exist; its chain was followed to this version. */
function describeMissing(version: PastVersion | undefined): Past<never> {
  return { isNewer: version?.isFirst === true, versions: version?.versions ?? 0 };
}
