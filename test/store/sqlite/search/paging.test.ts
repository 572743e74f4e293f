/** Pages of a search during changes: each unchanged product appears exactly once. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import type { ProductId } from '../../../../src/domain/id.ts';
import type { KeysetAnchor, ProductSort } from '../../../../src/domain/catalogue/product-query.ts';
import type { Product } from '../../../../src/domain/catalogue/product-fields.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { Actor } from '../../../../src/store/write.ts';
import { makeRandom, type Random } from '../../../domain/random.ts';
import { makeDataFolder } from '../../../support/folder.ts';
import { countTo, makeActor, readAll } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { ALL_SORTS, findInModel, makeRandomProduct, anchorOf } from './model.ts';

for (const sort of ALL_SORTS) {
  const name = `${sort.isDescending ? '-' : ''}${sort.by}`;
  test(`pages by ${name} neither skip nor repeat an unchanged product`, async (t) => {
    const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 32));
    t.diagnostic(`TEST_SEED=${seed} repeats this run`);
    const random = makeRandom(seed);
    const store = await openStore(t, { folder: makeDataFolder(t) });
    const actor = await makeActor(store);
    for (const n of countTo(120)) {
      await store.createProduct(actor, makeRandomProduct(random, `${random.below(5)}-${n}`));
    }
    await pageWhileChanging(store, actor, sort, random);
  });
}

async function pageWhileChanging(
  store: Store, actor: Actor, sort: ProductSort, random: Random,
): Promise<void> {
  const before = await readAll(store, actor.sellerId);
  const changed = new Set<ProductId>();
  const seen: Product[] = [];
  let created = 0;
  let after: KeysetAnchor | undefined;
  for (let hasMore = true; hasMore;) {
    const position = (await store.findSeller(actor.sellerId))?.position ?? NaN;
    const limit = 1 + random.below(12);
    const query = { filter: { archived: 'any' as const }, sort, after, limit };
    const page = await store.searchProducts(actor.sellerId, query, position);
    seen.push(...page.products);
    const last = page.products.at(-1);
    after = last && anchorOf(last, sort);
    ({ hasMore } = page);
    // Now and then the very product that the next page is to follow.
    if (last && random.below(3) === 0) await changeOne(store, actor, last, changed, random);
    for (let n = random.below(4); n > 0; n -= 1) {
      const all = await readAll(store, actor.sellerId);
      await changeOne(store, actor, random.pick(all), changed, random);
      await store.createProduct(actor, makeRandomProduct(random, `new-${created += 1}`));
    }
  }
  const kept = before.filter(({ id }) => !changed.has(id));
  const limit = before.length;
  const query = { filter: { archived: 'any' as const }, sort, after: undefined, limit };
  const expected = findInModel(kept, query).map(({ id }) => id);
  const found = seen.map(({ id }) => id).filter((id) => kept.some((product) => product.id === id));
  assert.deepEqual(found, expected);
  assert.ok(expected.length > 10 && changed.size > 0);
}

async function changeOne(
  store: Store, actor: Actor, { id, sku }: Product, changed: Set<ProductId>, random: Random,
): Promise<void> {
  if (changed.has(id)) return;
  changed.add(id);
  if (random.below(2) === 0) await store.deleteProduct(actor, { id }, {});
  else await store.patchProduct(actor, { id }, makeRandomProduct(random, sku), {});
}
