/** The page of a delivery attempt, and the actions on a failing webhook. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { answerWith } from '../../webhooks/receiver.ts';
import { addColleague } from '../colleague.ts';
import type { TestServer } from '../../../support/server.ts';
import { assertNoPositions, assertPage } from '../page-rules.ts';
import { openShop, readText } from '../page-client.ts';
import { act, createProduct, find, make, pathOf, start } from './fixture.ts';

/** Changes the database from another connection. */
async function execute({ folder }: TestServer, sql: string): Promise<void> {
  const db = new DatabaseSync(join(folder, 'catalogue.db'), { timeout: 5_000 });
  db.exec(sql);
  db.close();
  await nextTurn(); // reads of one event-loop iteration share a snapshot
}

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

test("shows an endpoint's response as text, without control characters", async (t) => {
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
  const { server, shop, receiver } = await start(t);
  receiver.answer = (response) => response.destroy();
  const { webhook } = await make(server, shop, { url: receiver.url });
  await act(shop, webhook, 'test');
  const page = await shop.user.get(`${pathOf(webhook)}/attempts/1`);
  assertPage(page);
  assert.match(readText(page.text), /HTTP status none .*Response No response\./);
});

test('says that an attempt sent nothing', async (t) => {
  const { server, shop } = await start(t);
  const { webhook } = await make(server, shop, { url: 'http://127.0.0.1:9/' });
  await act(shop, webhook, 'test');
  const page = await shop.user.get(`${pathOf(webhook)}/attempts/1`);
  assertPage(page);
  assert.match(readText(page.text), /Result connection refused .*Nothing was sent\./);
  assert.doesNotMatch(page.text, /POST http|webhook-signature/);
});

test('says that details of an attempt whose changes were pruned are not stored', async (t) => {
  const { server, shop, receiver } = await start(t);
  const { webhook } = await make(server, shop, { url: receiver.url });
  await act(shop, webhook, 'test');
  await execute(server, 'UPDATE webhook_attempt SET detail = NULL');
  const page = await shop.user.get(`${pathOf(webhook)}/attempts/1`);
  assertPage(page);
  assert.match(readText(page.text), /are not stored/);
});

test('answers 404 for unknown attempts', async (t) => {
  const { server, shop, receiver } = await start(t);
  const { webhook } = await make(server, shop, { url: receiver.url });
  for (const n of ['1', '0', 'x', '1e1']) {
    assertPage(await shop.user.get(`${pathOf(webhook)}/attempts/${n}`), 404);
  }
});

test('resends the message of an attempt with the same id', async (t) => {
  const { server, shop, receiver } = await start(t);
  const { webhook } = await make(server, shop, { url: receiver.url });
  await createProduct(shop);
  while ((await find(server, webhook)).position === 0) await nextTurn();
  await shop.user.get(`${pathOf(webhook)}/attempts/1`);
  await shop.user.submit({}, { action: `${pathOf(webhook)}/attempts/1/resend` });
  assert.match(readText((await shop.user.follow()).text), /The message was delivered: HTTP 204/);
  const [first, second] = receiver.received;
  assert.deepEqual([second?.id, second?.text], [first?.id, first?.text]);
  receiver.answer = answerWith(500);
  await shop.user.get(`${pathOf(webhook)}/attempts/2`);
  await shop.user.submit({}, { action: `${pathOf(webhook)}/attempts/2/resend` });
  const failed = await shop.user.follow();
  assert.match(readText(failed.text), /was not delivered: responded with 500\. View the response/);
  assert.ok(failed.text.includes(`href="${pathOf(webhook)}/attempts/3"`));
});

test('retries a failing webhook now, and shows the result', async (t) => {
  const { server, shop, receiver } = await start(t);
  receiver.answer = answerWith(503);
  const { webhook } = await make(server, shop, { url: receiver.url });
  assert.doesNotMatch((await shop.user.get(pathOf(webhook))).text, /Retry now/);
  await createProduct(shop);
  while ((await find(server, webhook)).failures === 0) await nextTurn();
  const page = await shop.user.get(pathOf(webhook));
  assert.match(readText(page.text), /This webhook is failing Last attempt: responded with 503\./);
  const attempt = await shop.user.get(`${pathOf(webhook)}/attempts/1`);
  assert.match(attempt.text, /Retry now/);
  assert.doesNotMatch(attempt.text, /Resend/);
  await shop.user.submit({}, { action: `${pathOf(webhook)}/retry` });
  assert.match(readText((await shop.user.follow()).text), /not delivered: responded with 503/);
  receiver.answer = answerWith(200);
  await act(shop, webhook, 'retry');
  const delivered = await shop.user.follow();
  assert.match(readText(delivered.text), /The message was delivered: HTTP 200/);
  assert.doesNotMatch(delivered.text, /Retry now/);
  assert.equal((await find(server, webhook)).position, 1);
});

test('shows positions under Details only', async (t) => {
  const { server, shop, receiver } = await start(t, { allowHttp: false });
  const { webhook } = await make(server, shop, { url: receiver.url.replace('http:', 'https:') });
  await Promise.all([createProduct(shop), createProduct(shop)]);
  while ((await find(server, webhook)).failures === 0) await nextTurn();
  const paths = [pathOf(webhook), `${pathOf(webhook)}/attempts/1`];
  for (const path of paths) assertNoPositions((await shop.user.get(path)).text);
  assert.match(readText(shop.user.page?.text ?? ''), /Event (?:Changes|1 change) .*Positions 1/);
});

test('offers a replay instead of a retry if the next changes were pruned', async (t) => {
  const { server, shop, receiver } = await start(t);
  receiver.answer = answerWith(503);
  const { webhook } = await make(server, shop, { url: receiver.url });
  await createProduct(shop);
  while ((await find(server, webhook)).failures === 0) await nextTurn();
  await createProduct(shop);
  await execute(server, `BEGIN IMMEDIATE; DELETE FROM change WHERE position = 1;
    UPDATE seller SET pruned_to = 1; COMMIT`);
  await act(shop, webhook, 'retry');
  const page = await shop.user.follow();
  assertPage(page);
  const text = readText(page.text);
  assert.match(text, /Nothing was sent, and the webhook is disabled\./);
  assert.match(text, /This webhook was disabled The next changes are no longer in the history\./);
  assert.doesNotMatch(text, /Retry now|being sent/);
  assert.match(page.text, /href="#replay"/);
  assert.doesNotMatch((await shop.user.get(`${pathOf(webhook)}/attempts/1`)).text, /Retry now/);
  receiver.answer = answerWith(200);
  await act(shop, webhook, 'replay', { position: '1' });
  await act(shop, webhook, 'retry');
  assert.match(readText((await shop.user.follow()).text), /The message was delivered: HTTP 200/);
});

test('offers a new secret instead of a retry if the secret cannot be decrypted', async (t) => {
  const { server, shop, receiver } = await start(t);
  receiver.answer = answerWith(503);
  const { webhook } = await make(server, shop, { url: receiver.url });
  await createProduct(shop);
  while ((await find(server, webhook)).failures === 0) await nextTurn();
  await execute(server, 'UPDATE webhook SET secret = randomblob(length(secret))');
  await act(shop, webhook, 'retry');
  const page = await shop.user.follow();
  const text = readText(page.text);
  assert.match(text, /Nothing was sent.*This webhook was disabled The secret cannot be decrypted/);
  assert.doesNotMatch(text, /Retry now/);
  assert.match(page.text, /href="#rotate"/);
  await act(shop, webhook, 'rotate', { overlap: '0s' });
  receiver.answer = answerWith(200);
  await act(shop, webhook, 'retry');
  assert.match(readText((await shop.user.follow()).text), /The message was delivered: HTTP 200/);
});

test('offers to resend the waiting message of a disabled webhook', async (t) => {
  const { server, shop, receiver } = await start(t);
  receiver.answer = answerWith(503);
  const { webhook } = await make(server, shop, { url: receiver.url });
  await createProduct(shop);
  while ((await find(server, webhook)).failures === 0) await nextTurn();
  await act(shop, webhook, 'status');
  receiver.answer = answerWith(200);
  assert.doesNotMatch((await shop.user.get(`${pathOf(webhook)}/attempts/1`)).text, /Retry now/);
  await shop.user.submit({}, { action: `${pathOf(webhook)}/attempts/1/resend` });
  assert.match(readText((await shop.user.follow()).text), /The message was delivered: HTTP 200/);
  assert.equal((await find(server, webhook)).status, 'disabled');
});

test('shows on the overview which webhook fails, since when and why', async (t) => {
  const { server, shop, receiver } = await start(t);
  const { webhook } = await make(server, shop, { url: receiver.url, description: '<i>Desk</i>' });
  assert.doesNotMatch((await shop.user.get('/portal')).text, /is failing/);
  receiver.answer = answerWith(503);
  await createProduct(shop);
  while ((await find(server, webhook)).failures === 0) await nextTurn();
  server.clock.now += 3 * 3_600_000;
  const page = await shop.user.get('/portal');
  assertPage(page);
  assert.match(readText(page.text),
    /<i>Desk<\/i> is failing\. First failure: 3 hours ago\s?\. Last attempt: responded with 503\./);
  assert.ok(page.text.includes(`href="${pathOf(webhook)}"`));
  const other = await openShop(server);
  assert.doesNotMatch((await other.user.get('/portal')).text, /failing/);
  receiver.answer = answerWith(410);
  await act(shop, webhook, 'retry');
  while ((await find(server, webhook)).status === 'active') await nextTurn();
  assert.match(readText((await shop.user.get('/portal')).text), /was disabled\. .*410 \(Gone\)/);
  receiver.answer = answerWith(200); // otherwise it would be disabled again
  await act(shop, webhook, 'status');
  await act(shop, webhook, 'status');
  assert.doesNotMatch((await shop.user.get('/portal')).text, /was disabled/);
});

test('shows other roles than owners that a webhook fails, but no details', async (t) => {
  const { server, shop, receiver } = await start(t);
  const { webhook } = await make(server, shop, { url: receiver.url, description: 'Cash desk' });
  receiver.answer = answerWith(503);
  await createProduct(shop);
  while ((await find(server, webhook)).failures === 0) await nextTurn();
  const { user } = await addColleague(server, shop, 'editor', 'Ben');
  const page = readText((await user.get('/portal')).text);
  assert.match(page, /A webhook does not deliver changes/);
  assert.doesNotMatch(page, /Cash desk|503/);
  for (const path of ['', '/attempts/1']) {
    assert.equal((await user.get(`${pathOf(webhook)}${path}`)).status, 403);
  }
  const { failures } = await find(server, webhook);
  const csrf = user.valueOf('csrf') ?? '';
  for (const action of ['retry', 'attempts/1/resend']) {
    const answer = await user.post(`${pathOf(webhook)}/${action}`, new URLSearchParams({ csrf }));
    assert.equal(answer.status, 403);
  }
  assert.equal((await find(server, webhook)).failures, failures);
  assert.equal(receiver.received.length, 1);
});
