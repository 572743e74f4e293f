/** What is stored of a key: its last use, and nothing that reveals the key. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { generateApiKey } from '../../src/domain/access/api-key.ts';
import { makeClock } from '../support/clock.ts';
import type { Answer } from '../support/http.ts';
import { startServer, type TestSeller, type TestServer } from '../support/server.ts';

const PRODUCTS = '/api/v1/products';
const MINUTE_MS = 60_000;

async function findKey(server: TestServer, { sellerId, keyId }: TestSeller) {
  const keys = await server.store.listKeys(sellerId, { after: undefined, limit: 10 });
  const key = keys.find(({ id }) => id === keyId);
  assert.ok(key);
  return key;
}

// The writer works in order: once a create is answered, the use of its key is recorded.

test('records when and from where a key was last used', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock });
  const seller = await server.makeSeller();
  assert.equal((await findKey(server, seller)).lastUsedAt, undefined);
  clock.now += 5_000;
  await seller.create();
  const { lastUsedAt, lastUsedAddress } = await findKey(server, seller);
  assert.equal(lastUsedAt, clock.now);
  assert.equal(lastUsedAddress, '127.0.0.1');
});

test('records the use of a key at most once a minute', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock });
  const seller = await server.makeSeller();
  await seller.create();
  const first = clock.now;
  clock.now += MINUTE_MS - 1;
  await seller.create();
  assert.equal((await findKey(server, seller)).lastUsedAt, first);
  clock.now += 1;
  await seller.create();
  assert.equal((await findKey(server, seller)).lastUsedAt, first + MINUTE_MS);
});

test('records the use of each of several keys created in one millisecond', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock });
  const sellers = [await server.makeSeller(), await server.makeSeller()];
  for (const seller of sellers) await seller.create();
  for (const seller of sellers) {
    assert.equal((await findKey(server, seller)).lastUsedAt, clock.now);
  }
});

test('does not record the use of a rejected key', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock });
  const writer = await server.makeSeller();
  const expired = await server.makeSeller({ expiresAt: clock.now });
  const elsewhere = await server.makeSeller({ addressRanges: ['192.0.2.1'] });
  const browser = await server.makeSeller();
  assert.equal((await expired.create()).status, 401);
  assert.equal((await elsewhere.create()).status, 401);
  const headers = { origin: 'https://shop.example' };
  assert.equal((await browser.send({ path: PRODUCTS, headers })).status, 403);
  await writer.create();
  for (const seller of [expired, elsewhere, browser]) {
    assert.equal((await findKey(server, seller)).lastUsedAt, undefined);
  }
});

/** Every kind of response that a request with this key can get. */
async function collectResponses(server: TestServer, seller: TestSeller): Promise<Answer[]> {
  const { key } = seller;
  const answers = [
    await seller.create({ sku: 'taken' }),
    await seller.create({ sku: 'taken' }),
    await seller.create({ price: 'x' }),
    await seller.send({ path: PRODUCTS }),
    await seller.send({ path: `${PRODUCTS}?limit=0` }),
    await seller.send({ path: `${PRODUCTS}/prd_1` }),
    await seller.send({ path: '/' }),
    await seller.send({ method: 'PUT', path: PRODUCTS }),
    await seller.send({ method: 'TRACE', path: PRODUCTS }),
    await seller.send({ path: PRODUCTS, headers: { origin: 'https://shop.example' } }),
    await seller.send({ path: PRODUCTS, headers: { 'x-api-key': `${key}x` } }),
    await seller.send({ path: PRODUCTS, headers: { 'x-api-key': [key, key] } }),
    await seller.send({ method: 'POST', path: PRODUCTS, body: '{}' }),
  ];
  await server.store.revokeKey(seller);
  answers.push(await seller.send({ path: PRODUCTS }));
  return answers;
}

test('puts no key into a response, an error report or a file', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const answers = await collectResponses(server, seller);
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(
    statuses, [201, 409, 400, 200, 400, 404, 404, 405, 405, 403, 401, 401, 415, 401]);
  // The random part: the checksum alone reveals nothing.
  const secret = seller.key.slice(4, 34);
  for (const { headers, text } of answers) {
    assert.ok(!(JSON.stringify(headers) + text).includes(secret), text);
  }
  assert.ok(!inspect(server.reports, { depth: null }).includes(secret));
  const files = readdirSync(server.folder);
  assert.ok(files.length > 0);
  for (const file of files) {
    assert.ok(!readFileSync(join(server.folder, file)).includes(secret), file);
  }
});

test('does not report errors that clients cause', async (t) => {
  const server = await startServer(t);
  await collectResponses(server, await server.makeSeller());
  await server.send({ path: PRODUCTS, headers: { 'x-api-key': generateApiKey() } });
  assert.deepEqual(server.reports, []);
});
