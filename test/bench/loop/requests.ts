/** Requests that are as heavy as their limits allow, by name. */
import { strict as assert } from 'node:assert';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { makeVariedProduct } from '../load/made-up.ts';
import {
  BUSY, importOf, makeCsv, makeLines, type MeasuredShop, openWebhooks, PRODUCTS, type Sent,
} from './shop.ts';

type Send = (shop: MeasuredShop, round: number) => Promise<unknown>;

type Fields = Readonly<Record<string, string>>;

const JSON_TYPE = { 'content-type': 'application/json' };
const LINES_TYPE = { 'content-type': 'application/x-ndjson' };
const CSV_ROWS = 230_000;
const CHANGES = 10_000;
const MIB = 1024 * 1024;
const WEBHOOKS_MS = 2_000;
const SEARCH_WAIT_MS = 500;
const IMPORT_WAIT_MS = 200;

export const requests: Readonly<Record<string, Send>> = {
  ...listRequests(), ...stockRequests(), ...historyRequests(), ...importRequests(),
  ...bodyRequests(), ...pageRequests(), ...concurrentRequests(),
};

function ask(status: number, make: (round: number) => Sent): Send {
  return async ({ send }, round) => {
    const answer = await send(make(round));
    assert.equal(answer.status, status, answer.head);
  };
}

function get(path: string, headers: Fields = {}): Send {
  return ask(200, () => ({ path, headers }));
}

/** A page that is not cached: each round requests another one. */
function page(query: string, headers: Fields = {}): Send {
  return ask(200, (round) => ({
    path: `/api/v1/products?limit=${1_000 - round}${query}`, headers,
  }));
}

function listRequests(): Readonly<Record<string, Send>> {
  return {
    'list of 1,000': page(''),
    'list of 1,000, brotli': page('&fields=id,name,sku,stock,price', { 'accept-encoding': 'br' }),
    'list of 1,000, gzip': page('&fields=id,name,sku,stock', { 'accept-encoding': 'gzip' }),
    'list of 1,000 with q': page('&q=mug'),
    'list of 1,000 with q, sorted': page('&q=number&sort=-name'),
    'export as lines': get('/api/v1/products?format=ndjson'),
    'export as CSV, gzip': get('/api/v1/products?format=csv', { 'accept-encoding': 'gzip' }),
    'openapi.json': get('/api/v1/openapi.json'),
  };
}

function postStock(members: object, query = ''): Sent {
  const body = JSON.stringify(members);
  return { method: 'POST', path: `/api/v1/stock${query}`, headers: JSON_TYPE, body };
}

function makeChanges(change: (n: number) => object): readonly object[] {
  return Array.from({ length: CHANGES }, (_, n) => change(n));
}

function stockRequests(): Readonly<Record<string, Send>> {
  const named = (n: number) => ({ sku: makeVariedProduct(n).sku });
  const good = makeChanges((n) => ({ ...named(n), adjust: 1 }));
  const explained = makeChanges((n) =>
    ({ ...named(n), adjust: 1, sequence: 0, reason: 'x'.repeat(90) }));
  const invalid = makeChanges(() => ({ sku: '', set: -1, a: 1, b: 2, c: 3 }));
  const partly = makeChanges((n) => (n % 2 === 0 ? { sku: '', set: -1 } : named(n)));
  const unknown = makeChanges((n) => ({ sku: `NO-${n}`, set: 1 }));
  return {
    'stock, 10,000 good': ask(200, () => postStock({ changes: good })),
    'stock, 10,000 valid with reasons': ask(200, (round) =>
      postStock({ changes: explained, source: `s${round}` })),
    'stock, 10,000 invalid': ask(200, () => postStock({ changes: invalid })),
    'stock, 10,000 half invalid': ask(200, () => postStock({ changes: partly })),
    'stock, 10,000 unknown': ask(200, () => postStock({ changes: unknown })),
    'stock, atomic, 10,000 invalid': ask(409, () =>
      postStock({ changes: invalid, atomic: true })),
    'stock, atomic, 10,000 unknown': ask(409, () =>
      postStock({ changes: unknown, atomic: true })),
    'stock, dry run': ask(200, () => postStock({ changes: good }, '?dry_run=true')),
    'stock, stocktake rejected': ask(409, () => postStock({ changes: good, complete: true })),
    'stock, stocktake as dry run': ask(200, () =>
      postStock({ changes: good, complete: true, force: true }, '?dry_run=true')),
    'stock in 100,000 lines': ask(200, () => ({
      method: 'POST', path: '/api/v1/stock', headers: LINES_TYPE,
      body: Array.from({ length: 100_000 }, (_, n) =>
        `{"sku":"${makeVariedProduct(n % 20_000).sku}","adjust":1}\n`).join(''),
    })),
    'stock in 30,000 invalid lines': ask(200, () => ({
      method: 'POST', path: '/api/v1/stock', headers: LINES_TYPE,
      body: `${JSON.stringify(invalid[0])}\n`.repeat(30_000),
    })),
  };
}

function historyRequests(): Readonly<Record<string, Send>> {
  const { sku } = makeVariedProduct(7);
  const { sku: busy } = BUSY;
  const movements = '/api/v1/stock/movements';
  return {
    'changes, 1,000': get('/api/v1/changes?limit=1000'),
    'changes of a rare type': get('/api/v1/changes?types=deleted&limit=1000'),
    'changes of a rare type, last': get('/api/v1/changes?types=deleted&after=199000'),
    'stock of 1,000': get('/api/v1/stock?limit=1000'),
    'stock of 1,000 as of': get('/api/v1/stock?limit=1000&at=100500'),
    'stock of all as of': get('/api/v1/stock?format=ndjson&at=100500'),
    'products of 1,000 as of': get('/api/v1/products?limit=1000&at=100500'),
    'products of all as of': get('/api/v1/products?format=csv&at=100500'),
    'no product by a SKU as of': ask(404, () => ({ path: '/api/v1/products/sku/none?at=1' })),
    'ledger of a product': get(`${movements}?sku=${sku}&limit=1000`),
    'ledger of a product with 100,000 movements': get(`${movements}?sku=${busy}&limit=1000`),
    'ledger of it, with a reason that none has': get(`${movements}?sku=${busy}&reason=none`),
    'ledger with a reason that none has': get(`${movements}?reason=none`),
    'ledger backwards with a source that none has': get(`${movements}?source=none&sort=-position`),
    'ledger as lines': get(`${movements}?format=ndjson`),
    'live stream over the whole history': ({ follow }) => follow('/api/v1/changes', 199_000),
  };
}

function importRequests(): Readonly<Record<string, Send>> {
  const csv = makeCsv(0, CSV_ROWS).slice(0, 10 * MIB);
  const lines = makeLines(0, 40_000);
  const invalid = `name,category,sku,price,stock\n${',,,,\n'.repeat(40_000)}`;
  return {
    'import of 10 MiB of CSV': ask(200, () => importOf(csv, 'text/csv')),
    'import of 10 MiB of CSV, gzip': ask(200, () => importOf(gzipSync(csv), 'text/csv', 'gzip')),
    'import of 40,000 lines': ask(200, () => importOf(lines, 'application/x-ndjson')),
    'import of 40,000 invalid rows': ask(200, () => importOf(invalid, 'text/csv')),
    'import of quoted line breaks': ask(200, () =>
      importOf(`name,category,sku,price,stock\n"${'\n'.repeat(250_000)}",a,b,1,1\n`, 'text/csv')),
    // The server rejects bodies that expand to more than 200 times their size.
    'import of 10 MB mostly of zeros, gzip': ask(200, () =>
      importOf(gzipSync(makeZeros(50, 200_000)), 'text/csv', 'gzip')),
  };
}

/** CSV with a number after every thousand zeros. */
function makeZeros(rows: number, rowCharacters: number): string {
  const line = (row: number): string => Array.from({ length: rowCharacters / 1_000 }, (_, n) =>
    String((row * 1_000 + n) * 7_919_317 % 1_000_003).padStart(1_000, '0')).join('');
  const lines = Array.from({ length: rows }, (_, n) => line(n));
  return ['name,category,sku,price,stock', ...lines].join('\n');
}

/** Bodies that are as expensive to parse as possible. */
function bodyRequests(): Readonly<Record<string, Send>> {
  const large = (status: number, body: string): Send => ask(status, () =>
    ({ method: 'POST', path: '/api/v1/stock', headers: JSON_TYPE, body }));
  const small = (status: number, body: string): Send => ask(status, () =>
    ({ method: 'POST', path: '/api/v1/products', headers: JSON_TYPE, body }));
  const members = (count: number): string =>
    Array.from({ length: count }, (_, n) => `"m${n}":0`).join(',');
  return {
    '64 KiB, as many members as fit': small(400, `{${members(5_500)}}`),
    '64 KiB, nested as deep as allowed': small(400, `[${'[[[[[[[]]]]]]],'.repeat(4_200)}0]`),
    '64 KiB of escapes': small(400, `{"name":"${'\\u0041'.repeat(10_000)}"}`),
    '64 KiB, the last member twice': small(400, `{${members(5_400)},"m5399":0}`),
    '64,000 numbers': large(400, `{"changes":[${'0,'.repeat(63_900)}0]}`),
    '64,000 members': large(400, `{${members(63_900)}}`),
    '64,000 objects': large(400, `{"changes":[${'{},'.repeat(31_900)}{}]}`),
    '64,000 arrays with one member each': large(400, `{"changes":[${
      Array.from({ length: 21_000 }, (_, n) => `[{"m${n}":0}]`).join(',')}]}`),
    '64,000 members, the last one twice': large(400, `{${members(63_900)},"m63899":0}`),
    '64,000 names with escapes': large(400, `{${
      Array.from({ length: 63_900 }, (_, n) => `"\\u006d${n}":0`).join(',')}}`),
    '64,000 texts with escapes': large(400, `{"changes":[${
      Array.from({ length: 63_900 }, (_, n) => `"\\u006d${n}"`).join(',')}]}`),
    '2 MiB of numbers': large(400, `{"changes":[${'0,'.repeat(MIB - 20)}0]}`),
    '2 MiB of members': large(400, `{${members(150_000)}}`),
    '2 MiB of escapes': large(400, `{"changes":"${'\\u0041'.repeat(340_000)}"}`),
    '2 MiB of names with escapes': large(400,
      `{"changes":[${'{"\\u0061":0},'.repeat(131_900)}{}]}`),
    '2 MiB that are not JSON': large(400, `{"changes":[${'"\\",'.repeat(500_000)}`),
  };
}

/** Concurrent requests, and one request that wakes many clients. */
function concurrentRequests(): Readonly<Record<string, Send>> {
  const changes = makeChanges((n) => ({ sku: makeVariedProduct(n).sku, adjust: 1 }));
  const invalid = makeChanges(() => ({ sku: '', set: -1, a: 1, b: 2 }));
  const all = (count: number, send: Send): Send => (shop, round) =>
    Promise.all(Array.from({ length: count }, () => send(shop, round)));
  return {
    '8 concurrent large stock requests': all(8, ask(200, () => postStock({ changes: invalid }))),
    '20 concurrent pages of past stock': all(20, get('/api/v1/stock?limit=1000&at=100500')),
    '4 concurrent imports': all(4, ask(200, () =>
      importOf(makeLines(0, 10_000), 'application/x-ndjson'))),
    'a change that 200 streams follow': (shop) => shop.followAll(async () => {
      await ask(200, () => postStock({ changes: changes.slice(0, 1) }))(shop, 0);
    }),
    '10,000 changes to 20 webhooks': async (shop, round) => {
      const close = await openWebhooks(shop);
      await ask(200, () => postStock({ changes }))(shop, round);
      await wait(WEBHOOKS_MS);
      await close();
    },
  };
}

function visit(path: string, status = 200): Send {
  return async ({ user }) => {
    let answer = await user.get(`/portal${path}`);
    while (answer.status === 503) { // the search projection is catching up
      await wait(SEARCH_WAIT_MS);
      answer = await user.get(`/portal${path}`);
    }
    assert.equal(answer.status, status, answer.text.slice(0, 300));
  };
}

function pageRequests(): Readonly<Record<string, Send>> {
  return {
    'portal: overview': visit('/'),
    'portal: products': visit('/products'),
    'portal: products with q': visit('/products?q=mug'),
    'portal: changes': visit('/changes'),
    'portal: changes of a rare type': visit('/changes?type=deleted'),
    'portal: changes of a product': visit(`/changes?product=${makeVariedProduct(7).sku}`),
    'portal: activity': visit('/activity'),
    'portal: API': visit('/api'),
    'portal: an operation of the API': visit('/api/syncStock'),
    'portal: keys': visit('/keys'),
    'portal: export': visit('/export?format=csv'),
    'portal: a form of 64 KiB': async ({ user }) => {
      await user.get('/portal/products/new');
      await user.post('/portal/products/new', new URLSearchParams(
        Array.from({ length: 9_000 }, (_, n) => [`f${n}`, ''])));
    },
    'portal: upload of near-boundaries': async ({ user }) => {
      await user.get('/portal/import');
      await user.submit({ file: new File(['\r\n-'.repeat(3 * MIB)], 'a.csv') });
    },
    'portal: upload, preview and import of 10 MiB': importOnPortal,
    'portal: a new password': async ({ user }, round) => {
      await user.get('/portal/account/password');
      await user.submit({
        current_password: `seven green boats ${round + 1}`,
        new_password: `seven green boats ${round + 2}`,
      });
      assert.equal(user.page?.status, 303);
    },
  };
}

async function importOnPortal({ user }: MeasuredShop, round: number): Promise<void> {
  await user.get('/portal/import');
  const text = makeCsv(PRODUCTS + round, 200_000).slice(0, 10 * MIB);
  await user.submit({ file: new File([text], 'a.csv') });
  const { location = '' } = user.page?.headers ?? {};
  assert.notEqual(location, '');
  await waitFor(user, location, /Import now/);
  await user.submit({ revision: user.valueOf('revision') ?? '' });
  await waitFor(user, location, /Imported|created/);
}

async function waitFor(
  user: MeasuredShop['user'], path: string, wanted: RegExp,
): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    await user.get(path);
    if (wanted.test(user.page?.text ?? '')) return;
    await wait(IMPORT_WAIT_MS);
  }
  assert.fail(user.page?.text);
}
