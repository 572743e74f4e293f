/** The contract of a store: text search. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import { makeActor, makeNewProduct, type PrepareStore } from './fixture.ts';

export function testSearch(prepare: PrepareStore): void {
  test('finds words in any order, and SKUs without their punctuation', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    for (const [sku, name] of [
      ['HOOD-BLUE', 'Hoodie, blue'], ['HOOD_RED/XL', 'Red hoodie'], ['15', 'Bottle 1.5 l'],
      ['CAP.1', 'Cap'], ['--', 'Scarf'],
    ] as const) await store.createProduct(actor, makeNewProduct({ name, category: 'Wear', sku }));
    const expected: readonly [q: string, skus: string][] = [
      ['blue hood', 'HOOD-BLUE'], ['ood  wea', 'HOOD-BLUE HOOD_RED/XL'], ['hoodie green', ''],
      ['hoodblue', 'HOOD-BLUE'], ['HoodBlue', 'HOOD-BLUE'], ['hood.blue', 'HOOD-BLUE'],
      ['odblu', 'HOOD-BLUE'], ['redxl hood', 'HOOD_RED/XL'], ['hood-red-xl', 'HOOD_RED/XL'],
      ['1.5', '15'], ['p1', 'CAP.1'], ['p-1', 'CAP.1'], ['c.a.p', 'CAP.1'], ['h.oodie', ''],
      ['--', '--'], ['-- scarf', '--'], ['_', 'HOOD_RED/XL'], ['a b c d e f g h i j', ''],
    ];
    for (const [q, skus] of expected) {
      const page = await store.searchProducts(actor.sellerId, {
        filter: { q }, sort: { by: 'id', isDescending: false }, after: undefined, limit: 10,
      }, 5);
      assert.equal(page.products.map(({ sku }) => sku).join(' '), skus, q);
    }
  });
}
