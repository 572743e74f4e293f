/** The callbacks of a shop for catalogue changes: `subscribe` and `onChange`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { CatalogueChange } from '../../src/embed/commit-listener.ts';
import { createShop } from '../../src/embed/shop.ts';
import type { ShopLocation, ShopOptions } from '../../src/embed/shop-options.ts';
import type { Store } from '../../src/store/store.ts';
import { openStore } from '../store/sqlite/open.ts';
import { makeDataFolder } from '../support/folder.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40 };

async function openShop(
  t: TestContext, options: ShopOptions = {}, location: ShopLocation = { temporary: true },
) {
  const reports: unknown[] = [];
  const shop = await createShop(location, {
    report: ({ error }) => void reports.push(error), ...options,
  });
  t.after(() => shop.close());
  const { id } = await shop.sellers.create({ name: 'My shop' });
  const api = shop.as(id);
  await api.products.create(MUG);
  const adjust = () => api.stock.sync([{ sku: 'MUG-1', adjust: -1 }]);
  return { shop, id, api, adjust, reports };
}

test('delivers changes in order, each once the previous one is processed', async (t) => {
  const { shop, id, adjust, reports } = await openShop(t);
  for (let n = 0; n < 5; n += 1) await adjust();
  const positions: (number | string)[] = [];
  let running = 0;
  const all = Promise.withResolvers<void>();
  const subscription = shop.subscribe(id, { after: 1 }, async ({ position }) => {
    assert.equal(running, 0);
    running += 1;
    await setImmediate();
    running -= 1;
    positions.push(position);
    if (position === 9) all.resolve();
  });
  for (let n = 0; n < 3; n += 1) await adjust();
  await all.promise;
  subscription.stop();
  await subscription.done;
  await adjust();
  assert.deepEqual([positions, reports], [[2, 3, 4, 5, 6, 7, 8, 9], []]);
});

test('delivers the selected types, from a position on, until it is aborted', async (t) => {
  const { shop, id, api, adjust } = await openShop(t);
  const stop = new AbortController();
  const received = Promise.withResolvers<string>();
  const { done } = shop.subscribe(
    id, { after: 0, types: ['deleted'], signal: stop.signal },
    ({ type, sku }) => received.resolve(`${type} ${sku}`),
  );
  await adjust();
  await api.products.delete({ sku: 'MUG-1' });
  assert.equal(await received.promise, 'deleted MUG-1');
  stop.abort();
  await done;
});

test('stops a subscription whose function fails, and reports why', async (t) => {
  const { shop, id, adjust, reports } = await openShop(t);
  await adjust();
  const positions: (number | string)[] = [];
  const failure = new Error('the cache is down');
  const { done } = shop.subscribe(id, { after: 0 }, ({ position }) => {
    positions.push(position);
    if (position === 2) throw failure;
  });
  await assert.rejects(done, failure);
  await adjust();
  assert.deepEqual([positions, reports], [[1, 2], [failure]]);
});

test('frees the slot of a subscription whose function fails', async (t) => {
  const { shop, id } = await openShop(t, { streamLimits: { perKey: 1 } });
  const failure = new Error('the cache is down');
  const fail = (): never => { throw failure; };
  for (let n = 0; n < 3; n += 1) {
    await assert.rejects(shop.subscribe(id, { after: 0 }, fail).done, failure);
  }
});

test('stops a subscription whose feed fails, and reports why', async (t) => {
  const { shop, id, reports } = await openShop(t);
  await assert.rejects(shop.subscribe(id, { after: 99 }, () => {}).done, { code: 'invalid_query' });
  await shop.sellers.disable(id);
  await assert.rejects(shop.subscribe(id, { after: 0 }, () => {}).done, { code: 'key_unknown' });
  assert.equal(reports.length, 2);
});

test('waits for a running function before it closes', async (t) => {
  const { shop, id, api, reports } = await openShop(t);
  const began = Promise.withResolvers<void>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { done } = shop.subscribe(id, { after: 0 }, async () => {
    began.resolve();
    await gate;
    await api.products.patch({ sku: 'MUG-1' }, { price: 1 }); // the store is open
  });
  await began.promise;
  const closing = shop.close();
  open();
  await Promise.all([closing, done]);
  assert.deepEqual(reports, []);
  assert.throws(() => shop.subscribe(id, { after: 0 }, () => {}), { code: 'unavailable' });
});

test('reports the catalogues that any process has changed', async (t) => {
  const location = { folder: makeDataFolder(t) };
  const seen: CatalogueChange[] = [];
  const target = new EventTarget();
  const failure = new Error('once');
  const { shop, id, adjust, reports } = await openShop(t, {
    onChange(change) {
      seen.push(change);
      target.dispatchEvent(new Event(`${change.seller} ${change.position}`));
      if (seen.length === 1) throw failure;
    },
  }, location);
  const second = await shop.sellers.create({ name: 'Second' });
  await adjust();
  const changed = once(target, `${second.id} 1`);
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', `
    import { createShop } from ${JSON.stringify(import.meta.resolve('../../src/index.ts'))};
    const shop = await createShop(${JSON.stringify(location)});
    await shop.as('${second.id}').products.create(${JSON.stringify(MUG)});
    await shop.close();
  `]);
  await changed;
  const last = once(target, `${id} 3`);
  await adjust();
  await last;
  assert.deepEqual(seen.filter(({ seller }) => seller === second.id), [
    { seller: second.id, position: 1 },
  ]);
  assert.deepEqual(reports, [failure]);
});

test('reports no earlier change if there is a commit while the shop starts', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  await openShop(t, {}, { store });
  let commit: (() => void) | undefined;
  const committing: Store = Object.assign(Object.create(store), {
    watchAll(listener: () => void) {
      commit = listener;
      return store.watchAll(listener);
    },
    async listSellers(query: Parameters<Store['listSellers']>[0]) {
      const first = commit;
      commit = undefined;
      first?.();
      if (first) await setImmediate();
      return store.listSellers(query);
    },
  });
  const seen: CatalogueChange[] = [];
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  const { id } = await openShop(t, {
    onChange(change) {
      seen.push(change);
      resolve();
    },
  }, { store: committing });
  await changed;
  assert.deepEqual(seen, [{ seller: id, position: 1 }]);
});
