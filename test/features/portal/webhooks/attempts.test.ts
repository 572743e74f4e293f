/** The page of one attempt to send a message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerWith } from '../../webhooks/receiver.ts';
import { assertPage } from '../page-rules.ts';
import { readText } from '../page-client.ts';
import { act, make, pathOf, start } from './fixture.ts';

test('shows the request and the response of an attempt, without secrets', async (t) => {
  const { server, shop, receiver } = await start(t);
  receiver.answer = answerWith(500, { 'set-cookie': 'session=hidden', 'x-reason': '<b>full</b>' });
  const { webhook, secret } = await make(server, shop, { url: receiver.url });
  await act(shop, webhook, 'test');
  const log = await shop.user.get(pathOf(webhook));
  assert.ok(log.text.includes(`href="${pathOf(webhook)}/attempts/1"`));
  const page = await shop.user.get(`${pathOf(webhook)}/attempts/1`);
  assertPage(page);
  const text = readText(page.text);
  assert.match(text, /Delivery attempt 1 .*Event Test Result responded with 500 HTTP status 500/);
  const [message] = receiver.received;
  assert.ok(text.includes(`POST ${receiver.url}`));
  assert.ok(text.includes(`webhook-signature: ${message?.headers['webhook-signature']}`));
  assert.ok(text.includes(message?.text ?? ''));
  assert.ok(text.includes('set-cookie: (not stored)') && text.includes('x-reason: <b>full</b>'));
  assert.ok(text.includes('thrown away'));
  assert.ok(!page.text.includes('<b>') && !text.includes('hidden') && !text.includes(secret));
});

test('shows what an endpoint wrote as text, without control characters', async (t) => {
  const { server, shop, receiver } = await start(t);
  const { webhook } = await make(server, shop, { url: receiver.url });
  receiver.answer = (response) => response.writeHead(200)
    .end(Buffer.from('</pre><script>x</script>\0\x1b[31m\xff\tend', 'latin1'));
  await act(shop, webhook, 'test');
  const page = await shop.user.get(`${pathOf(webhook)}/attempts/1`);
  assertPage(page);
  const shown = '&lt;/pre&gt;&lt;script&gt;x&lt;/script&gt;\uFFFD\uFFFD[31m\uFFFD\tend';
  assert.ok(page.text.includes(shown), page.text);
});

test('says that there was no response', async (t) => {
  const { server, shop } = await start(t);
  const { webhook } = await make(server, shop, { url: 'http://127.0.0.1:9/' });
  await act(shop, webhook, 'test');
  const page = await shop.user.get(`${pathOf(webhook)}/attempts/1`);
  assertPage(page);
  assert.match(readText(page.text), /HTTP status none .*Response No response\./);
});

test('says that nothing is stored of an attempt of an earlier version', async (t) => {
  const { server, shop, receiver } = await start(t);
  const { webhook } = await make(server, shop, { url: receiver.url });
  const result = { at: 1, durationMs: 5, status: 500, outcome: 'responded with 500' };
  await server.store.noteWebhookAttempt(webhook, { id: 'msg_1', at: 1 }, result);
  const page = await shop.user.get(`${pathOf(webhook)}/attempts/1`);
  assertPage(page);
  assert.match(readText(page.text), /were not stored/);
});

test('finds no attempt that there is not', async (t) => {
  const { server, shop, receiver } = await start(t);
  const { webhook } = await make(server, shop, { url: receiver.url });
  for (const n of ['1', '0', 'x', '1e1']) {
    assertPage(await shop.user.get(`${pathOf(webhook)}/attempts/${n}`), 404);
  }
});
