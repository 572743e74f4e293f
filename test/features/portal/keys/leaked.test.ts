/** Pasted keys are found by their hashes; leaked keys can be revoked, replaced and reviewed. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { type ApiKey, generateApiKey } from '../../../../src/domain/access/api-key.ts';
import { formatKeyId, type KeyId } from '../../../../src/domain/id.ts';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { makeNewKey, makeNewProduct, makeSecret } from '../../../store/contract/fixture.ts';
import { makeClock } from '../../../support/clock.ts';
import { send } from '../../../support/http.ts';
import { startServer } from '../../../support/server.ts';
import { addColleague } from '../colleague.ts';
import { act } from '../imports/page-setup.ts';
import { openShop, readText, type Shop } from '../page-client.ts';
import { assertHidden, assertRequiresSignIn, assertPage } from '../page-rules.ts';
import { ownerOf } from '../../../support/owner.ts';

const HOUR_MS = 60 * 60 * 1000;
const PAGES = [
  ['/portal/keys', '/portal/keys/find'], ['/portal/leaked', '/portal/leaked'],
] as const;

async function start(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const shop = await openShop(server);
  const [key] = await server.store.listKeys(shop.sellerId, { after: undefined, limit: 1 });
  assert.ok(key);
  const ask = (secret: string) =>
    send(server.port, { path: '/api/v1/products', headers: { 'x-api-key': secret } });
  return { clock, server, shop, key, ask };
}

function idOf({ sellerId, id }: Pick<ApiKey, 'sellerId' | 'id'>): string {
  return formatKeyId({ sellerId, keyId: id });
}

async function paste({ user }: Shop, [page, action]: (typeof PAGES)[number], key: string) {
  await user.get(page);
  return user.submit({ key }, { action });
}

describe('a pasted key', () => {
  test('is found by its hash, within any text, even if it no longer works', async (t) => {
    const { server, shop, key } = await start(t);
    const ends = [`/portal/keys/${idOf(key)}?done=found`, `/portal/leaked/${idOf(key)}`];
    for (const [index, page] of PAGES.entries()) {
      for (const text of [
        shop.key, ` ${shop.key}\n`, `API_KEY="${shop.key}" # till`, `spk_live=${shop.key}`,
        `spk_${shop.key}`, `${generateApiKey().slice(0, -1)} ${shop.key}`,
      ]) {
        const found = await paste(shop, page, text);
        assert.deepEqual([found.status, found.headers.location], [303, ends[index]]);
      }
    }
    assert.match(readText((await shop.user.get(ends[0] ?? '')).text), /the key you pasted.*Active/);
    await server.store.revokeKey({ sellerId: key.sellerId, keyId: key.id });
    for (const page of PAGES) assert.equal((await paste(shop, page, shop.key)).status, 303);
    const text = readText((await shop.user.follow()).text);
    assert.match(text, /This key no longer works.*Revoked/);
  });

  test('is not found, and the page says why without showing it', async (t) => {
    const { server, shop } = await start(t);
    const other = await openShop(server);
    const [made, tail] = [generateApiKey(), shop.key.slice(-4)];
    const typo = shop.key.slice(0, -4) + (tail === '0000' ? '0001' : '0000');
    for (const [text, says] of [
      ['', /Paste an API key/], ['not a key', /keys start with spk_ and have 40 characters/],
      ['<script>alert(1)</script>', /not an API key/], [made, /does not belong to your shop/],
      [other.key, /does not belong to your shop/],
      [shop.key.slice(0, -1), /39 characters instead of/],
      [`${shop.key}0`, /41 characters instead of 40/], [typo, /checksum is wrong/],
      [`spk_live=${typo}`, /checksum is wrong/],
      ['x'.repeat(60_000), /not an API key/],
    ] as const) {
      for (const page of PAGES) {
        const answer = await paste(shop, page, text);
        assertPage(answer, 422);
        assert.match(readText(answer.text), says);
        assert.equal(shop.user.valueOf('key'), '');
        if (text.length > 10) assert.ok(!answer.text.includes(text.slice(4, -4)), text);
      }
    }
  });

  test('is not kept in a draft if the session has ended', async (t) => {
    const { server, shop } = await start(t);
    await shop.user.get('/portal/leaked');
    const log = { type: 'session_ended', address: '' } as const;
    await server.store.endSessions(ownerOf(shop.sellerId), { allBut: 0 }, log);
    const answer = await shop.user.submit({ key: shop.key }, { action: '/portal/leaked' });
    assert.equal(answer.headers.location, '/portal/sign-in?to=%2Fleaked');
  });
});

describe('a leaked key', () => {
  test('can be chosen from the active keys, even among many revoked ones', async (t) => {
    const { server, shop: { user, sellerId } } = await start(t);
    const listed = async (): Promise<string> => {
      const page = await user.get('/portal/leaked');
      assertPage(page);
      assert.match(page.text, /<a href="\/portal\/keys">All API keys<\/a>/);
      return readText(page.text);
    };
    for (let n = 0; n < 30; n += 1) {
      const { id } = await server.store.createKey(sellerId, makeSecret(), makeNewKey());
      await server.store.revokeKey({ sellerId, keyId: id });
    }
    assert.match(await listed(), /The newest keys that work .*My first key/);
    const [key] = await server.store.listKeys(sellerId, { after: undefined, limit: 1 });
    await server.store.revokeKey({ sellerId, keyId: key?.id ?? assert.fail() });
    assert.doesNotMatch(await listed(), /My first key/);
  });

  test('is revoked and replaced at once', async (t) => {
    const { server, shop, key, ask } = await start(t);
    const { user } = shop;
    await paste(shop, PAGES[1], shop.key);
    assertPage(await user.follow());
    const made = await user.submit({}, { action: `/portal/leaked/${idOf(key)}/replace` });
    assertPage(made);
    const [secret = ''] = /spk_[0-9A-Za-z]{36}/.exec(made.text) ?? [];
    assert.equal((await ask(shop.key)).status, 401);
    assert.equal((await ask(secret)).status, 200);
    const [old, successor] = await server.store.listKeys(
      shop.sellerId, { after: undefined, limit: 9 },
    );
    assert.ok(old?.revokedAt !== undefined && successor);
    assert.deepEqual(
      [old.successorId, successor.name, successor.scopes, successor.lastFour],
      [successor.id, key.name, key.scopes, secret.slice(-4)],
    );
    const { text } = await user.get(`/portal/leaked/${idOf(key)}`);
    assert.match(readText(text), /no longer works.*Revoked Replaced/);
    assert.ok(text.includes(`/portal/keys/${idOf(successor)}`));
    assert.ok(!text.includes(secret));
  });

  test('can be revoked only, and a form that is sent twice revokes it once', async (t) => {
    const { clock, server, shop: { user, key: secret, sellerId }, key, ask } = await start(t);
    const action = `/portal/leaked/${idOf(key)}/revoke`;
    await user.get(`/portal/leaked/${idOf(key)}`);
    const body = new URLSearchParams({ csrf: user.valueOf('csrf') ?? '' });
    for (const _ of [1, 2]) {
      assert.equal((await user.post(action, body)).status, 303);
      clock.now += 1_000;
    }
    assert.match(readText((await user.follow()).text), /Key revoked\. Its next request/);
    assert.equal((await ask(secret)).status, 401);
    const events = await server.store.listAuditEvents(
      sellerId, { type: 'key_revoked', before: undefined, limit: 9 },
    );
    assert.equal(events.length, 1);
  });

  test('is replaced once by a form that is sent twice, and not after it was revoked', async (t) => {
    const { server, shop: { user, sellerId }, key } = await start(t);
    const action = `/portal/leaked/${idOf(key)}/replace`;
    await user.get(`/portal/leaked/${idOf(key)}`);
    const body = new URLSearchParams(user.formOf(action).map(([name, value]) => [name, value]));
    assertPage(await user.post(action, body));
    assertPage(await user.post(action, body), 409);
    body.set('once', crypto.randomUUID());
    assertPage(await user.post(action, body), 404);
    assert.equal((await server.store.listKeys(sellerId, { after: undefined, limit: 9 })).length, 2);
  });

  test('shows its permissions, and its requests by the hour', async (t) => {
    const { clock, server, shop: { user, sellerId }, key } = await start(t);
    const hour = Math.floor(clock.now / HOUR_MS);
    const other = 5 as KeyId; // requests of another key are not counted
    await server.store.noteUsage([
      { sellerId, keyId: key.id, hour, requests: 71, refusals: 3 },
      { sellerId, keyId: other, hour, requests: 9_999, refusals: 0 },
    ]);
    await server.store.noteKeyUse({ sellerId, keyId: key.id }, '192.0.2.66');
    const page = await user.get(`/portal/leaked/${idOf(key)}`);
    assertPage(page);
    const text = readText(page.text);
    assert.match(text, /71 requests, 3 rejected.*192\.0\.2\.66.*products:write/);
    assert.doesNotMatch(text, /9,?999/);
    const csv = `/portal/reports/key-requests?key=${idOf(key)}`;
    assert.ok(page.text.includes(`<a href="${csv}">Download as CSV</a>`));
    const file = await user.get(csv);
    assert.equal(file.headers['content-type'], 'text/csv; charset=utf-8');
    assert.equal(file.text,
      `hour,succeeded,rejected\r\n${new Date(hour * HOUR_MS).toISOString()},68,3\r\n`);
  });

  test('shows its changes, and reverts them after a preview', async (t) => {
    const { clock, server: { store }, shop: { user, sellerId }, key } = await start(t);
    const leaked = { sellerId, keyId: key.id };
    const other = await store.createKey(sellerId, makeSecret(), makeNewKey());
    await store.createProduct(leaked, makeNewProduct({ sku: 'OLD', stock: 3 }));
    clock.now += 2 * HOUR_MS;
    await store.createProduct(leaked, makeNewProduct({ sku: 'EVIL' }));
    await store.createProduct({ sellerId, keyId: other.id }, makeNewProduct({ sku: 'GOOD' }));
    await store.patchProduct(leaked, { sku: 'OLD' as Sku }, { stock: 9 }, {});
    const page = await user.get(`/portal/leaked/${idOf(key)}`);
    assertPage(page);
    const text = readText(page.text);
    assert.match(text, /What it changed.*Stock: 3 → 9 .*OLD.*EVIL.*OLD/);
    assert.doesNotMatch(text, /GOOD/);
    await user.submit({ since: '1h' }, { action: `/portal/leaked/${idOf(key)}/revert` });
    const preview = readText((await user.follow()).text);
    assert.match(preview, /Preview of the revert: Key My first key.* changed 2 products\./);
    assert.match(preview, /Will be restored 1 Will be deleted 1/);
    assert.match((await act(user, 'commit')).text, /Revert complete: 2 products/);
    assert.equal(await store.findProduct(sellerId, { sku: 'EVIL' as Sku }), undefined);
    assert.equal((await store.findProduct(sellerId, { sku: 'OLD' as Sku }))?.stock, 3);
    assert.ok(await store.findProduct(sellerId, { sku: 'GOOD' as Sku }));
  });

  test('filters the changes page', async (t) => {
    const { server: { store }, shop: { user, sellerId }, key } = await start(t);
    const other = await store.createKey(sellerId, makeSecret(), makeNewKey());
    await store.createProduct({ sellerId, keyId: key.id }, makeNewProduct({ sku: 'MINE' }));
    await store.createProduct({ sellerId, keyId: other.id }, makeNewProduct({ sku: 'ITS' }));
    const rows = async (id: string) => {
      const { text } = await user.get(`/portal/changes?key=${id}`);
      return [...text.matchAll(/<code>(MINE|ITS)</g)].map(([, sku]) => sku);
    };
    assert.deepEqual(await rows(idOf(key)), ['MINE']);
    assert.deepEqual(await rows(idOf(other)), ['ITS']);
    assert.deepEqual(await rows('x'), []);
  });

  test('is linked from the active keys until it is revoked', async (t) => {
    const { server, shop: { user, sellerId }, key } = await start(t);
    const link = `href="/portal/leaked/${idOf(key)}"`;
    assert.ok((await user.get('/portal/leaked')).text.includes(link));
    await server.store.revokeKey({ sellerId, keyId: key.id });
    assert.ok(!(await user.get('/portal/leaked')).text.includes(link));
  });

  test('of another shop is unknown', async (t) => {
    const { server, shop } = await start(t);
    const other = await openShop(server);
    const [theirs] = await server.store.listKeys(other.sellerId, { after: undefined, limit: 1 });
    assert.ok(theirs);
    const unknown = [idOf({ sellerId: shop.sellerId, id: 5 as KeyId }), 'x'];
    await assertHidden(shop, {
      foreign: `/portal/leaked/${idOf(theirs)}`,
      unknown: unknown.map((id) => `/portal/leaked/${id}`),
      get: [''], post: ['/revoke', '/replace', '/revert'],
    });
    assert.equal((await server.store.findKey({
      sellerId: other.sellerId, keyId: theirs.id,
    }))?.revokedAt, undefined);
    await assertRequiresSignIn(server, ['/leaked', '/keys/find']);
    for (const id of [idOf(theirs), 'x', '']) {
      assertPage(await shop.user.get(`/portal/reports/key-requests?key=${id}`), 404);
    }
    const { user } = await addColleague(server, shop, 'editor', 'Ben');
    assertPage(await user.get(`/portal/reports/key-requests?key=${unknown[0]}`), 404);
  });
});

test('a rotated key shows when it ends, and links to its successor', async (t) => {
  const { server, shop: { user, sellerId }, key } = await start(t);
  await user.get(`/portal/keys/${idOf(key)}`);
  await user.submit({ overlap: '24h' }, { action: `/portal/keys/${idOf(key)}/rotate` });
  const { successorId } = await server.store.findKey({ sellerId, keyId: key.id }) ?? {};
  assert.ok(successorId);
  for (const page of ['/portal/keys', `/portal/keys/${idOf(key)}`]) {
    const { text } = await user.get(page);
    assert.match(readText(text), /Ends in 24 hours Replaced/);
    assert.ok(text.includes(`href="/portal/keys/${idOf({ sellerId, id: successorId })}"`));
  }
});
