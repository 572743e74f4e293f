/** The contract of a store: sellers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId } from '../../../src/domain/id.ts';
import {
  type ExternalId, parseNewSeller, parseSellerPatch,
} from '../../../src/domain/access/seller.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { makeActor, makeNewProduct, makeSeller, type PrepareStore } from './fixture.ts';

export function testSellers(prepare: PrepareStore): void {
  testExternalIds(prepare);
  testChangedIds(prepare);

  test('starts without sellers', async (t) => {
    const store = await prepare(t)(makeClock());
    assert.deepEqual(await store.listSellers({ after: undefined, limit: 10 }), []);
  });

  test('keeps a seller with its name, currency, time and position 0', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const made = await store.createSeller(parseNewSeller('Zoë’s “Mugs” 🫖', 'KWD'));
    const { id, ...rest } = made;
    assert.ok(Number.isSafeInteger(id) && id > 0);
    assert.deepEqual(rest, {
      name: 'Zoë’s “Mugs” 🫖', currency: { code: 'KWD', decimals: 3 }, position: 0,
      createdAt: clock.now,
    });
    assert.deepEqual(await store.listSellers({ after: undefined, limit: 10 }), [made]);
  });

  test('finds a seller by its id, and nothing for an id that no seller has', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeSeller(store), await makeSeller(store, 'JPY')];
    assert.deepEqual(await store.findSeller(one.id), one);
    assert.deepEqual(await store.findSeller(other.id), other);
    assert.equal(await store.findSeller(5 as SellerId), undefined); // no store has given this id
  });

  test('gives sellers that are created concurrently unique ids', async (t) => {
    const store = await prepare(t)(makeClock());
    const many = 1_100; // more than the ids of one millisecond; the clock stands still
    const made = await makeSellers(store, many);
    assert.equal(new Set(made).size, many);
  });

  test('lists sellers in pages, each once and in the order of their ids', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const made: SellerId[] = [];
    for (let n = 0; n < 5; n += 1) {
      made.push((await makeSeller(store)).id);
      clock.now += 1;
    }
    const first = await store.listSellers({ after: undefined, limit: 2 });
    const second = await store.listSellers({ after: made[1], limit: 2 });
    const third = await store.listSellers({ after: made[3], limit: 2 });
    assert.deepEqual([first.length, second.length, third.length], [2, 2, 1]);
    assert.deepEqual([...first, ...second, ...third].map(({ id }) => id), made);
    assert.deepEqual(await store.listSellers({ after: made[4], limit: 2 }), []);
  });
}

const id = 'users/7 ü' as ExternalId; // legal
const newSeller = (externalId: string) => parseNewSeller('A shop', 'EUR', externalId);

function testExternalIds(prepare: PrepareStore): void {
  test('finds a seller by its external id', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await store.createSeller(newSeller(id)), await makeSeller(store)];
    assert.equal(one.externalId, id);
    assert.deepEqual(await store.findSeller(id), one);
    assert.deepEqual(await store.findSeller(one.id), one);
    assert.equal(other.externalId, undefined);
    for (const unknown of ['users/7', 'Users/7 ü', String(one.id), `${id} `]) {
      assert.equal(await store.findSeller(unknown as ExternalId), undefined);
    }
  });

  test('gives an external id to one seller only', async (t) => {
    const store = await prepare(t)(makeClock());
    const one = await store.createSeller(newSeller(id));
    const other = await makeSeller(store);
    const taken = { code: 'external_id_taken', message: /^Seller sel_\w+ has this external id/ };
    await assert.rejects(store.createSeller(newSeller(id)), taken);
    await assert.rejects(store.updateSeller(other.id, { externalId: id }), taken);
    const rivals = await Promise.allSettled(Array.from({ length: 5 }, () =>
      store.createSeller(newSeller('rival'))));
    assert.equal(rivals.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.deepEqual(await store.findSeller(id), one);
    assert.equal((await store.listSellers({ after: undefined, limit: 10 })).length, 3);
  });

}

function testChangedIds(prepare: PrepareStore): void {
  test('shows the position of the last change of a seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await sellThreeProducts(store), await makeSeller(store)];
    const listed = await store.listSellers({ after: undefined, limit: 10 });
    const positions = new Map(listed.map(({ id, position }) => [id, position]));
    assert.deepEqual([positions.get(one), positions.get(other.id)], [3, 0]);
  });

  test('changes, moves and removes external ids in every process', async (t) => {
    const open = prepare(t);
    const [store, second] = [await open(makeClock()), await open(makeClock())];
    const one = await store.createSeller(newSeller(id));
    const other = await makeSeller(store);
    assert.equal((await second.findSeller(id))?.id, one.id);
    const changed = await store.updateSeller(one.id,
      parseSellerPatch({ name: 'Zoë', externalId: 'new' }));
    assert.deepEqual(changed, { ...one, name: 'Zoë', externalId: 'new' });
    assert.equal(await second.findSeller(id), undefined);
    await store.updateSeller(other.id, { externalId: id });
    assert.equal((await second.findSeller(id))?.id, other.id);
    const { externalId: _, ...nameless } = changed;
    assert.deepEqual(await store.updateSeller(one.id, { externalId: null }), nameless);
    assert.equal(await second.findSeller('new' as ExternalId), undefined);
    assert.deepEqual(await second.findSeller(one.id), nameless);
  });

  test('logs each change of a seller once, and rejects unknown ids', async (t) => {
    const store = await prepare(t)(makeClock());
    const one = await store.createSeller(newSeller(id));
    assert.deepEqual(await store.updateSeller(one.id, {}), one);
    assert.deepEqual(await store.updateSeller(one.id, { externalId: id }), one);
    await store.updateSeller(one.id, { name: 'Zoë' });
    const [event, ...others] = await store.listAuditEvents(one.id, {
      type: 'seller_changed', before: undefined, after: undefined, limit: 10,
    });
    assert.deepEqual([event?.type, event?.subject, others],
      ['seller_changed', `name Zoë, external id ${id}`, []]);
    const unknown = store.updateSeller(5 as SellerId, { name: 'Zoë' });
    await assert.rejects(unknown, { code: 'not_found' });
  });
}

/** Fifty at a time: with more, some would wait too long for a connection on a slow machine. */
async function makeSellers(store: Store, count: number): Promise<SellerId[]> {
  const made: SellerId[] = [];
  while (made.length < count) {
    const some = await Promise.all(Array.from({ length: 50 }, () => makeSeller(store)));
    made.push(...some.map(({ id }) => id));
  }
  return made;
}

async function sellThreeProducts(store: Store): Promise<SellerId> {
  const actor = await makeActor(store);
  for (let n = 0; n < 3; n += 1) await store.createProduct(actor, makeNewProduct());
  return actor.sellerId;
}
