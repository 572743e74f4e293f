/** The webhook pages: creating webhooks, the page of a webhook, and its actions. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatWebhookId, type WebhookId } from '../../../../src/domain/id.ts';
import { startServer } from '../../../support/server.ts';
import { answerWith, findSigners, positionsOf } from '../../webhooks/receiver.ts';
import { assertHidden, assertRequiresSignIn, assertPage } from '../page-rules.ts';
import { type Fields, openShop, readText } from '../page-client.ts';
import {
  act, createProduct, find, listWebhooks, make, pathOf, readSecret, start,
} from './fixture.ts';

const ELSEWHERE = '/portal/webhooks/whk_0000000000500000000005';

test('says that webhooks are disabled, and offers no actions', async (t) => {
  const server = await startServer(t, { portal: true });
  const { user } = await openShop(server);
  const page = await user.get('/portal/webhooks');
  assertPage(page);
  assert.match(readText(page.text), /are disabled/);
  for (const path of ['/portal/webhooks/new', ELSEWHERE, `${ELSEWHERE}/edit`]) {
    const rejected = await user.get(path);
    assertPage(rejected, 404);
    assert.match(readText(rejected.text), /on this server/);
  }
});

describe('creating a webhook', () => {
  test('shows the secret that signs the messages once', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { user } = shop;
    assert.match(readText((await user.get('/portal/webhooks')).text), /No webhooks yet/);
    const { secret, webhook } = await make(server, shop, {
      url: receiver.url, description: 'Cash desk', types: ['created', 'stock'],
    });
    assert.deepEqual(
      [webhook.url, webhook.description, webhook.types],
      [receiver.url, 'Cash desk', ['created', 'stock']],
    );
    await user.get(pathOf(webhook));
    await user.submit({}, { action: `${pathOf(webhook)}/test` });
    const [message] = receiver.received;
    assert.ok(message);
    assert.deepEqual(findSigners(message, [secret]), [secret]);
    for (const path of ['/portal/webhooks', pathOf(webhook), `${pathOf(webhook)}/edit`]) {
      const page = await user.get(path);
      assertPage(page);
      assert.ok(!page.text.includes(secret), path);
      assert.ok(page.text.includes('Cash desk'), path);
    }
  });

  test('sends all changes if no type is selected', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { webhook } = await make(server, shop, { url: receiver.url });
    assert.equal(webhook.types, null);
    assert.match(readText((await shop.user.get(pathOf(webhook))).text), /All changes/);
  });

  test('sends one change per message if that is selected', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { webhook } = await make(server, shop, {
      url: receiver.url, types: ['created', 'stock.low'], delivery: 'single',
    });
    assert.deepEqual([webhook.delivery, webhook.types], ['single', ['created', 'stock.low']]);
    const page = readText((await shop.user.get(pathOf(webhook))).text);
    assert.match(page, /Products created; Stock falls to .* Messages One change in a message/);
    await createProduct(shop);
    await receiver.until(({ length }) => length === 1);
    assert.equal(receiver.received[0]?.body.type, 'product.created');
    await shop.user.get(`${pathOf(webhook)}/edit`);
    assert.equal(shop.user.valueOf('delivery'), 'single');
    await shop.user.submit({ url: receiver.url, delivery: 'batch' });
    assert.equal((await find(server, webhook)).delivery, 'batch');
  });

  test('creates one webhook if the form is sent twice, and shows no secret again', async (t) => {
    const { server, shop: { user, ...shop }, receiver } = await start(t);
    await user.get('/portal/webhooks/new');
    const body = new URLSearchParams({
      csrf: user.valueOf('csrf') ?? '', once: user.valueOf('once') ?? '',
      url: receiver.url, description: '',
    });
    const submit = () => user.post('/portal/webhooks/new', body);
    const both = await Promise.all([submit(), submit()]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
    const again = await submit();
    assertPage(again, 409);
    assert.doesNotMatch(again.text, /whsec_/);
    body.set('description', 'another one');
    assertPage(await submit(), 409);
    assert.equal((await listWebhooks(server, shop)).length, 1);
  });

  test('shows errors at the fields, and keeps the entered values', async (t) => {
    const { server, shop } = await start(t, { allowPrivate: false });
    const { user } = shop;
    const invalid: readonly [fields: Fields, at: string, says: RegExp][] = [
      [{ url: '' }, 'url', /Must be a URL/], [{ url: 'shop.example' }, 'url', /https:/],
      [{ url: 'http://127.0.0.1/' }, 'url', /Use another URL: .*, because its address is not/],
      [{ url: `https://shop.example/${'x'.repeat(2_048)}` }, 'url', /2048/],
      [{ description: 'x'.repeat(201) }, 'description', /200/],
      [{ types: ['created', 'moved'] }, 'types', /one or more of created/],
      [{ delivery: 'all' }, 'delivery', /one of: batch, single/],
    ];
    for (const [fields, at, says] of invalid) {
      await user.get('/portal/webhooks/new');
      const typed = { url: 'http://10.0.0.1/', description: 'Cash desk', ...fields };
      const answer = await user.submit(typed);
      assertPage(answer, 422);
      const error = new RegExp(`id="field-${at}-fault">([^<]*)<`).exec(answer.text)?.[1];
      assert.match(error ?? '', says);
      assert.equal(user.valueOf('url'), typed.url);
      assert.equal(user.valueOf('description'), typed.description);
    }
    assert.deepEqual(await listWebhooks(server, shop), []);
  });

  test('rejects webhooks beyond the limit', async (t) => {
    const { server, shop, receiver } = await start(t);
    for (let n = 0; n < 20; n += 1) {
      await make(server, shop, { url: receiver.url, description: '&'.repeat(200) });
    }
    await shop.user.get('/portal/webhooks/new');
    const rejected = await shop.user.submit({ url: receiver.url, description: 'kept' });
    assertPage(rejected, 409);
    assert.match(readText(rejected.text), /20 webhooks.*Delete one/);
    assert.equal(shop.user.valueOf('description'), 'kept');
    assertPage(await shop.user.get('/portal/webhooks'));
  });
});

describe('the page of a webhook', () => {
  test('reports the result of a test message', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { webhook } = await make(server, shop, { url: receiver.url });
    await act(shop, webhook, 'test');
    const arrived = readText((await shop.user.follow()).text);
    assert.match(arrived, /was delivered: HTTP 204 after [\d,]+ ms\./);
    assert.match(arrived, /Test delivered 204 [\d,]+ ms msg_/);
    receiver.answer = answerWith(500);
    await act(shop, webhook, 'test');
    const failed = readText((await shop.user.follow()).text);
    assert.match(failed, /was not delivered: responded with 500\./);
  });

  test('shows since when it fails, the response, and the next attempt', async (t) => {
    const { server, shop, receiver } = await start(t);
    receiver.answer = answerWith(503);
    const { webhook } = await make(server, shop, { url: receiver.url });
    await createProduct(shop);
    while ((await find(server, webhook)).failures === 0) await nextTurn();
    const page = await shop.user.get(pathOf(webhook));
    assertPage(page);
    assert.match(readText(page.text), /Status failing.*Failing since .*Next attempt /);
    assert.match(readText(page.text), /1 change responded with 503 503 /);
    assert.match(readText((await shop.user.get('/portal/webhooks')).text), /failing/);
  });

  test('pages through the attempts, newest first', async (t) => {
    const { server, shop } = await start(t);
    const { webhook } = await make(server, shop, { url: 'http://127.0.0.1:9/' });
    for (let n = 1; n <= 30; n += 1) {
      const outcome = `answered ${500 + n} <b>&`;
      await server.store.noteWebhookAttempt(webhook, { id: `msg_${n}`, at: 1 }, {
        at: server.clock.now + n, durationMs: n, status: 500 + n, outcome,
      });
    }
    const first = await shop.user.get(pathOf(webhook));
    assertPage(first);
    assert.match(readText(first.text), /msg_30 .*msg_6 /);
    assert.doesNotMatch(first.text, /msg_5<|<b>/);
    const next = /href="([^"]*)" rel="next"/.exec(first.text)?.[1] ?? '';
    const second = await shop.user.get(next);
    assertPage(second);
    assert.match(readText(second.text), /msg_5 .*msg_1 /);
    assert.ok(!second.text.includes('rel="next"'));
  });

  test('disables and enables it', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { webhook } = await make(server, shop, { url: receiver.url });
    await act(shop, webhook, 'status');
    const disabled = readText((await shop.user.follow()).text);
    assert.match(disabled, /Webhook disabled.*Status disabled Reason/);
    assert.equal((await find(server, webhook)).status, 'disabled');
    await act(shop, webhook, 'status');
    assert.match(readText((await shop.user.follow()).text), /Webhook enabled/);
    assert.equal((await find(server, webhook)).status, 'active');
    await shop.user.get(pathOf(webhook));
    assertPage(await act(shop, webhook, 'status', { status: 'paused' }), 400);
  });

  test('saves an edit, and shows an error at its field', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { user } = shop;
    const { webhook } = await make(server, shop, { url: receiver.url, types: ['stock'] });
    assertPage(await user.get(`${pathOf(webhook)}/edit`));
    assert.equal(user.valueOf('url'), receiver.url);
    assert.equal(user.valueOf('types'), 'stock');
    const rejected = await user.submit({ url: 'no address', description: '<i>new</i>' });
    assertPage(rejected, 422);
    assert.match(rejected.text, /id="field-url-fault">Must be a URL/);
    assert.equal((await find(server, webhook)).description, '');
    const url = `${receiver.url}/2`;
    const changed = await user.submit({ url, types: ['created', 'deleted'] });
    assert.equal(changed.status, 303);
    const page = await user.follow();
    assert.match(readText(page.text), /Webhook updated.*<i>new<\/i>/);
    assert.ok(!page.text.includes('<i>'));
    const found = await find(server, webhook);
    assert.deepEqual([found.url, found.types], [url, ['created', 'deleted']]);
  });

  test('resends from a position, once', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { webhook } = await make(server, shop, { url: receiver.url });
    for (let n = 0; n < 3; n += 1) await createProduct(shop);
    await receiver.until((all) => positionsOf(all).length === 3);
    while ((await find(server, webhook)).position < 3) await nextTurn();
    await shop.user.get(pathOf(webhook));
    const body = new URLSearchParams({
      csrf: shop.user.valueOf('csrf') ?? '', once: shop.user.valueOf('once') ?? '',
      position: '1',
    });
    const submit = () => shop.user.post(`${pathOf(webhook)}/replay`, body);
    assert.equal((await submit()).status, 303);
    assert.match(readText((await shop.user.follow()).text), /are being sent again/);
    await receiver.until((all) => positionsOf(all).length === 5);
    while ((await find(server, webhook)).position < 3) await nextTurn();
    assert.equal((await submit()).status, 303);
    assert.equal((await find(server, webhook)).position, 3);
    assert.deepEqual(positionsOf(receiver.received), [1, 2, 3, 2, 3]);
  });

  test('shows an error at the field for a position that cannot be resent', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { webhook } = await make(server, shop, { url: receiver.url });
    for (const position of ['', '1', '-1', '0.5', 'x', '9'.repeat(20)]) {
      const rejected = await act(shop, webhook, 'replay', { position });
      assertPage(rejected, 422);
      assert.match(rejected.text, /id="field-position-fault">Must be a whole number from 0 to 0/);
      assert.equal(shop.user.valueOf('position'), position);
    }
    await createProduct(shop);
    await createProduct(shop);
    server.clock.now += 60_000;
    await server.store.pruneHistory(server.clock.now);
    const rejected = await act(shop, webhook, 'replay', { position: '0' });
    assertPage(rejected, 422);
    assert.match(rejected.text, /id="field-position-fault">The history begins after position/);
  });

  test('rotates the secret, and signs with both during the overlap', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { secret: old, webhook } = await make(server, shop, { url: receiver.url });
    const answer = await act(shop, webhook, 'rotate', { overlap: '1h' });
    assertPage(answer);
    const secret = readSecret(answer.text);
    const signers = async (): Promise<readonly string[]> => {
      await act(shop, webhook, 'test');
      const message = receiver.received.at(-1);
      assert.ok(message);
      return findSigners(message, [secret, old]);
    };
    assert.deepEqual(await signers(), [secret, old]);
    assert.ok(!(await shop.user.get(pathOf(webhook))).text.includes(secret));
    server.clock.now += 60 * 60 * 1000;
    assert.deepEqual(await signers(), [secret]);
  });

  test('rotates the secret once if the form is sent twice', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { webhook } = await make(server, shop, { url: receiver.url });
    await shop.user.get(pathOf(webhook));
    const body = new URLSearchParams({
      csrf: shop.user.valueOf('csrf') ?? '', once: shop.user.valueOf('once') ?? '',
      overlap: '0s',
    });
    const submit = () => shop.user.post(`${pathOf(webhook)}/rotate`, body);
    const secret = readSecret((await submit()).text);
    const again = await submit();
    assertPage(again, 409);
    assert.doesNotMatch(again.text, /whsec_/);
    assert.deepEqual(await server.store.findWebhookSecrets(webhook), [secret]);
  });

  test('deletes it after confirmation, once on a double click', async (t) => {
    const { server, shop, receiver } = await start(t);
    const { user } = shop;
    const { webhook } = await make(server, shop, { url: receiver.url });
    assertPage(await user.get(`${pathOf(webhook)}/delete`));
    assert.ok(await find(server, webhook));
    const body = new URLSearchParams({
      csrf: user.valueOf('csrf') ?? '', once: user.valueOf('once') ?? '',
    });
    for (let n = 0; n < 2; n += 1) {
      assert.equal((await user.post(`${pathOf(webhook)}/delete`, body)).status, 303);
    }
    assert.match(readText((await user.follow()).text), /Webhook deleted.*No webhooks yet/);
    assertPage(await user.get(pathOf(webhook)), 404);
    assert.deepEqual(await listWebhooks(server, shop), []);
  });
});

test('hides the webhooks of a shop from other shops', async (t) => {
  const { server, shop, receiver } = await start(t);
  const other = await openShop(server);
  const { webhook } = await make(server, other, { url: receiver.url });
  const own = { sellerId: shop.sellerId, id: 5 as WebhookId };
  await assertHidden(shop, {
    foreign: pathOf(webhook),
    unknown: [`/portal/webhooks/${formatWebhookId(own)}`, ELSEWHERE, '/portal/webhooks/x'],
    get: ['', '/edit', '/delete', '/attempts/1'],
    post: [
      '/edit', '/test', '/status', '/replay', '/rotate', '/delete', '/retry', '/attempts/1/resend',
    ],
  });
  assert.deepEqual(await find(server, webhook), webhook);
  assert.deepEqual(receiver.received, []);
  assert.match(readText((await shop.user.get('/portal/webhooks')).text), /No webhooks yet/);
  const path = pathOf(webhook).slice('/portal'.length);
  await assertRequiresSignIn(server, [
    '/webhooks', '/webhooks/new', path, `${path}/edit`, `${path}/delete`, `${path}/attempts/1`,
  ]);
});
