/** The client against a real server: products, lists, files, stock, changes, webhooks. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  AuthenticationError, InvalidDataError, NotFoundError, PermissionError,
  PreconditionFailedError, SellerClient, SkuTakenError, StockRejectedError,
} from '../../src/client/index.ts';
import { startServer } from '../support/server.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40 };

async function start(t: TestContext, scopes?: readonly string[]) {
  const server = await startServer(t);
  const seller = await server.makeSeller(scopes && { scopes });
  const baseUrl = `http://127.0.0.1:${server.port}`;
  return { ...server, seller, baseUrl, shop: new SellerClient({ baseUrl, key: seller.key }) };
}

function makeRows(count: number) {
  return Array.from({ length: count }, (_, n) => ({ ...MUG, sku: `S-${n}`, name: `Mug ${n}` }));
}

test('creates, reads, replaces, patches and deletes a product', async (t) => {
  const { shop } = await start(t);
  const created = await shop.products.create(MUG);
  assert.equal(created.sku, 'MUG-1');
  assert.deepEqual(await shop.products.get(created.id), created);
  assert.deepEqual(await shop.products.get({ sku: 'MUG-1' }), created);
  const patched = await shop.products.patch(created.id, { price: 13 }, { ifMatch: 1 });
  assert.equal(patched.price, 13);
  const put = await shop.products.put('MUG-1', { ...MUG, name: 'Cup' });
  assert.deepEqual([put.name, put.id], ['Cup', created.id]);
  await shop.products.delete({ sku: 'MUG-1' });
  await assert.rejects(shop.products.get(created.id), NotFoundError);
});

test('reads a product only if it changed', async (t) => {
  const { shop } = await start(t);
  const { id, position } = await shop.products.create(MUG);
  assert.equal(await shop.products.getIfChanged(id, position), undefined);
  await shop.products.patch(id, { stock: 1 });
  assert.equal((await shop.products.getIfChanged(id, position))?.stock, 1);
});

test('throws errors of the documented classes, which say what to do', async (t) => {
  const { shop, baseUrl } = await start(t);
  await shop.products.create(MUG);
  await assert.rejects(shop.products.create(MUG), SkuTakenError);
  await assert.rejects(shop.products.patch({ sku: 'MUG-1' }, { stock: 1 }, { ifMatch: 9 }),
    PreconditionFailedError);
  await assert.rejects(shop.products.put('MUG-1', MUG, { createOnly: true }),
    PreconditionFailedError);
  await assert.rejects(shop.products.create({ ...MUG, price: 1.999, stock: -1 }), (error) => {
    assert.ok(error instanceof InvalidDataError);
    assert.deepEqual(error.issues.map(({ pointer }) => pointer), ['/price', '/stock']);
    assert.match(error.message, /^The submitted data is invalid: .*\/price: /);
    return true;
  });
  await assert.rejects(
    shop.stock.sync([{ sku: 'MUG-1', adjust: -50 }], { atomic: true }), StockRejectedError);
  const key = `spk_${'0'.repeat(36)}`;
  await assert.rejects(new SellerClient({ baseUrl, key }).products.get('x'), AuthenticationError);
  const reader = await start(t, ['products:read']);
  await assert.rejects(reader.shop.products.create(MUG), PermissionError);
});

test('lists all pages, with filters and selected members', async (t) => {
  const { shop } = await start(t);
  await (await shop.products.import(makeRows(25))).summary();
  const skus = [];
  for await (const { sku } of shop.products.list({ limit: 10, sort: '-price' })) skus.push(sku);
  assert.equal(new Set(skus).size, 25);
  const found = await Array.fromAsync(shop.products.list({ q: 's-7 mug', fields: ['sku'] }));
  assert.deepEqual(found, [{ sku: 'S-7' }]);
  const page = await shop.products.listPage({ limit: 20 });
  assert.equal(page.products.length, 20);
  const rest = await shop.products.listPage({ limit: 20, cursor: page.next_cursor ?? '' });
  assert.deepEqual([rest.products.length, rest.next_cursor], [5, null]);
});

test('imports objects, text, streams and gzip, and reports rejected rows', async (t) => {
  const { shop } = await start(t);
  const csv = 'SKU,Name,Category,Price,Qty\nA-1,A,B,1.5,2\nA-2,,B,x,3\n';
  const options = { map: { stock: 'Qty' } };
  for (const source of [csv, Readable.from([csv]), new Blob([csv]), Buffer.from(csv)]) {
    const report = await shop.products.import(source, options);
    const rows = await Array.fromAsync(report);
    assert.deepEqual(rows.map(({ line, sku, status }) => [line, sku, status]),
      [[3, 'A-2', 'failed']]);
    assert.equal((await report.summary()).failed, 1);
  }
  const packed = await shop.products.import(gzipSync(csv), { ...options, isGzip: true });
  assert.equal((await packed.summary()).unchanged, 1);
  const objects = await shop.products.import([MUG, { sku: 'A-1', stock: 9 }], { report: 'all' });
  assert.deepEqual((await Array.fromAsync(objects)).map(({ status }) => status),
    ['created', 'updated']);
  await assert.rejects(shop.products.import(csv, { map: { colour: 'Qty' } }), InvalidDataError);
});

test('reads the report while the file is still being sent', async (t) => {
  const { shop } = await start(t);
  const reported = Promise.withResolvers<void>();
  const rows = async function* () {
    for (let n = 0; n < 2_000; n += 1) yield { ...MUG, sku: `S-${n}`, price: -1 };
    await reported.promise; // the rest waits for the first line
    yield MUG;
  };
  const report = await shop.products.import(rows());
  for await (const { status } of report) {
    assert.equal(status, 'failed');
    reported.resolve();
  }
  const { created, failed } = await report.summary();
  assert.deepEqual([created, failed], [1, 2_000]);
});

test('exports a file at a position', async (t) => {
  const { shop } = await start(t);
  await shop.products.create(MUG);
  const file = await shop.products.export({ format: 'csv', fields: ['sku', 'stock'] });
  assert.equal(file.position, 1);
  assert.equal(await text(file), 'sku,stock\r\nMUG-1,40\r\n');
});

test('reads products as they were at a position and at a time', async (t) => {
  const { shop } = await start(t);
  const { id, position: at } = await shop.products.create(MUG);
  const { updated_at } = await shop.products.patch(id, { sku: 'MUG-2', price: 9 });
  await shop.products.delete(id);
  const before = await shop.products.get({ sku: 'MUG-1' }, { at });
  assert.deepEqual([before.id, before.price], [id, 12.5]);
  assert.deepEqual(await shop.products.get(id, { at: String(at) }), before);
  assert.deepEqual(await Array.fromAsync(shop.products.list({ at, limit: 1 })), [before]);
  assert.deepEqual((await shop.products.listPage({ at, fields: ['sku'] })).products,
    [{ sku: 'MUG-1' }]);
  const file = await shop.products.export({ at: 2, format: 'csv', fields: ['sku', 'price'] });
  assert.deepEqual([file.position, await text(file)], [2, 'sku,price\r\nMUG-2,9\r\n']);
  const early = new Date(Date.parse(updated_at) - 3_600_000);
  assert.deepEqual(await Array.fromAsync(shop.products.list({ at: early })), []);
  await assert.rejects(shop.products.get(id, { at: 3 }), { name: 'NotFoundError' });
  await assert.rejects(shop.products.list({ at, q: 'mug' }).next(), { name: 'InvalidDataError' });
});

test('synchronises stock in one call and as a stream', async (t) => {
  const { shop } = await start(t);
  await (await shop.products.import(makeRows(3))).summary();
  const { results, applied } = await shop.stock.sync(
    [{ sku: 'S-0', adjust: -2, sequence: 1 }, { sku: 'none', set: 1 }], { source: 'erp' });
  assert.deepEqual(results.map(({ status, stock }) => [status, stock]),
    [['ok', 38], ['not_found', null]]);
  assert.equal(applied, 1);
  const changes = async function* () {
    for (let n = 0; n < 3; n += 1) yield { sku: `S-${n}`, set: 7 };
  };
  const report = await shop.stock.sync(changes(), { source: 'erp', reason: 'count' });
  assert.deepEqual((await Array.fromAsync(report)).map(({ line, stock }) => [line, stock]),
    [[1, 7], [2, 7], [3, 7]]);
  assert.equal((await report.summary()).applied, 3);
  const counted = await shop.stock.sync([{ sku: 'S-0', set: 5 }], { complete: true, force: true });
  assert.equal(counted.zeroed, 2);
  const levels = await Array.fromAsync(shop.stock.levels());
  assert.deepEqual(levels.map(({ stock }) => stock), [5, 0, 0]);
  const before = await Array.fromAsync(shop.stock.levels({ at: 3 }));
  assert.deepEqual(before.map(({ stock }) => stock), [40, 40, 40]);
  const moved = await Array.fromAsync(shop.stock.movements({ sku: 'S-0', reason: 'count' }));
  assert.deepEqual(moved.map(({ delta, source }) => [delta, source]), [[-31, 'erp']]);
});

test('reads the change feed to its end', async (t) => {
  const { shop } = await start(t);
  await (await shop.products.import(makeRows(1_001))).summary();
  await shop.stock.sync([{ sku: 'S-0', set: 1 }]);
  const changes = await Array.fromAsync(shop.changes({ after: 0 }));
  assert.deepEqual(changes.map(({ position }) => position),
    Array.from({ length: 1_002 }, (_, n) => n + 1));
  const last = changes.at(-1);
  assert.ok(last?.type === 'stock');
  assert.equal(last.data.delta, -39); // typed by `type`
});

test('follows changes as they happen', async (t) => {
  const { shop } = await start(t);
  await shop.products.create(MUG);
  const types = [];
  for await (const { type, position } of shop.changes({ after: 0, live: true })) {
    types.push(type);
    if (position === 1) await shop.stock.sync([{ sku: 'MUG-1', set: 1 }]);
    else if (position === 2) await shop.products.delete({ sku: 'MUG-1' });
    else break;
  }
  assert.deepEqual(types, ['created', 'stock', 'deleted']);
});

test('manages webhooks', async (t) => {
  const server = await startServer(t, { webhooks: { allowPrivate: true, allowHttp: true } });
  const { key } = await server.makeSeller();
  const { webhooks } = new SellerClient({ baseUrl: `http://127.0.0.1:${server.port}`, key });
  const { id, secret } = await webhooks.create({ url: 'http://127.0.0.1:9/', types: ['stock'] });
  assert.match(secret, /^whsec_/);
  assert.equal((await webhooks.get(id)).status, 'active');
  assert.equal((await webhooks.patch(id, { status: 'disabled' })).status, 'disabled');
  assert.deepEqual((await Array.fromAsync(webhooks.list())).map((one) => one.id), [id]);
  assert.equal((await webhooks.test(id)).status, null);
  const [attempt] = await Array.fromAsync(webhooks.deliveries(id));
  const detail = await webhooks.delivery(id, attempt?.n ?? 0);
  assert.equal(detail.request?.body_bytes, detail.request?.body.length);
  assert.notEqual((await webhooks.rotateSecret(id, '0s')).secret, secret);
  assert.equal((await webhooks.replay(id, 0)).position, 0);
  await webhooks.delete(id);
  await assert.rejects(webhooks.get(id), NotFoundError);
});

test('looks up products, and lists them by metadata', async (t) => {
  const { shop } = await start(t);
  const barcode = '4006381333931';
  const mug = await shop.products.create({ ...MUG, barcode, metadata: { erp_id: '7' } });
  await shop.products.create({ ...MUG, sku: 'CUP-1', barcode: `0${barcode}` });
  const { results, position } = await shop.products.lookup([
    { sku: 'MUG-1' }, { id: mug.id }, { barcode }, { metadata: { erp_id: '7' } }, { sku: 'NO' },
  ], { fields: ['sku'] });
  assert.deepEqual(results.map((products) => products.map(({ sku }) => sku)),
    [['MUG-1'], ['MUG-1'], ['MUG-1', 'CUP-1'], ['MUG-1'], []]);
  assert.equal(position, 2);
  const listed = await Array.fromAsync(shop.products.list({ metadata: { erp_id: '7' } }));
  assert.deepEqual(listed.map(({ sku }) => sku), ['MUG-1']);
  assert.deepEqual(await shop.products.get(mug.id, { fields: ['stock'] }), { stock: 40 });
  const { results: [result] } = await shop.stock.sync([{ barcode, set: 1 }]);
  assert.equal(result?.status, 'ambiguous');
  // The cast: as a program in JavaScript calls it.
  await assert.rejects(shop.products.lookup([{ sku: '' }, {} as never]), (error) => {
    assert.ok(error instanceof InvalidDataError);
    assert.deepEqual(error.issues.map(({ pointer }) => pointer), ['/queries/0/sku', '/queries/1']);
    return true;
  });
});
