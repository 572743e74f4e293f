/** Every use of the client address takes the one that a trusted proxy forwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAILED_KEYS_PER_ADDRESS_PER_MINUTE } from '../../src/api/limits.ts';
import { PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE } from '../../src/features/portal/limits.ts';
import { openShop, PageClient } from '../features/portal/page-client.ts';
import { makeClock } from '../support/clock.ts';
import { startServer } from '../support/server.ts';
import { assertProblem } from './problem.ts';

const PATH = '/api/v1/products';
const trustedProxies = ['127.0.0.1'];
/** Clients on other machines reach the portal only at a base URL. */
const behindProxy = { trustedProxies, baseUrl: 'https://shop.example', portal: true } as const;

const from = (address: string) => ({ 'x-forwarded-for': address });
const fromPage = (address: string) => ({ ...from(address), host: 'shop.example' });

test('restricts keys by the address of the client', async (t) => {
  const server = await startServer(t, { trustedProxies });
  const seller = await server.makeSeller({ addressRanges: ['192.0.2.0/24'] });
  assert.equal((await seller.send({ path: PATH, headers: from('192.0.2.5') })).status, 200);
  for (const address of ['198.51.100.1', '192.0.2.5, 198.51.100.1', '']) {
    const answer = await seller.send({ path: PATH, headers: from(address) });
    assertProblem(answer, 401, 'address-refused');
  }
  const forged = { ...from('198.51.100.1'), forwarded: 'for=192.0.2.5' };
  assertProblem(await seller.send({ path: PATH, headers: forged }), 400, 'bad-request');
});

test('limits rejected keys by the address of the client', async (t) => {
  const server = await startServer(t, { trustedProxies, clock: makeClock() });
  const refuse = (address: string) => server.send({ path: PATH, headers: from(address) });
  for (let n = 0; n < FAILED_KEYS_PER_ADDRESS_PER_MINUTE; n += 1) await refuse('192.0.2.1');
  assert.equal((await refuse('192.0.2.1')).status, 429);
  assert.equal((await refuse('192.0.2.2')).status, 401);
});

test('limits rejected keys from IPv6 by the network of the client', async (t) => {
  const server = await startServer(t, { trustedProxies, clock: makeClock() });
  const refuse = (address: string) => server.send({ path: PATH, headers: from(address) });
  for (let count = 0; count < FAILED_KEYS_PER_ADDRESS_PER_MINUTE; count += 1) {
    await refuse(`2001:db8::${count}`);
  }
  assert.equal((await refuse('2001:db8::ffff')).status, 429);
  assert.equal((await refuse('2001:db8:0:1::1')).status, 401);
});

test('limits page requests by the address of the client', async (t) => {
  const server = await startServer(t, { ...behindProxy, clock: makeClock() });
  const ask = (address: string) =>
    server.send({ path: '/portal/sign-in', headers: fromPage(address) });
  for (let n = 0; n < PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE; n += 1) await ask('192.0.2.1');
  assert.equal((await ask('192.0.2.1')).status, 429);
  assert.equal((await ask('192.0.2.2')).status, 303);
});

test('records sign-ins with the address of the client', async (t) => {
  const server = await startServer(t, behindProxy);
  const { sellerId, email, password } = await openShop(server);
  const visitor = new PageClient(server.port);
  const headers = fromPage('192.0.2.1');
  await visitor.get('/portal/sign-in', headers);
  const { status } = await visitor.submit({ email, password }, { headers });
  assert.equal(status, 303);
  const [event] = await server.store.listAuditEvents(
    sellerId, { type: undefined, before: undefined, limit: 1 },
  );
  assert.deepEqual([event?.type, event?.address], ['signed_in', '192.0.2.1']);
});
