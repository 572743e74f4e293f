/** The catalogue as it was, in SQLite: unusual version chains, and how much it reads. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Product, Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import type { SellerId } from '../../../../src/domain/id.ts';
import { Reader } from '../../../../src/store/sqlite/engine/reader.ts';
import { pastMethods } from '../../../../src/store/rules/history/past-catalogue.ts';
import type { Store } from '../../../../src/store/store.ts';
import { makeFolder } from '../../../support/folder.ts';
import { countTurns } from '../../../support/turns.ts';
import { countTo, makeActor, makeNewProduct, plain, readAll } from '../../contract/fixture.ts';
import { makeSync } from '../../contract/stock.ts';
import { openStore } from '../open.ts';
import { FILE_NAME } from '../engine/read-file.ts';

const [A, B, C] = ['A', 'B', 'C'].map((text) => text as Sku) as [Sku, Sku, Sku]; // legal ones
const ALL = { after: undefined, limit: 1_000 };

async function openShop(t: TestContext) {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  return { folder, store, actor: await makeActor(store) };
}

/** Makes each step, which takes one position, and notes the products after it. */
async function recordSteps(
  store: Store, sellerId: SellerId, steps: readonly (() => unknown)[],
): Promise<Product[][]> {
  const recorded = [await readAll(store, sellerId)];
  for (const step of steps) {
    await step();
    await nextTurn(); // a new event-loop iteration sees what another connection has written
    recorded.push(await readAll(store, sellerId));
  }
  assert.equal((await store.findSeller(sellerId))?.position, steps.length);
  return recorded;
}

/** Lists, pages, levels, and each product by its id and by every SKU. */
async function assertPast(store: Store, sellerId: SellerId, recorded: readonly Product[][]) {
  const targets = recorded.flat().flatMap(({ id, sku }) => [{ id }, { sku }]);
  for (const [position, products] of recorded.entries()) {
    const at = `at ${position}`;
    const page = plain(await store.listProductsAt(sellerId, position, ALL));
    assert.deepEqual(page, { products, hasMore: false, position }, at);
    const { levels } = await store.listStockAt(sellerId, position, ALL);
    assert.deepEqual(levels.map(({ id }) => id), products.map(({ id }) => id), at);
    for (const [index, { id, sku, stock, position: last }] of products.entries()) {
      assert.deepEqual(levels[index], { id, sku, stock, position: last }, at);
      const one = { after: products[index - 1]?.id, limit: 1 };
      const { products: found, hasMore } = await store.listProductsAt(sellerId, position, one);
      assert.deepEqual([plain(found), hasMore],
        [[products[index]], index < products.length - 1], at);
    }
    for (const target of targets) {
      const found = products.find((product) => ('id' in target
        ? product.id === target.id : product.sku === target.sku));
      const product = await store.findProductAt(sellerId, target, position);
      assert.deepEqual(product && plain(product), found, `${JSON.stringify(target)} ${at}`);
    }
  }
}

/** As a revert does: the product of the last deletion returns with its id, as its next change. */
function createAgain(folder: string): void {
  const db = new DatabaseSync(join(folder, FILE_NAME), { timeout: 5_000 });
  db.exec(`
    BEGIN IMMEDIATE;
    CREATE TEMP TABLE gone AS SELECT * FROM change WHERE type = 'deleted'
      ORDER BY position DESC LIMIT 1;
    UPDATE seller SET position = position + 1;
    INSERT INTO change (seller_id, position, type, product_id, key_id, at, stock_before,
      stock_after, product, sku, prior)
    SELECT g.seller_id, s.position, 'created', g.product_id, g.key_id, g.at, 0, g.stock_before,
      json_set(g.product, '$.position', s.position, '$.updated_at', g.product ->> '$.updated_at'),
      g.sku, g.position
    FROM gone AS g, seller AS s;
    INSERT INTO product (seller_id, id, sku, name, category, price_minor, stock, position,
      created_at, updated_at, snapshot_position)
    SELECT g.seller_id, g.product_id, g.sku, g.product ->> '$.name', g.product ->> '$.category',
      g.product ->> '$.price' * 100, g.stock_before, s.position,
      unixepoch(g.product ->> '$.created_at', 'subsec') * 1000, g.at, s.position
    FROM gone AS g, seller AS s;
    COMMIT`);
  db.close();
}

test('reads the past of products that were deleted and created again with their ids', async (t) => {
  const { folder, store, actor } = await openShop(t);
  const { sellerId } = actor;
  const remove = () => store.deleteProduct(actor, { sku: A }, {});
  const move = (set: number) => store.syncStock(actor, makeSync([{ sku: A, set }]), false);
  const steps = [
    () => store.createProduct(actor, makeNewProduct({ sku: A, stock: 5 })),
    () => store.createProduct(actor, makeNewProduct({ sku: B })),
    () => move(4), remove, () => createAgain(folder), () => move(3),
    () => store.patchProduct(actor, { sku: A }, { name: 'Cup' }, {}), remove,
    () => store.createProduct(actor, makeNewProduct({ sku: C })),
    () => createAgain(folder), () => move(7), remove,
  ];
  const recorded = await recordSteps(store, sellerId, steps);
  await assertPast(store, sellerId, recorded);
  const [{ id: productId } = assert.fail()] = recorded[1] ?? [];
  const moved = [1, 3, 4, 5, 6, 8, 10, 11, 12];
  for (const filter of [{ sku: A }, { productId }, { sku: A, productId }]) {
    for (const isDescending of [false, true]) {
      const query = { filter, after: 0, upTo: steps.length, isDescending, limit: 100 };
      const { movements } = await store.listMovements(sellerId, query);
      const positions = movements.map(({ position }) => position);
      assert.deepEqual(positions, isDescending ? moved.toReversed() : moved);
    }
  }
});

test('finds a product by a former SKU, whatever happened to either later', async (t) => {
  const { store, actor } = await openShop(t);
  const create = (sku: Sku) => () => store.createProduct(actor, makeNewProduct({ sku }));
  const rename = (from: Sku, sku: Sku) => () =>
    store.patchProduct(actor, { sku: from }, { sku }, {});
  const remove = (sku: Sku) => () => store.deleteProduct(actor, { sku }, {});
  const recorded = await recordSteps(store, actor.sellerId, [
    create(A), rename(A, B), create(A), remove(A), rename(B, A), rename(A, C), create(A),
    create(B), rename(A, 'D' as Sku), rename(B, A), remove(A), remove(C), create(C), remove(C),
    rename('D' as Sku, B), rename(B, C), rename(C, A), remove(A),
  ]);
  await assertPast(store, actor.sellerId, recorded);
});

test('reports a snapshot that is missing', async (t) => {
  const { folder, store, actor } = await openShop(t);
  const { sellerId } = actor;
  const { id } = await store.createProduct(actor, makeNewProduct({ sku: A }));
  await store.syncStock(actor, makeSync([{ sku: A, set: 1 }]), false);
  await store.patchProduct(actor, { id }, { name: 'Cup' }, {});
  const db = new DatabaseSync(join(folder, FILE_NAME), { timeout: 5_000 });
  db.exec('DELETE FROM change WHERE position = 1; UPDATE seller SET pruned_to = 2');
  db.close();
  const gone = { code: 'history_pruned', publicDetail: /position 2\. Use a later one/ };
  await assert.rejects(store.listProductsAt(sellerId, 2, ALL), gone);
  await assert.rejects(store.findProductAt(sellerId, { id }, 2), gone);
  assert.equal((await store.findProductAt(sellerId, { id }, 3))?.name, 'Cup');
  assert.equal((await store.listStockAt(sellerId, 2, ALL)).levels.length, 1);
});

test('reads no chain of products that are newer than the position', async (t) => {
  const { folder, store, actor } = await openShop(t);
  const { sellerId } = actor;
  await store.importProducts(actor, countTo(1_000).map(() => makeNewProduct()), 'create');
  const { past, count } = countVersions(t, folder);
  assert.equal((await past.listProductsAt(sellerId, 3, ALL)).products.length, 3);
  assert.equal((await past.listStockAt(sellerId, 3, ALL)).levels.length, 3);
  assert.equal(count(), 2);
});

test('yields to the event loop while it follows long chains and searches a SKU', async (t) => {
  const { store, actor } = await openShop(t);
  const { sellerId } = actor;
  const { id } = await store.createProduct(actor, makeNewProduct({ sku: A, name: 'Mug' }));
  const move = () => store.syncStock(
    actor, makeSync(countTo(10_000).map((set) => ({ sku: A, set }))), false);
  const { position } = await move();
  await store.patchProduct(actor, { id }, { name: 'Cup' }, {});
  await move();
  await store.patchProduct(actor, { id }, { sku: B }, {});
  for (const find of [
    () => store.findProductAt(sellerId, { id }, position),
    () => store.findProductAt(sellerId, { sku: A }, position),
    async () => (await store.listProductsAt(sellerId, position, ALL)).products[0],
  ]) {
    let product: Product | undefined;
    const turns = await countTurns(async () => { product = await find(); });
    assert.deepEqual([product?.name, product?.stock, product?.position], ['Mug', 10_000, position]);
    assert.ok(turns >= 9, `${turns} turns`);
  }
  const turns = await countTurns(() => store.findProductAt(sellerId, { sku: C }, position));
  assert.ok(turns >= 2, `${turns} turns`);
});

/** A past catalogue on its own connection, and how many version chains it has followed. */
function countVersions(t: TestContext, folder: string) {
  const reader = new Reader(join(folder, FILE_NAME));
  t.after(() => reader.close());
  let count = 0;
  const { queries } = reader;
  const past = pastMethods({
    ...queries,
    async findVersions(...asked) {
      const found = await queries.findVersions(...asked);
      count += found.length;
      return found;
    },
  });
  return { past, count: () => count };
}
