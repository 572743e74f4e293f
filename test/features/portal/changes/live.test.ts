/** The change stream that portal pages follow. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { test } from 'node:test';
import { SESSION_IDLE_MS } from '../../../../src/store/limits.ts';
import {
  LIVE_CATCH_UP_LIMIT, PORTAL_STREAMS_PER_SELLER_LIMIT, STREAMS_PER_ACCOUNT_LIMIT,
} from '../../../../src/features/portal/limits.ts';
import { type EventStream, readEvents } from '../../changes/event-stream.ts';
import { makeClock } from '../../../support/clock.ts';
import { addColleague } from '../colleague.ts';
import { openCatalogue, openOther } from '../products/catalogue.ts';
import type { PageClient } from '../page-client.ts';

async function ask(
  t: { after(hook: () => void): void }, user: PageClient, after: string,
  headers: OutgoingHttpHeaders = {},
): Promise<IncomingMessage> {
  const cookie = user.formatCookies();
  const outgoing = request({
    host: '127.0.0.1', port: user.port, path: `/portal/live?after=${after}`, agent: false,
    headers: { accept: 'text/event-stream', cookie, ...headers },
  });
  outgoing.on('error', () => {}); // tests may break the connection
  t.after(() => outgoing.destroy());
  outgoing.end();
  const [response] = await once(outgoing, 'response') as [IncomingMessage];
  return response;
}

async function follow(...args: Parameters<typeof ask>): Promise<EventStream> {
  const response = await ask(...args);
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers['content-type'], 'text/event-stream');
  assert.equal(response.headers['cache-control'], 'no-store');
  return readEvents(response);
}

test('sends changes since the position of the page', async (t) => {
  const { user, create, sync, server } = await openCatalogue(t);
  const mug = await create({ stock: 9 });
  const { text } = await user.get('/portal/products');
  const after = /data-live-from="\/portal\/live" data-live-after="(\d+)"/.exec(text)?.[1] ?? '';
  assert.equal(after, '1');
  await sync([{ id: mug.id, set: 8 }]);
  const stream = await follow(t, user, after);
  await stream.reach(2);
  await sync([{ id: mug.id, set: 7 }]);
  const other = await openOther(server);
  await other.create();
  await create({ name: 'Jar' });
  await stream.reach(4);
  assert.deepEqual(stream.events.map(({ change }) => [change?.position, change?.type]), [
    [2, 'stock'], [3, 'stock'], [4, 'created'],
  ]);
  // A browser that reconnects sends the last id that it received.
  const again = await follow(t, user, after, { 'last-event-id': '3' });
  await again.reach(4);
  assert.deepEqual(again.events.map(({ id }) => id), [4]);
});

test('skips to the current position if a page missed too much, and says so', async (t) => {
  const { user, create, sync } = await openCatalogue(t);
  const mug = await create({ stock: 0 });
  await sync(Array.from({ length: LIVE_CATCH_UP_LIMIT }, (_, n) => ({ id: mug.id, set: n + 1 })));
  const near = await follow(t, user, '1');
  await near.reach(1 + LIVE_CATCH_UP_LIMIT);
  assert.equal(near.events.length, LIVE_CATCH_UP_LIMIT);
  for (const after of ['0', '', 'x', '-1', '9999999', '9'.repeat(30)]) {
    const far = await follow(t, user, after);
    await far.until(() => far.events.length > 0);
    assert.deepEqual(far.events.map(({ id }) => id), [1 + LIVE_CATCH_UP_LIMIT], after);
    assert.deepEqual(far.events[0]?.change, {});
    far.leave();
  }
});

test('leaves live pages for the colleagues of an account that opens all it can', async (t) => {
  const catalogue = await openCatalogue(t);
  const { user, server } = catalogue;
  const { user: viewer } = await addColleague(server, catalogue, 'viewer');
  for (let n = 0; n < STREAMS_PER_ACCOUNT_LIMIT; n += 1) await follow(t, viewer, '0');
  const more = await ask(t, viewer, '0');
  assert.deepEqual([more.statusCode, more.headers['retry-after']], [503, '5']);
  const { status, text } = await viewer.get('/portal/export?format=csv');
  assert.equal(status, 503);
  assert.match(text, /You already have 10 live pages and downloads running, the maximum\./);
  await follow(t, user, '0');
  assert.equal((await user.get('/portal/export?format=csv')).status, 200);
});

test('redirects to the sign-in without a session', async (t) => {
  const { user } = await openCatalogue(t);
  user.cookies.clear();
  const { statusCode, headers } = await ask(t, user, '0');
  assert.deepEqual([statusCode, headers.location], [303, '/portal/sign-in?to=%2Flive%3Fafter%3D0']);
});

test('ends within 15 s of the end of the session', async (t) => {
  const { user, create, sync } = await openCatalogue(t);
  const mug = await create({ stock: 1 });
  let passedMs = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + passedMs);
  const stream = await follow(t, user, '1');
  await user.get('/portal');
  passedMs = 15_000;
  await sync([{ id: mug.id, set: 2 }]);
  await stream.reach(2); // still signed in
  await user.submit({}, { action: '/portal/sign-out' });
  passedMs = 30_000;
  await sync([{ id: mug.id, set: 3 }]);
  await stream.ended;
  assert.equal(stream.events.at(-1)?.id, 2);
});

test('does not keep an idle session alive', async (t) => {
  const { user, create, sync, clock } = await openCatalogue(t);
  const mug = await create({ stock: 1 });
  let passedMs = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + passedMs);
  const stream = await follow(t, user, '1');
  for (const [stock, share] of [[2, 0.4], [3, 0.8]] as const) {
    clock.now = makeClock().now + SESSION_IDLE_MS * share;
    passedMs += 15_000;
    await sync([{ id: mug.id, set: stock }]);
    await stream.reach(stock);
  }
  clock.now = makeClock().now + SESSION_IDLE_MS;
  passedMs += 15_000;
  await sync([{ id: mug.id, set: 4 }]);
  await stream.ended;
  assert.equal((await user.get('/portal/products')).status, 303);
});

test('serves 50 streams of one shop, and more for another', async (t) => {
  const catalogue = await openCatalogue(t);
  const { user, server } = catalogue;
  const users = [user];
  while (users.length < PORTAL_STREAMS_PER_SELLER_LIMIT / STREAMS_PER_ACCOUNT_LIMIT) {
    users.push((await addColleague(server, catalogue, 'editor')).user);
  }
  const streams = await Promise.all(users.flatMap((own) =>
    Array.from({ length: STREAMS_PER_ACCOUNT_LIMIT }, () => follow(t, own, '0'))));
  assert.equal(streams.length, 50);
  const { user: late } = await addColleague(server, catalogue, 'viewer');
  const rejected = await ask(t, late, '0');
  assert.deepEqual([rejected.statusCode, rejected.headers['retry-after']], [503, '5']);
  const other = await openOther(server);
  await follow(t, other.user, '0');
  streams[0]?.leave();
  let response = await ask(t, user, '0');
  while (response.statusCode === 503) {
    response.resume();
    response = await ask(t, user, '0');
  }
  assert.equal(response.statusCode, 200);
});
