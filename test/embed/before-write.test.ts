/** The hook `beforeWrite`, which sees each change of a product, and may reject it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type ApiError, SellerClient, WriteRejectedError } from '../../src/client/index.ts';
import { formatProductId, formatSellerId, type ProductId } from '../../src/domain/id.ts';
import { hookStore } from '../../src/embed/hooked-store.ts';
import { createShop } from '../../src/embed/shop.ts';
import type { BeforeWrite, ErrorReport, ShopLocation, ShopOptions } from '../../src/index.ts';
import { MUTATIONS } from '../../src/store/rules/mutations/registry.ts';
import type { Store } from '../../src/store/store.ts';
import type { Actor } from '../../src/store/write.ts';
import { openShop as openPortal, readText } from '../features/portal/page-client.ts';
import { makeActor, makeNewProduct } from '../store/contract/fixture.ts';
import { openStore } from '../store/sqlite/open.ts';
import { makeDataFolder } from '../support/folder.ts';
import {
  importRows, makeHook, MUG, noCutAbove20, raceCuts, readReport,
} from './before-write-rules.ts';

async function openShop(
  t: TestContext, decide?: BeforeWrite, options: ShopOptions = {},
  location: ShopLocation = { folder: makeDataFolder(t) },
) {
  const hook = makeHook(decide);
  const reports: ErrorReport[] = [];
  const shop = await createShop(location, {
    beforeWrite: hook.beforeWrite, report: (entry) => reports.push(entry), ...options,
  });
  t.after(() => shop.close());
  const { id } = await shop.sellers.create({ name: 'My shop' });
  const api = shop.as(id, { actor: 'test' });
  const readPosition = async () => (await api.products.lookup([{ sku: 'MUG-1' }])).position;
  return { shop, id, api, hook, reports, readPosition };
}

test('sees each change, before and after', async (t) => {
  const { id, api, hook } = await openShop(t);
  const { id: productId } = await api.products.create({ ...MUG, metadata: { erp: '7' } });
  const [{ change, before, after } = assert.fail()] = hook.seen;
  assert.deepEqual(change, {
    seller: id, type: 'created', sku: MUG.sku, keyId: change.keyId, isDryRun: false, actor: 'test',
  });
  assert.match(change.keyId, /^key_/);
  assert.deepEqual([before, after], [undefined, { ...MUG, metadata: { erp: '7' } }]);
  hook.take();
  const stored = await api.products.get(productId);
  await api.products.patch(productId, { price: 90, stock: 39 });
  assert.deepEqual(hook.seen[0]?.before, stored);
  assert.deepEqual(hook.take(), [['updated', 'MUG-1', [100, 40], [90, 39]]]);
  await api.products.patch(productId, { price: 90 });
  assert.deepEqual(hook.take(), [], 'it changes nothing');
  await api.products.patch(productId, { sku: 'POT-1', stock: 38 });
  assert.equal(hook.seen[0]?.change.sku, 'MUG-1');
  hook.take();
  await api.products.put('POT-1', { ...MUG, sku: 'POT-1', stock: 1 });
  await api.products.put('POT-1', { ...MUG, sku: 'POT-1', stock: 2 });
  await api.products.put('CUP-1', { ...MUG, sku: 'CUP-1' });
  assert.deepEqual(hook.take(), [
    ['updated', 'POT-1', [90, 38], [100, 1]], ['stock', 'POT-1', [100, 1], [100, 2]],
    ['created', 'CUP-1', undefined, [100, 40]],
  ]);
  await api.products.delete(productId);
  assert.deepEqual(hook.take(), [['deleted', 'POT-1', [100, 2], undefined]]);
});

test('sees stock changes, stocktakes and their zeroing', async (t) => {
  const { api, hook } = await openShop(t);
  for (const sku of ['A', 'B', 'C']) await api.products.create({ ...MUG, sku });
  await api.products.create({ ...MUG, sku: 'D', barcode: '96385074' });
  hook.take();
  await api.stock.sync([
    { sku: 'A', adjust: -1, reason: 'sold' }, { sku: 'A', set: 7, sequence: 3 },
    { sku: 'B', set: 40 }, { sku: 'X', set: 1 }, { barcode: '96385074', set: 5 },
  ], { source: 'till' });
  assert.deepEqual(hook.seen.map(({ change: { reason, source } }) => [reason, source]),
    [['sold', 'till'], [undefined, 'till'], [undefined, 'till']]);
  assert.deepEqual(hook.take(), [
    ['stock', 'A', [100, 40], [100, 39]], ['stock', 'A', [100, 39], [100, 7]],
    ['stock', 'D', [100, 40], [100, 5]],
  ]);
  await api.stock.sync([{ sku: 'A', set: 9, sequence: 3 }], { source: 'till' });
  assert.deepEqual(hook.take(), [], 'the number is stale');
  await api.stock.sync([{ sku: 'A', set: 8 }, { sku: 'D', set: 5 }], {
    complete: true, force: true,
  });
  assert.deepEqual(hook.take(), [
    ['stock', 'A', [100, 7], [100, 8]], ['stock', 'B', [100, 40], [100, 0]],
    ['stock', 'C', [100, 40], [100, 0]],
  ]);
  await readReport(api.stock.sync('sku,stock\nD,4\n', {
    type: 'text/csv', complete: true, force: true,
  }));
  assert.deepEqual(hook.take(), [
    ['stock', 'D', [100, 5], [100, 4]], ['stock', 'A', [100, 8], [100, 0]],
  ]);
});

test('sees imports and reverts', async (t) => {
  const { api, hook } = await openShop(t);
  await api.products.create(MUG);
  await api.products.create({ ...MUG, sku: 'CUP-1', barcode: '96385074' });
  hook.take();
  const { summary } = await importRows(api, [
    { sku: 'MUG-1', price: 90 }, { ...MUG, sku: 'NEW' }, { sku: 'NEW', price: 80 },
    // The cast: the type wants a SKU.
    { barcode: '96385074', stock: 1 } as never, { sku: 'CUP-1', stock: 1 },
  ]);
  assert.deepEqual(hook.take(), [
    ['updated', 'MUG-1', [100, 40], [90, 40]], ['created', 'NEW', undefined, [100, 40]],
    ['updated', 'NEW', [100, 40], [80, 40]], ['stock', 'CUP-1', [100, 40], [100, 1]],
  ]);
  await api.products.delete({ sku: 'MUG-1' });
  hook.take();
  // The cast: the import changed products, so it has a record.
  const selection = { import: (summary as { import: string }).import };
  await readReport(api.imports.revert(selection, { dryRun: true, force: true }));
  const expected = [
    ['created', 'MUG-1', undefined, [100, 40]], ['deleted', 'NEW', [80, 40], undefined],
    ['stock', 'CUP-1', [100, 1], [100, 40]],
  ];
  assert.deepEqual(hook.take(), expected.map((change) => [...change, 'dry run']));
  await readReport(api.imports.revert(selection, { force: true }));
  assert.deepEqual(hook.take(), expected);
});

test('sees HTTP requests, with their key', async (t) => {
  const { shop, id, hook } = await openShop(t, noCutAbove20);
  const { key, id: keyId } = await shop.keys.create(id, { name: 'test' });
  const client = new SellerClient({
    baseUrl: 'http://shop.test', key, fetch: (url, init) => shop.fetch(new Request(url, init)),
  });
  await client.products.create(MUG);
  assert.deepEqual([hook.seen[0]?.change.keyId, hook.seen[0]?.change.actor], [keyId, undefined]);
  await assert.rejects(client.products.patch({ sku: 'MUG-1' }, { price: 79 }), (error) => {
    assert.ok(error instanceof WriteRejectedError, String(error));
    assert.deepEqual([error.status, error.code], [422, 'write_rejected']);
    const detail = '"MUG-1": No cut above 20 %.';
    assert.deepEqual(error.issues, [{ pointer: '', code: 'rejected', detail }]);
    assert.match(error.message, /"MUG-1": No cut above 20 %\. Nothing was changed\./);
    return true;
  });
});

test('covers the portal, which shows the reason', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const { shop, hook } = await openShop(t, noCutAbove20, { portal: true }, { store });
  const { port } = await shop.listen({ host: '127.0.0.1', port: 0 });
  const { user, sellerId } = await openPortal({ store, port });
  const api = shop.as(formatSellerId(sellerId));
  const { id } = await api.products.create(MUG);
  hook.take();
  for (const [path, fields] of [
    [`/portal/products/${id}`, { price: '79' }],
    ['/portal/products/grid', { stock: ['40'], price: ['79'] }],
  ] as const) {
    await user.get(path);
    const answer = await user.submit(fields, { action: path });
    assert.equal(answer.status, 422, path);
    assert.match(readText(answer.text), /"MUG-1": No cut above 20 %\. Nothing was changed/);
    assert.deepEqual(hook.take(), [['updated', 'MUG-1', [100, 40], [79, 40]]]);
  }
  assert.equal((await api.products.get(id)).price, 100);
});

test('rejects a write as a whole, and changes nothing', async (t) => {
  const { api, readPosition, hook } = await openShop(t, ({ type, sku }) =>
    (type === 'created' || sku === 'OK' ? undefined : `Not ${sku}.`));
  for (const sku of ['A', 'B', 'OK']) await api.products.create({ ...MUG, sku });
  const position = await readPosition();
  for (const call of [
    () => api.products.patch({ sku: 'A' }, { price: 1 }),
    () => api.products.put('A', { ...MUG, sku: 'A', price: 1 }),
    () => api.products.delete({ sku: 'A' }),
    () => api.stock.sync([{ sku: 'OK', set: 1 }, { sku: 'A', set: 1 }, { sku: 'B', set: 1 }]),
    () => api.stock.sync([{ sku: 'OK', set: 1 }, { sku: 'A', set: 1 }], { dryRun: true }),
    () => api.stock.sync([{ sku: 'OK', set: 1 }], { complete: true, force: true }),
    () => readReport(api.stock.sync('sku,stock\nOK,1\nA,1\n', { type: 'text/csv' })),
    () => readReport(api.stock.sync('sku,stock\nOK,1\nA,1\n', { type: 'text/csv', dryRun: true })),
    () => readReport(api.imports.revert({ after: 0, up_to: 1 })),
    () => readReport(api.imports.revert({ after: 0, up_to: 1 }, { dryRun: true })),
  ]) {
    await assert.rejects(call, { code: 'write_rejected' });
    assert.ok(hook.take().length > 0);
  }
  await assert.rejects(api.stock.sync([{ sku: 'A', set: 1 }, { sku: 'B', set: 1 }]), (error) => {
    // The cast: asserted by its members.
    const { issues, message } = error as ApiError;
    assert.deepEqual(issues.map(({ detail }) => detail), ['"A": Not A.', '"B": Not B.']);
    assert.match(message, /2 changes were rejected, the first: "A": Not A\./);
    return true;
  });
  assert.equal(await readPosition(), position);
});

test('rejects single rows of an import', async (t) => {
  const { api, hook, readPosition } = await openShop(t, noCutAbove20);
  await api.products.create(MUG);
  const rows = [
    { ...MUG, sku: 'NEW' }, { sku: 'MUG-1', price: 70 }, { sku: 'MUG-1', price: 90 },
    { sku: 'NEW', price: 10 },
  ];
  const expected = [2, 4].map((line) => [line, 'failed', [
    { pointer: '', code: 'rejected', detail: 'No cut above 20 %.' },
  ]]);
  for (const dryRun of [true, false]) {
    const { lines, summary } = await importRows(api, rows, { dryRun });
    assert.deepEqual((lines as { line: number; status: string; errors: unknown }[])
      .map(({ line, status, errors }) => [line, status, errors]), expected);
    const { created, updated, failed } = summary as Record<string, unknown>;
    assert.deepEqual([created, updated, failed], [1, 1, 2]);
    const flag = dryRun ? ['dry run'] : [];
    assert.deepEqual(hook.take().slice(-4), [
      ['created', 'NEW', undefined, [100, 40], ...flag],
      ['updated', 'MUG-1', [100, 40], [70, 40], ...flag],
      ['updated', 'MUG-1', [100, 40], [90, 40], ...flag],
      ['updated', 'NEW', [100, 40], [10, 40], ...flag],
    ]);
  }
  const [record] = await Array.fromAsync(api.imports.list());
  assert.deepEqual(record?.counts, {
    created: 1, updated: 1, unchanged: 0, failed: 2, skipped: 0,
  });
  assert.equal(await readPosition(), 3);
});

test('shows frozen objects', async (t) => {
  const { api, hook } = await openShop(t, (change, states) => {
    for (const object of [change, states, states.before, states.after, states.after?.metadata]) {
      if (object) assert.throws(() => Object.assign(object, { sku: 'X', price: 1 }), TypeError);
    }
  });
  await api.products.create({ ...MUG, metadata: { erp: '7' } });
  await api.products.patch({ sku: MUG.sku }, { price: 99 });
  assert.equal(hook.seen.length, 2);
});

test('writes nothing if the hook fails', async (t) => {
  let now = 0;
  const clock = Object.assign(() => Date.now(), { monotonic: () => now });
  const failures: [unknown, RegExp][] = [
    [() => { throw new Error('broken'); }, /has thrown an error/],
    [async () => { throw new Error('late'); }, /and no promise/],
    [() => true, /must return undefined/], [() => null, /must return undefined/],
    [() => '', /1 to 1000 characters/], [() => 'x'.repeat(1_001), /1 to 1000 characters/],
    [() => { now += 251; }, /took 251 ms; the limit is 250 ms/],
  ];
  let hook: unknown = () => undefined;
  // The cast: as a program in JavaScript passes it.
  const { api, reports, readPosition } = await openShop(t, () => (hook as () => undefined)(), {
    clock,
  });
  await api.products.create(MUG);
  for (const [failing, message] of failures) {
    hook = failing;
    for (const call of [
      () => api.products.patch({ sku: 'MUG-1' }, { price: 99 }),
      () => api.products.patch({ sku: 'MUG-1' }, { price: 99 }, { idempotencyKey: 'k' }),
      () => api.stock.sync([{ sku: 'MUG-1', set: 1 }]),
      () => importRows(api, [{ sku: 'MUG-1', price: 99 }]),
      () => importRows(api, [{ sku: 'MUG-1', price: 99 }], { dryRun: true }),
    ]) {
      await assert.rejects(call, { code: 'internal', status: 500 });
      const { error } = reports.pop() ?? assert.fail();
      assert.match(String(error), message);
    }
  }
  assert.equal(await readPosition(), 1);
  hook = () => { now += 50; };
  await api.products.patch({ sku: 'MUG-1' }, { price: 99 });
});

test('returns the outcome of an earlier request, whatever the hook decides now', async (t) => {
  const { api, hook, readPosition } = await openShop(t, () => 'Never.');
  hook.isOn = false;
  const calls = [
    () => api.products.create(MUG, { idempotencyKey: 'create' }),
    () => api.stock.sync([{ sku: 'MUG-1', adjust: -1 }], { idempotencyKey: 'sync' }),
    () => importRows(api, [{ sku: 'MUG-1', price: 99 }], { idempotencyKey: 'i' }),
  ];
  const first = [];
  for (const call of calls) first.push(await call());
  hook.isOn = true;
  for (const [index, call] of calls.entries()) assert.deepEqual(await call(), first[index]);
  assert.equal(await readPosition(), 3);
  const rejected = () => api.stock.sync([{ sku: 'MUG-1', adjust: -2 }], { idempotencyKey: 'new' });
  await assert.rejects(rejected, { code: 'write_rejected' });
  hook.isOn = false;
  assert.equal((await rejected()).position, 4, 'a rejection leaves no record');
  await assert.rejects(api.stock.sync([{ sku: 'MUG-1', adjust: -3 }], { idempotencyKey: 'new' }),
    { code: 'idempotency_mismatch' });
});

test('replays the rejected rows of an import, with their reasons', async (t) => {
  const { api, hook } = await openShop(t, noCutAbove20);
  await api.products.create(MUG);
  const rows = [{ sku: 'MUG-1', price: 70 }, { sku: 'MUG-1', price: 90 }];
  const run = () => importRows(api, rows, { idempotencyKey: 'i' });
  const first = await run();
  hook.isOn = false;
  assert.deepEqual(await run(), first);
  assert.equal((await api.products.get({ sku: 'MUG-1' })).price, 90);
});

test('decides on the product that is replaced, however many write at once', async (t) => {
  const { shop, id, api } = await openShop(t, noCutAbove20);
  await raceCuts([api, shop.as(id)]);
});

test('gives up while the product keeps changing', async (t) => {
  const folder = makeDataFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  const { id } = await store.createProduct(actor, makeNewProduct());
  let stock = 0;
  let calls = 0;
  const pending: Promise<unknown>[] = [];
  const hooked = hookStore(store, () => {
    calls += 1;
    stock += 1;
    pending.push(store.patchProduct(actor, { id }, { stock }, {}));
  }, () => 0);
  await assert.rejects(hooked.patchProduct(actor, { id }, { priceMinor: 1 }, {}), {
    code: 'unavailable', message: /keep changing. Nothing was changed; try again/,
  });
  await Promise.all(pending);
  assert.equal(calls, 30);
  assert.equal((await store.findProduct(actor.sellerId, { id }))?.priceMinor, 2_000);
});

const NO_ORIGIN = { source: undefined, reason: undefined };

/** Mutations of the store that change products, and calls of them. */
const CALLS: {
  readonly [name: string]: (store: Store, actor: Actor, id: ProductId) => Promise<unknown>;
} = {
  createProduct: (store, actor) => store.createProduct(actor, makeNewProduct()),
  putProduct: (store, actor) => store.putProduct(actor, makeNewProduct(), {}),
  patchProduct: (store, actor, id) => store.patchProduct(actor, { id }, { priceMinor: 7 }, {}),
  deleteProduct: (store, actor, id) => store.deleteProduct(actor, { id }, {}),
  importProducts: (store, actor) => store.importProducts(actor, [makeNewProduct()], 'upsert'),
  editProducts: (store, actor, id) =>
    store.editProducts(actor, [{ id, expected: {}, patch: { category: 'Bar' } }], undefined),
  revertProducts: async (store, actor) => {
    const { position } = await store.listProducts(actor.sellerId, {
      after: undefined, limit: 1, archived: 'any',
    });
    using revert = await store.startRevert(actor, {
      selection: { after: position - 1, upTo: position, keyId: undefined, source: undefined },
      isForced: true, isDryRun: false,
    });
    await revert.next();
  },
  syncStock: (store, actor, id) => store.syncStock(actor, {
    changes: [{ id: formatProductId(actor.sellerId, id), set: 1 }], ...NO_ORIGIN,
    isAtomic: false, completion: undefined,
  }, false),
  zeroStock: (store, actor, id) => store.zeroStock(actor, {
    ...NO_ORIGIN, products: [id], zeroLimitPercent: 100, total: undefined,
  }),
};

test('reviews every mutation of products', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const names = Object.entries(MUTATIONS).filter(([, definition]) => 'family' in definition
    && ['products', 'stock'].includes(definition.family)).map(([name]) => name);
  assert.deepEqual(Object.keys(CALLS).sort(), names.sort());
  for (const [name, call] of Object.entries(CALLS)) {
    const actor = await makeActor(store);
    const { id } = await store.createProduct(actor, makeNewProduct());
    const seen: unknown[] = [];
    const hooked = hookStore(store, (change) => {
      seen.push(change);
      return 'No.';
    }, () => 0);
    const result = call(hooked, actor, id);
    if (name === 'importProducts') await result;
    else await assert.rejects(result, { code: 'write_rejected' }, name);
    assert.equal(seen.length, 1, name);
    const { position } = await store.listProducts(actor.sellerId, {
      after: undefined, limit: 1, archived: 'any',
    });
    assert.equal(position, 1, name);
  }
});
