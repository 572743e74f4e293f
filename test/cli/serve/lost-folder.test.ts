/** A server whose data folder is moved, replaced or unmounted while it runs. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { send } from '../../support/http.ts';
import { program, run, type Serving, startServing, watchServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { makeProduct } from '../../support/server.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { apiClient } from '../api-client.ts';
import { createKey, createSeller } from '../setup.ts';

test('rejects writes, reads and readiness, and has every acknowledged write after a restart',
  async (t) => {
    const data = join(makeFolder(t), 'data');
    const shop = await openShop(t, data, ['--log', 'error']);
    const kept = makeProduct();
    assert.equal((await shop.post('products', kept)).status, 201);
    renameSync(data, `${data}.old`);
    const { status, text } = await shop.post('products', makeProduct());
    assert.equal(status, 503);
    assert.match(text, /moved, removed or replaced on its disk/);
    assert.doesNotMatch(text, /data/); // no path
    for (const path of ['/api/v1/products', '/readyz']) {
      const answer = await shop.get(path);
      assert.equal(answer.status, 503, path);
      assert.match(answer.text, /moved, removed or replaced on its disk/, path);
    }
    const [line = ''] = await shop.serving.waitForNote(/^.*"error".*$/m);
    const { error } = JSON.parse(line);
    assert.match(error, /data\/catalogue\.db was moved or removed\..*Stop the server/);
    renameSync(`${data}.old`, data);
    assert.equal(await shop.create(), 503); // until it is restarted
    assert.equal(await shop.serving.stop('SIGTERM'), 0);
    assert.equal(shop.serving.notes().match(/Stop the server/g)?.length, 1, shop.serving.notes());
    const again = useShop(await startServing(t, ['--data', data]), shop.key);
    assert.equal((await again.get(`/api/v1/products/sku/${kept.sku}`)).status, 200);
    assert.equal(await again.create(), 201);
  });

test('serves the other metrics while those of webhooks cannot be read', async (t) => {
  const data = join(makeFolder(t), 'data');
  const flags = ['--metrics-port', '0', '--webhook-allow-private', '--webhook-allow-http'];
  const shop = await openShop(t, data, flags);
  const [, url = ''] = await shop.serving.waitForNote(/^Metrics on (\S+)$/m);
  const readMetrics = async (): Promise<string> => {
    const response = await fetch(url);
    assert.equal(response.status, 200);
    return response.text();
  };
  assert.equal((await shop.post('webhooks', { url: 'http://127.0.0.1:1/' })).status, 201);
  assert.match(await readMetrics(), /^webhook_leases 1$/m);
  renameSync(data, `${data}.old`);
  await shop.serving.waitForNote(/"error":".*was moved or removed/);
  const metrics = await readMetrics();
  assert.match(metrics, /^store_last_commit_failed 1$/m);
  assert.match(metrics, /^webhook_leases 1$/m);
  assert.doesNotMatch(metrics, /^webhook_oldest_message_timestamp_seconds/m);
});

test('notices that its folder was replaced by a copy, and leaves the copy alone', async (t) => {
  const data = join(makeFolder(t), 'data');
  const backups = makeFolder(t);
  const shop = await openShop(t, data, ['--backup-folder', backups, '--backup-every', '1s']);
  renameSync(data, `${data}.old`);
  cpSync(`${data}.old`, data, { recursive: true });
  const before = listFiles(data);
  await shop.serving.waitForNote(/"error":".*catalogue\.db was replaced/);
  for (const path of ['/api/v1/products', '/api/v1/products?q=mug']) {
    assert.equal((await shop.get(path)).status, 503, path);
  }
  const { status } = await run(['key', 'revoke', shop.id, '--data', data]); // in the copy
  assert.equal(status, 0);
  assert.equal((await shop.get('/api/v1/products')).status, 503);
  assert.equal(await shop.serving.stop('SIGTERM'), 0);
  assert.deepEqual(listFiles(data), before);
});

test('notices that its disk was unmounted', async (t) => {
  const disk = mountSmallDisk(t, '8m');
  if (disk === undefined) return;
  const shop = await openShop(t, join(disk, 'data'));
  assert.equal(await shop.create(), 201);
  assert.equal(spawnSync('umount', ['-l', disk]).status, 0);
  assert.equal(await shop.create(), 503);
  assert.equal((await shop.get('/readyz')).status, 503);
  assert.equal(existsSync(join(disk, 'data')), false);
});

test('resolves a relative folder when it starts, and follows no renamed parent', async (t) => {
  const parent = join(makeFolder(t), 'parent');
  mkdirSync(parent);
  await createSeller(join(parent, 'data'));
  const { key } = await createKey(join(parent, 'data'));
  const [file, args] = program('serve', '--port', '0', '--json', '--data', 'data');
  const child = spawn(file, args, { cwd: parent, stdio: ['ignore', 'pipe', 'pipe'] });
  const shop = useShop(await watchServing(t, child), key);
  assert.equal(await shop.create(), 201);
  renameSync(parent, join(dirname(parent), 'elsewhere'));
  assert.equal(await shop.create(), 503);
});

/** Without those of SQLite, and of a backup that had just begun. */
function listFiles(data: string): string[] {
  return readdirSync(data).filter((name) => !/-(?:wal|shm)$|^backups\.lock$/.test(name));
}

async function openShop(t: TestContext, data: string, args: readonly string[] = []) {
  await createSeller(data);
  const { key, id } = await createKey(data);
  return { ...useShop(await startServing(t, ['--data', data, ...args]), key), id };
}

function useShop(serving: Serving, key: string) {
  const call = apiClient(serving.port, key);
  const post = (path: string, body: object) => call('POST', path, body);
  return {
    serving, key, post,
    get: (path: string) => send(serving.port, { path, headers: { 'x-api-key': key } }),
    create: async () => (await post('products', makeProduct())).status,
  };
}
