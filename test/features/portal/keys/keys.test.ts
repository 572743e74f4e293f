/** The API key pages: creation, the list, rotation and revocation. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiKey } from '../../../../src/domain/access/api-key.ts';
import { formatKeyId, type KeyId } from '../../../../src/domain/id.ts';
import { makeClock } from '../../../support/clock.ts';
import { send } from '../../../support/http.ts';
import { startServer, type TestServer } from '../../../support/server.ts';
import { assertHidden, assertRequiresSignIn, assertPage } from '../page-rules.ts';
import { type Fields, openShop, readText, type Shop } from '../page-client.ts';

const HOUR_MS = 60 * 60 * 1000;
const GOOD = { name: 'Cash desk', scopes: ['products:read'] };

describe('creating a key', () => {
  test('shows the key once, and creates it as entered', async (t) => {
    const { server, shop } = await start(t);
    const { user } = shop;
    assertPage(await user.get('/portal/keys/new'));
    const made = await user.submit({
      ...GOOD, scopes: ['products:read', 'stock:write'], allow: '127.0.0.0/8\r\n\r\n ::1 \r\n',
      expires: '90d', rateLimitPerMinute: '120',
    });
    assertPage(made);
    const secret = readSecret(made.text);
    assert.equal((await list(server.port, secret)).status, 200);
    const [key] = await listKeys(server, shop);
    assert.deepEqual(
      [key?.name, key?.scopes, key?.addressRanges, key?.expiresAt, key?.rateLimitPerMinute],
      ['Cash desk', ['products:read', 'stock:write'], ['127.0.0.0/8', '::1/128'],
        server.clock.now + 90 * 24 * HOUR_MS, 120],
    );
    const [event] = await server.store.listAuditEvents(
      shop.sellerId, { type: undefined, before: undefined, limit: 1 },
    );
    assert.deepEqual([event?.type, event?.address], ['key_created', '127.0.0.1']);
    for (const path of ['/portal/keys', pathOf(key), '/portal/activity', '/portal']) {
      assert.ok(!(await user.get(path)).text.includes(secret), path);
    }
  });

  test("shows examples that the key's permissions allow", async (t) => {
    const { user } = (await start(t)).shop;
    for (const [scope, line] of [
      ['products:read', /curl 'http:\/\/127\.0\.0\.1:\d+\/api\/v1\/products'/],
      ['prices:write', /curl -X PATCH '.*\/api\/v1\/products\/sku\/MUG-1'.*'\{"price":11\}'/],
      ['changes:read', /\/api\/v1\/changes'/], ['webhooks:write', /\/api\/v1\/webhooks'/],
    ] as const) {
      await user.get('/portal/keys/new');
      const { text } = await user.submit({ ...GOOD, scopes: [scope] });
      assert.match(readText(text), line);
      assert.equal(text.match(/curl/g)?.length, 1);
    }
  });

  test("expires a key at the end of a day in the account's time zone", async (t) => {
    const { server, shop } = await start(t);
    await shop.user.get('/portal/keys/new');
    await shop.user.submit({ ...GOOD, expires: 'day', day: '2026-07-31' });
    const [key] = await listKeys(server, shop);
    assert.equal(key?.expiresAt, Date.parse('2026-07-31T22:00:00Z'));
  });

  test('creates one key from a form that is submitted twice, concurrently or later', async (t) => {
    const { server, shop: { user, ...shop } } = await start(t);
    await user.get('/portal/keys/new');
    const body = new URLSearchParams({
      csrf: user.valueOf('csrf') ?? '', once: user.valueOf('once') ?? '',
      name: 'Twice', scopes: 'products:read', expires: '30d',
    });
    const submit = () => user.post('/portal/keys/new', body);
    const both = await Promise.all([submit(), submit()]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
    server.clock.now += 1_000; // a second key would expire later
    const again = await submit();
    assertPage(again, 409);
    assert.doesNotMatch(again.text, /spk_/);
    assert.match(readText(again.text), /already created/);
    assert.equal((await listKeys(server, shop)).length, 2);
  });
});

const invalid: readonly [what: string, fields: Fields, at: string, says: RegExp][] = [
  ['a blank name', { name: ' ' }, 'name', /blank/],
  ['a name that is too long', { name: 'x'.repeat(101) }, 'name', /100/],
  ['nothing that it may do', { scopes: undefined }, 'scopes', /at least one/],
  ['an unknown scope', { scopes: ['products:read', 'all'] }, 'scopes', /&quot;all&quot;/],
  ['a host name as an address', { allow: 'shop.example' }, 'allow', /shop\.example/],
  ['33 addresses', { allow: '192.0.2.1\n'.repeat(33) }, 'allow', /32/],
  ['an invalid day', { expires: 'day', day: '2026-02-30' }, 'day', /last day/],
  ['a past day', { expires: 'day', day: '2026-01-01' }, 'day', /in the past/],
  ['a day beyond ten years', { expires: 'day', day: '2036-01-31' }, 'day', /ten years/],
  ['no requests per minute', { rateLimitPerMinute: '0' }, 'rateLimitPerMinute', /1 to 6,000/],
  ["more than the server's limit", { rateLimitPerMinute: '6001' }, 'rateLimitPerMinute',
    /1 to 6,000/],
  ['a rate that is no number', { rateLimitPerMinute: 'many' }, 'rateLimitPerMinute',
    /whole number/],
  ['a day without the option for a date', { day: '2026-02-01' }, 'day', /On a date/],
];

test('creates no key from an invalid form', async (t) => {
  const { server, shop } = await start(t);
  const { user } = shop;
  for (const [what, fields, at, says] of invalid) {
    await t.test(`reports ${what} at the field, and keeps the entered values`, async () => {
      await user.get('/portal/keys/new');
      const typed: Fields = { ...GOOD, allow: '192.0.2.7', ...fields };
      const answer = await user.submit(typed);
      assertPage(answer, 422);
      const error = new RegExp(`id="field-${at}-fault">([^<]*)<`).exec(answer.text)?.[1];
      assert.match(error ?? '', says);
      assert.ok(answer.text.includes(`href="#field-${at}"`));
      for (const [name, value] of Object.entries(typed)) {
        const first = [value].flat().map((one) => String(one ?? '').trim())[0];
        assert.equal((user.valueOf(name) ?? '').trim(), first, name);
      }
    });
  }
  await t.test('reports all errors at once', async () => {
    await user.get('/portal/keys/new');
    const { text } = await user.submit({
      name: '', scopes: undefined, allow: 'here', expires: 'day', day: '', rateLimitPerMinute: 'x',
    });
    const errors = [...text.matchAll(/id="field-(\w+)-fault"/g)].map(([, name]) => name);
    assert.deepEqual(errors.sort(), ['allow', 'day', 'name', 'rateLimitPerMinute', 'scopes']);
  });
  await t.test('rejects a form that no page has shown', async () => {
    for (const once of [undefined, '', 'x', `${crypto.randomUUID()} `]) {
      await user.get('/portal/keys/new');
      assertPage(await user.submit({ ...GOOD, once }), 400);
    }
  });
  assert.equal((await listKeys(server, shop)).length, 1);
});

describe('the list of keys', () => {
  test('lists the newest first, in pages, with the status of each key', async (t) => {
    const { server, shop } = await start(t);
    const { user } = shop;
    for (let n = 1; n <= 30; n += 1) {
      await user.get('/portal/keys/new');
      await user.submit({ ...GOOD, name: `Till ${n}`, expires: n === 30 ? '30d' : '' });
    }
    const [expiring, revoked] = await listKeys(server, shop);
    await user.get(`${pathOf(revoked)}/revoke`);
    await user.submit({});
    server.clock.now += 31 * 24 * HOUR_MS;
    await signInAgain(server, shop);
    const first = await user.get('/portal/keys');
    assertPage(first);
    assert.match(
      readText(first.text),
      /Till 30 spk_…\w* Expired.*Till 29 spk_…\w* Revoked.*Till 28 spk_…\w* Active.*Till 6 /,
    );
    assert.ok(!first.text.includes('Till 5<'));
    assert.match(readText(first.text), /1–25 of 31 keys/);
    const next = /href="([^"]*)" rel="next"/.exec(first.text)?.[1] ?? '';
    const second = await user.get(next);
    assertPage(second);
    assert.match(
      readText(second.text), /Till 5 spk_…\w* Active.*Till 1 spk_…\w* Active.*My first key/,
    );
    assert.ok(!second.text.includes('rel="next"'));
    assert.match(readText(second.text), /26–31 of 31 keys/);
    const previous = /href="([^"]*)" rel="prev"/.exec(second.text)?.[1] ?? '';
    assert.equal(readList((await user.get(previous)).text), readList(first.text));
    assert.ok(!(await user.get(pathOf(expiring))).text.includes('/rotate'));
    // An invalid cursor shows the first page.
    const invalid = await user.get('/portal/keys?cursor=x');
    assertPage(invalid, 400);
    assert.match(readText(invalid.text), /This page link is no longer valid/);
    assert.equal(readList(invalid.text), readList(first.text));
  });

  test('shows how many requests per minute each key may send', async (t) => {
    const { server, shop } = await start(t);
    await shop.user.get('/portal/keys/new');
    await shop.user.submit({ ...GOOD, rateLimitPerMinute: '120' });
    const [key] = await listKeys(server, shop);
    assert.match(readText((await shop.user.get(pathOf(key))).text), /Requests per minute 120 /);
    const { text } = await shop.user.get('/portal/keys');
    assert.match(readText(text), /Cash desk.* 120 .*My first key.* 6,000 /);
  });

  test('shows when and from where a key was last used', async (t) => {
    const { server, shop } = await start(t);
    await shop.send({ path: '/api/v1/products' });
    // The last use is stored asynchronously.
    while ((await listKeys(server, shop))[0]?.lastUsedAt === undefined) await nextTurn();
    const { text } = await shop.user.get('/portal/keys');
    assert.match(readText(text), /My first key.*from 127\.0\.0\.1/);
  });

  test('shows the requests and rejections of a key in the last 24 hours', async (t) => {
    const { server, shop } = await start(t);
    const [key] = await listKeys(server, shop);
    assert.ok(key);
    const hour = Math.floor(server.clock.now / HOUR_MS);
    const count = (hours: number, requests: number, refusals: number) => ({
      sellerId: shop.sellerId, keyId: key.id, hour: hour - hours, requests, refusals,
    });
    await server.store.noteUsage([count(24, 7, 7)]);
    assert.match(readText((await shop.user.get('/portal/keys')).text), /No requests/);
    await server.store.noteUsage([count(23, 1_200, 0), count(0, 34, 2)]);
    for (const path of ['/portal/keys', pathOf(key)]) {
      assert.match(readText((await shop.user.get(path)).text), /1,234 requests, 2 rejected/);
    }
  });

  test('stays small and escapes hostile names', async (t) => {
    const { server, shop } = await start(t);
    const { user } = shop;
    const name = '<script>alert("1")</script>&\'"><b>'.padEnd(100, '&');
    const allow = Array.from({ length: 32 }, (_, n) =>
      `2001:db8:ffff:ffff:ffff:ffff:ffff:ff${n + 10}/128`).join('\n');
    for (let n = 0; n < 25; n += 1) {
      await user.get('/portal/keys/new');
      const made = await user.submit({
        name, allow,
        scopes: ['products:read', 'products:write', 'stock:write', 'changes:read'],
      });
      assertPage(made);
      assert.doesNotMatch(made.text, /<script>|<b>/);
    }
    const [key] = await listKeys(server, shop);
    for (const path of ['/portal/keys', pathOf(key), `${pathOf(key)}/revoke`]) {
      const page = await user.get(path);
      assertPage(page);
      assert.doesNotMatch(page.text, /<script>|<b>/, path);
      assert.ok(readText(page.text).includes(name), path);
    }
  });
});

describe('rotation', () => {
  test('shows the new key once, and keeps the old key valid for the chosen time', async (t) => {
    for (const [overlap, hours] of [['1h', 1], ['24h', 24], ['7d', 168]] as const) {
      const { server, shop } = await start(t);
      const secret = await rotate(server, shop, overlap);
      server.clock.now += hours * HOUR_MS - 1;
      assert.equal((await list(server.port, shop.key)).status, 200, overlap);
      server.clock.now += 1;
      assert.equal((await list(server.port, shop.key)).status, 401, overlap);
      assert.equal((await list(server.port, secret)).status, 200, overlap);
    }
  });

  test('expires the old key immediately if that was chosen', async (t) => {
    const { server, shop } = await start(t);
    const secret = await rotate(server, shop, '0s');
    assert.equal((await list(server.port, shop.key)).status, 401);
    assert.equal((await list(server.port, secret)).status, 200);
    assert.ok(!(await shop.user.get('/portal/keys')).text.includes(secret));
  });

  test('creates one key from a form that is submitted twice', async (t) => {
    const { server, shop } = await start(t);
    const [key] = await listKeys(server, shop);
    await shop.user.get(pathOf(key));
    const body = new URLSearchParams({
      csrf: shop.user.valueOf('csrf') ?? '', once: shop.user.valueOf('once') ?? '',
      overlap: '24h',
    });
    const submit = () => shop.user.post(`${pathOf(key)}/rotate`, body);
    assertPage(await submit());
    const again = await submit();
    assertPage(again, 409);
    assert.doesNotMatch(again.text, /spk_/);
    assert.equal((await listKeys(server, shop)).length, 2);
  });

  test('rejects an overlap that is not offered', async (t) => {
    const { server, shop } = await start(t);
    const [key] = await listKeys(server, shop);
    await shop.user.get(pathOf(key));
    assertPage(await shop.user.submit({ overlap: '3650d' }), 400);
    assert.equal((await listKeys(server, shop)).length, 1);
  });
});

test('revokes a key after a confirmation, and rejects the next request with it', async (t) => {
  const { server, shop } = await start(t);
  const { user } = shop;
  const [key] = await listKeys(server, shop);
  assert.equal((await list(server.port, shop.key)).status, 200);
  assertPage(await user.get(`${pathOf(key)}/revoke`));
  assert.equal((await list(server.port, shop.key)).status, 200);
  const revoked = await user.submit({}, { action: `${pathOf(key)}/revoke` });
  assert.equal(revoked.status, 303);
  assert.equal((await list(server.port, shop.key)).status, 401);
  const page = readText((await user.follow()).text);
  assert.match(page, /Key revoked.*My first key spk_…\w{4} Revoked/);
  // A second revocation changes nothing.
  server.clock.now += 1_000;
  await user.get(`${pathOf(key)}/revoke`);
  assert.equal((await user.submit({}, { action: `${pathOf(key)}/revoke` })).status, 303);
  const events = await server.store.listAuditEvents(
    shop.sellerId, { type: 'key_revoked', before: undefined, limit: 9 },
  );
  assert.equal(events.length, 1);
});

test('hides the keys of a shop from other sellers', async (t) => {
  const { server, shop } = await start(t);
  const other = await openShop(server);
  const [key] = await listKeys(server, other);
  assert.ok(key);
  const unknown = [
    `/portal/keys/${formatKeyId({ sellerId: shop.sellerId, keyId: 5 as KeyId })}`,
    '/portal/keys/key_0000000000500000000005', '/portal/keys/x',
  ];
  await assertHidden(shop, {
    foreign: pathOf(key), unknown, get: ['', '/revoke'], post: ['/rotate', '/revoke'],
  });
  assert.deepEqual(await listKeys(server, other), [key]);
  const listed = await shop.user.get('/portal/keys');
  assert.equal(readList(listed.text).match(/Active/g)?.length, 1);
  await assertRequiresSignIn(server, ['/keys', '/keys/new', pathOf(key).slice('/portal'.length)]);
});

async function start(t: Parameters<typeof startServer>[0]) {
  const clock = makeClock();
  const server = { ...await startServer(t, {
    portal: true, clock, rateLimitPerMinute: 6_000,
  }), clock };
  return { server, shop: await openShop(server) };
}

/** The keys of a shop, newest first. */
function listKeys(
  { store }: Pick<TestServer, 'store'>, { sellerId }: Pick<Shop, 'sellerId'>,
): Promise<readonly ApiKey[]> {
  return store.listKeys(sellerId, { after: undefined, limit: 100 }, true);
}

function pathOf(key: ApiKey | undefined): string {
  assert.ok(key);
  return `/portal/keys/${formatKeyId({ sellerId: key.sellerId, keyId: key.id })}`;
}

function readSecret(page: string): string {
  return /<pre id="copy-key"[^>]*>(spk_\w{36})</.exec(page)?.[1] ?? assert.fail(page);
}

/** The table of a page as text. */
function readList(page: string): string {
  return readText(/<table[^>]*>.*<\/table>/s.exec(page)?.[0] ?? '');
}

function list(port: number, key: string) {
  return send(port, { path: '/api/v1/products', headers: { 'x-api-key': key } });
}

async function rotate(server: TestServer, shop: Shop, overlap: string): Promise<string> {
  const [key] = await listKeys(server, shop);
  await shop.user.get(pathOf(key));
  const answer = await shop.user.submit({ overlap });
  assertPage(answer);
  return readSecret(answer.text);
}

async function signInAgain({ port }: TestServer, { user, email, password }: Shop) {
  assert.equal(user.port, port);
  await user.get('/portal/sign-in');
  assert.equal((await user.submit({ email, password })).status, 303);
}
