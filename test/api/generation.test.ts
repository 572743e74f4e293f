/**
 * After a restore, positions mean other changes: everything that was handed out before is
 * recognized, at every door, and what is handed out afterwards works.
 */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { moment, position } from '../../src/api/parameters.ts';
import { SellerClient } from '../../src/client/index.ts';
import type { WebhookId } from '../../src/domain/id.ts';
import { readMessage } from '../../src/features/webhooks/message.ts';
import type { Store } from '../../src/store/store.ts';
import { run } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { type Answer, type Request, send } from '../support/http.ts';
import { processEnd } from '../support/process-end.ts';
import { routes } from '../support/routes.ts';
import { startServer, type TestServer } from '../support/server.ts';

const EVENTS = { accept: 'text/event-stream' };
const JSON_BODY = { 'content-type': 'application/json' };
const MARK = /^[a-z2-7]{5}$/;

/** Pages of each list, by the path without its cursor. */
const LISTS = [
  '/api/v1/products?limit=1', '/api/v1/products?limit=1&sort=-price', '/api/v1/stock?limit=1',
  '/api/v1/products?limit=1&at=0', '/api/v1/stock/movements?limit=1', '/api/v1/imports?limit=1',
];

interface Shop {
  readonly server: TestServer;
  send(request: Request): Promise<Answer>;
}

/** Runs work on a server of this folder, and stops it. */
async function serving<Result>(
  t: TestContext, folder: string, key: string | undefined,
  work: (shop: Shop, key: string) => Promise<Result>,
): Promise<Result> {
  let result: { readonly value: Result } | undefined;
  await t.test('serves', async (t1) => {
    const server = await startServer(t1, { folder, webhooks: {} });
    const own = key ?? (await server.makeSeller()).key;
    result = {
      value: await work({
        server,
        send: ({ headers, ...request }) =>
          send(server.port, { ...request, headers: { 'x-api-key': own, ...headers } }),
      }, own),
    };
  });
  assert.ok(result, 'the server has failed');
  return result.value;
}

async function create(shop: Shop, names: readonly string[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const name of names) {
    const body = JSON.stringify({ name, category: 'Kitchen', sku: name, price: 9.5, stock: 4 });
    answers.push(await shop.send({
      method: 'POST', path: '/api/v1/products', headers: JSON_BODY, body,
    }));
  }
  return answers;
}

async function importRows(shop: Shop, sku: string): Promise<Answer> {
  return shop.send({
    method: 'POST', path: '/api/v1/products/import',
    headers: { 'content-type': 'text/csv', accept: 'application/x-ndjson' },
    body: `sku,name,category,price,stock\n${sku},${sku},Kitchen,1,1\n`,
  });
}

async function readCursors(shop: Shop): Promise<ReadonlyMap<string, string>> {
  const cursors = new Map<string, string>();
  for (const path of LISTS) {
    const { headers: { etag = '' } } = await shop.send({ path: '/api/v1/products' });
    const answer = await shop.send({ path: path.replace('at=0', `at=${etag.slice(1, -1)}`) });
    assert.equal(answer.status, 200, `${path} ${answer.text}`);
    cursors.set(path.replace('&at=0', `&at=${etag.slice(1, -1)}`), answer.json().next_cursor);
  }
  return cursors;
}

/** What clients remember of a catalogue at position 7, whose last change created `sku`. */
async function handOut(shop: Shop, sku: string) {
  const product = await shop.send({ path: `/api/v1/products/sku/${sku}` });
  const list = await shop.send({ path: '/api/v1/products' });
  const exported = await shop.send({ path: '/api/v1/products?format=csv' });
  const feed = await shop.send({ path: '/api/v1/changes' });
  return {
    productTag: String(product.headers.etag), listTag: String(list.headers.etag),
    exportedAt: String(exported.headers['seller-position']),
    next: feed.json().next as number | string, cursors: await readCursors(shop),
  };
}

test('recognizes what it handed out before a restore, at every door', async (t) => {
  const { folder, key, before } = await restoreOlder(t);
  assert.deepEqual(
    [before.productTag, before.listTag, before.exportedAt, before.next],
    ['"6"', '"7"', '7', 7], 'a catalogue that was never restored shows no generation',
  );
  await serving(t, folder, key, async (shop) => {
    await create(shop, ['E', 'F', 'G']);
    await importRows(shop, 'H'); // position 8
    const status = async (request: Request) => (await shop.send(request)).status;
    for (const { method, path, query } of routes) {
      for (const [name, { parse }] of Object.entries(query)) {
        if (parse !== position.parse && parse !== moment.parse) continue;
        const at = `${path.replace('{sku}', 'A').replace('{id}', 'x')}?${name}=`;
        assert.equal(await status({ method, path: `${at}7` }), 410, `${method} ${at}7`);
        assert.equal(await status({ method, path: `${at}k7w2q-7` }), 410, `${at}k7w2q-7`);
        assert.notEqual(await status({ method, path: `${at}0` }), 410, 'the beginning of each');
      }
    }
    const last = { ...EVENTS, 'last-event-id': '7' };
    const streamed = await shop.send({ path: '/api/v1/changes', headers: last });
    assert.equal(streamed.status, 410);
    assert.match(streamed.json().detail, /before the catalogue was restored\. Export .* again/);
    for (const [path, cursor] of before.cursors) {
      const answer = await shop.send({ path: `${path}&cursor=${cursor}` });
      assert.equal(answer.status, 410, `${path} ${answer.text}`);
    }
    const altered = `abcde.${before.cursors.get('/api/v1/products?limit=1')}`;
    assert.equal(await status({ path: `/api/v1/products?limit=1&cursor=${altered}` }), 400);
    for (const [path, tag] of [['/api/v1/products', before.listTag],
      ['/api/v1/products/sku/C', before.productTag]] as const) {
      assert.equal(await status({ path, headers: { 'if-none-match': tag } }), 200, path);
    }
    await assertWritesReject(shop);
  });
});

async function assertWritesReject(shop: Shop): Promise<void> {
  const body = '{"stock":1}';
  for (const { method, path, operation } of routes) {
    if (!operation.requestHeaders?.includes('IfMatch') || !path.includes('{sku}')) continue;
    const request = {
      method, path: path.replace('{sku}', 'A'),
      headers: {
        ...(method === 'PATCH' && { 'content-type': 'application/merge-patch+json' }),
        ...(method === 'PUT' && JSON_BODY), 'if-match': '"1"',
      },
      ...(method === 'PUT' && { body: '{"name":"A","category":"B","price":1,"stock":1}' }),
      ...(method === 'PATCH' && { body }),
    };
    const answer = await shop.send(request);
    assert.equal(answer.status, 412, `${method} ${path} ${answer.text}`);
    assert.match(answer.json().detail, /or the catalogue was restored: its ETag is "\w{5}-1"/);
  }
  const revert = (after: unknown, upTo: unknown) => shop.send({
    method: 'POST', path: '/api/v1/reverts', headers: JSON_BODY,
    body: JSON.stringify({ after, up_to: upTo, dry_run: true }),
  });
  assert.deepEqual([(await revert(0, 7)).status, (await revert(6, 7)).status], [410, 410]);
  const hook = await shop.send({
    method: 'POST', path: '/api/v1/webhooks', headers: JSON_BODY,
    body: '{"url":"https://8.8.8.8/"}',
  });
  const replay = (from: unknown) => shop.send({
    method: 'POST', path: `/api/v1/webhooks/${hook.json().id}/replay`, headers: JSON_BODY,
    body: JSON.stringify({ position: from }),
  });
  assert.deepEqual([(await replay(7)).status, (await replay(0)).status], [410, 200]);
}

test('accepts what it hands out after a restore, also after a restart', async (t) => {
  const { folder, key } = await restoreOlder(t);
  const after = await serving(t, folder, key, async (shop) => {
    await create(shop, ['E', 'F', 'G']);
    await importRows(shop, 'H');
    return handOut(shop, 'G');
  });
  const mark = after.exportedAt.split('-')[0] ?? '';
  assert.match(mark, MARK);
  assert.deepEqual([after.productTag, after.listTag, after.exportedAt, after.next],
    [`"${mark}-7"`, `"${mark}-8"`, `${mark}-8`, `${mark}-8`]);
  await serving(t, folder, key, async (shop) => {
    const get = (path: string, headers = {}) => shop.send({ path, headers });
    const { json } = await get(`/api/v1/changes?after=${mark}-6`);
    assert.deepEqual(json().changes.map((change: { position: number }) => change.position), [7, 8]);
    assert.equal((await get(`/api/v1/changes?after=${after.next}`)).json().next, after.next);
    for (const [path, cursor] of after.cursors) {
      const { status, text } = await get(`${path}&cursor=${cursor}`);
      assert.equal(status, 200, `${path} ${text}`);
    }
    const path = '/api/v1/products/sku/G';
    assert.equal((await get(path, { 'if-none-match': after.productTag })).status, 304);
    assert.equal((await get('/api/v1/products', { 'if-none-match': after.listTag })).status, 304);
    assert.equal((await get(`/api/v1/products?at=${mark}-5`)).headers['seller-position'],
      `${mark}-5`);
    assert.equal((await get(`/api/v1/products?changed_since=${mark}-7`)).json().products.length, 1);
    const patch = (tag: string) => shop.send({
      method: 'PATCH', path, body: '{"stock":1}',
      headers: { 'content-type': 'application/merge-patch+json', 'if-match': tag },
    });
    const patched = await patch(after.productTag);
    assert.deepEqual([patched.status, patched.headers.etag], [200, `"${mark}-9"`]);
    assert.equal((await patch(after.productTag)).status, 412);
  });
});

test('the client works with both, and never takes one for the other', async (t) => {
  const { folder, key } = await restoreOlder(t);
  await serving(t, folder, key, async ({ server: { port } }) => {
    const shop = new SellerClient({ baseUrl: `http://127.0.0.1:${port}`, key, retries: 0 });
    const product = await shop.products.get({ sku: 'A' });
    const mark = String(product.position).split('-')[0];
    assert.equal(product.position, `${mark}-1`);
    const [listed] = await Array.fromAsync(shop.products.list({ limit: 1 }));
    assert.equal(listed?.position, product.position);
    await assert.rejects(shop.products.patch({ sku: 'A' }, { stock: 2 }, { ifMatch: 1 }),
      { name: 'PreconditionFailedError' });
    const patched = await shop.products.patch(
      { sku: 'A' }, { stock: 2 }, { ifMatch: product.position },
    );
    assert.equal(await shop.products.getIfChanged({ sku: 'A' }, patched.position), undefined);
    assert.equal((await shop.products.update({ sku: 'A' }, () => ({ stock: 3 }))).stock, 3);
    const { position: exportedAt } = await shop.products.export({ format: 'csv' });
    assert.equal(exportedAt, `${mark}-6`);
    await assert.rejects(Array.fromAsync(shop.changes({ after: 4 })),
      { name: 'ResyncRequiredError' });
    const [first, second] = await Array.fromAsync(shop.changes({ after: 0 }));
    assert.equal(first?.position, `${mark}-1`);
    assert.ok(first.type === 'created');
    assert.equal(first.data.position, `${mark}-1`, 'for ifMatch');
    const [again] = await Array.fromAsync(shop.changes({ after: first?.position ?? 0 }));
    assert.deepEqual(again, second);
    const stop = new AbortController();
    const live = shop.changes({ after: `${mark}-5`, live: true, signal: stop.signal });
    assert.equal((await live.next()).value?.position, `${mark}-6`);
    stop.abort();
    await assert.rejects(live.next());
  });
});

test('webhook messages name the generation, in which positions have other changes', async (t) => {
  const { folder, key } = await restoreOlder(t);
  await serving(t, folder, key, async ({ server: { store } }) => {
    const [seller] = await store.listSellers({ after: undefined, limit: 1 });
    const webhook = { sellerId: seller?.id ?? assert.fail(), id: 1 as WebhookId };
    const message = { id: 'msg_1', first: 1, last: 1, at: 0, types: null };
    for (const event of [undefined, 'created'] as const) {
      const read = (from: Store) =>
        readMessage(from, webhook, { ...message, ...event && { event } });
      const { data } = JSON.parse(await read(store) ?? '');
      assert.equal(data.generation, store.generation);
      const { data: plain } = JSON.parse(await read({ ...store, generation: undefined }) ?? '');
      assert.equal('generation' in plain, false);
    }
  });
});

let prepared: ReturnType<typeof prepare> | undefined;

/** A catalogue at position 7, restored to position 4. */
async function restoreOlder(t: TestContext) {
  prepared ??= prepare(t);
  const older = await prepared;
  const folder = join(makeFolder(t), 'data');
  cpSync(older.folder, folder, { recursive: true });
  return { ...older, folder };
}

async function prepare(t: TestContext) {
  const folder = join(makeFolder(processEnd), 'data');
  const file = join(makeFolder(processEnd), 'copy.db');
  const { key, before } = await serving(t, folder, undefined, async (shop, own) => {
    await create(shop, ['A', 'B', 'C']);
    await importRows(shop, 'D');
    const backup = await run(['backup', file, '--data', folder]);
    assert.equal(backup.status, 0, backup.notes);
    await create(shop, ['X', 'Y']);
    await importRows(shop, 'Z');
    return { key: own, before: await handOut(shop, 'Y') };
  });
  const { status, notes } = await run(['restore', file, '--data', folder, '--replace']);
  assert.equal(status, 0, notes);
  return { folder, key, before };
}
