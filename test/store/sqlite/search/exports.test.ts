/** Exports: an exact snapshot during writes, and a limited number of them. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { CONCURRENT_EXPORTS_PER_SELLER_LIMIT } from '../../../../src/store/limits.ts';
import {
  EXPORT_PAGE_SIZE,
} from '../../../../src/store/sqlite/search/limits.ts';
import { EXPORT_TIME_LIMIT_MS } from '../../../../src/store/limits.ts';
import { SORT_KEYS } from '../../../../src/domain/catalogue/product-query.ts';
import type { Product } from '../../../../src/domain/catalogue/product-fields.ts';
import { prepareCatalogueFile } from '../../../../src/store/sqlite/engine/database-file.ts';
import { openExports } from '../../../../src/store/sqlite/search/exports.ts';
import { openCatalogue } from '../../../../src/store/sqlite/search/catalogue-reader.ts';
import type { SearchStore } from '../../../../src/store/search-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { Actor } from '../../../../src/store/write.ts';
import { makeRandom } from '../../../domain/random.ts';
import { makeDataFolder, makeFolder } from '../../../support/folder.ts';
import { countTo, makeActor, readAll } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { assertAllFound, importProducts } from './fixture.ts';
import { BY_ID, findInModel, makeRandomProduct } from './model.ts';

type ProductExport = Awaited<ReturnType<SearchStore['exportProducts']>>;

const COUNT = EXPORT_PAGE_SIZE * 2 + 50;

test('exports every match in every order', async (t) => {
  const { store, actor } = await prepareCatalogue(t);
  const products = await readAll(store, actor.sellerId);
  for (const by of SORT_KEYS) {
    const filters = [{}, { q: 'mug' }, { stockMax: 6 }, { category: 'Kitchen', priceMin: 50 }];
    for (const filter of filters) {
      const sort = { by, isDescending: by === 'name' || by === 'stock' };
      const exported = await store.exportProducts(actor.sellerId, { filter, sort }, COUNT);
      assert.equal(exported.position, COUNT);
      const query = { filter, sort, after: undefined, limit: COUNT };
      assert.deepEqual(await readPages(exported), findInModel(products, query));
    }
  }
});

test('exports the products of one position during writes', async (t) => {
  const { store, actor } = await prepareCatalogue(t);
  const before = await readAll(store, actor.sellerId);
  const exports = await Promise.all([BY_ID, { by: 'price', isDescending: true } as const].map(
    (sort) => store.exportProducts(actor.sellerId, { filter: { archived: 'any' }, sort }, COUNT)));
  const first = await exports[0]?.pages.next();
  for (const product of before.slice(0, 100)) await store.deleteProduct(actor, product, {});
  for (const product of before.slice(-100)) {
    await store.patchProduct(actor, product, { priceMinor: 1, name: 'Changed' }, {});
  }
  await importProducts(store, actor, 100);
  await assertAllFound(store, actor);
  const rest = await Promise.all(exports.map(readPages));
  assert.deepEqual([...first?.value ?? [], ...rest[0] ?? []], before);
  const sort = { by: 'price', isDescending: true } as const;
  const query = { filter: { archived: 'any' }, sort, after: undefined, limit: COUNT } as const;
  assert.deepEqual(rest[1], findInModel(before, query));
  assert.deepEqual(exports.map(({ position }) => position), [COUNT, COUNT]);
});

test('rejects an export over the limit until another one ends', async (t) => {
  const { store, actor } = await prepareCatalogue(t);
  const start = (): Promise<ProductExport> =>
    store.exportProducts(actor.sellerId, { filter: { archived: 'any' }, sort: BY_ID }, COUNT);
  const open = await Promise.all(countTo(CONCURRENT_EXPORTS_PER_SELLER_LIMIT).map(start));
  const tooMany = { name: 'AppError', code: 'unavailable', retryAfterSeconds: 5 };
  await assert.rejects(start(), tooMany);
  const [read, left, unread] = open;
  assert.ok(read && left && unread);
  assert.equal((await readPages(read)).length, COUNT);
  await left.pages.next();
  await left.pages.return();
  await unread.pages.return(); // before its first page
  const more = await Promise.all([start(), start(), start()]);
  await assert.rejects(start(), tooMany);
  assert.deepEqual(await left.pages.next(), { done: true, value: undefined });
  for (const { pages } of more) await pages.return();
});

test('exports nothing of an empty catalogue', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const { sellerId } = await makeActor(store);
  const exported = await store.exportProducts(sellerId, { filter: {}, sort: BY_ID }, 0);
  assert.equal(exported.position, 0);
  assert.deepEqual(await readPages(exported), []);
});

test('ends an export that takes too long', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const { sellerId } = await makeActor(store);
  await store.searchProducts(sellerId, { filter: {}, sort: BY_ID, after: undefined, limit: 1 }, 0);
  await store.close();
  const catalogue = openCatalogue(prepareCatalogueFile(folder).file);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const exports = openExports({ search: `${folder}/search.db`, openFiles: [] }, catalogue);
  const request = { kind: 'export', sellerId, filter: {}, sort: BY_ID, position: 0 } as const;
  const { export: id } = exports.start(request);
  t.mock.timers.tick(EXPORT_TIME_LIMIT_MS - 1);
  assert.deepEqual(exports.readPage(id), { rows: [], hasMore: false });
  t.mock.timers.tick(1);
  assert.throws(() => exports.readPage(id), { name: 'AppError', code: 'unavailable' });
  catalogue.close();
});

async function prepareCatalogue(t: TestContext): Promise<{ store: Store; actor: Actor }> {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  const random = makeRandom(1);
  const products = countTo(COUNT).map((n) => makeRandomProduct(random, `SKU-${n}`));
  for (let at = 0; at < COUNT; at += 1_000) {
    await store.importProducts(actor, products.slice(at, at + 1_000), 'create');
  }
  return { store, actor };
}

async function readPages({ pages }: ProductExport): Promise<Product[]> {
  const products: Product[] = [];
  for await (const page of pages) {
    assert.ok(page.length > 0 && page.length <= EXPORT_PAGE_SIZE);
    products.push(...page);
  }
  return products;
}
