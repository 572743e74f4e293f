/** Compares searches with a model: every filter and sort, alone and combined, page by page. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type {
  ProductFilter, ProductQuery,
} from '../../../../src/domain/catalogue/product-query.ts';
import type { Product } from '../../../../src/domain/catalogue/product-fields.ts';
import { ProductFinder } from '../../../../src/store/sqlite/search/product-finder.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { Actor } from '../../../../src/store/write.ts';
import { makeRandom, type Random } from '../../../domain/random.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeDataFolder, makeFolder } from '../../../support/folder.ts';
import { countTo, makeActor, makeNewProduct, readAll } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import {
  ALL_SORTS, BY_ID, findInModel, makeRandomFilter, makeRandomProduct, makeRandomSort, anchorOf,
} from './model.ts';

const PRODUCTS = 300;

interface Prepared {
  readonly folder: string;
  readonly store: Store;
  readonly actor: Actor;
  readonly products: readonly Product[];
  readonly random: Random;
}

test('finds what the model finds, with every sort and with random filters', async (t) => {
  const { store, actor, products, random } = await prepareCatalogue(t);
  for (const sort of ALL_SORTS) {
    await assertFound(store, actor, products, { filter: {}, sort, after: undefined, limit: 1000 });
  }
  let matches = 0;
  for (let round = 0; round < 400; round += 1) {
    const filter = makeRandomFilter(random, products);
    const sort = makeRandomSort(random);
    const last = random.below(3) === 0 ? random.pick(products) : undefined;
    const after = last && anchorOf(last, sort);
    const limit = 1 + random.below(40);
    matches += await assertFound(store, actor, products, { filter, sort, after, limit });
  }
  assert.ok(matches > 400, 'The filters have too few matches.');
});

test('finds the same by every access path', async (t) => {
  const { folder, store, actor, products, random } = await prepareCatalogue(t);
  const position = (await store.findSeller(actor.sellerId))?.position ?? NaN;
  await store.searchProducts(actor.sellerId, {
    filter: {}, sort: BY_ID, after: undefined, limit: 1,
  }, position); // waits until the projection has caught up
  const db = new DatabaseSync(join(folder, 'search.db'), { readOnly: true });
  t.after(() => db.close());
  const findOrdinal = db.prepare('SELECT ordinal FROM seller WHERE seller_id = ?');
  const ordinal = Number(findOrdinal.get(actor.sellerId)?.['ordinal']);
  const finders = [0, 2, 20, 1_000].map((probeLimit) => new ProductFinder(db, probeLimit));
  for (let round = 0; round < 400; round += 1) {
    const filter = makeRandomFilter(random, products);
    const sort = makeRandomSort(random);
    const last = random.below(2) === 0 ? random.pick(products) : undefined;
    const after = last && anchorOf(last, sort);
    const query = { filter, sort, after, limit: 1 + random.below(30) };
    const all = findInModel(products, { filter, sort, after: undefined, limit: Infinity });
    const unfiltered = products.filter(({ archived }) => !archived).length;
    const counted = finders[0]?.count(ordinal, filter, unfiltered);
    // Words of one or two characters have no index.
    if (counted === null) assert.ok(filter.q !== undefined);
    else assert.deepEqual(counted, { count: all.length, isExact: true }, JSON.stringify(filter));
    const expected = findInModel(products, query).map(({ id }) => id);
    for (const finder of finders) {
      const found = finder.find(ordinal, query).rows.map(([id]) => id);
      assert.deepEqual(found, expected, JSON.stringify(query));
    }
  }
});

test('treats every text literally', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  const names = [
    'Mug "large"', '50% off_x', 'a*b', 'NEAR(a b)', '🫖 teapot', 'ab', 'Straße', '茶碗',
  ];
  for (const name of names) {
    const sku = `s-${names.indexOf(name)}`;
    await store.createProduct(actor, makeNewProduct({ name, category: 'K', sku }));
  }
  const expected: readonly [q: string, names: readonly string[]][] = [
    ['"large"', ['Mug "large"']], ['"', ['Mug "large"']], ['g "', ['Mug "large"']],
    ['50%', ['50% off_x']], ['5%x', []], ['f_x', ['50% off_x']], ['%', ['50% off_x']],
    ['a*b', ['a*b']], ['a*', ['a*b']], ['near(a b)', ['NEAR(a b)']], ['NEAR(b a)', []],
    ['🫖 t', ['🫖 teapot']], ['🫖', ['🫖 teapot']], ['AB', ['ab']], ['STRASSE', ['Straße']],
    ['茶碗', ['茶碗']], ['mug OR ab', []], ['abs', []], ['b q', []], ['b-', []],
  ];
  for (const [q, found] of expected) {
    const query = { filter: { q }, sort: BY_ID, after: undefined, limit: 10 };
    const page = await store.searchProducts(actor.sellerId, query, names.length);
    assert.deepEqual(page.products.map(({ name }) => name), found, q);
  }
});

test('finds no product of another seller by any access path', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const authors = [await makeActor(store), await makeActor(store), await makeActor(store)];
  for (const actor of [...authors, ...authors]) {
    const count = (await readAll(store, actor.sellerId)).length;
    const same = { sku: `SAME-${count}`, name: 'The same', category: 'Same', price: 5, stock: 5 };
    await store.createProduct(actor, makeNewProduct(same));
  }
  const filters: readonly ProductFilter[] = [
    {}, { q: 'same' }, { q: 'sa' }, { category: 'Same' }, { priceMin: 500, priceMax: 500 },
    { stockMin: 5 }, { updatedSince: 0 }, { changedSince: 0 },
  ];
  for (const { sellerId } of authors) {
    for (const filter of filters) {
      for (const sort of ALL_SORTS) {
        const query = { filter, sort, after: undefined, limit: 100 };
        const { products } = await store.searchProducts(sellerId, query, 2);
        assert.deepEqual(new Set(products.map((one) => one.sellerId)), new Set([sellerId]));
        assert.equal(products.length, 2);
      }
    }
  }
});

/** A catalogue of equal values that was changed at random; the projection has seen half of it. */
async function prepareCatalogue(t: TestContext): Promise<Prepared> {
  const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 32));
  t.diagnostic(`TEST_SEED=${seed} repeats this run`);
  const random = makeRandom(seed);
  const folder = makeFolder(t);
  const clock = makeClock();
  const store = await openStore(t, { folder, clock });
  const actor = await makeActor(store);
  const other = await makeActor(store);
  for (const n of countTo(PRODUCTS)) {
    clock.now += random.below(3) * 1_000;
    await store.createProduct(actor, makeRandomProduct(random, `${random.below(9)}-SKU-${n}`));
    if (n % 10 === 0) await store.createProduct(other, makeRandomProduct(random, `SKU-${n}`));
    if (n % 3 === 0) await changeOne(store, actor, random);
    if (n === PRODUCTS / 2) {
      const query = { filter: {}, sort: BY_ID, after: undefined, limit: 1 };
      await store.searchProducts(actor.sellerId, query, 1);
    }
  }
  return { folder, store, actor, products: await readAll(store, actor.sellerId), random };
}

async function changeOne(store: Store, actor: Actor, random: Random): Promise<void> {
  const { id, sku } = random.pick(await readAll(store, actor.sellerId));
  const changed = makeRandomProduct(random, sku);
  const choice = random.below(4);
  if (choice === 0) await store.deleteProduct(actor, { id }, {});
  else if (choice === 1) await store.patchProduct(actor, { id }, { stock: changed.stock }, {});
  else if (choice === 2) await store.patchProduct(actor, { id }, { priceMinor: 7 }, {});
  else await store.putProduct(actor, changed, {});
}

/** Returns how many products were found. */
async function assertFound(
  store: Store, { sellerId }: Actor, products: readonly Product[], query: ProductQuery,
): Promise<number> {
  const expected = findInModel(products, { ...query, limit: query.limit + 1 });
  const position = (await store.findSeller(sellerId))?.position ?? NaN;
  const page = await store.searchProducts(sellerId, query, position);
  assert.deepEqual(page.products, expected.slice(0, query.limit), JSON.stringify(query));
  assert.equal(page.hasMore, expected.length > query.limit);
  assert.equal(page.position, position);
  return expected.length;
}
