/** `serve` and its webhook settings. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { preload, run, type Serving, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { type Answer, send } from '../../support/http.ts';
import { readMode } from '../../store/sqlite/engine/read-file.ts';
import { startReceiver } from '../../features/webhooks/receiver.ts';
import { createKey, createSeller } from '../setup.ts';

const ALLOWED = { SELLER_API_WEBHOOK_ALLOW_PRIVATE: 'true', SELLER_API_WEBHOOK_ALLOW_HTTP: '1' };

/** A module that logs every loaded file of the webhook worker to standard error. */
const PROBE = `
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    const isWorker = /features.webhooks.webhooks[.][jt]s$/.test(url);
    if (isWorker) process.stderr.write('LOADED ' + url + '\\n');
    return next(url, context);
  },
});`;

interface Prepared {
  readonly folder: string;
  readonly serving: Serving;
  post(path: string, body: unknown): Promise<Answer>;
}

async function prepare(
  t: TestContext, flags: readonly string[], environment: NodeJS.ProcessEnv = {},
): Promise<Prepared> {
  const folder = makeFolder(t);
  const data = join(folder, 'data');
  await createSeller(data);
  const { key } = await createKey(data);
  writeFileSync(join(folder, 'probe.mjs'), PROBE);
  const serving = await startServing(t, ['--data', data, ...flags], {
    ...preload(join(folder, 'probe.mjs')), ...environment,
  });
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const post = (path: string, body: unknown): Promise<Answer> => send(serving.port, {
    method: 'POST', path: `/api/v1/${path}`, headers, body: JSON.stringify(body),
  });
  return { folder: data, serving, post };
}

const PRODUCT = { name: 'A', category: 'B', sku: 'C', price: 1, stock: 1 };

test('loads no webhook code if webhooks are disabled, and returns 404', async (t) => {
  const { serving, post } = await prepare(t, ['--no-webhooks']);
  const answer = await post('webhooks', { url: 'https://shop.example/' });
  assert.equal(answer.status, 404);
  assert.match(answer.json().detail, /disabled on this server/);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.doesNotMatch(serving.notes(), /LOADED/);
});

test('sends nothing to this machine by default', async (t) => {
  const { folder, serving, post } = await prepare(t, []);
  for (const url of ['http://127.0.0.1/', 'https://127.0.0.1/', 'https://localhost/']) {
    assert.equal((await post('webhooks', { url })).status, 400);
  }
  assert.equal((await post('products', PRODUCT)).status, 201);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.match(serving.notes(), /LOADED/);
  assert.deepEqual(readdirSync(folder), ['catalogue.db', 'high-water.json', 'server.key']);
});

test('sends to this machine if both settings allow it', async (t) => {
  const { folder, serving, post } = await prepare(t, [], ALLOWED);
  const receiver = await startReceiver(t);
  assert.equal((await post('webhooks', { url: receiver.url })).status, 201);
  await post('products', PRODUCT);
  await receiver.until(({ length }) => length === 1);
  for (const name of ['server.key', 'webhooks.lock']) {
    assert.equal(readMode(join(folder, name)), '600', name);
  }
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.deepEqual(readdirSync(folder).toSorted(),
    ['catalogue.db', 'high-water.json', 'server.key', 'webhooks.lock']);
});

test('stops immediately even if an endpoint does not respond', async (t) => {
  const { serving, post } = await prepare(t, [], ALLOWED);
  const receiver = await startReceiver(t, () => {});
  const { id } = (await post('webhooks', { url: receiver.url })).json();
  await post('products', PRODUCT);
  const tested = post(`webhooks/${id}/test`, {});
  await receiver.until(({ length }) => length === 2);
  const begunAt = performance.now();
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.ok(performance.now() - begunAt < 5_000);
  assert.equal((await tested).status, 503);
});

for (const name of ['no-webhooks', 'webhook-allow-private', 'webhook-allow-http']) {
  test(`rejects a value of --${name} that is neither true nor false`, async (t) => {
    const variable = `SELLER_API_${name.toUpperCase().replaceAll('-', '_')}`;
    const environment = { [variable]: 'maybe' };
    const { status, notes } = await run(['serve', '--data', makeFolder(t)], environment);
    assert.equal(status, 2);
    assert.match(notes, new RegExp(`^--${name} is true or false, not "maybe"`));
  });
}
