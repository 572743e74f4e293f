/** Commands beside a running server on the same folder, and secrets in the output of both. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { type Answer, send } from '../../support/http.ts';
import { createKey, createSeller } from '../setup.ts';

const PATH = '/api/v1/products';

test('accepts a key immediately after it was created', async (t) => {
  const folder = makeFolder(t);
  const { port } = await startServing(t, ['--data', folder]);
  await createSeller(folder);
  const { key } = await createKey(folder);
  const created = await create(port, key, 'A');
  assert.equal(created.status, 201);
  assert.equal((await list(port, key)).json().products[0].sku, 'A');
});

test('rejects a revoked key on its next request', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const [one, other] = [await createKey(folder), await createKey(folder)];
  const { port } = await startServing(t, ['--data', folder]);
  assert.equal((await list(port, one.key)).status, 200);
  const { status } = await run(['key', 'revoke', one.id, '--data', folder]);
  assert.equal(status, 0);
  assert.equal((await list(port, one.key)).status, 401);
  assert.equal((await create(port, one.key, 'A')).status, 401);
  assert.equal((await list(port, other.key)).status, 200);
});

test('accepts both keys during the overlap of a rotation, and one without overlap', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const old = await createKey(folder);
  const { port } = await startServing(t, ['--data', folder]);
  const rotate = async (overlap: string) => JSON.parse((await run([
    'key', 'rotate', old.id, '--overlap', overlap, '--data', folder, '--json',
  ])).out).key;
  const second = await rotate('1h');
  assert.equal((await list(port, old.key)).status, 200);
  assert.equal((await list(port, second)).status, 200);
  const third = await rotate('0s');
  assert.equal((await list(port, old.key)).status, 401);
  assert.equal((await list(port, third)).status, 200);
});

test('enforces the scopes and the addresses of a key', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const reader = await createKey(folder, ['--scopes', 'products:read']);
  const here = await createKey(folder, ['--allow', '127.0.0.0/8']);
  const elsewhere = await createKey(folder, ['--allow', '192.0.2.0/24']);
  const ended = await createKey(folder, ['--expires', '0s']);
  const { port } = await startServing(t, ['--data', folder]);
  assert.equal((await list(port, reader.key)).status, 200);
  assert.equal((await create(port, reader.key, 'A')).status, 403);
  assert.equal((await list(port, here.key)).status, 200);
  assert.notEqual((await list(port, elsewhere.key)).status, 200);
  assert.equal((await list(port, ended.key)).status, 401);
});

test('shows when and from where a key was last used', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const used = await createKey(folder);
  await createKey(folder);
  const serving = await startServing(t, ['--data', folder]);
  await list(serving.port, used.key);
  assert.equal(await serving.stop('SIGTERM'), 0); // which commits pending writes
  const { keys } = JSON.parse((await run(['key', 'list', '--data', folder, '--json'])).out);
  assert.equal(keys[0].last_used_address, '127.0.0.1');
  assert.ok(Math.abs(Date.now() - Date.parse(keys[0].last_used_at)) < 60_000);
  assert.deepEqual([keys[1].last_used_at, keys[1].last_used_address], [null, null]);
});

test('writes no secret to its output or its files', async (t) => {
  const folder = makeFolder(t);
  await createSeller(folder);
  const [good, revoked] = [await createKey(folder), await createKey(folder)];
  const serving = await startServing(t, ['--data', folder]);
  let out = '';
  serving.child.stdout?.on('data', (text: Buffer) => { out += text.toString(); });
  const unknown = `${good.key.slice(0, -1)}${good.key.endsWith('0') ? '1' : '0'}`;
  await run(['key', 'revoke', revoked.id, '--data', folder]);
  const answers: Answer[] = [];
  for (const key of [good.key, revoked.key, unknown, `${good.key}x`]) {
    answers.push(await list(serving.port, key), await create(serving.port, key, 'A'));
    answers.push(await send(serving.port, { path: `/${key}`, headers: { 'x-api-key': key } }));
  }
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(statuses, [200, 201, 404, 401, 401, 404, 401, 401, 404, 401, 401, 404]);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  assert.equal(await serving.stop('SIGTERM'), 0);
  const answered = answers.map(({ text, headers }) => text + JSON.stringify(headers));
  for (const text of [out, serving.notes(), ...answered, ...files]) {
    assert.doesNotMatch(text, /spk_[0-9A-Za-z]{10}/);
  }
});

function list(port: number, key: string): Promise<Answer> {
  return send(port, { path: PATH, headers: { 'x-api-key': key } });
}

function create(port: number, key: string, sku: string): Promise<Answer> {
  return send(port, {
    method: 'POST', path: PATH,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A', category: 'B', sku, price: 1, stock: 1 }),
  });
}
