/** The contract of a store: the filters of lists that sellers saved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAVED_FILTERS_PER_LIST_LIMIT } from '../../../src/store/limits.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, makeSeller, type PrepareStore } from './fixture.ts';

export function testSavedFilters(prepare: PrepareStore): void {
  test('keeps the filters that a seller saved, by list and name', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeSeller(store), await makeSeller(store)];
    const low = { list: 'products', name: 'Low', query: 'stock=low' } as const;
    const zebra = { list: 'products', name: 'a zebra 🦓', query: 'q=zebra' } as const;
    await store.saveFilter(one.id, zebra);
    await store.saveFilter(one.id, { ...low, query: 'stock=out' });
    await store.saveFilter(one.id, low); // replaces it
    await store.saveFilter(one.id, { ...low, list: 'changes' });
    await store.saveFilter(other.id, { ...low, name: 'Theirs' });
    assert.deepEqual(await store.listFilters(one.id, 'products'), [low, zebra]);
    await store.deleteFilter(other.id, 'products', 'Low'); // another seller's: no effect
    await store.deleteFilter(one.id, 'changes', 'Low');
    assert.deepEqual(await store.listFilters(one.id, 'products'), [low, zebra]);
    assert.deepEqual(await store.listFilters(one.id, 'changes'), []);
  });

  test('limits the filters of a list, and still replaces them at the limit', async (t) => {
    const store = await prepare(t)(makeClock());
    const { id } = await makeSeller(store);
    const filter = (n: number) => ({ list: 'products', name: `F${n}`, query: `q=${n}` } as const);
    for (const n of countTo(SAVED_FILTERS_PER_LIST_LIMIT)) await store.saveFilter(id, filter(n));
    await assert.rejects(store.saveFilter(id, filter(99)), { code: 'limit_reached' });
    await store.saveFilter(id, { ...filter(1), query: 'q=new' });
    await store.saveFilter(id, { ...filter(1), list: 'changes' });
    const found = await store.listFilters(id, 'products');
    assert.equal(found.length, SAVED_FILTERS_PER_LIST_LIMIT);
    assert.equal(found.find(({ name }) => name === 'F1')?.query, 'q=new');
    await store.deleteFilter(id, 'products', 'F1');
    await store.saveFilter(id, filter(99));
  });
}
