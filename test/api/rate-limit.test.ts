/** Rate limits per key and per seller, and the limit on rejected keys per address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateApiKey, type NewApiKey, toStoredSecret } from '../../src/domain/access/api-key.ts';
import { type Clock, makeClock } from '../support/clock.ts';
import type { Answer } from '../support/http.ts';
import { startServer, type TestSeller, type TestServer } from '../support/server.ts';
import { assertProblem } from './problem.ts';

const PRODUCTS = '/api/v1/products';
const FAILURES_PER_MINUTE = 60;

test('sends the limit and the remaining requests, and rejects requests over it', async (t) => {
  const server = await startServer(t, { clock: makeClock(), rateLimitPerMinute: 3 });
  const seller = await server.makeSeller();
  const left: (string | string[] | undefined)[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { status, headers } = await seller.send({ path: PRODUCTS });
    assert.equal(status, 200);
    assert.equal(headers['ratelimit-policy'], '"requests";q=3;w=60');
    assert.equal(headers['retry-after'], undefined);
    left.push(headers['ratelimit']);
  }
  assert.deepEqual(left, ['"requests";r=2;t=20', '"requests";r=1;t=40', '"requests";r=0;t=60']);
  const refused = await seller.create();
  const { detail } = assertProblem(refused, 429, 'rate-limited');
  assert.match(detail, /20 s/);
  assert.equal(refused.headers['retry-after'], '20');
  assert.equal(refused.headers['ratelimit-policy'], '"requests";q=3;w=60');
  assert.equal(refused.headers['ratelimit'], '"requests";r=0;t=60');
});

test('changes nothing for a rejected request, and accepts it later', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock, rateLimitPerMinute: 3 });
  const seller = await server.makeSeller();
  for (let n = 0; n < 3; n += 1) assert.equal((await seller.create()).status, 201);
  assertProblem(await seller.create(), 429, 'rate-limited');
  clock.now += 19_999;
  const early = await seller.create();
  assertProblem(early, 429, 'rate-limited');
  assert.equal(early.headers['retry-after'], '1');
  clock.now += 1;
  assert.equal((await seller.create()).headers['etag'], '"4"');
  assertProblem(await seller.create(), 429, 'rate-limited');
});

test('never accumulates more than one minute of requests', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock, rateLimitPerMinute: 2 });
  const seller = await server.makeSeller();
  await seller.send({ path: PRODUCTS });
  clock.now += 24 * 3_600_000;
  const statuses: number[] = [];
  for (let n = 0; n < 3; n += 1) statuses.push((await seller.send({ path: PRODUCTS })).status);
  assert.deepEqual(statuses, [200, 200, 429]);
});

test('counts keys of two sellers separately, even if created in one millisecond', async (t) => {
  const server = await startServer(t, { clock: makeClock(), rateLimitPerMinute: 1 });
  const seller = await server.makeSeller();
  const other = await server.makeSeller();
  assert.equal((await seller.send({ path: PRODUCTS })).status, 200);
  assertProblem(await seller.send({ path: PRODUCTS }), 429, 'rate-limited');
  assert.equal((await other.send({ path: PRODUCTS })).status, 200);
});

test('counts the keys of one seller separately', async (t) => {
  const server = await startServer(t, { clock: makeClock(), rateLimitPerMinute: 1 });
  const seller = await server.makeSeller();
  const headers = await makeKey(server, seller);
  assert.equal((await seller.send({ path: PRODUCTS })).status, 200);
  assertProblem(await seller.send({ path: PRODUCTS }), 429, 'rate-limited');
  assert.equal((await server.send({ path: PRODUCTS, headers })).status, 200);
});

/** Headers with a second key of a seller. */
async function makeKey(
  { store }: TestServer, { sellerId }: TestSeller, members: Partial<NewApiKey> = {},
) {
  const key = generateApiKey();
  const [first] = await store.listKeys(sellerId, { after: undefined, limit: 1 });
  assert.ok(first);
  await store.createKey(sellerId, toStoredSecret(key), { ...first, ...members });
  return { 'x-api-key': key };
}

test("limits a key by its own rate limit, which the response has, and others by the server's",
  async (t) => {
    const clock = makeClock();
    const server = await startServer(t, { clock, rateLimitPerMinute: 30 });
    const seller = await server.makeSeller({ rateLimitPerMinute: 2 });
    const headers = await makeKey(server, seller, { rateLimitPerMinute: undefined });
    for (const left of ['"requests";r=1;t=30', '"requests";r=0;t=60']) {
      const answer = await seller.send({ path: PRODUCTS });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['ratelimit-policy'], '"requests";q=2;w=60');
      assert.equal(answer.headers['ratelimit'], left);
    }
    const refused = await seller.send({ path: PRODUCTS });
    assertProblem(refused, 429, 'rate-limited');
    assert.equal(refused.headers['retry-after'], '30');
    assert.equal(refused.headers['ratelimit-policy'], '"requests";q=2;w=60');
    const other = await server.send({ path: PRODUCTS, headers });
    assert.equal(other.headers['ratelimit'], '"requests";r=29;t=2');
    clock.now += 30_000;
    assert.equal((await seller.send({ path: PRODUCTS })).status, 200);
    assertProblem(await seller.send({ path: PRODUCTS }), 429, 'rate-limited');
  });

test("never lets a key's own rate exceed that of the server, or of the seller", async (t) => {
  const limits = { rateLimitPerMinute: 3, sellerRateLimitPerMinute: 4 };
  const server = await startServer(t, { clock: makeClock(), ...limits });
  const seller = await server.makeSeller({ rateLimitPerMinute: 10_000 });
  const headers = await makeKey(server, seller, { rateLimitPerMinute: 2 });
  for (const status of [200, 200, 200, 429]) {
    const answer = await seller.send({ path: PRODUCTS });
    assert.deepEqual(
      [answer.status, answer.headers['ratelimit-policy']], [status, '"requests";q=3;w=60'],
    );
  }
  assert.equal((await server.send({ path: PRODUCTS, headers })).status, 200);
  const refused = await server.send({ path: PRODUCTS, headers });
  assertProblem(refused, 429, 'rate-limited');
  assert.equal(refused.headers['ratelimit-policy'], '"seller";q=4;w=60');
});

test('limits a key by its own rate where the server has no limit', async (t) => {
  const server = await startServer(t, { clock: makeClock(), rateLimitPerMinute: 0 });
  const seller = await server.makeSeller({ rateLimitPerMinute: 1 });
  const headers = await makeKey(server, seller, { rateLimitPerMinute: undefined });
  const { headers: fields } = await seller.send({ path: PRODUCTS });
  assert.equal(fields['ratelimit-policy'], '"requests";q=1;w=60');
  assertProblem(await seller.send({ path: PRODUCTS }), 429, 'rate-limited');
  for (let n = 0; n < 20; n += 1) {
    const other = await server.send({ path: PRODUCTS, headers });
    assert.deepEqual([other.status, other.headers['ratelimit']], [200, undefined]);
  }
});

test('limits all keys of a seller together, and no other seller', async (t) => {
  const clock = makeClock();
  const limits = { rateLimitPerMinute: 3, sellerRateLimitPerMinute: 4 };
  const server = await startServer(t, { clock, ...limits });
  const seller = await server.makeSeller();
  const other = await server.makeSeller();
  const headers = await makeKey(server, seller);
  for (let n = 0; n < 3; n += 1) {
    assert.equal((await seller.send({ path: PRODUCTS })).status, 200);
  }
  const last = await server.send({ path: PRODUCTS, headers });
  assert.equal(last.status, 200);
  assert.equal(last.headers['ratelimit-policy'], '"seller";q=4;w=60');
  assert.equal(last.headers['ratelimit'], '"seller";r=0;t=60');
  const refused = await server.send({ path: PRODUCTS, headers });
  assertProblem(refused, 429, 'rate-limited');
  assert.equal(refused.headers['retry-after'], '15');
  assert.equal(refused.headers['ratelimit'], '"seller";r=0;t=60');
  assert.equal((await other.send({ path: PRODUCTS })).status, 200);
  clock.now += 15_000;
  assert.equal((await server.send({ path: PRODUCTS, headers })).status, 200);
});

test("takes no seller token for a request over the key's rate, and vice versa",
  async (t) => {
    const clock = makeClock();
    const limits = { rateLimitPerMinute: 2, sellerRateLimitPerMinute: 3 };
    const server = await startServer(t, { clock, ...limits });
    const seller = await server.makeSeller();
    const headers = await makeKey(server, seller);
    for (const status of [200, 200, 429, 429, 429]) {
      const answer = await seller.send({ path: PRODUCTS });
      assert.equal(answer.status, status);
      if (status === 429) assert.match(String(answer.headers['ratelimit-policy']), /^"requests"/);
    }
    for (const status of [200, 429, 429]) {
      assert.equal((await server.send({ path: PRODUCTS, headers })).status, status);
    }
    clock.now += 20_000; // the seller has one token again, and the second key still has one
    assert.equal((await server.send({ path: PRODUCTS, headers })).status, 200);
  });

test('limits a seller to 10 times the rate of a key by default', async (t) => {
  const server = await startServer(t, { clock: makeClock(), rateLimitPerMinute: 1 });
  const seller = await server.makeSeller();
  for (let n = 0; n < 10; n += 1) {
    const headers = await makeKey(server, seller);
    assert.equal((await server.send({ path: PRODUCTS, headers })).status, 200);
  }
  assertProblem(await seller.send({ path: PRODUCTS }), 429, 'rate-limited');
});

test('limits sellers if keys have no limit, and keys if sellers have none', async (t) => {
  const options = { clock: makeClock(), rateLimitPerMinute: 0, sellerRateLimitPerMinute: 1 };
  const seller = await (await startServer(t, options)).makeSeller();
  assert.equal((await seller.send({ path: PRODUCTS })).status, 200);
  assertProblem(await seller.send({ path: PRODUCTS }), 429, 'rate-limited');
  const alone = { ...options, rateLimitPerMinute: 1, sellerRateLimitPerMinute: 0 };
  const other = await (await startServer(t, alone)).makeSeller();
  const { headers } = await other.send({ path: PRODUCTS });
  assert.equal(headers['ratelimit'], '"requests";r=0;t=60');
  assertProblem(await other.send({ path: PRODUCTS }), 429, 'rate-limited');
});

test('counts errors and 304 too, and sends the limit with them', async (t) => {
  const server = await startServer(t, { clock: makeClock(), rateLimitPerMinute: 3 });
  const seller = await server.makeSeller({ scopes: ['products:read'] });
  const answers = [
    await seller.create(),
    await seller.send({ path: `${PRODUCTS}?limit=0` }),
    await seller.send({ path: PRODUCTS, headers: { 'if-none-match': '*' } }),
  ];
  assert.deepEqual(answers.map(({ status }) => status), [403, 400, 304]);
  const left = answers.map(({ headers }) => String(headers['ratelimit']).split(';')[1]);
  assert.deepEqual(left, ['r=2', 'r=1', 'r=0']);
  assertProblem(await seller.send({ path: PRODUCTS }), 429, 'rate-limited');
});

test('does not limit, and sends no limit fields, if the limit is 0', async (t) => {
  const server = await startServer(t, { clock: makeClock(), rateLimitPerMinute: 0 });
  const seller = await server.makeSeller();
  const asked = Array.from({ length: 200 }, () => seller.send({ path: PRODUCTS }));
  for (const { status, headers } of await Promise.all(asked)) {
    assert.equal(status, 200);
    assert.equal(headers['ratelimit'], undefined);
    assert.equal(headers['ratelimit-policy'], undefined);
  }
});

/** Sends rejected requests until the limit is reached. */
async function useUpFailures(server: TestServer): Promise<void> {
  for (let n = 0; n < FAILURES_PER_MINUTE; n += 1) {
    const key = n % 2 === 0 ? generateApiKey() : 'x';
    const answer = await server.send({ path: PRODUCTS, headers: { 'x-api-key': key } });
    assert.equal(answer.status, 401);
  }
}

async function startGuessed(t: Parameters<typeof startServer>[0]) {
  const clock: Clock = makeClock();
  const server = await startServer(t, { clock });
  const guess = (): Promise<Answer> =>
    server.send({ path: PRODUCTS, headers: { 'x-api-key': generateApiKey() } });
  return { clock, server, guess };
}

test('limits an address that sends rejected keys', async (t) => {
  const { clock, server, guess } = await startGuessed(t);
  await useUpFailures(server);
  const refused = await guess();
  assertProblem(refused, 429, 'rate-limited');
  assert.equal(refused.headers['retry-after'], '1');
  assertProblem(await server.send({ path: PRODUCTS }), 429, 'rate-limited');
  clock.now += 1_000;
  assertProblem(await guess(), 401, 'key-unknown');
  assertProblem(await guess(), 429, 'rate-limited');
});

test('still accepts a valid key from an address that sends rejected ones', async (t) => {
  const { server, guess } = await startGuessed(t);
  const seller = await server.makeSeller();
  await useUpFailures(server);
  assertProblem(await guess(), 429, 'rate-limited');
  assert.equal((await seller.create()).status, 201);
  assert.equal((await seller.send({ path: PRODUCTS })).status, 200);
});
