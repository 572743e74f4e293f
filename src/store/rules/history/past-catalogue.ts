/**
 * The catalogue at an earlier position, from the products and the history. The version chain of a
 * product leads from now back to its last change until the position: stock, position and time are
 * those of that change, the rest is that of the last snapshot until then. Reads the chains of many
 * products together, in short slices. Change events are immutable, so the slices need no common
 * snapshot; but the history may be pruned in between, so each read checks at its end that it still
 * has the position.
 */
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import { parseSnapshot } from '../../../domain/catalogue/product.ts';
import { AppError } from '../../../domain/error.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type { HistoryStore, StockLevelAt } from '../../history-store.ts';
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

/** The catalogue of a seller at a position. */
interface Moment {
  readonly queries: HistoryQueries;
  readonly sellerId: SellerId;
  readonly position: number;
}

type Versions = ReadonlyMap<number, PastVersion>;

export function pastMethods(queries: HistoryQueries) {
  return {
    async listStockAt(sellerId, position, query) {
      const moment = { queries, sellerId, position };
      const { items: levels, hasMore } = await list(moment, query, readLevels);
      return { levels, hasMore };
    },
    async listProductsAt(sellerId, position, query) {
      const moment = { queries, sellerId, position };
      const { items: products, hasMore } = await list(moment, query, readProducts);
      return { products, hasMore, position };
    },
    async findProductAt(sellerId, target, position) {
      const moment = { queries, sellerId, position };
      await assertStillReached(moment);
      const product = 'id' in target ? (await readProducts(moment, [target])).items[0]
        : await findBySku(moment, target.sku);
      await assertStillReached(moment);
      return product;
    },
  } satisfies Partial<HistoryStore>;
}

/** Those of these products, in creation order, that existed at a position. */
export async function listExisting(
  moment: Moment, levels: readonly StockLevelAt[],
): Promise<ReadonlySet<ProductId>> {
  await assertStillReached(moment);
  const { items } = await readLevels(moment, levels);
  await assertStillReached(moment);
  return new Set(items.map(({ id }) => id));
}

async function assertStillReached({ queries, sellerId, position }: Moment): Promise<void> {
  assertReached(await queries.findReach(sellerId), position, 'at');
}

/** Reads products in creation order until a page is full. */
async function list<Item>(
  moment: Moment, { after, limit }: PageQuery<ProductId>,
  read: (moment: Moment, levels: readonly StockLevelAt[]) => Promise<Past<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
  const { queries, sellerId, position } = moment;
  await assertStillReached(moment);
  const items: Item[] = [];
  for (let last: number = after ?? 0, isDone = false; !isDone;) {
    await yieldToEventLoop(); // before the first, too: many requests may start in one iteration
    const size = Math.max(limit + 1 - items.length, LISTED_PRODUCTS);
    const levels = await queries.listLastLevels(sellerId, last, position, size);
    // Some may be listed several times.
    const products = levels.filter(({ id }, index) => id !== (levels[index - 1]?.id ?? last));
    const past = await read(moment, products);
    items.push(...past.items);
    isDone = past.isEnd || items.length > limit || levels.length < size;
    last = levels.at(-1)?.id ?? last;
  }
  await assertStillReached(moment);
  return { items: items.slice(0, limit), hasMore: items.length > limit };
}

async function readLevels(
  moment: Moment, levels: readonly StockLevelAt[],
): Promise<Past<StockLevelAt>> {
  const { position } = moment;
  const versions = await findVersions(moment, levels);
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

async function readProducts(
  moment: Moment, named: readonly Pick<Product, 'id'>[],
): Promise<Past<Product>> {
  const { queries, sellerId, position } = moment;
  const ids = named.map(({ id }) => id);
  const newest = await queries.findProducts(sellerId, ids);
  // Read after the products: what is deleted in between is found here.
  const missing = ids.filter((id) => !newest.has(id));
  const deletions = missing.length === 0 ? undefined
    : await queries.findDeletionsAfter(sellerId, missing, position);
  const starts = ids.flatMap((id) => newest.get(id) ?? deletions?.get(id) ?? []);
  const versions = await findVersions(moment, starts);
  const snapshots = await findSnapshots(moment, versions);
  const currency = newest.values().next().value?.currency
    ?? (await queries.findSeller(sellerId))?.currency;
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
async function findBySku(moment: Moment, sku: Sku): Promise<Product | undefined> {
  const { queries, sellerId, position } = moment;
  // Read before the deletions: what is deleted in between is found there.
  const holder = (await queries.findProductsBySku(sellerId, [sku])).get(sku)?.id;
  const deleted = await queries.findSkuDeletionAfter(sellerId, sku, position);
  const product = await readOwner(moment, sku, deleted ?? holder);
  return product ?? readOwner(moment, sku, await findRenamed(moment, sku));
}

async function readOwner(
  moment: Moment, sku: Sku, id: ProductId | undefined,
): Promise<Product | undefined> {
  if (id === undefined) return undefined;
  const { items: [product] } = await readProducts(moment, [{ id }]);
  return product?.sku === sku ? product : undefined;
}

/** The first product that gave up this SKU for another one: reads all changes until then. */
async function findRenamed(
  { queries, sellerId, position }: Moment, sku: Sku,
): Promise<ProductId | undefined> {
  const { position: end } = await queries.findReach(sellerId);
  for (let after = position; after < end; after += HISTORY_SCAN_LIMIT) {
    const upTo = Math.min(end, after + HISTORY_SCAN_LIMIT);
    const id = await queries.findRename(sellerId, sku, { after, upTo });
    if (id !== undefined) return id;
    await yieldToEventLoop();
  }
  return undefined;
}

/** Follows the chains of products that changed since a position, by their last changes. */
function findVersions(
  { queries, sellerId, position }: Moment, lastChanges: readonly { readonly position: number }[],
): Promise<Versions> {
  const starts = lastChanges.map((change) => change.position).filter((start) => start > position);
  return followChains(starts, {
    follow: (from) => queries.findVersions(sellerId, from, position, SLICE_VERSIONS),
    combine: (earlier, later) => ({ ...later, isEdited: earlier.isEdited || later.isEdited }),
    isLast: (version) => isNewer(version, position),
  });
}

/** The last snapshots up to these versions, of products that were edited since. */
async function findSnapshots(
  moment: Moment, versions: Versions,
): Promise<ReadonlyMap<number, string>> {
  const { queries, sellerId, position } = moment;
  const snapshots = new Map<number, string>();
  const starts: number[] = [];
  for (const version of versions.values()) {
    if (!version.isEdited || !isExisting(version, position)) continue;
    if (version.snapshot === undefined) starts.push(version.position);
    else snapshots.set(version.position, version.snapshot);
  }
  const ends = await followChains(starts, {
    follow: (from) => queries.findSnapshots(sellerId, from, SLICE_VERSIONS),
  });
  for (const start of starts) {
    const product = ends.get(start)?.product;
    if (product === undefined) await rejectPruned(moment);
    else snapshots.set(start, product);
  }
  return snapshots;
}

async function rejectPruned(moment: Moment): Promise<never> {
  await assertStillReached(moment);
  // Or it is damaged: pruning keeps the snapshots that each later position needs.
  throw new AppError('history_pruned', 'The history no longer has every product as of position '
    + `${moment.position}. Use a later one.`);
}

function isExisting(version: PastVersion | undefined, position: number): version is PastVersion {
  return version !== undefined && version.position <= position && version.type !== 'deleted';
}

/** Whether a product was created for the first time after a position. */
function isNewer(version: PastVersion | undefined, position: number): boolean {
  return version?.isFirst === true && version.position > position;
}
