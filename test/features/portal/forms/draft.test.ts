/**
 * Drafts: a form whose session ends while it is filled in shows the same input after the next
 * sign-in.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { SESSION_IDLE_MS } from '../../../../src/store/limits.ts';
import { DRAFT_LIFE_MS, DRAFT_LIMIT_BYTES } from '../../../../src/features/portal/limits.ts';
import { routes } from '../../../../src/features/portal/routes.ts';
import { LOCAL } from '../../webhooks/routes.ts';
import { makeClock } from '../../../support/clock.ts';
import { startServer } from '../../../support/server.ts';
import { showCode } from '../sign-in/authenticator.ts';
import { assertPage } from '../page-rules.ts';
import { openOther } from '../products/catalogue.ts';
import { type Fields, readText, PageClient } from '../page-client.ts';

async function prepare(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock, webhooks: LOCAL });
  const shop = await openOther(server);
  const { user } = shop;
  /** Fills in a form, ends the session, and then submits the form. */
  const sendLate = async (path: string, fields: Fields, action = path) => {
    await user.get(path);
    clock.now += SESSION_IDLE_MS;
    return user.submit(fields, { action });
  };
  const { email, password } = shop;
  const signIn = (fields: Fields = { email, password }) =>
    user.submit(fields, { action: '/portal/sign-in' });
  return { clock, server, shop, user, sendLate, signIn };
}

test('shows the form as it was after signing in again, and saves nothing before the next click',
  async (t) => {
    const { shop: { create, read, patch }, user, sendLate, signIn } = await prepare(t);
    const mug = await create({ name: 'Mug', price: 1 });
    const late = await sendLate(mug.path, { name: 'Cup <b>', price: '' });
    assertPage(late, 403);
    assert.match(readText(late.text), /Your session has ended, so nothing was saved\. Sign in to/);
    assert.doesNotMatch(late.text, /Cup/);
    await patch(mug, { category: 'Bar' });
    const before = await read(mug);
    const again = await signIn();
    assertPage(again);
    assert.match(readText(again.text), /signed in again\. Nothing was saved yet/);
    assert.match(again.text, /href="\/portal\/products" aria-current="true"/);
    assert.deepEqual(['name', 'price'].map((name) => user.valueOf(name)), ['Cup <b>', '']);
    assert.deepEqual(await read(mug), before);
    const saved = await user.submit({ price: '2' }, { action: mug.path });
    assert.equal(saved.status, 303, saved.text);
    const { name, price, category } = await read(mug) ?? {};
    assert.deepEqual([name, price, category], ['Cup <b>', 2, 'Bar']);
  });

test('keeps the draft through a wrong password and two-factor authentication', async (t) => {
  const { clock, shop, user, sendLate, signIn } = await prepare(t);
  await user.get('/portal/account/two-factor');
  const secret = /<pre id="copy-secret"[^>]*>([^<]+)</.exec(user.page?.text ?? '')?.[1] ?? '';
  await user.submit({ code: showCode(secret, clock.now), current_password: shop.password });
  await sendLate('/portal/products/new', { name: 'Cup', stock: '7' });
  assertPage(await signIn({ email: shop.email, password: 'wrong' }), 422);
  const asked = await signIn();
  assertPage(asked);
  assert.match(asked.text, /name="code"/);
  assertPage(await user.submit({ code: '000000' }), 422);
  const again = await user.submit({ code: showCode(secret, clock.now += 30_000) });
  assertPage(again);
  assert.deepEqual(['name', 'stock'].map((name) => user.valueOf(name)), ['Cup', '7']);
});

test('shows a draft to no other account', async (t) => {
  const { server, shop: { create }, user, sendLate, signIn } = await prepare(t);
  const mug = await create({ name: 'Mug' });
  const { email, password } = await openOther(server);
  await sendLate(mug.path, { name: 'Cup' });
  const answer = await signIn({ email, password });
  assert.deepEqual([answer.status, answer.headers.location], [303, '/portal']);
  assert.doesNotMatch((await user.follow()).text, /Cup/);
});

test('rejects a draft of another browser, a forged one, and an expired one', async (t) => {
  const { clock, server, shop, user, sendLate, signIn } = await prepare(t);
  const mug = await shop.create({ name: 'Mug' });
  await sendLate(mug.path, { name: 'Cup' });
  const draft = user.valueOf('draft') ?? '';
  assert.ok(draft.length > 100);
  const other = new PageClient(server.port);
  const { email, password } = shop;
  for (const wrong of [draft, `A${draft.slice(1)}`, 'x', '{}']) {
    await other.get('/portal/sign-in');
    const fields = { email, password, csrf: other.valueOf('csrf') ?? '', draft: wrong };
    const answer = await other.post('/portal/sign-in', new URLSearchParams(fields));
    assert.deepEqual([answer.status, answer.headers.location], [303, '/portal'], wrong);
    other.cookies.clear();
  }
  clock.now += DRAFT_LIFE_MS;
  const late = await signIn();
  assert.deepEqual([late.status, late.headers.location], [303, mug.path]);
});

test('keeps no passwords, codes or overlong input', async (t) => {
  const { server, user, sendLate, signIn } = await prepare(t);
  const canary = 'canary of a password';
  await sendLate('/portal/account/email', { email: 'new@shop.example', current_password: canary });
  const [draft, csrf] = ['draft', 'csrf'].map((name) => user.valueOf(name) ?? '');
  const text = await server.store.decrypt(draft ?? '', `draft ${csrf}`) ?? '';
  assert.match(text, /new@shop\.example/);
  assert.ok(!text.includes(canary) && !user.page?.text.includes(canary));
  assertPage(await signIn());
  assert.equal(user.valueOf('email'), 'new@shop.example');
  assert.equal(user.valueOf('current_password'), '');

  await sendLate('/portal/keys/new', { name: 'Desk', allow: 'x'.repeat(DRAFT_LIMIT_BYTES) });
  assert.match(readText(user.page?.text ?? ''), /Your input was too long to keep/);
  assert.equal((await signIn()).headers.location, '/portal/keys/new');
  for (const { path, fields } of listDrafts()) {
    const secret = fields.filter((name) => /password|(?<!bar)code|csrf|once|secret/.test(name));
    assert.deepEqual(secret, [], path);
  }
});

test('returns to the page of a button without repeating its action', async (t) => {
  const { server, shop: { create, read, sellerId }, user, sendLate, signIn } = await prepare(t);
  const mug = await create();
  const [key] = await server.store.listKeys(sellerId, { after: undefined, limit: 1 });
  assert.ok(key);
  await user.get('/portal/keys');
  const keyPath = /href="(\/portal\/keys\/key_[^"/]+)"/.exec(user.page?.text ?? '')?.[1] ?? '';
  for (const [page, action] of [
    [`${mug.path}/delete`, `${mug.path}/delete`], [keyPath, `${keyPath}/rotate`],
  ] as const) {
    const answer = await sendLate(page, {}, action);
    const to = new URLSearchParams({ to: page.slice('/portal'.length) });
    assert.deepEqual([answer.status, answer.headers.location], [303, `/portal/sign-in?${to}`]);
    await user.follow();
    assert.equal((await signIn()).headers.location, page);
  }
  assert.ok(await read(mug));
});

test('says that an uploaded file is not kept', async (t) => {
  const { user, sendLate, signIn } = await prepare(t);
  const file = new File(['name,category,sku,price,stock\n'], 'a.csv', { type: 'text/csv' });
  assert.equal((await sendLate('/portal/import', { file })).status, 303);
  await user.follow();
  await signIn();
  const page = await user.follow();
  assertPage(page);
  assert.match(readText(page.text), /before the file was uploaded\. Choose the file again/);
});

test('keeps what was typed in every form', async (t) => {
  const { shop: { create, send }, user, sendLate, signIn } = await prepare(t);
  const mug = await create();
  const hook = (await send({
    method: 'POST', path: '/api/v1/webhooks', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'http://127.0.0.1:9/', description: '', types: null }),
  })).json();
  const webhook = `/portal/webhooks/${hook.id}`;
  await user.get('/portal/import');
  const rows = 'title,category,sku,price,stock\nMug,Kitchen,NEW,1,2\n';
  await user.submit({ file: new File([rows], 'a.csv', { type: 'text/csv' }) });
  const upload = user.page?.headers.location ?? '';
  const forms: readonly (readonly [page: string, action: string, fields: Fields])[] = [
    [upload, upload, { mode: 'create', column_name: '0', default_stock: '3' }],
    ['/portal/account', '/portal/account', { locale: 'de-', time_zone: 'x' }],
    ['/portal/account/shop', '/portal/account/shop', { low_stock: '-' }],
    ['/portal/account/name', '/portal/account/name', { name: 'Zoë' }],
    ['/portal/people/new', '/portal/people/new', { name: 'Ben', role: 'viewer' }],
    ['/portal/people/1/name', '/portal/people/1/name', { name: 'Zoë' }],
    ['/portal/people/1/role', '/portal/people/1/role', { role: 'viewer' }],
    ['/portal/account/email', '/portal/account/email', { email: 'x@y.example' }],
    ['/portal/keys/new', '/portal/keys/new', {
      name: 'Desk', scopes: ['products:read', 'stock:write'], expires: 'day', day: '2026-05-05',
      allow: '192.0.2.7\r\n192.0.2.8',
    }],
    ['/portal/products/new', '/portal/products/new', {
      name: 'A', category: 'B', sku: 'C', price: 'D', stock: 'E',
    }],
    [mug.path, mug.path, { name: 'A', category: 'B', sku: 'C', price: 'D' }],
    ['/portal/products/grid', '/portal/products/grid', { stock: 'x', price: 'y', reason: 'why' }],
    ['/portal/categories/rename?category=Kitchen', '/portal/categories/rename', { to: 'Bar' }],
    [mug.path, `${mug.path}/stock`, { set: 'x', set_reason: 'why' }],
    [mug.path, `${mug.path}/adjust`, { amount: 'x', amount_reason: 'why' }],
    ['/portal/webhooks/new', '/portal/webhooks/new', {
      url: 'https://x.example', description: 'd', types: ['stock'],
    }],
    [webhook, `${webhook}/replay`, { position: 'x' }],
    [`${webhook}/edit`, `${webhook}/edit`, { url: 'u', description: 'd', types: ['deleted'] }],
  ];
  for (const [page, action, fields] of forms) {
    assertPage(await sendLate(page, fields, action), 403);
    const again = await signIn();
    assertPage(again);
    const kept = user.formOf(action);
    for (const [name, value] of Object.entries(fields)) {
      assert.deepEqual(kept.filter(([other]) => other === name).map(([, one]) =>
        one.replaceAll(/\r?\n/g, '\r\n')), [value].flat(), `${action} ${name}`);
    }
  }
  assert.equal(forms.length, listDrafts().length);
});

test('has a draft for every form except buttons and secrets', () => {
  const bare = routes.filter((route) =>
    route.method === 'POST' && route.access === 'signed-in' && !route.draft)
    .map(({ path }) => path);
  assert.deepEqual(bare.sort(), [
    '/account/passkeys', '/account/passkeys/new', '/account/passkeys/{passkey_id}',
    '/account/passkeys/{passkey_id}/remove', '/account/password', '/account/password-sign-in',
    '/account/sessions', '/account/two-factor', '/account/two-factor/codes',
    '/account/two-factor/off', '/changes/{position}/undo', '/filters', '/filters/delete',
    '/import/sample', '/import/{id}/cancel', '/import/{id}/commit', '/import/{id}/discard',
    '/imports/{import_id}/revert', '/keys/find', '/keys/{key_id}/revoke', '/keys/{key_id}/rotate',
    '/leaked', '/leaked/{key_id}/replace', '/leaked/{key_id}/revert', '/leaked/{key_id}/revoke',
    '/people/invitations/{invitation}/revoke', '/people/two-factor', '/people/{account_id}/remove',
    '/people/{account_id}/sign-out', '/products/selection',
    '/products/{id}/archive', '/products/{id}/delete', '/sign-out', '/start',
    '/webhooks/{webhook_id}/attempts/{n}/resend', '/webhooks/{webhook_id}/delete',
    '/webhooks/{webhook_id}/retry', '/webhooks/{webhook_id}/rotate',
    '/webhooks/{webhook_id}/status', '/webhooks/{webhook_id}/test',
  ]);
});

function listDrafts(): { readonly path: string; readonly fields: readonly string[] }[] {
  return routes.flatMap((route) => 'draft' in route && route.draft
    ? [{ path: route.path, fields: route.draft.fields }] : []);
}
