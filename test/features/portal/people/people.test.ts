/** The people page: inviting, renaming, changing roles, removing and leaving. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { generateTotpSecret } from '../../../../src/domain/access/totp.ts';
import { hashCode } from '../../../../src/domain/access/human-code.ts';
import {
  ACCOUNTS_PER_SELLER_LIMIT, INVITATION_CODE_LIFE_MS,
} from '../../../../src/domain/limits.ts';
import { makeClock } from '../../../support/clock.ts';
import { ownerOf } from '../../../support/owner.ts';
import { startServer } from '../../../support/server.ts';
import { makeInvitation, makeSecretHash } from '../../../store/contract/portal-fixture.ts';
import { addColleague } from '../colleague.ts';
import { showCode } from '../sign-in/authenticator.ts';
import { openShop, PageClient, readText } from '../page-client.ts';
import { addFirst } from '../passkey-client.ts';

const PASSWORD = 'three slow trains go';

async function prepare(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const shop = await openShop(server);
  const { user, sellerId } = shop;
  const confirmed = { current_password: shop.password };
  const invite = async (name: string, role: string) => {
    await user.get('/portal/people/new');
    return user.submit({ name, role, ...confirmed });
  };
  const owner = ownerOf(sellerId);
  return { clock, server, store: server.store, shop, user, owner, sellerId, confirmed, invite };
}

/** The code on an invitation page. */
function readCode(text: string): string {
  const [, code = ''] = /join\?shop=existing#([\w-]+)</.exec(text) ?? [];
  return code;
}

test('invites a colleague by a link that is shown once and works once', async (t) => {
  const { server, store, user, sellerId, invite } = await prepare(t);
  const page = await invite('Ben', 'editor');
  assert.equal(page.status, 200);
  assert.match(readText(page.text), /Send this link to Ben .* joins as Editor/);
  const code = readCode(page.text);
  assert.match(code, /^\w{4}(?:-\w{4}){3}$/);
  const list = await user.get('/portal/people');
  assert.match(readText(list.text), /Ben Invited .* Editor/);
  assert.ok(!list.text.includes(code));

  const ben = new PageClient(server.port);
  const join = await ben.get('/portal/join?shop=existing');
  assert.match(join.text, /<h1>Join your shop<\/h1>/);
  const joined = await ben.submit({ code, email: 'ben@shop.example', password: PASSWORD });
  assert.equal(joined.headers.location, '/portal');
  assert.equal((await ben.follow()).status, 200);
  // Only owners create keys.
  assert.equal((await store.listKeys(sellerId, { after: undefined, limit: 9 })).length, 1);
  const people = await store.listAccounts(sellerId);
  assert.deepEqual(people.slice(1).map(({ name, role }) => [name, role]), [['Ben', 'editor']]);
  assert.doesNotMatch(readText((await user.get('/portal/people')).text), /Invited/);

  const other = new PageClient(server.port);
  await other.get('/portal/join?shop=existing');
  const late = await other.submit({ code, email: 'eve@shop.example', password: PASSWORD });
  assert.match(readText(late.text), /invalid, expired or already used/);
});

test('names the colleague as the actor in the feed and in the activity', async (t) => {
  const { server, shop, store, sellerId } = await prepare(t);
  const { user } = await addColleague(server, shop, 'editor', 'Ben');
  await user.get('/portal/products/new');
  await user.submit({ sku: 'MUG-1', name: 'Mug', category: 'Kitchen', price: '1', stock: '2' });
  const { changes } = await store.listChanges(sellerId, { after: 0, limit: 9 });
  assert.deepEqual(changes.map(({ actor }) => actor), ['Ben']);
  const feed = await shop.send({ path: '/api/v1/changes' });
  assert.equal(feed.json().changes[0].actor, 'Ben');
  assert.match(readText((await shop.user.get('/portal/changes')).text), /MUG-1 .* Ben /);
  assert.match(readText((await shop.user.get('/portal/activity')).text), /Signed in Ben/);
});

test('names who created a key', async (t) => {
  const { server, shop, store, sellerId } = await prepare(t);
  const { user } = await addColleague(server, shop, 'owner', 'Zoë');
  await user.get('/portal/keys/new');
  await user.submit({ name: 'Till', scopes: 'products:read' });
  const [key] = await store.listKeys(sellerId, { after: undefined, limit: 1 }, true);
  assert.equal(key?.createdBy, 'Zoë');
  assert.match(readText((await user.get('/portal/keys')).text), /by Zoë/);
});

test('rejects names of people and invitations, invalid names and unknown roles', async (t) => {
  const { server, shop, store, sellerId, invite } = await prepare(t);
  await addColleague(server, shop, 'viewer', 'Ben');
  assert.equal((await invite('Zoë', 'viewer')).status, 200);
  for (const [name, role, says] of [
    ['BEN', 'viewer', /has this name/], ['zoë', 'viewer', /has this name/],
    ['', 'viewer', /Name:/], ['a'.repeat(101), 'viewer', /Name:/], ['a\u0007', 'viewer', /Name:/],
    ['Max', 'boss', /Must be one of: owner, editor, viewer/],
  ] as const) {
    const answer = await invite(name, role);
    assert.equal(answer.status, 422, name);
    assert.match(readText(answer.text), says, name);
  }
  assert.equal((await store.listInvitations(sellerId)).length, 1);
});

test('revokes an invitation, whose code is then unknown', async (t) => {
  const { clock, store, user, sellerId, invite } = await prepare(t);
  const code = readCode((await invite('Ben', 'viewer')).text);
  await user.get('/portal/people');
  const [stored] = await store.listInvitations(sellerId);
  const action = `/portal/people/invitations/${stored?.hash}/revoke`;
  const revoked = await user.submit({}, { action });
  assert.equal(revoked.headers.location, '/portal/people?done=revoked');
  assert.equal(await store.findInvitation(hashCode(code) ?? ''), undefined);
  await invite('Ben', 'viewer');
  clock.now += INVITATION_CODE_LIFE_MS;
  assert.deepEqual((await store.listInvitations(sellerId)).length, 1);
  await user.get('/portal/sign-in');
});

test('renames people and changes their roles', async (t) => {
  const { server, shop, store, user, confirmed } = await prepare(t);
  const { account } = await addColleague(server, shop, 'viewer', 'Ben');
  const path = `/portal/people/${account.accountId}`;
  assert.match(readText((await user.get(path)).text), /Ben .*Viewer/);
  await user.get(`${path}/name`);
  assert.equal((await user.submit({ name: ' Benjamin ' })).status, 303);
  await user.get(`${path}/role`);
  assert.equal((await user.submit({ role: 'editor', ...confirmed })).status, 303);
  const { name, role } = await store.findAccount(account) ?? {};
  assert.deepEqual([name, role], ['Benjamin', 'editor']);
  await user.get(`${path}/name`);
  const own = (await store.findAccount(ownerOf(shop.sellerId)))?.name ?? '';
  const taken = await user.submit({ name: own });
  assert.equal(taken.status, 422);
  assert.match(readText(taken.text), /has this name/);
});

test('shows who signs in with passkeys only, or with two-factor authentication', async (t) => {
  const { server, shop, store, user, owner } = await prepare(t);
  const { account } = await addColleague(server, shop, 'viewer', 'Ben');
  const path = `/portal/people/${account.accountId}`;
  const read = async () => readText((await user.get(path)).text);
  assert.match(await read(), /Two-factor authentication Off/);
  const totp = { secret: generateTotpSecret(), step: 0, recoveryHashes: [] };
  await store.enableTotp(account, totp, {});
  assert.match(await read(), /Two-factor authentication On/);
  await addFirst(shop);
  await store.setPasswordOff(owner, true, {});
  const list = readText((await user.get('/portal/people')).text);
  assert.match(list, /You .* Owner Passkey .* Ben .* Viewer On/);
});

test('lets everyone rename themselves', async (t) => {
  const { server, shop, store } = await prepare(t);
  const { user, account } = await addColleague(server, shop, 'viewer', 'Ben');
  await user.get('/portal/account/name');
  assert.equal((await user.submit({ name: 'Benny' })).headers.location,
    '/portal/account?done=name');
  assert.equal((await store.findAccount(account))?.name, 'Benny');
});

test('removes a person, whose sessions end at once', async (t) => {
  const { server, shop, store, user, sellerId, confirmed } = await prepare(t);
  const ben = await addColleague(server, shop, 'editor', 'Ben');
  const path = `/portal/people/${ben.account.accountId}/remove`;
  assert.match(readText((await user.get(path)).text), /signed out everywhere at once/);
  const removed = await user.submit(confirmed, { action: path });
  assert.equal(removed.headers.location, '/portal/people?done=removed');
  assert.equal((await ben.user.get('/portal')).headers.location, '/portal/sign-in');
  assert.equal((await store.listAccounts(sellerId)).length, 1);
  assert.equal((await user.get(path)).status, 404);
});

test('signs a person out everywhere, and logs whom', async (t) => {
  const { server, store, shop, user, owner, sellerId } = await prepare(t);
  const { user: ben, account, email } = await addColleague(server, shop, 'viewer');
  const path = `/portal/people/${account.accountId}`;
  assert.equal((await ben.post(`${path}/sign-out`, new URLSearchParams({
    csrf: (await ben.get('/portal'), ben.valueOf('csrf') ?? ''),
  }))).status, 403);
  await user.get(path);
  const answer = await user.submit({}, { action: `${path}/sign-out` });
  assert.equal(answer.headers.location, '/portal/people?done=signed-out');
  assert.equal((await ben.get('/portal')).headers.location, '/portal/sign-in');
  assert.equal((await user.follow()).status, 200);
  const [event] = await store.listAuditEvents(sellerId, {
    type: 'session_ended', before: undefined, limit: 1,
  });
  const name = (await store.findAccount(owner))?.name;
  assert.deepEqual([event?.subject, event?.actorName], [email, name]);
});

test('closes the portal to people with one factor while the shop requires two', async (t) => {
  const { clock, server, shop, user, confirmed } = await prepare(t);
  const { user: ben, email, password } = await addColleague(server, shop, 'editor');
  await ben.get('/portal/products/new');
  const [form] = [ben.formOf('/portal/products/new')];
  const path = '/portal/people/two-factor';
  await user.get(path);
  assert.equal((await user.submit({ current_password: 'a guess' })).status, 422);
  assert.equal((await ben.get('/portal')).status, 200);
  await user.get(path);
  assert.equal((await user.submit(confirmed)).status, 303);
  const setUp = '/portal/account/two-factor';
  const late = new PageClient(server.port);
  await late.get('/portal/sign-in');
  await late.submit({ email, password });
  for (const browser of [ben, late, user]) {
    for (const page of ['/portal', '/portal/products', '/portal/people', '/portal/live',
      '/portal/account', '/portal/account/email', '/portal/export?format=csv']) {
      assert.equal((await browser.get(page)).headers.location, setUp, page);
    }
    for (const page of ['/portal/account/passkeys', '/portal/account/sessions']) {
      assert.equal((await browser.get(page)).status, 200, page);
    }
  }
  const fields = new URLSearchParams([...form ?? []].map(([name, value]) => [name, value]));
  assert.equal((await ben.post('/portal/products/new', fields)).headers.location, setUp);
  assert.match(readText((await ben.get(setUp)).text), /Your shop requires two-factor/);
  const [, secret = ''] = /<pre id="copy-secret"[^>]*>([^<]+)</.exec(ben.page?.text ?? '') ?? [];
  const on = { code: showCode(secret, clock.now), current_password: password };
  assert.equal((await ben.submit(on)).status, 200);
  for (const browser of [ben, late]) assert.equal((await browser.get('/portal')).status, 200);
  assert.equal((await user.get('/portal')).headers.location, setUp);
});

test('requires the password to invite or remove people, and to change roles', async (t) => {
  const { server, shop, store, user, sellerId } = await prepare(t);
  const { account } = await addColleague(server, shop, 'viewer', 'Ben');
  const path = `/portal/people/${account.accountId}`;
  for (const [page, fields] of [
    ['/portal/people/new', { name: 'Zoë', role: 'owner' }],
    [`${path}/role`, { role: 'owner' }], [`${path}/remove`, {}],
  ] as const) {
    for (const password of ['', 'not the password at all']) {
      await user.get(page);
      const sent = { ...fields, current_password: password };
      const answer = await user.submit(sent, { action: page });
      assert.equal(answer.status, 422, page);
      assert.match(readText(answer.text), /Current password: Incorrect password/, page);
    }
  }
  assert.deepEqual(await store.listInvitations(sellerId), []);
  assert.equal((await store.findAccount(account))?.role, 'viewer');
});

test('shows a draft to its author only, even within a shop', async (t) => {
  const { server, shop, store } = await prepare(t);
  const ben = await addColleague(server, shop, 'editor', 'Ben');
  const { user } = ben;
  await user.get('/portal/products/new');
  await store.endSessions(ben.account, { allBut: 0 }, { type: 'session_ended' });
  const kept = await user.submit({ sku: 'A-1', name: 'Secret mug', category: 'b', price: '1' });
  assert.equal(kept.status, 403);
  await user.submit({ email: shop.email, password: shop.password });
  assert.equal(user.page?.headers.location, '/portal');
});

test('shows no draft to an author who may no longer submit it', async (t) => {
  const { server, shop, store } = await prepare(t);
  const { user, account, email, password } = await addColleague(server, shop, 'editor', 'Ben');
  await user.get('/portal/products/new');
  await store.endSessions(account, { allBut: 0 }, { type: 'session_ended' });
  await store.setRole(account, 'viewer', {});
  await user.submit({ sku: 'A-1', name: 'Secret mug', category: 'b', price: '1' });
  const answer = await user.submit({ email, password });
  assert.equal(answer.status, 403);
  assert.doesNotMatch(answer.text, /Secret mug/);
});

test('keeps the last owner, who can neither leave nor give up the role', async (t) => {
  const { server, shop, store, user, owner, confirmed } = await prepare(t);
  const path = `/portal/people/${owner.accountId}`;
  await user.get(`${path}/remove`);
  const left = await user.submit(confirmed, { action: `${path}/remove` });
  assert.equal(left.status, 409);
  assert.match(readText(left.text), /only owner of the shop/);
  await user.get(`${path}/role`);
  const demoted = await user.submit({ role: 'viewer', ...confirmed });
  assert.equal(demoted.status, 409);
  assert.match(readText(demoted.text), /only owner of the shop/);
  assert.equal((await store.findAccount(owner))?.role, 'owner');
  await addColleague(server, shop, 'owner');
  await user.get(`${path}/remove`);
  await user.submit(confirmed, { action: `${path}/remove` });
  assert.equal(user.page?.headers.location, '/portal/sign-in');
  assert.equal(await store.findAccount(owner), undefined);
});

test('rejects an invitation at the limit on people per shop', async (t) => {
  const { clock, store, sellerId, invite } = await prepare(t);
  const expiresAt = clock.now + 1_000;
  for (let n = 1; n < ACCOUNTS_PER_SELLER_LIMIT; n += 1) {
    await store.createInvitation(makeSecretHash(), makeInvitation({ sellerId, expiresAt }));
  }
  const full = await invite('Ben', 'viewer');
  assert.equal(full.status, 409);
  assert.match(readText(full.text), /Remove one first/);
});

test('finds no people of another shop', async (t) => {
  const { server, user } = await prepare(t);
  const other = await openShop(server);
  const ben = await addColleague(server, other, 'viewer', 'Ben');
  for (const page of ['', '/name', '/role', '/remove']) {
    const path = `/portal/people/${ben.account.accountId}${page}`;
    assert.equal((await user.get(path)).status, 404, path);
  }
  assert.doesNotMatch(readText((await user.get('/portal/people')).text), /Ben/);
});
