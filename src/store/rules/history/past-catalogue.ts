/**
 * The catalogue at an earlier position, from the products and the history. The version chain of a
 * product leads from now back to its last change until the position: stock, position and time are
 * those of that change, the rest is that of the last snapshot until then. Reads the chains of many
 * products together, in short slices. Change events are immutable, so the slices need no common
 * snapshot; but the history may be pruned in between, so each read checks at its end that it still
 * has the position.
 */
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import { parseSnapshot, type ProductTarget } from '../../../domain/catalogue/product.ts';
import { AppError } from '../../../domain/error.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type { ProductPage } from '../../catalogue-store.ts';
import type { StockLevelAt, StockLevelPage } from '../../history-store.ts';
import { HISTORY_SCAN_LIMIT } from '../../limits.ts';
import type { PageQuery } from '../../write.ts';
import { assertReached } from '../history.ts';
import { followChains } from './chains.ts';
import type { HistoryQueries, PastVersion } from './queries.ts';

/** Versions that one query of chains reads. */
const SLICE_VERSIONS = 2_000;
/** Products that a query lists at least: some of them may not have existed. */
const LISTED_PRODUCTS = 50;

/** Which of some products existed at a position, in creation order. */
interface Past<Item> {
  readonly items: readonly Item[];
  /** Whether the next product was created later, and so all further ones. */
  readonly isEnd: boolean;
}

type Versions = ReadonlyMap<number, PastVersion>;

export class PastCatalogue {
  readonly #queries: HistoryQueries;

  constructor(queries: HistoryQueries) {
    this.#queries = queries;
  }

  async listStockAt(
    sellerId: SellerId, position: number, query: PageQuery<ProductId>,
  ): Promise<StockLevelPage> {
    const { items, hasMore } = await this.#list(sellerId, position, query, (levels) =>
      this.#readLevels(sellerId, levels, position));
    return { levels: items, hasMore };
  }

  async listProductsAt(
    sellerId: SellerId, position: number, query: PageQuery<ProductId>,
  ): Promise<ProductPage> {
    const { items, hasMore } = await this.#list(sellerId, position, query, (levels) =>
      this.#readProducts(sellerId, levels.map(({ id }) => id), position));
    return { products: items, hasMore, position };
  }

  async findProductAt(
    sellerId: SellerId, target: ProductTarget, position: number,
  ): Promise<Product | undefined> {
    await this.#assertReached(sellerId, position);
    const product = 'id' in target
      ? (await this.#readProducts(sellerId, [target.id], position)).items[0]
      : await this.#findBySku(sellerId, target.sku, position);
    await this.#assertReached(sellerId, position);
    return product;
  }

  /** Those of these products, in creation order, that existed at a position. */
  async listExisting(
    sellerId: SellerId, levels: readonly StockLevelAt[], position: number,
  ): Promise<ReadonlySet<ProductId>> {
    await this.#assertReached(sellerId, position);
    const { items } = await this.#readLevels(sellerId, levels, position);
    await this.#assertReached(sellerId, position);
    return new Set(items.map(({ id }) => id));
  }

  async #assertReached(sellerId: SellerId, position: number): Promise<void> {
    assertReached(await this.#queries.findReach(sellerId), position, 'at');
  }

  /** Reads products in creation order until a page is full. */
  async #list<Item>(
    sellerId: SellerId, position: number, { after, limit }: PageQuery<ProductId>,
    read: (levels: readonly StockLevelAt[]) => Promise<Past<Item>>,
  ): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
    await this.#assertReached(sellerId, position);
    const items: Item[] = [];
    for (let last: number = after ?? 0, isDone = false; !isDone;) {
      await yieldToEventLoop(); // before the first, too: many requests may start in one iteration
      const size = Math.max(limit + 1 - items.length, LISTED_PRODUCTS);
      const levels = await this.#queries.listLastLevels(sellerId, last, position, size);
      // Some may be listed several times.
      const products = levels.filter(({ id }, index) => id !== (levels[index - 1]?.id ?? last));
      const past = await read(products);
      items.push(...past.items);
      isDone = past.isEnd || items.length > limit || levels.length < size;
      last = levels.at(-1)?.id ?? last;
    }
    await this.#assertReached(sellerId, position);
    return { items: items.slice(0, limit), hasMore: items.length > limit };
  }

  async #readLevels(
    sellerId: SellerId, levels: readonly StockLevelAt[], position: number,
  ): Promise<Past<StockLevelAt>> {
    const versions = await this.#findVersions(sellerId, levels, position);
    const items: StockLevelAt[] = [];
    for (const level of levels) {
      const version = versions.get(level.position);
      if (isNewer(version, position)) return { items, isEnd: true };
      if (level.position <= position) items.push(level);
      else if (isExisting(version, position)) {
        const { sku, stock } = version;
        items.push({ id: level.id, sku, stock, position: version.position });
      }
    }
    return { items, isEnd: false };
  }

  async #readProducts(
    sellerId: SellerId, ids: readonly ProductId[], position: number,
  ): Promise<Past<Product>> {
    const newest = await this.#queries.findProducts(sellerId, ids);
    // Read after the products: what is deleted in between is found here.
    const missing = ids.filter((id) => !newest.has(id));
    const deletions = missing.length === 0 ? undefined
      : await this.#queries.findDeletionsAfter(sellerId, missing, position);
    const starts = ids.flatMap((id) => newest.get(id) ?? deletions?.get(id) ?? []);
    const versions = await this.#findVersions(sellerId, starts, position);
    const snapshots = await this.#findSnapshots(sellerId, versions, position);
    const currency = newest.values().next().value?.currency
      ?? (await this.#queries.findSeller(sellerId))?.currency;
    if (!currency) return { items: [], isEnd: true };
    const items: Product[] = [];
    for (const id of ids) {
      const [product, deletion] = [newest.get(id), deletions?.get(id)];
      const version = versions.get((product ?? deletion)?.position ?? 0);
      if (isNewer(version, position)) return { items, isEnd: true };
      if (product && product.position <= position) items.push(product);
      if (!isExisting(version, position)) continue;
      const snapshot = snapshots.get(version.position) ?? deletion?.snapshot;
      const members = snapshot === undefined ? product : parseSnapshot(snapshot, currency);
      const { position: last, stock, at: updatedAt } = version;
      if (!members) continue;
      items.push({ ...members, sellerId, id, currency, stock, updatedAt, position: last });
    }
    return { items, isEnd: false };
  }

  /**
   * The product that had this SKU. The first later change that took the SKU from a product names
   * it: a deletion, which has an index, or a renaming, which has none. Without either, the product
   * still has the SKU.
   */
  async #findBySku(sellerId: SellerId, sku: Sku, position: number): Promise<Product | undefined> {
    // Read before the deletions: what is deleted in between is found there.
    const holder = (await this.#queries.findProductsBySku(sellerId, [sku])).get(sku)?.id;
    const deleted = await this.#queries.findSkuDeletionAfter(sellerId, sku, position);
    const product = await this.#readOwner(sellerId, sku, deleted ?? holder, position);
    if (product) return product;
    const renamed = await this.#findRenamed(sellerId, sku, position);
    return this.#readOwner(sellerId, sku, renamed, position);
  }

  async #readOwner(
    sellerId: SellerId, sku: Sku, id: ProductId | undefined, position: number,
  ): Promise<Product | undefined> {
    if (id === undefined) return undefined;
    const { items: [product] } = await this.#readProducts(sellerId, [id], position);
    return product?.sku === sku ? product : undefined;
  }

  /** The first product that gave up this SKU for another one: reads all changes until then. */
  async #findRenamed(
    sellerId: SellerId, sku: Sku, position: number,
  ): Promise<ProductId | undefined> {
    const { position: end } = await this.#queries.findReach(sellerId);
    for (let after = position; after < end; after += HISTORY_SCAN_LIMIT) {
      const upTo = Math.min(end, after + HISTORY_SCAN_LIMIT);
      const id = await this.#queries.findRename(sellerId, sku, { after, upTo });
      if (id !== undefined) return id;
      await yieldToEventLoop();
    }
    return undefined;
  }

  /** Follows the chains of products that changed since a position, by their last changes. */
  #findVersions(
    sellerId: SellerId, lastChanges: readonly { readonly position: number }[], position: number,
  ): Promise<Versions> {
    const starts = lastChanges.map((change) => change.position).filter((start) => start > position);
    return followChains(starts, {
      follow: (from) => this.#queries.findVersions(sellerId, from, position, SLICE_VERSIONS),
      combine: (earlier, later) =>
        ({ ...later, isEdited: earlier.isEdited || later.isEdited }),
      isLast: (version) => isNewer(version, position),
    });
  }

  /** The last snapshots up to these versions, of products that were edited since. */
  async #findSnapshots(
    sellerId: SellerId, versions: Versions, position: number,
  ): Promise<ReadonlyMap<number, string>> {
    const snapshots = new Map<number, string>();
    const starts: number[] = [];
    for (const version of versions.values()) {
      if (!version.isEdited || !isExisting(version, position)) continue;
      if (version.snapshot === undefined) starts.push(version.position);
      else snapshots.set(version.position, version.snapshot);
    }
    const ends = await followChains(starts, {
      follow: (from) => this.#queries.findSnapshots(sellerId, from, SLICE_VERSIONS),
    });
    for (const start of starts) {
      const product = ends.get(start)?.product;
      if (product === undefined) await this.#rejectPruned(sellerId, position);
      else snapshots.set(start, product);
    }
    return snapshots;
  }

  async #rejectPruned(sellerId: SellerId, position: number): Promise<never> {
    await this.#assertReached(sellerId, position);
    // Or it is damaged: pruning keeps the snapshots that each later position needs.
    throw new AppError(
      'history_pruned',
      `The history no longer has every product as of position ${position}. Use a later one.`,
    );
  }
}

function isExisting(version: PastVersion | undefined, position: number): version is PastVersion {
  return version !== undefined && version.position <= position && version.type !== 'deleted';
}

/** Whether a product was created for the first time after a position. */
function isNewer(version: PastVersion | undefined, position: number): boolean {
  return version?.isFirst === true && version.position > position;
}
