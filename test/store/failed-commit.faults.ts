/** A disk that fails at the end of a commit: no rejected change reappears after a crash. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type Serving, startServing } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { type Answer, send } from '../support/http.ts';
import { injectFault, NO_STRACE } from '../support/strace.ts';
import { createKey, createSeller } from '../cli/setup.ts';
import { FILE_NAME } from './sqlite/engine/read-file.ts';

const PATH = '/api/v1/products';

interface Shop {
  readonly folder: string;
  readonly key: string;
  readonly serving: Serving;
  readonly log: string;
}

test('never brings back a rejected change after the disk failed at the end of a commit',
  { skip: NO_STRACE }, async (t) => {
    const shop = await openShop(t);
    assert.equal((await create(shop, 'before')).status, 201);
    const tracing = await injectFault(t, shop.serving.child, {
      calls: 'fsync,fdatasync', becomes: 'error=EIO:when=1+2', file: shop.log,
    });
    const rejected = await create(shop, 'rejected');
    assert.equal(rejected.status, 503);
    assert.match(rejected.json().detail, /cannot write to its disk\. Nothing was changed/);
    assert.ok(Number(rejected.headers['retry-after']) > 0);
    assert.match(tracing.read().join('\n'), /INJECTED/);
    assert.deepEqual(await restartAndList(t, shop), ['before']);
  });

test('reports an unknown outcome while the disk keeps failing, and continues once it recovers',
  { skip: NO_STRACE }, async (t) => {
    const shop = await openShop(t);
    const tracing = await injectFault(t, shop.serving.child, {
      calls: 'fsync,fdatasync', becomes: 'error=EIO', file: shop.log,
    });
    for (const sku of ['A', 'B']) {
      const rejected = await create(shop, sku);
      assert.equal(rejected.status, 503);
      assert.match(rejected.json().detail, /outcome is unknown. Check whether the change exists/);
    }
    assert.deepEqual(await list(shop.serving.port, shop.key), []); // reads continue
    await tracing.end();
    const made = await create(shop, 'C');
    assert.equal(made.json().position, 1);
    assert.deepEqual(await restartAndList(t, shop), ['C']);
  });

async function openShop(t: TestContext): Promise<Shop> {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  const { key } = await createKey(folder);
  const serving = await startServing(t, ['--data', folder]);
  // Records the use of the key, which is a separate commit.
  await list(serving.port, key);
  return { folder, key, serving, log: join(folder, `${FILE_NAME}-wal`) };
}

function create({ serving: { port }, key }: Shop, sku: string): Promise<Answer> {
  return send(port, {
    method: 'POST', path: PATH,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A', category: 'B', sku, price: 1, stock: 1 }),
  });
}

async function list(port: number, key: string): Promise<string[]> {
  const answer = await send(port, { path: PATH, headers: { 'x-api-key': key } });
  assert.equal(answer.status, 200, answer.text);
  return answer.json().products.map(({ sku }: { sku: string }) => sku);
}

/** The SKUs that exist after `kill -9`. */
async function restartAndList(t: TestContext, { folder, key, serving }: Shop): Promise<string[]> {
  assert.equal(await serving.stop('SIGKILL'), null);
  const { port } = await startServing(t, ['--data', folder]);
  return list(port, key);
}
