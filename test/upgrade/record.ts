/**
 * Records the fixture of `upgrade.test.ts`: a data folder with every feature in use, and the
 * responses that its clients got. `make fixture` runs it: with each change of the schema until the
 * first release, and never after that, because the fixture is then a folder of an earlier version.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createApp } from '../../src/features.ts';
import { createPortal } from '../../src/features/portal/portal.ts';
import { startWebhooks } from '../../src/features/webhooks/webhooks.ts';
import { listen } from '../../src/http/server/listener.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { send } from '../support/http.ts';
import { DAY_MS } from '../store/contract/fixture.ts';
import { showCode } from '../features/portal/sign-in/authenticator.ts';
import { Browser, FORM_TYPE } from './browser.ts';
import { createDisabledSeller, fillEveryTable, findUnused } from './every-table.ts';
import {
  type Exchange, type Expectations, type Page, readAnswer, type SentRequest, toRequest,
} from './fixture.ts';

const at = Date.now();
let now = at;
const clock = (): number => now;
const folder = join(mkdtempSync(join(tmpdir(), 'upgrade-')), 'data');
const target = process.argv[2] ?? join(import.meta.dirname, 'fixture');
const JSON_TYPE = { 'content-type': 'application/json' };
const NDJSON_TYPE = { 'content-type': 'application/x-ndjson' };
const PASSWORD = 'seven green boats on a lake';

const received: { readonly path: string; readonly id: string; readonly body: string }[] = [];
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { url = '', headers } = request;
  received.push({
    path: url, id: String(headers['webhook-id']), body: Buffer.concat(chunks).toString(),
  });
  response.writeHead(url.startsWith('/failing') ? 500 : 204).end();
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
// A server that listens on a port has an address of this type.
const { port: receiverPort } = receiver.address() as AddressInfo;

const store = await openSqliteStore({ folder, clock });
const webhooks = startWebhooks({
  store, allowPrivate: true, allowHttp: true, clock, random: () => 1,
});
const app = createApp({
  store, clock, webhooks, rateLimitPerMinute: 0,
  portal: createPortal({ clock, openRegistration: true }),
});
const listener = await listen(app.handle, { host: '127.0.0.1', port: 0 }, {
  findMethods: app.findMethods,
});
const { port } = listener;

async function openShop(name: string, email: string) {
  const browser = new Browser(port);
  await browser.get('/portal/join');
  const page = await browser.post('/portal/join', {
    code: '', shop: '', name, currency: 'EUR', email, password: PASSWORD, time_zone: 'Etc/UTC',
  });
  const key = /spk_\w{36}/.exec(page)?.[0] ?? assert.fail(page);
  await browser.get('/portal');
  return { browser, key, email };
}

now -= 2 * DAY_MS;
await createDisabledSeller(store);
now = at;
await store.pruneHistory(at - DAY_MS);

const alder = await openShop('Alder', 'anna@alder.example');
const birch = await openShop('Birch', 'bert@birch.example');
const owner = await store.findCredentials(alder.email);
assert.ok(owner);
await fillEveryTable(store, owner.sellerId, at);

const retries: Exchange[] = [];
const reads: Exchange[] = [];
const forms: Exchange[] = [];
const pages: Page[] = [];

/** Sends a write twice: a retry has to get the answer to the second one. */
async function write(
  name: string, method: string, path: string, body?: string | object,
  { headers = JSON_TYPE, key = alder.key, times = 1 }: {
    headers?: Record<string, string>; key?: string; times?: number;
  } = {},
): Promise<ReturnType<typeof JSON.parse>> {
  const request: SentRequest = {
    method, path: `/api/v1/${path}`,
    headers: { 'x-api-key': key, 'idempotency-key': randomUUID(), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(times > 1 && { times }),
  };
  const first = await send(port, toRequest(request));
  assert.ok(first.status < 300, first.text);
  const answer = readAnswer(await send(port, toRequest(request)));
  assert.equal(answer.headers['idempotent-replay'], 'true', name);
  retries.push({ name, request, answer });
  return first.text.startsWith('{') && !first.text.includes('}\n') ? first.json() : undefined;
}

async function read(
  list: Exchange[], name: string, path: string, headers: Record<string, string> = {},
): Promise<void> {
  const request: SentRequest = {
    method: 'GET', path: `/api/v1/${path}`, headers: { 'x-api-key': alder.key, ...headers },
  };
  const answer = readAnswer(await send(port, toRequest(request)));
  assert.ok(answer.status < 400, answer.body);
  list.push({ name, request, answer });
}

/** The second page of a list. */
async function follow(path: string): Promise<void> {
  const listPath = `/api/v1/${path}`;
  const first = await send(port, { path: listPath, headers: { 'x-api-key': alder.key } });
  const cursor = first.json().next_cursor ?? assert.fail(`${path} has one page: ${first.text}`);
  await read(reads, path, `${path}&cursor=${cursor}`);
}

/** Sends a form twice, with the same nonce. */
async function submit(
  name: string, path: string, fields: Record<string, string>,
): Promise<string> {
  const request = alder.browser.describe(`/portal${path}`, { once: randomUUID(), ...fields });
  const first = await send(port, toRequest(request));
  assert.ok(first.status < 400, first.text);
  const { status, headers } = readAnswer(await send(port, toRequest(request)));
  forms.push({ name, request, answer: { status, headers, body: '' } });
  return first.headers.location ?? first.text;
}

async function followPage(path: string, pattern: RegExp): Promise<void> {
  const page = await alder.browser.get(`/portal${path}`);
  const next = /href="([^"]*)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
  assert.ok(next !== undefined, `${path} has one page`);
  const text = pattern.exec(await alder.browser.get(next))?.[0] ?? assert.fail(path);
  pages.push({ name: path, path: next, text });
}

const mug = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 19.99, stock: 7 };
const made = await write('create', 'POST', 'products', mug);
await write('create, other seller', 'POST', 'products', mug, { key: birch.key });
await write('put, new', 'PUT', 'products/sku/CUP-1', { ...mug, sku: 'CUP-1', name: 'Cup' });
await write('put, changed', 'PUT', 'products/sku/CUP-1', { ...mug, sku: 'CUP-1', name: 'Cup 2' });
await write('put if none', 'PUT', 'products/sku/CAN-1', { ...mug, sku: 'CAN-1' }, {
  headers: { ...JSON_TYPE, 'if-none-match': '*' },
});
await write('patch', 'PATCH', `products/${made.id}`, { price: 21.5, category: 'Bar' });
await write('patch by SKU', 'PATCH', 'products/sku/CUP-1', { stock: 3 });
await write('patch, unchanged', 'PATCH', 'products/sku/CUP-1', { stock: 3 });
const gone = await write('create to delete', 'POST', 'products', { ...mug, sku: 'GONE-1' });
await write('delete', 'DELETE', `products/${gone.id}`, undefined, { headers: {} });
await write('delete by SKU', 'DELETE', 'products/sku/CAN-1', undefined, { headers: {} });
await write('create with every field', 'POST', 'products', {
  ...mug, sku: 'FULL-1', barcode: '4006381333931', description: 'With a lid.\nBlue.',
  metadata: { colour: 'blue', size: 'L' }, low_stock: 3, archived: true,
});
const rows = Array.from({ length: 60 }, (_, n) =>
  ({ ...mug, sku: `ROW-${n}`, stock: n, price: n }));
await write('import', 'POST', 'products/import?report=all', `${
  [...rows, { sku: 'ROW-1' }, { sku: 'NEW' }].map((row) => JSON.stringify(row)).join('\n')}\n`, {
  headers: NDJSON_TYPE,
});
await write('import, create', 'POST', 'products/import?mode=create', 'sku,name,category,price,stock'
  + '\nMUG-1,Mug,Bar,1,1\nCSV-1,Plate,Bar,12.50,4\n', { headers: { 'content-type': 'text/csv' } });
await write('import, defaults', 'POST',
  'products/import?map=name:Title&default=category:Misc,stock:2&file_name=forks.csv',
  'sku,Title,price\nCSV-2,Fork,3\n', { headers: { 'content-type': 'text/csv' } });
await write('import, several batches', 'POST', 'products/import',
  `${JSON.stringify({ ...mug, sku: 'CUP-1', stock: 3 })}\n${JSON.stringify(rows[1])}\n`,
  { headers: NDJSON_TYPE, times: 1_100 });
await write('stock', 'POST', 'stock', {
  changes: [{ sku: 'MUG-1', set: 12 }, { id: made.id, adjust: -2, reason: 'sold' },
    { sku: 'ROW-1', set: 5, expect: 4 }, { sku: 'NONE', set: 1 }, { sku: 'ROW-2', set: -1 }],
});
await write('stock, source', 'POST', 'stock', {
  changes: [{ sku: 'MUG-1', set: 30, sequence: 7 }, { sku: 'CUP-1', set: 2, sequence: 8 }],
  source: 'erp', reason: 'count', atomic: true,
});
await write('stock, one product', 'POST', 'stock', { changes: [{ sku: 'MUG-1', adjust: -1 }] });
await write('stock, stocktake', 'POST', 'stock', {
  changes: [{ sku: 'MUG-1', set: 1 }, { sku: 'BAD', set: 1.5 }], complete: true, zero_limit: 100,
}, { key: birch.key });
await write('stock, stocktake forced', 'POST', 'stock', {
  changes: [{ sku: 'MUG-1', set: 2 }], complete: true, force: true,
}, { key: birch.key });
await write('stock lines', 'POST', 'stock?source=cash&reason=sold&report=failed',
  '{"sku":"ROW-3","adjust":-1}\n{"sku":"NONE","set":1}\n', { headers: NDJSON_TYPE });
await write('stock lines, several batches', 'POST', 'stock?report=failed',
  '{"sku":"ROW-4","adjust":0}\n', { headers: NDJSON_TYPE, times: 2_500 });

const records = await send(port, {
  path: '/api/v1/imports?limit=1', headers: { 'x-api-key': alder.key },
});
const [latest] = records.json().imports;
await write('revert', 'POST', 'reverts', { import: latest.id, force: true });

const endpoint = (path: string): object => ({
  url: `http://127.0.0.1:${receiverPort}/${path}`, description: path, types: ['deleted'],
});
const quiet = await write('webhook', 'POST', 'webhooks', endpoint('quiet'));
await write('webhook patch', 'PATCH', `webhooks/${quiet.id}`, { description: 'changed' });
await write('webhook disable', 'PATCH', `webhooks/${quiet.id}`, { status: 'disabled' });
await write('webhook replay', 'POST', `webhooks/${quiet.id}/replay`, { position: 5 });
await write('webhook rotate', 'POST', `webhooks/${quiet.id}/rotate-secret`, { overlap: '24h' });
await write('webhook rotate, default', 'POST', `webhooks/${quiet.id}/rotate-secret`, undefined, {
  headers: {},
});
const second = await write('webhook to delete', 'POST', 'webhooks', endpoint('second'));
await write('webhook delete', 'DELETE', `webhooks/${second.id}`, undefined, { headers: {} });

const created = await submit('product', '/products/new', {
  name: 'Bowl', category: 'Bar', sku: 'BOWL-1', price: '4.50', stock: '8',
});
const bowl = created.replace(/^\/portal|\?.*$/g, '');
await submit('stock set', `${bowl}/stock`, { set: '9', expect: '8', set_reason: 'count' });
await submit('stock adjusted', `${bowl}/adjust`, { amount: '2', way: 'take', amount_reason: '' });
const other = await submit('product to delete', '/products/new', {
  name: 'Jar', category: 'Bar', sku: 'JAR-1', price: '4', stock: '1',
});
const jar = other.replace(/^\/portal|\?.*$/g, '');
const position = /name="position" value="(\d+)"/.exec(
  await alder.browser.get(`/portal${jar}/delete`),
)?.[1] ?? assert.fail('No position');
await submit('product deleted', `${jar}/delete`, { position });
for (let n = 0; n < 26; n += 1) {
  await submit(`key ${n}`, '/keys/new', {
    name: `Key ${n}`, scopes: 'products:read', expires: '90d', day: '', allow: '',
  });
}
forms.splice(-25); // one is enough
const keyPath = /href="\/portal(\/keys\/key_\w+)"/.exec(
  await alder.browser.get('/portal/keys'),
)?.[1] ?? assert.fail('No key');
await submit('key rotated', `${keyPath}/rotate`, { overlap: '7d' });
await submit('webhook', '/webhooks/new', {
  url: `http://127.0.0.1:${receiverPort}/quiet`, description: 'by hand', types: 'deleted',
});
const hookPath = `/webhooks/${quiet.id}`;
await submit('webhook replayed', `${hookPath}/replay`, { position: '7' });
await submit('webhook rotated', `${hookPath}/rotate`, { overlap: '1h' });
const third = await write('webhook for the portal', 'POST', 'webhooks', endpoint('third'));
await submit('webhook deleted', `/webhooks/${third.id}/delete`, {});

// Half of a sign-in with two-factor authentication.
const totpPage = await birch.browser.get('/portal/account/two-factor');
const secret = /<pre id="copy-secret"[^>]*>([^<]+)</.exec(totpPage)?.[1] ?? assert.fail(totpPage);
const sealed = /name="secret" value="([^"]*)"/.exec(totpPage)?.[1] ?? '';
await birch.browser.post('/portal/account/two-factor', {
  secret: sealed, code: showCode(secret, at), current_password: PASSWORD,
});
const half = new Browser(port);
await half.get('/portal/sign-in');
await half.post('/portal/sign-in', { email: birch.email, password: PASSWORD, to: '' });
await half.get('/portal/sign-in/code');
assert.ok(half.cookies.has('__Host-second-step'));

// A form that is sent after its session ended.
const late = new Browser(port);
await late.get('/portal/sign-in');
await late.post('/portal/sign-in', { email: alder.email, password: PASSWORD, to: '' });
const edit = await late.get(`/portal/products/${made.id}`);
const ended = new Map(late.cookies);
await late.post('/portal/sign-out', {});
for (const [name, value] of ended) late.cookies.set(name, value);
const asked = await late.post(`/portal/products/${made.id}`, {
  ...readHidden(edit, `/portal/products/${made.id}`),
  name: 'A typed name', category: 'Bar', sku: 'MUG-1', price: '9',
});
const draftFields = readHidden(asked, '/portal/sign-in');
assert.ok(draftFields['draft'], asked);

/** The hidden fields of the form with this action. */
function readHidden(page: string, action: string): Record<string, string> {
  const form = page.split('<form').find((one) => one.includes(`action="${action}"`)) ?? '';
  return Object.fromEntries([...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
    .map(([, name = '', value = '']) => [name, value.replaceAll('&quot;', '"')]));
}

// Last, what is in flight: an endpoint that fails, whose secret was replaced.
const failing = await write('webhook in flight', 'POST', 'webhooks', {
  ...endpoint('failing'), types: undefined,
});
const rotated = await write('rotate in flight', 'POST', `webhooks/${failing.id}/rotate-secret`, {
  overlap: '24h',
});
const low = await write('webhook of low stock', 'POST', 'webhooks', {
  ...endpoint('failing-low'), types: ['stock.low'], delivery: 'single',
});
const closed = await write('webhook without a receiver', 'POST', 'webhooks', {
  ...endpoint('closed'), url: 'http://127.0.0.1:1/closed',
});
await write('create in flight', 'POST', 'products', { ...mug, sku: 'FLIGHT-1' });
await write('low stock in flight', 'PATCH', 'products/sku/FLIGHT-1', { stock: 0 });
for (const { id } of [quiet, quiet, closed]) await send(port, {
  method: 'POST', path: `/api/v1/webhooks/${id}/test`, headers: { 'x-api-key': alder.key },
});
for (const { id } of [failing, low, closed]) {
  const request = {
    path: `/api/v1/webhooks/${id}/deliveries`, headers: { 'x-api-key': alder.key },
  };
  while ((await send(port, request)).json().deliveries.length === 0) await wait(10);
}
const [message] = received.filter(({ path }) => path === '/failing');
assert.ok(message);

for (const key of ['id', 'name', 'sku', 'price', 'stock', 'updated_at']) {
  await follow(`products?limit=2&sort=${key}`);
  await follow(`products?limit=2&sort=-${key}`);
}
await follow('products?limit=2&q=mug&category=Kitchen&stock_min=1&price_max=40&sort=-price');
await follow('products?limit=2&fields=sku,stock');
await follow('stock?limit=2');
await follow('stock?limit=2&at=30');
await follow('stock/movements?limit=2');
await follow('stock/movements?limit=1&sort=-position&reason=sold');
await follow('stock/movements?limit=1&sku=MUG-1');
await follow('webhooks?limit=1');
await follow(`webhooks/${quiet.id}/deliveries?limit=1`);
await read(reads, 'changes', 'changes?after=20&limit=5');
await read(reads, 'changes by type', 'changes?after=3&limit=5&types=stock,deleted');
await read(reads, 'product', `products/${made.id}`);
const list = await send(port, { path: '/api/v1/products', headers: { 'x-api-key': alder.key } });
await read(reads, 'list, not modified', 'products', { 'if-none-match': String(list.headers.etag) });
await followPage('/products', /ROW-\d+/);
await followPage('/products?sort=-name', /ROW-\d+/);
await followPage('/keys', /Key \d+/);
await followPage('/movements', /MUG-1|ROW-\d+/);

const totals: Exchange[] = [];
await read(totals, 'position', 'products?limit=1');
await read(totals, 'changes', 'changes?after=60');
await read(totals, 'webhooks', 'webhooks');

const expectations: Expectations = {
  at, receiverPort, retries, reads, forms, pages, totals,
  signedIn: alder.browser.headers,
  twoFactor: { headers: { ...half.headers, ...FORM_TYPE }, csrf: half.csrf, secret },
  draft: {
    headers: { ...late.headers, ...FORM_TYPE },
    body: new URLSearchParams({
      ...draftFields, email: alder.email, password: PASSWORD,
    }).toString(),
    text: 'A typed name',
  },
  message: {
    id: message.id, body: message.body, secrets: [rotated.secret, failing.secret],
  },
};

await Promise.all([listener.stop(), webhooks.close(), app.close()]);
await store.close();
receiver.close();
using db = new DatabaseSync(join(folder, 'catalogue.db'), { readOnly: true });
assert.deepEqual(findUnused(db), []);
mkdirSync(target, { recursive: true });
for (const name of ['catalogue.db', 'search.db', 'server.key']) {
  const packed = gzipSync(readFileSync(join(folder, name)), { level: 9 });
  writeFileSync(join(target, `${name}.gz`), packed);
}
writeFileSync(join(target, 'expectations.json'), `${JSON.stringify(expectations, null, 1)}\n`);
