/** Creating, listing, reading, changing and deleting webhooks, each by their own seller only. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { makeClock } from '../../support/clock.ts';
import { startServer } from '../../support/server.ts';
import { startReceiver } from './receiver.ts';
import { assertProblem, faultsOf } from '../../api/problem.ts';
import { ask, createWebhook, LOCAL, readWebhook, WEBHOOKS } from './routes.ts';

const URL_ONE = 'http://127.0.0.1:9/one';
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

async function start(t: Parameters<typeof startServer>[0]) {
  const clock = makeClock();
  const server = await startServer(t, { clock, webhooks: LOCAL });
  return { clock, server, seller: await server.makeSeller() };
}

test("creates a webhook at the catalogue's position, and returns its secret", async (t) => {
  const { clock, seller } = await start(t);
  await seller.create();
  const answer = await ask(seller, 'POST', '', {
    url: 'HTTP://127.0.0.1:9/one?a=b', description: 'Cash desk 🧾', types: ['stock', 'created'],
  });
  assert.equal(answer.status, 201, answer.text);
  const { id, secret, ...rest } = answer.json();
  assert.match(id, /^whk_[0-9a-v]{22}$/);
  assert.match(secret, SECRET);
  const at = new Date(clock.now).toISOString();
  assert.deepEqual(rest, {
    url: 'http://127.0.0.1:9/one?a=b', description: 'Cash desk 🧾', types: ['created', 'stock'],
    delivery: 'batch', status: 'active', disabled_reason: null, position: 1, failing_since: null,
    next_attempt_at: null, created_at: at, updated_at: at,
  });
  assert.equal(answer.headers['location'], `${WEBHOOKS}/${id}`);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.deepEqual(await readWebhook(seller, id), { id, ...rest });
});

test('creates one webhook per Idempotency-Key, and returns its secret to a retry', async (t) => {
  const { seller } = await start(t);
  const create = () => ask(seller, 'POST', '', { url: URL_ONE }, { 'idempotency-key': 'once' });
  const first = await create();
  const again = await create();
  assert.equal(first.headers['idempotent-replay'], undefined);
  assert.equal(again.headers['idempotent-replay'], 'true');
  assert.equal(again.status, 201);
  assert.equal(again.text, first.text);
  assert.equal((await ask(seller, 'GET')).json().webhooks.length, 1);
});

test('lists the webhooks of the seller in pages, without their secrets', async (t) => {
  const { server, seller } = await start(t);
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1) made.push((await createWebhook(seller, URL_ONE)).id);
  const first = (await ask(seller, 'GET', '?limit=3')).json();
  const second = (await ask(seller, 'GET', `?cursor=${first.next_cursor}`)).json();
  const listed = [...first.webhooks, ...second.webhooks];
  assert.deepEqual(listed.map(({ id }) => id), made);
  assert.equal(second.next_cursor, null);
  assert.deepEqual(listed[0], await readWebhook(seller, made[0] ?? ''));
  const other = await server.makeSeller();
  assert.deepEqual((await ask(other, 'GET')).json(), { webhooks: [], next_cursor: null });
  const cursor = await ask(other, 'GET', `?cursor=${first.next_cursor}`);
  assert.deepEqual(faultsOf(cursor), ['cursor format']);
  assert.deepEqual(faultsOf(await ask(seller, 'GET', '?limit=0')), ['limit range']);
});

test('changes only the members in a patch', async (t) => {
  const { clock, seller } = await start(t);
  const { id } = await createWebhook(seller, URL_ONE, { types: ['created'] });
  const before = await readWebhook(seller, id);
  clock.now += 1_000;
  const patch = { url: 'http://127.0.0.1:9/two', description: 'Two', types: null };
  const patched = await ask(seller, 'PATCH', `/${id}`, patch);
  assert.equal(patched.status, 200, patched.text);
  const updated = new Date(clock.now).toISOString();
  assert.deepEqual(patched.json(), { ...before, ...patch, updated_at: updated });
  const off = (await ask(seller, 'PATCH', `/${id}`, { status: 'disabled' })).json();
  assert.equal(off.status, 'disabled');
  assert.equal(off.disabled_reason, 'It was disabled by a request.');
  const on = (await ask(seller, 'PATCH', `/${id}`, { status: 'active' })).json();
  assert.deepEqual([on.status, on.disabled_reason], ['active', null]);
  assert.deepEqual((await ask(seller, 'PATCH', `/${id}`, {})).json(), on);
});

test('deletes a webhook, once', async (t) => {
  const { seller } = await start(t);
  const { id } = await createWebhook(seller, URL_ONE);
  const remove = () => ask(seller, 'DELETE', `/${id}`, undefined, { 'idempotency-key': 'd' });
  const gone = await remove();
  assert.deepEqual([gone.status, gone.text], [204, '']);
  assert.equal((await remove()).headers['idempotent-replay'], 'true');
  assertProblem(await ask(seller, 'DELETE', `/${id}`), 404, 'not-found');
  assertProblem(await ask(seller, 'GET', `/${id}`), 404, 'not-found');
});

test("responds identically to another seller's webhook and to an unknown one", async (t) => {
  const { server, seller } = await start(t);
  const other = await server.makeSeller();
  const { id } = await createWebhook(seller, URL_ONE);
  const { id: own } = await createWebhook(other, URL_ONE);
  await ask(other, 'DELETE', `/${own}`);
  for (const [method, path, body] of [
    ['GET', '', undefined], ['PATCH', '', { description: 'x' }], ['DELETE', '', undefined],
    ['GET', '/deliveries', undefined], ['POST', '/test', undefined],
    ['POST', '/replay', { position: 0 }], ['POST', '/rotate-secret', undefined],
  ] as const) {
    const texts = [];
    for (const name of [id, own, 'whk_1', `${id}0`, 'prd_1k7s94cm9001k7s94bi600']) {
      const answer = await ask(other, method, `/${name}${path}`, body);
      assertProblem(answer, 404, 'not-found');
      texts.push(answer.text);
    }
    assert.equal(new Set(texts).size, 1, texts.join('\n'));
  }
  assert.equal((await readWebhook(seller, id)).description, '');
});

test('limits the number of webhooks per seller', async (t) => {
  const { server, seller } = await start(t);
  for (let n = 0; n < 20; n += 1) await createWebhook(seller, URL_ONE);
  const problem = assertProblem(await ask(seller, 'POST', '', { url: URL_ONE }), 409,
    'limit-reached');
  assert.match(problem.detail, /20 webhooks/);
  await createWebhook(await server.makeSeller(), URL_ONE);
});

test('returns a secret only when it is generated', async (t) => {
  const { server, seller } = await start(t);
  const receiver = await startReceiver(t, (response) => response.writeHead(500).end());
  const { id, secret } = await createWebhook(seller, receiver.url);
  const rotated = (await ask(seller, 'POST', `/${id}/rotate-secret`)).json().secret;
  await seller.create();
  await receiver.until(({ length }) => length >= 1);
  const answers = [
    await ask(seller, 'GET'), await ask(seller, 'GET', `/${id}`),
    await ask(seller, 'PATCH', `/${id}`, { description: 'x' }),
    await ask(seller, 'PATCH', `/${id}`, { secret }), await ask(seller, 'POST', `/${id}/test`),
    await ask(seller, 'POST', `/${id}/replay`, { position: 0 }),
    await ask(seller, 'GET', `/${id}/deliveries`), await ask(seller, 'DELETE', `/${id}`),
  ];
  const sent = receiver.received.map(({ headers, text }) => JSON.stringify(headers) + text);
  for (const text of [secret, rotated]) {
    const shown = text.slice(6);
    for (const answer of answers) assert.ok(!answer.text.includes(shown), answer.text);
    for (const message of sent) assert.ok(!message.includes(shown));
    assert.ok(!inspect(server.reports, { depth: null }).includes(shown));
    for (const file of readdirSync(server.folder)) {
      assert.ok(!readFileSync(join(server.folder, file)).includes(shown), file);
    }
  }
  for (const message of sent) assert.ok(!message.includes(seller.key));
});
