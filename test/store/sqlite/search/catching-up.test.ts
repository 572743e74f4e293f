/** How the projection catches up: for a waiting search, and while the store is idle. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { SEARCH_IDLE_COMMITS, SEARCH_IDLE_MS } from '../../../../src/store/sqlite/search/limits.ts';
import { prepareCatalogueFile } from '../../../../src/store/sqlite/engine/database-file.ts';
import { openCatalogue } from '../../../../src/store/sqlite/search/catalogue-reader.ts';
import { openProjectionFile } from '../../../../src/store/sqlite/search/projection-file.ts';
import { Projection } from '../../../../src/store/sqlite/search/projection.ts';
import { Search } from '../../../../src/store/sqlite/search/search.ts';
import { makeDataFolder, makeFolder } from '../../../support/folder.ts';
import { countTo, makeActor, makeNewProduct, readAll } from '../../contract/fixture.ts';
import { revert } from '../../contract/revert-fixture.ts';
import { openStore } from '../open.ts';
import { assertAllFound, catchThreads, importProducts, readProgress, waitFor } from './fixture.ts';
import { BY_ID } from './model.ts';

const ALL = { filter: {}, sort: BY_ID, after: undefined, limit: 1_000 };

test("finds a seller's change as soon as its response is sent", async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  const find = async (position: number, q: string): Promise<string[]> => {
    const page = await store.searchProducts(actor.sellerId, { ...ALL, filter: { q } }, position);
    assert.equal(page.position, position);
    return page.products.map(({ name, stock }) => `${name} ${stock}`);
  };
  const mug = makeNewProduct({ name: 'Red mug', stock: 1 });
  const { id } = await store.createProduct(actor, mug);
  assert.deepEqual(await find(1, 'red'), ['Red mug 1']);
  await store.patchProduct(actor, { id }, { stock: 5 }, {});
  assert.deepEqual(await find(2, 'red'), ['Red mug 5']);
  await store.putProduct(actor, { ...mug, name: 'Blue mug' }, {});
  assert.deepEqual(await find(3, 'red'), []);
  assert.deepEqual(await find(3, 'blue'), ['Blue mug 1']);
  await store.deleteProduct(actor, { id }, {});
  assert.deepEqual(await find(4, 'blue'), []);
  await store.createProduct(actor, mug);
  assert.deepEqual(await find(5, 'mug'), ['Red mug 1']);
});

test('projects nothing of a seller that was deleted after it was read', async (t) => {
  const folder = makeDataFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  await importProducts(store, actor, 3);
  using opened = new DisposableStack();
  const catalogue = opened.adopt(openCatalogue(join(folder, 'catalogue.db')), (db) => db.close());
  const search = opened.adopt(openProjectionFile({
    search: join(folder, 'search.db'), openFiles: [],
  }), (db) => db.close());
  const projection = new Projection(search, catalogue);
  const seller = catalogue.findSeller(actor.sellerId);
  assert.ok(seller);
  await store.setSellerDisabled(seller.id, true);
  await store.deleteSeller(seller.id);
  assert.throws(() => projection.step(seller), { code: 'not_found' });
  assert.equal(projection.find(seller.id), undefined);
});

test('counts the changes that searches do not see yet', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const readLag = async () => (await store.readMetrics()).readSearchLag?.();
  const actor = await makeActor(store);
  await importProducts(store, actor, 3);
  assert.equal(await readLag(), undefined); // there is no projection yet
  await assertAllFound(store, actor);
  assert.equal(await readLag(), 0);
  await store.createProduct(actor, makeNewProduct());
  await store.createProduct(actor, makeNewProduct());
  assert.equal(await readLag(), 2);
  await assertAllFound(store, actor);
  assert.equal(await readLag(), 0);
});

test('applies several changes of one product between two searches', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  await importProducts(store, actor, 3);
  await assertAllFound(store, actor);
  const { id } = await store.createProduct(actor, makeNewProduct());
  const gone = await store.createProduct(actor, makeNewProduct());
  for (const stock of [8, 9]) await store.patchProduct(actor, { id }, { stock }, {});
  await store.deleteProduct(actor, gone, {});
  await store.patchProduct(actor, { id }, { name: 'Product X' }, {});
  await store.patchProduct(actor, { id }, { stock: 10 }, {});
  await assertAllFound(store, actor);
});

test('finds what another store on the folder writes while both build', async (t) => {
  const folder = makeFolder(t);
  const one = await openStore(t, { folder });
  const other = await openStore(t, { folder });
  const actor = await makeActor(one);
  await importProducts(one, actor, 5_000);
  await Promise.all([assertAllFound(one, actor), assertAllFound(other, actor)]);
  for (const [writer, reader] of [[one, other], [other, one]] as const) {
    await writer.createProduct(actor, makeNewProduct());
    await assertAllFound(reader, actor);
  }
});

test('finds the products of one position after a build during changes', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  await importProducts(store, actor, 5_000);
  // The products that the build reaches last.
  const products = (await readAll(store, actor.sellerId)).slice(-400);
  const state = { isBuilt: false };
  const query = { ...ALL, sort: { by: 'id', isDescending: true } } as const;
  const building = store.searchProducts(actor.sellerId, query, 5_000)
    .finally(() => { state.isBuilt = true; });
  for (let n = 0; n < products.length && !state.isBuilt; n += 4) {
    const [one, two, three, four] = products.slice(n, n + 4);
    assert.ok(one && two && three && four);
    await Promise.all([
      store.deleteProduct(actor, one, {}),
      store.patchProduct(actor, two, { name: `Product ${n} changed`, stock: n }, {}),
      store.patchProduct(actor, three, { stock: n + 1_000 }, {}),
      store.createProduct(actor, makeNewProduct()),
      store.patchProduct(actor, four, { priceMinor: n }, {})
        .then(() => store.deleteProduct(actor, four, {})),
    ]);
  }
  const page = await building;
  assert.equal(page.products.length, ALL.limit);
  assert.ok(page.products.every(({ position }) => position <= page.position));
  assert.ok(page.position > 5_000, 'No change was made during the build.');
  await assertAllFound(store, actor);
});

for (const isBuilt of [true, false]) {
  const when = isBuilt ? 'before' : 'after';
  test(`keeps the order of products that a revert creates again, built ${when} their deletion`,
    async (t) => {
      const store = await openStore(t, { folder: makeDataFolder(t) });
      const actor = await makeActor(store);
      await importProducts(store, actor, 3_000);
      const products = await readAll(store, actor.sellerId);
      if (isBuilt) await assertAllFound(store, actor);
      const gone = products.filter((_, index) => index < 1_200 || index > 2_900 || index % 7 === 0);
      await Promise.all(gone.map(({ id }) => store.deleteProduct(actor, { id }, {})));
      await importProducts(store, actor, 2);
      await assertAllFound(store, actor);
      const changes = { after: 3_000, upTo: 3_000 + gone.length };
      const { lines } = await revert(store, actor, changes);
      assert.equal(lines.length, gone.length);
      const found = await readAll(store, actor.sellerId);
      assert.deepEqual(found.slice(0, -2).map(({ id }) => id), products.map(({ id }) => id));
      await assertAllFound(store, actor);
      // Deleted and created again between two searches.
      const [first] = products;
      assert.ok(first);
      await store.deleteProduct(actor, first, {});
      await revert(store, actor, { after: 3_002 + 2 * gone.length, upTo: 3_003 + 2 * gone.length });
      await assertAllFound(store, actor);
    });
}

test('serves one seller while it catches up with another', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const [large, small] = [await makeActor(store), await makeActor(store)];
  await importProducts(store, large, 8_000);
  await importProducts(store, small, 10);
  const order: string[] = [];
  await Promise.all([
    store.searchProducts(large.sellerId, ALL, 8_000).then(() => order.push('large')),
    store.searchProducts(small.sellerId, ALL, 10).then(() => order.push('small')),
  ]);
  assert.deepEqual(order, ['small', 'large']);
});

test('reports its progress if it does not reach a position in time', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  await importProducts(store, actor, 3);
  const { sellerId } = actor;
  // No catalogue reaches this position, so the wait is not extended.
  await Promise.all([
    store.searchProducts(sellerId, ALL, 4_000), store.readTotals(sellerId, 4_000),
    store.countLowStock(sellerId, { stockMax: 7, limit: 10 }, 4_000),
  ].map((asked) => assert.rejects(asked, {
    name: 'AppError', code: 'unavailable', message: /has reached 3 of 3 changes/,
    retryAfterSeconds: 5,
  })));
  await assertAllFound(store, actor);
});

test('catches up after many commits when the store is idle', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  for (const _ of countTo(SEARCH_IDLE_COMMITS)) await store.createProduct(actor, makeNewProduct());
  // A disk that is slow for a moment also pauses commits, so the first check may be early.
  await waitFor(() => readProgress(folder)?.rows === SEARCH_IDLE_COMMITS);
});

test('does not catch up after few commits, or while commits continue', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { search, threads } = prepareSearch(t);
  const pause = (): void => t.mock.timers.tick(SEARCH_IDLE_MS * 4);
  for (const _ of countTo(SEARCH_IDLE_COMMITS - 1)) search.noteCommit();
  pause();
  for (const _ of countTo(50)) {
    search.noteCommit();
    t.mock.timers.tick(SEARCH_IDLE_MS - 1);
  }
  await setImmediate(); // a start is reported in the next event-loop turn
  assert.equal(threads.length, 0);
  pause();
  await waitFor(() => threads.length === 1);
});

/** A search beside no store. */
function prepareSearch(t: TestContext): { search: Search; threads: Worker[] } {
  const folder = makeFolder(t);
  const threads = catchThreads(t);
  const catalogue = prepareCatalogueFile(folder).file;
  const search = new Search({ catalogue, search: `${folder}/search.db`, openFiles: [] });
  t.after(() => search.close());
  return { search, threads };
}
