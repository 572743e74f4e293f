/** Routes of one webhook: its delivery log, test messages, replays and secret rotation. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import { damage } from '../../store/sqlite/check/sample-folder.ts';
import { startServer } from '../../support/server.ts';
import { answerWith, findSigners, positionsOf, startReceiver } from './receiver.ts';
import { assertProblem, faultsOf } from '../../api/problem.ts';
import { ask, createWebhook, listDeliveries, LOCAL, readWebhook, waitFor } from './routes.ts';

async function start(t: Parameters<typeof startServer>[0]) {
  const clock = makeClock();
  const server = await startServer(t, { clock, webhooks: LOCAL });
  const receiver = await startReceiver(t);
  const seller = await server.makeSeller();
  return { clock, server, seller, receiver, made: await createWebhook(seller, receiver.url) };
}

test('sends a signed test message, and returns the result', async (t) => {
  const { clock, seller, receiver, made } = await start(t);
  const answer = await ask(seller, 'POST', `/${made.id}/test`);
  assert.equal(answer.status, 200, answer.text);
  const [received] = receiver.received;
  assert.ok(received);
  assert.deepEqual(findSigners(received, [made.secret]), [made.secret]);
  const at = new Date(clock.now).toISOString();
  assert.deepEqual(received.body, {
    type: 'test', timestamp: at, data: { webhook_id: made.id },
  });
  const { duration_ms: duration, ...rest } = answer.json();
  assert.ok(duration >= 0);
  assert.deepEqual(rest, {
    n: 1, message_id: received.id, kind: 'test', first_position: null, last_position: null, at,
    status: 204, outcome: 'delivered',
  });
  assert.deepEqual(await listDeliveries(seller, made.id), [answer.json()]);
});

test('tests a failing or disabled endpoint without changing it', async (t) => {
  const { seller, receiver, made } = await start(t);
  receiver.answer = answerWith(410);
  await ask(seller, 'PATCH', `/${made.id}`, { status: 'disabled' });
  const before = await readWebhook(seller, made.id);
  const { status, outcome } = (await ask(seller, 'POST', `/${made.id}/test`)).json();
  assert.deepEqual([status, outcome], [410, 'responded with 410']);
  assert.deepEqual(await readWebhook(seller, made.id), before);
});

test('lists delivery attempts in pages, the newest first', async (t) => {
  const { seller, made } = await start(t);
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    ids.push((await ask(seller, 'POST', `/${made.id}/test`)).json().message_id);
  }
  const first = (await ask(seller, 'GET', `/${made.id}/deliveries?limit=3`)).json();
  const path = `/${made.id}/deliveries?limit=3&cursor=${first.next_cursor}`;
  const second = (await ask(seller, 'GET', path)).json();
  const listed = [...first.deliveries, ...second.deliveries];
  assert.deepEqual(listed.map((delivery) => delivery.message_id), ids.toReversed());
  assert.equal(second.next_cursor, null);
  const { id: other } = await createWebhook(seller, 'http://127.0.0.1:9/');
  const foreign = await ask(seller, 'GET', `/${other}/deliveries?cursor=${first.next_cursor}`);
  assert.deepEqual(faultsOf(foreign), ['cursor format']);
});

test('shows the request and the response of an attempt', async (t) => {
  const { seller, receiver, made } = await start(t);
  receiver.answer = answerWith(503, { 'Retry-After': '60', 'set-cookie': 'session=hidden' });
  await seller.create();
  await receiver.until(({ length }) => length === 1);
  const [listed] = await waitFor(() => listDeliveries(seller, made.id), ({ length }) => length > 0);
  const read = await ask(seller, 'GET', `/${made.id}/deliveries/${listed.n}`);
  const { url, request, response, ...rest } = read.json();
  assert.deepEqual([rest, url], [listed, receiver.url]);
  const [received] = receiver.received;
  assert.equal(request.body, received?.text);
  assert.equal(request.body_bytes, Buffer.byteLength(request.body));
  for (const { name, value } of request.headers) assert.equal(received?.headers[name], value, name);
  assert.equal(response.body, 'thrown away');
  const [retry, cookie] = response.headers;
  assert.deepEqual(retry, { name: 'Retry-After', value: '60' });
  assert.deepEqual(cookie, { name: 'set-cookie', value: '(not stored)' });
  assert.ok(!read.text.includes(made.secret) && !read.text.includes('hidden'));
});

test('sends the message of an attempt again, with the same id and body', async (t) => {
  const { seller, receiver, made } = await start(t);
  for (let n = 0; n < 2; n += 1) await seller.create();
  await receiver.until((all) => positionsOf(all).length === 2);
  await waitFor(() => readWebhook(seller, made.id), ({ position }) => position === 2);
  const [first] = receiver.received;
  const before = await readWebhook(seller, made.id);
  receiver.answer = answerWith(503);
  // A message keeps its content when the webhook selects other types.
  await ask(seller, 'PATCH', `/${made.id}`, { types: ['deleted'] });
  const resent = await ask(seller, 'POST', `/${made.id}/deliveries/1/resend`);
  assert.equal(resent.status, 200, resent.text);
  const { message_id: id, outcome, first_position: position, n } = resent.json();
  assert.deepEqual([id, outcome, position], [first?.id, 'responded with 503', 1]);
  const again = receiver.received.at(-1);
  assert.deepEqual([again?.id, again?.text], [first?.id, first?.text]);
  assert.deepEqual(findSigners(again ?? assert.fail(), [made.secret]), [made.secret]);
  const after = await readWebhook(seller, made.id);
  assert.deepEqual([after.position, after.failing_since], [before.position, null]);
  assert.equal((await listDeliveries(seller, made.id))[0].n, n);
  await ask(seller, 'POST', `/${made.id}/test`);
  const test = (await ask(seller, 'POST', `/${made.id}/deliveries/${n + 1}/resend`)).json();
  assert.deepEqual([test.kind, test.message_id], ['test', receiver.received.at(-2)?.id]);
  assert.equal(receiver.received.at(-1)?.text, receiver.received.at(-2)?.text);
});

test('rejects resending a message that is no longer stored', async (t) => {
  const { server, seller, receiver, made } = await start(t);
  await seller.create();
  await waitFor(() => readWebhook(seller, made.id), ({ position }) => position === 1);
  damage(server.folder, 'UPDATE seller SET pruned_to = 1');
  const path = `/${made.id}/deliveries/1/resend`;
  assertProblem(await ask(seller, 'POST', path), 410, 'history-pruned');
  damage(server.folder, 'UPDATE webhook_attempt SET detail = NULL');
  assertProblem(await ask(seller, 'POST', path), 404, 'not-found');
  const other = await server.makeSeller();
  assertProblem(await ask(other, 'POST', path), 404, 'not-found');
  assert.equal(receiver.received.length, 1);
});

test('retries on request', async (t) => {
  const { server, seller, receiver, made } = await start(t);
  receiver.answer = answerWith(410);
  await seller.create();
  await waitFor(() => readWebhook(seller, made.id), ({ status }) => status === 'disabled');
  receiver.answer = answerWith(204);
  const other = await server.makeSeller();
  assertProblem(await ask(other, 'POST', `/${made.id}/retry`), 404, 'not-found');
  const retried = await ask(seller, 'POST', `/${made.id}/retry`);
  assert.deepEqual([retried.status, retried.json().status], [200, 'active']);
  await waitFor(() => readWebhook(seller, made.id), ({ position }) => position === 1);
  const [first, second] = receiver.received;
  assert.equal(first?.id, second?.id);
});

test("answers 404 for unknown attempts, and for those of another seller's webhook", async (t) => {
  const { server, seller, made } = await start(t);
  await ask(seller, 'POST', `/${made.id}/test`);
  assert.equal((await ask(seller, 'GET', `/${made.id}/deliveries/1`)).status, 200);
  for (const n of ['0', '2', '-1', '01', '1.0', 'x', '9'.repeat(30)]) {
    assertProblem(await ask(seller, 'GET', `/${made.id}/deliveries/${n}`), 404, 'not-found');
  }
  const other = await server.makeSeller();
  assertProblem(await ask(other, 'GET', `/${made.id}/deliveries/1`), 404, 'not-found');
});

test('limits concurrent test messages', async (t) => {
  const { seller, receiver, made } = await start(t);
  const held: (() => void)[] = [];
  receiver.answer = (response) => held.push(() => response.end());
  const tests = [1, 2].map(() => ask(seller, 'POST', `/${made.id}/test`));
  await receiver.until(({ length }) => length === 2);
  assertProblem(await ask(seller, 'POST', `/${made.id}/test`), 503, 'unavailable');
  for (const end of held) end();
  for (const answer of await Promise.all(tests)) assert.equal(answer.status, 200);
});

test('replays all changes after a position in messages with new ids', async (t) => {
  const { seller, receiver, made } = await start(t);
  for (let n = 0; n < 3; n += 1) await seller.create();
  await receiver.until((received) => positionsOf(received).length === 3);
  await waitFor(() => readWebhook(seller, made.id), ({ position }) => position === 3);
  const seen = new Set(receiver.received.map(({ id }) => id));
  const replayed = await ask(seller, 'POST', `/${made.id}/replay`, { position: 1 });
  assert.deepEqual([replayed.status, replayed.json().position], [200, 1]);
  await receiver.until((received) => positionsOf(received).length === 5);
  const again = receiver.received.filter(({ id }) => !seen.has(id));
  assert.deepEqual(positionsOf(again), [2, 3]);
});

test('rejects a replay from pruned history', async (t) => {
  const { server, seller, made } = await start(t);
  await seller.create();
  const db = new DatabaseSync(join(server.folder, 'catalogue.db'), { timeout: 5_000 });
  db.exec('UPDATE seller SET pruned_to = 1');
  db.close();
  const answer = await ask(seller, 'POST', `/${made.id}/replay`, { position: 0 });
  const { detail } = assertProblem(answer, 410, 'history-pruned');
  assert.match(detail, /begins after position 1/);
});

test('signs with both secrets until the overlap of a rotation ends', async (t) => {
  const { clock, seller, receiver, made } = await start(t);
  const body = { overlap: '1h' };
  const rotated = (await ask(seller, 'POST', `/${made.id}/rotate-secret`, body)).json();
  const secrets = [made.secret, rotated.secret];
  const findTestSigners = async () => {
    await ask(seller, 'POST', `/${made.id}/test`);
    const received = receiver.received.at(-1) ?? assert.fail();
    return findSigners(received, secrets);
  };
  assert.deepEqual(await findTestSigners(), secrets);
  clock.now += 3_600_000;
  assert.deepEqual(await findTestSigners(), [rotated.secret]);
});

test('rotates with an overlap of one day by default', async (t) => {
  const { clock, server, seller, made } = await start(t);
  for (const body of [undefined, {}]) {
    const answer = await ask(seller, 'POST', `/${made.id}/rotate-secret`, body);
    assert.equal(answer.status, 200, answer.text);
    const { id, sellerId } = (await server.store.listWebhooks(seller.sellerId, {
      after: undefined, limit: 1,
    }))[0] ?? assert.fail();
    const count = async () => (await server.store.findWebhookSecrets({ id, sellerId }))?.length;
    assert.equal(await count(), 2);
    clock.now += 24 * 3_600_000;
    assert.equal(await count(), 1);
  }
});

test('says to rotate a secret that cannot be decrypted', async (t) => {
  const { server, seller, receiver, made } = await start(t);
  damage(server.folder, 'UPDATE webhook SET secret = randomblob(length(secret))');
  const tested = (await ask(seller, 'POST', `/${made.id}/test`)).json();
  assert.match(tested.outcome, /Rotate the secret/);
  await seller.create();
  const disabled = await waitFor(
    () => readWebhook(seller, made.id), ({ status }) => status === 'disabled',
  );
  assert.match(disabled.disabled_reason, /server\.key.*Rotate the secret.*active/);
  assert.deepEqual(receiver.received, []);
  const { secret } = (await ask(seller, 'POST', `/${made.id}/rotate-secret`)).json();
  await ask(seller, 'PATCH', `/${made.id}`, { status: 'active' });
  await receiver.until((received) => positionsOf(received).length === 1);
  assert.deepEqual(findSigners(receiver.received[0] ?? assert.fail(), [secret]), [secret]);
  assert.deepEqual(server.reports, []);
});
