/** Compares the reads of a store with a model of the catalogue. */
import assert from 'node:assert/strict';
import { CHANGE_TYPES, type Change } from '../../src/domain/catalogue/change.ts';
import type { ProductId } from '../../src/domain/id.ts';
import { formatProduct } from '../../src/domain/catalogue/product.ts';
import type { Product, Sku } from '../../src/domain/catalogue/product-fields.ts';
import type { Store } from '../../src/store/store.ts';
import type { MovementFilter, MovementQuery } from '../../src/store/history-store.ts';
import type { Random } from '../domain/random.ts';
import { addUp, readAll } from './contract/fixture.ts';
import type { CatalogueModel } from './stock-model.ts';

const MINUTE_MS = 60_000;

/** Compares the catalogue, the days with movements, the feed, the ledger, and the past. */
export async function assertReads(
  store: Store, model: CatalogueModel, random: Random,
): Promise<void> {
  assert.deepEqual(await readAll(store, model.sellerId), [...model.products.values()]
    .toSorted((one, other) => one.id - other.id));
  assertSums(model);
  const since = { since: model.daysFrom, limit: 9 };
  assert.deepEqual(await store.listStockDays(model.sellerId, since), model.days());
  if (random.below(3) === 0) await assertFound(store, model);
  await assertFeed(store, model, random);
  for (let look = 0; look < 4; look += 1) {
    await assertLedger(store, model, random);
    await assertStockAt(store, model, random);
    await assertProductsAt(store, model, random);
    await assertTime(store, model, random);
  }
}

/** The changes after a position, in pages. */
export async function readFeed(
  store: Store, { sellerId }: CatalogueModel, from: number, limit: number,
  types?: readonly Change['type'][],
): Promise<Change[]> {
  const changes: Change[] = [];
  for (let after = from; ;) {
    const page = await store.listChanges(sellerId, { after, limit, types });
    assert.ok(page.changes.length <= limit && page.next >= after);
    changes.push(...page.changes);
    if (page.next === page.position) return changes;
    assert.ok(page.next > after, 'the feed stops before its end');
    after = page.next;
  }
}

/** The movements of each product add up to its stock in the model. */
function assertSums({ history, products }: CatalogueModel): void {
  const sums = new Map<ProductId, number>();
  for (const { productId, movement: { before, after } } of history) {
    assert.equal(sums.get(productId) ?? 0, before);
    sums.set(productId, before + after - before);
  }
  for (const [id, sum] of sums) assert.equal(sum, products.get(id)?.stock ?? 0);
}

/** Compares the search sorted by stock, and the totals. */
async function assertFound(store: Store, model: CatalogueModel): Promise<void> {
  const { sellerId, products, position } = model;
  const sort = { by: 'stock', isDescending: false } as const;
  const query = { filter: {}, sort, after: undefined, limit: 1_000 };
  const found = await store.searchProducts(sellerId, query, position);
  assert.deepEqual(found.products, [...products.values()]
    .toSorted((one, other) => one.stock - other.stock || one.id - other.id));
  const totals = await store.readTotals(sellerId, position);
  assert.deepEqual(totals, { ...addUp([...products.values()]), position: totals.position });
  assert.ok(totals.position >= position);
  const low = found.products.filter(({ stock }) => stock <= 3);
  assert.equal(
    await store.countLowStock(sellerId, { stockMax: 3, limit: 1_000 }, position), low.length,
  );
}

async function assertFeed(store: Store, model: CatalogueModel, random: Random): Promise<void> {
  const { below, pick } = random;
  const { sellerId, history, prunedTo, position } = model;
  const after = prunedTo + below(position - prunedTo + 1);
  const limit = pick([1, 3, 1_000]);
  const types = CHANGE_TYPES.filter(() => below(2) === 0);
  assert.deepEqual(await readFeed(store, model, after, limit), history.slice(after));
  assert.deepEqual(
    await readFeed(store, model, after, limit, types),
    history.slice(after).filter(({ type }) => types.includes(type)),
  );
  const beyond = { after: position + 1, limit };
  await assert.rejects(store.listChanges(sellerId, beyond), { code: 'invalid_query' });
  if (prunedTo === 0) return;
  const gone = { after: below(prunedTo), limit };
  await assert.rejects(store.listChanges(sellerId, gone), { code: 'history_pruned' });
}

async function assertLedger(store: Store, model: CatalogueModel, random: Random): Promise<void> {
  const { below, pick } = random;
  const { history, position, prunedTo } = model;
  if (history.length === 0) return;
  const [one, other] = [pick(history), pick(history)];
  const filter: MovementFilter = {
    sku: below(3) === 0 ? one.sku : undefined,
    productId: below(3) === 0 ? pick([one, other]).productId : undefined,
    source: below(4) === 0 ? pick(['erp', 'till']) : undefined,
    reason: below(4) === 0 ? 'sold' : undefined,
    since: below(4) === 0 ? one.at + below(3) - 1 : undefined,
    until: below(4) === 0 ? other.at + below(3) - 1 : undefined,
  };
  const query: MovementQuery = {
    filter, isDescending: below(2) === 0, limit: pick([1, 2, 7, 1_000]),
    after: below(3) === 0 ? below(position) : 0,
    upTo: below(3) === 0 ? below(position + 5) : position,
  };
  const expected = history.filter((change) => change.position > Math.max(query.after, prunedTo)
    && change.position <= query.upTo && isMovement(change, filter, model));
  if (query.isDescending) expected.reverse();
  const listed = await readMovements(store, model, query);
  assert.deepEqual(listed, expected, `the ledger of ${JSON.stringify(query)}`);
}

function isMovement(change: Change, filter: MovementFilter, model: CatalogueModel): boolean {
  const { movement: { before, after, source, reason }, productId, at } = change;
  const { since = 0, until = Infinity } = filter;
  return before !== after && at >= since && at <= until
    && (filter.source === undefined || filter.source === source)
    && (filter.reason === undefined || filter.reason === reason)
    && (filter.productId === undefined || filter.productId === productId)
    && (filter.sku === undefined || filter.sku === findLastSku(model, productId));
}

/** The SKU of an existing product, or the one that a product had when it was deleted. */
function findLastSku({ history }: CatalogueModel, id: ProductId): Sku | undefined {
  return history.findLast(({ productId }) => productId === id)?.sku;
}

async function readMovements(
  store: Store, { sellerId }: CatalogueModel, from: MovementQuery,
): Promise<Change[]> {
  const movements: Change[] = [];
  for (let query = from; ;) {
    const page = await store.listMovements(sellerId, query);
    assert.ok(page.movements.length <= query.limit);
    movements.push(...page.movements);
    if (page.next === undefined) return movements;
    query = { ...query, ...(query.isDescending ? { upTo: page.next } : { after: page.next }) };
  }
}

async function assertStockAt(store: Store, model: CatalogueModel, random: Random): Promise<void> {
  const { below, pick } = random;
  const { sellerId, prunedTo, position } = model;
  const at = pick([prunedTo, position, prunedTo + below(position - prunedTo + 1)]);
  const limit = pick([1, 3, 1_000]);
  const levels: object[] = [];
  for (let after: ProductId | undefined; ;) {
    const page = await store.listStockAt(sellerId, at, { after, limit });
    levels.push(...page.levels);
    if (!page.hasMore) break;
    after = page.levels.at(-1)?.id;
  }
  assert.deepEqual(levels, model.stockAt(at), `the stock at ${at}`);
  const query = { after: undefined, limit };
  const beyond = store.listStockAt(sellerId, position + 1, query);
  await assert.rejects(beyond, { code: 'invalid_query' });
  if (prunedTo === 0) return;
  const gone = store.listStockAt(sellerId, below(prunedTo), query);
  await assert.rejects(gone, { code: 'history_pruned' });
}

/** Compares the products at a position: in pages, by id and by SKU. */
async function assertProductsAt(
  store: Store, model: CatalogueModel, { below, pick }: Random,
): Promise<void> {
  const { sellerId, prunedTo, position, history } = model;
  const at = prunedTo + below(position - prunedTo + 1);
  const limit = pick([1, 3, 1_000]);
  const expected = model.productsAt(at);
  const products: Product[] = [];
  for (let after: ProductId | undefined; ;) {
    const page = await store.listProductsAt(sellerId, at, { after, limit });
    assert.equal(page.position, at);
    products.push(...page.products);
    if (!page.hasMore) break;
    after = page.products.at(-1)?.id;
  }
  assert.deepEqual(products.map(formatProduct), expected, `the products at ${at}`);
  if (history.length === 0) return;
  const { sku, productId } = pick(history);
  for (const [target, found] of [
    [{ sku }, products.find((product) => product.sku === sku)],
    [{ id: productId }, products.find(({ id }) => id === productId)],
  ] as const) {
    const product = await store.findProductAt(sellerId, target, at);
    assert.deepEqual(product, found, `${JSON.stringify(target)} at ${at}`);
  }
}

async function assertTime(store: Store, model: CatalogueModel, random: Random): Promise<void> {
  const { below, pick } = random;
  const { sellerId, history, prunedTo } = model;
  if (history.length === 0) return;
  const steps = [0, 1, -1, MINUTE_MS, -MINUTE_MS, below(MINUTE_MS), -below(60 * MINUTE_MS)];
  const at = pick(history).at + pick(steps);
  const expected = model.positionAt(at);
  const found = await store.findPositionAt(sellerId, at).catch((error) => error.code);
  const end = history[prunedTo - 1];
  if (end && expected <= prunedTo) {
    // Within the minute in which the pruned history ends, the position may be unknown.
    const isKnown = Math.floor(at / MINUTE_MS) > Math.floor(end.at / MINUTE_MS);
    const right = isKnown ? [prunedTo]
      : expected === prunedTo ? [prunedTo, 'history_pruned'] : ['history_pruned'];
    assert.ok(right.includes(found), `${found} instead of ${right} at ${at}`);
  } else {
    assert.equal(found, expected, `the position at ${at}`);
  }
}
