/** Which keys are accepted. Errors say what to do, and nothing that helps guessing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateApiKey, toStoredSecret } from '../../src/domain/access/api-key.ts';
import { formatKeyId, formatSellerId } from '../../src/domain/id.ts';
import { makeClock } from '../support/clock.ts';
import type { Answer } from '../support/http.ts';
import { startServer, type TestSeller, type TestServer } from '../support/server.ts';
import { assertProblem, comparable } from './problem.ts';

const PRODUCTS = '/api/v1/products';
const HOUR_MS = 3_600_000;

function list(server: TestServer, key: string | string[]): Promise<Answer> {
  return server.send({ path: PRODUCTS, headers: { 'x-api-key': key } });
}

function assertChallenge(answer: Answer, error: string): void {
  assert.equal(answer.headers['www-authenticate'], `ApiKey realm="x-api-key", error="${error}"`);
}

test('rejects a request without a key, whatever it requests', async (t) => {
  const server = await startServer(t);
  for (const request of [
    { path: PRODUCTS }, { path: `${PRODUCTS}/prd_1` }, { path: `${PRODUCTS}?limit=0` },
    { path: PRODUCTS, method: 'POST', body: '{' },
    { path: PRODUCTS, headers: { 'x-api-key': '' } },
    { path: PRODUCTS, headers: { authorization: `Bearer ${generateApiKey()}` } },
    { path: PRODUCTS, headers: { cookie: `x-api-key=${generateApiKey()}` } },
  ]) {
    const answer = await server.send(request);
    const { detail } = assertProblem(answer, 401, 'key-missing');
    assert.match(detail, /x-api-key/);
    assertChallenge(answer, 'key_missing');
  }
});

test('returns 401 without a body to HEAD without a key', async (t) => {
  const server = await startServer(t);
  const answer = await server.send({ method: 'HEAD', path: PRODUCTS });
  assert.equal(answer.status, 401);
  assert.equal(answer.text, '');
  assertChallenge(answer, 'key_missing');
});

test('rejects a malformed key', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const other = key.endsWith('0') ? '1' : '0';
  const swapped = key.slice(0, 10) + key.charAt(11) + key.charAt(10) + key.slice(12);
  for (const text of [
    'x', 'null', '*', key.slice(4), key.slice(0, -1), `${key}0`, key.slice(0, -1) + other,
    ...(swapped === key ? [] : [swapped]), key.replace('spk_', 'SPK_'), `"${key}"`, `Bearer ${key}`,
    `${key},`, `${key}, ${key}`, key.toLowerCase() === key ? 'x' : key.toLowerCase(),
    'spk_' + '0'.repeat(36), 'spk_' + '\u00e9'.repeat(36), 'A'.repeat(8_000),
  ]) {
    const answer = await list(server, text);
    assertProblem(answer, 401, 'key-malformed');
    assertChallenge(answer, 'key_malformed');
  }
});

test('rejects a request with two keys', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  assertProblem(await list(server, [key, key]), 401, 'key-malformed');
  assertProblem(await list(server, [generateApiKey(), key]), 401, 'key-malformed');
});

test('rejects a key that was never created', async (t) => {
  const server = await startServer(t);
  await server.makeSeller();
  const answer = await list(server, generateApiKey());
  assertProblem(answer, 401, 'key-unknown');
  assertChallenge(answer, 'key_unknown');
});

test('rejects a revoked key on its next request, exactly like an unknown one', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  assert.equal((await seller.create()).status, 201);
  await server.store.revokeKey(seller);
  const revoked = await seller.send({ path: PRODUCTS });
  assertProblem(revoked, 401, 'key-unknown');
  assert.deepEqual(comparable(revoked), comparable(await list(server, generateApiKey())));
  assertProblem(await seller.create(), 401, 'key-unknown');
});

test('rejects a key from the moment it expires', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock });
  const seller = await server.makeSeller({ expiresAt: clock.now + HOUR_MS });
  clock.now += HOUR_MS - 1;
  assert.equal((await seller.create()).status, 201);
  clock.now += 1;
  const answer = await seller.send({ path: PRODUCTS });
  assertProblem(answer, 401, 'key-expired');
  assertChallenge(answer, 'key_expired');
  assertProblem(await seller.create(), 401, 'key-expired');
});

test('accepts both keys of a rotation until the old one expires', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock });
  const seller = await server.makeSeller();
  await seller.create();
  const next = generateApiKey();
  const made = await server.store.rotateKey(seller, toStoredSecret(next), HOUR_MS);
  assert.notEqual(made.id, seller.keyId);
  clock.now += HOUR_MS - 1;
  for (const key of [seller.key, next]) {
    assert.equal((await list(server, key)).json().products.length, 1);
  }
  clock.now += 1;
  assertProblem(await list(server, seller.key), 401, 'key-expired');
  assert.equal((await list(server, next)).status, 200);
});

test('expires the old key immediately if a rotation has no overlap', async (t) => {
  const server = await startServer(t, { clock: makeClock() });
  const seller = await server.makeSeller();
  const next = generateApiKey();
  await server.store.rotateKey(seller, toStoredSecret(next), 0);
  assertProblem(await list(server, seller.key), 401, 'key-expired');
  assert.equal((await list(server, next)).status, 200);
});

test('accepts a key only from its allowed addresses', async (t) => {
  const server = await startServer(t);
  for (const ranges of [['127.0.0.0/8'], ['127.0.0.1'], ['2001:db8::/32', '127.0.0.1/32']]) {
    const seller = await server.makeSeller({ addressRanges: ranges });
    assert.equal((await seller.create()).status, 201, ranges.join(' '));
  }
  for (const ranges of [['192.0.2.0/24'], ['2001:db8::/32'], ['127.0.0.2/32', '::1']]) {
    const seller = await server.makeSeller({ addressRanges: ranges });
    const answer = await seller.create();
    assertProblem(answer, 401, 'address-refused');
    assertChallenge(answer, 'address_refused');
    assert.ok(!ranges.some((range) => answer.text.includes(range)), answer.text);
  }
});

test('ignores headers that claim a client address', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller({ addressRanges: ['192.0.2.1'] });
  for (const headers of [
    { 'x-forwarded-for': '192.0.2.1' }, { forwarded: 'for=192.0.2.1' },
    { 'x-real-ip': '192.0.2.1' },
  ]) {
    assertProblem(await seller.send({ path: PRODUCTS, headers }), 401, 'address-refused');
  }
});

test('requires the scope of the operation', async (t) => {
  const server = await startServer(t);
  const reader = await server.makeSeller({ scopes: ['products:read', 'stock:write'] });
  const writer = await server.makeSeller({ scopes: ['products:write', 'changes:read'] });
  const refusedWrite = assertProblem(await reader.create(), 403, 'scope-missing');
  assert.match(refusedWrite.detail, /products:write/);
  assert.equal((await reader.send({ path: PRODUCTS })).headers['etag'], '"0"');
  const created = await writer.create();
  assert.equal(created.status, 201);
  for (const path of [PRODUCTS, created.headers['location'] ?? '']) {
    const refusedRead = assertProblem(await writer.send({ path }), 403, 'scope-missing');
    assert.match(refusedRead.detail, /products:read/);
  }
});

test('checks the scope before the data', async (t) => {
  const server = await startServer(t);
  const reader = await server.makeSeller({ scopes: ['products:read'] });
  assertProblem(await reader.create({ price: 'x' }), 403, 'scope-missing');
});

async function sendAs(seller: TestSeller, headers: Record<string, string>): Promise<Answer> {
  return seller.send({ path: PRODUCTS, headers });
}

test('rejects a key that a web page sends, and says why', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const headers of [
    { origin: 'https://shop.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none', origin: 'https://shop.example' },
  ]) {
    const answer = await sendAs(seller, headers);
    const { detail } = assertProblem(answer, 403, 'browser-refused');
    assert.match(detail, /web page/);
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
  }
  assert.equal((await sendAs(seller, { 'sec-fetch-site': 'none' })).status, 200);
});

test('rejects a caller that the host names if a web page sent the request', async (t) => {
  for (const allowBrowsers of [false, true]) {
    const ids: string[] = [];
    const authenticate = () => ({ seller: ids[0] ?? '' });
    const server = await startServer(t, { authenticate, allowBrowsers });
    const { sellerId } = await server.makeSeller();
    ids.push(formatSellerId(sellerId));
    const path = '/api/v1/products';
    for (const headers of [
      { origin: 'https://other.example' }, { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-origin' }, { origin: 'null' },
    ]) {
      const answer = await server.send({ path, headers });
      if (allowBrowsers) assert.equal(answer.status, 200);
      else assert.match(assertProblem(answer, 403, 'browser-refused').detail, /allowBrowsers/);
    }
    for (const headers of [{}, { 'sec-fetch-site': 'none' }]) {
      assert.equal((await server.send({ path, headers })).status, 200);
    }
  }
});

test('accepts a key from a web page if a setting allows it', async (t) => {
  const server = await startServer(t, { allowBrowsers: true });
  const seller = await server.makeSeller();
  const headers = { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' };
  assert.equal((await sendAs(seller, headers)).status, 200);
});

test('gives each seller its own catalogue, whichever of its keys it uses', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { key: stranger } = await server.makeSeller();
  await seller.create();
  const second = generateApiKey();
  const [first] = await server.store.listKeys(seller.sellerId, { after: undefined, limit: 1 });
  assert.ok(first);
  await server.store.createKey(seller.sellerId, toStoredSecret(second), first);
  assert.equal((await list(server, second)).json().products.length, 1);
  assert.equal((await list(server, stranger)).json().products.length, 0);
  assert.ok(formatKeyId(seller).startsWith('key_'));
});
