/** Exports in the portal: the same files as the API's, for signed-in users. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { AccessLogEntry as AnsweredRequest } from '../../../../src/http/request-record.ts';
import { makeClock } from '../../../support/clock.ts';
import { startServer } from '../../../support/server.ts';
import { exchange } from '../../../http/raw.ts';
import { openShop, readText, PageClient } from '../page-client.ts';

test('exports all products, or those of a search', async (t) => {
  const server = await startServer(t, { portal: true, clock: makeClock() });
  const { user, send } = await openShop(server);
  for (const [sku, price] of [['M-1', 12.5], ['M-2', 13], ['M-3', 14]] as const) {
    const product = { name: `Mug ${sku}`, category: 'Kitchen', sku, price, stock: 1 };
    await send({
      method: 'POST', path: '/api/v1/products', body: JSON.stringify(product),
      headers: { 'content-type': 'application/json' },
    });
  }
  for (const [query, same] of [
    ['format=csv&q=&category=+&price_min=', 'format=csv'],
    ['format=ndjson&stock=out', 'format=ndjson&stock_max=0'],
    ['format=csv&q=mug&price_min=12,50&price_max=13&sort=-price&page=2',
      'format=csv&q=mug&price_min=12.50&price_max=13&sort=-price'],
  ] as const) {
    const file = await user.get(`/portal/export?${query}`);
    const expected = await send({ path: `/api/v1/products?${same}` });
    assert.equal(file.status, 200);
    assert.equal(file.text, expected.text);
    assert.equal(file.headers['content-type'], expected.headers['content-type']);
    const ending = same.startsWith('format=csv') ? 'csv' : 'ndjson';
    assert.match(file.headers['content-disposition'] ?? '',
      new RegExp(`^attachment; filename="products-2026-01-02\\.${ending}";`));
    assert.equal(file.headers['cache-control'], 'private, no-cache');
  }
  const rejected = await user.get('/portal/export?price_min=cheap&sort=x');
  assert.equal(rejected.status, 400);
  assert.match(readText(rejected.text), /filters are invalid.*plain number.*Must be one of/);
  assert.equal((await new PageClient(server.port).get('/portal/export')).status, 303);
});

test('has a length over HTTP/1.0, like every file of the portal', async (t) => {
  const server = await startServer(t, { portal: true });
  const { user, send } = await openShop(server);
  await send({
    method: 'POST', path: '/api/v1/products', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Mug', category: 'K', sku: 'M', price: 1, stock: 1 }),
  });
  for (const path of ['/portal/export?format=csv', '/portal/movements/export?format=ndjson']) {
    const { text } = await user.get(path);
    const cookie = user.formatCookies();
    const answer = await exchange(t, server.port,
      `GET ${path} HTTP/1.0\r\nHost: 127.0.0.1:${server.port}\r\nCookie: ${cookie}\r\n\r\n`);
    const [head = '', body] = answer.split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 200 /);
    assert.match(head, new RegExp(`^content-length: ${text.length}\r$`, 'm'));
    assert.equal(body, text);
  }
});

test('is linked from the import page and the product list', async (t) => {
  const server = await startServer(t, { portal: true });
  const { user, send } = await openShop(server);
  const { text } = await user.get('/portal/import');
  assert.match(text, /<form method="get" action="\/portal\/export"/);
  assert.doesNotMatch((await user.get('/portal/products')).text, /Export these/);
  for (const name of ['Mug', 'Cup']) {
    await send({
      method: 'POST', path: '/api/v1/products',
      body: JSON.stringify({ name, category: 'K & L', sku: name, price: 1, stock: 1 }),
      headers: { 'content-type': 'application/json' },
    });
  }
  const page = await user.get('/portal/products?q=cup');
  const button = /<button class="small"\s+form="search" formaction="([^"]*)" name="format"/;
  const [, path = ''] = button.exec(page.text) ?? [];
  assert.match(page.text, /<form method="get"[^>]* id="search"/);
  const file = await user.get(`${path}?q=cup&category=K+%26+L&stock=&sort=id&format=csv`);
  assert.match(file.text, /^id,name,[^\n]*\r\n[^\n]*,Cup,K & L,[^\n]*\r\n$/);
});

test('ends an export when its session ends', async (t) => {
  const entries: AnsweredRequest[] = [];
  const server = await startServer(t, {
    portal: true, streamLimits: { reauthorizeIntervalMs: 20 },
    onRequestComplete: (entry) => entries.push(entry),
  });
  const { user } = await openShop(server);
  await user.get('/portal');
  t.mock.method(server.store, 'exportProducts', async () => ({
    position: 0, pages: (async function* () { for (;;) yield await wait(1, []); })(),
  }));
  const cookie = user.formatCookies();
  const outgoing = request({
    host: '127.0.0.1', port: server.port, path: '/portal/export', headers: { cookie },
    agent: false,
  }).on('error', () => {}).end();
  t.after(() => outgoing.destroy());
  const [response] = await once(outgoing, 'response') as [IncomingMessage];
  response.on('error', () => {});
  assert.equal(response.statusCode, 200);
  const closed = new Promise((resolve) => response.resume().once('close', resolve));
  await user.submit({}, { action: '/portal/sign-out' });
  await closed;
  assert.equal(response.complete, false);
  const findEntry = () => entries.find(({ route }) => route === '/portal/export');
  while (!findEntry()) await wait(1);
  assert.deepEqual([findEntry()?.status, findEntry()?.code], [200, 'browser_refused']);
  assert.deepEqual(server.reports, []);
});
