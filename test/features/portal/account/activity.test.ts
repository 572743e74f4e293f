/** The activity page: the audit log of the account and its keys, newest first. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { AUDIT_TYPES } from '../../../../src/domain/access/audit.ts';
import { ACTIVITY_PAGE_SIZE } from '../../../../src/features/portal/limits.ts';
import { LOCAL } from '../../webhooks/routes.ts';
import { makeClock } from '../../../support/clock.ts';
import { startServer } from '../../../support/server.ts';
import { openShop, readText } from '../page-client.ts';
import { ownerOf } from '../../../support/owner.ts';

async function prepare(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const shop = await openShop(server);
  const note = (subject: string, address = '192.0.2.7') => server.store.noteAuditEvent({
    sellerId: shop.sellerId, type: 'sign_in_refused', address, subject,
  });
  return { clock, server, shop, note };
}

function readRows(text: string): string[] {
  const [, body = ''] = /<tbody>(.*?)<\/tbody>/s.exec(text) ?? [];
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => readText(row));
}

test('shows the time, address, browser and object of each event', async (t) => {
  const { clock, shop: { user, sellerId }, server: { store }, note } = await prepare(t);
  clock.now += 1_000;
  await note('Wrong password');
  clock.now += 1_000;
  const keys = await store.listKeys(sellerId, { after: undefined, limit: 1 });
  await store.revokeKey({ sellerId, keyId: keys[0]?.id ?? assert.fail('no key') });
  const rows = readRows((await user.get('/portal/activity')).text);
  assert.match(rows[0] ?? '',
    /^API key revoked – now 2 Jan 2026, 04:04:07 CET this machine key_\w{22} My first key$/);
  assert.equal(rows[1],
    'Sign-in failed – now 2 Jan 2026, 04:04:06 CET 192.0.2.7 Wrong password');
  const { name } = await store.findAccount(ownerOf(sellerId)) ?? {};
  assert.equal(rows[2],
    `Signed in ${name} now 2 Jan 2026, 04:04:05 CET 127.0.0.1 Unknown browser`);
});

test('has a label for every audit type', async (t) => {
  const { server: { store }, shop: { user, sellerId } } = await prepare(t);
  for (const type of AUDIT_TYPES) {
    await store.noteAuditEvent({ sellerId, type, address: '', subject: '' });
  }
  const rows = readRows((await user.get('/portal/activity')).text);
  const words = rows.slice(0, AUDIT_TYPES.length).map((row) => row.split(' – now 2 Jan')[0]);
  assert.equal(new Set(words).size, AUDIT_TYPES.length);
  for (const word of words) assert.match(word ?? '', /^[A-Z][\w -]+$/);
});

test('links from page to page, and back to the first', async (t) => {
  const { shop: { user }, note } = await prepare(t);
  for (let n = 1; n <= ACTIVITY_PAGE_SIZE * 2; n += 1) await note(`number ${n}`);
  const first = await user.get('/portal/activity?type=sign_in_refused');
  assert.doesNotMatch(first.text, /rel="first"/);
  const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&');
  const second = await user.get(next ?? '');
  assert.doesNotMatch(second.text, /rel="next"/);
  const numbers = [...readRows(first.text), ...readRows(second.text)]
    .map((row) => Number(/number (\d+)$/.exec(row)?.[1]));
  const expected = Array.from({ length: ACTIVITY_PAGE_SIZE * 2 }, (_, index) => index + 1);
  assert.deepEqual(numbers, expected.toReversed());
  assert.match(second.text, /href="\/portal\/activity\?type=sign_in_refused" rel="first"/);
  assert.ok(Buffer.byteLength(first.text) < 50 * 1024);
});

test('filters by type, and links to all activity if there is none of it', async (t) => {
  const { shop: { user }, note } = await prepare(t);
  await note('Wrong code');
  const some = await user.get('/portal/activity?type=sign_in_refused');
  assert.equal(readRows(some.text).length, 1);
  assert.match(some.text, /<option value="sign_in_refused" selected>/);
  const none = await user.get('/portal/activity?type=key_rotated');
  assert.deepEqual(readRows(none.text), []);
  assert.match(readText(none.text), /No activity of this type\. Show all activity/);
  // It ignores unknown types.
  for (const query of ['type=x', 'before=x', 'before=-1', `before=${'9'.repeat(20)}`]) {
    assert.equal(readRows((await user.get(`/portal/activity?${query}`)).text).length, 5, query);
  }
});

test('escapes text from requests', async (t) => {
  const { shop: { user }, note } = await prepare(t);
  await note('<script>alert(1)</script>', '"><img src=x>');
  const { text } = await user.get('/portal/activity');
  assert.doesNotMatch(text, /<script>alert|<img/);
  assert.match(readText(text), /"><img src=x> <script>alert\(1\)<\/script>/);
});

test('shows nothing of another account', async (t) => {
  const { server, note } = await prepare(t);
  await note('not for others');
  const other = await openShop(server);
  const { text } = await other.user.get('/portal/activity');
  assert.doesNotMatch(text, /not for others/);
});

test('shows who changed webhooks by the API and in the portal, and from where', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock, webhooks: LOCAL });
  const { user, sellerId, send } = await openShop(server);
  const created = await send({
    method: 'POST', path: '/api/v1/webhooks', headers: { 'content-type': 'application/json' },
    body: '{"url":"http://127.0.0.1:9/hook?token=secret"}',
  });
  assert.equal(created.status, 201, created.text);
  const { id } = created.json();
  await user.get(`/portal/webhooks/${id}/delete`);
  await user.submit({}, { action: `/portal/webhooks/${id}/delete` });
  const rows = readRows((await user.get('/portal/activity')).text);
  const { name } = await server.store.findAccount(ownerOf(sellerId)) ?? {};
  assert.deepEqual(rows.slice(0, 2).map((row) => row.replace(/ now 2 Jan.*CET/, '')), [
    `Webhook deleted ${name} 127.0.0.1 ${id} 127.0.0.1:9`,
    `Webhook created My first key 127.0.0.1 ${id} 127.0.0.1:9`,
  ]);
});
