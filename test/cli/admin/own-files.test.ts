/**
 * Compares the list of the server's own files with those that a server with every feature creates.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { tryLock } from '../../../src/store/sqlite/files/atomic-file.ts';
import { live } from '../../secrecy/life.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { listFindings } from '../../support/health.ts';
import { send } from '../../support/http.ts';

test('doctor reports no file as foreign that a server with every feature creates', async (t) => {
  const { folder, backups, names, watcher } = await prepare(t);
  const serving = await startServing(t, [
    '--data', folder, '--webhook-allow-private', '--webhook-allow-http', '--metrics-port', '0',
    '--backup-folder', backups,
  ]);
  const { key } = await live(t, serving, folder);
  const found = await send(serving.port, {
    path: '/api/v1/products?q=sku', headers: { 'x-api-key': key },
  });
  assert.equal(found.status, 200);
  await serving.waitForNote(/Backed up to /);
  while (!names.has('webhooks.lock')) await once(watcher, 'change');
  assert.deepEqual(listForeign(folder), []);
  await serving.stop('SIGKILL');
  assert.deepEqual(listForeign(folder), []);

  const [copy] = readdirSync(backups);
  const { status, notes } = await run([
    'restore', join(backups, copy ?? ''), '--data', folder, '--replace',
  ]);
  assert.equal(status, 0, notes);
  const kinds = ['catalogue.db-wal', 'catalogue.db-shm', 'search.db', 'search.db-wal',
    'search.db.lock', 'webhooks.lock', 'backups.lock', 'server.key', 'uploads'];
  assert.deepEqual(kinds.filter((name) => !names.has(name)), [], [...names].join('\n'));
  // All names together, even of temporary files, which kill -9 could leave behind.
  for (const name of names) {
    if (!existsSync(join(folder, name))) writeFileSync(join(folder, name), '', { mode: 0o600 });
  }
  assert.deepEqual(listForeign(folder), []);
  for (const name of names) if (/^catalogue\.db/.test(name)) rmSync(join(folder, name));
  await (await openStore(t, { folder })).close();
});

test('acquires a lock with a journal that a killed process has left',
  async (t) => {
    const folder = join(makeFolder(t), 'data');
    await (await openStore(t, { folder })).close();
    const names = ['webhooks.lock', 'backups.lock', 'search.db.lock'];
    for (const name of names) {
      const file = join(folder, name);
      writeFileSync(file, '', { mode: 0o600 });
      spawnSync(process.execPath, ['--eval', `
        new (require('node:sqlite').DatabaseSync)('${file}').exec('BEGIN EXCLUSIVE');
        process.kill(process.pid, 'SIGKILL');`]);
      assert.ok(existsSync(`${file}-journal`));
    }
    assert.deepEqual(listForeign(folder), []);
    for (const name of names) {
      using lock = tryLock(join(folder, name));
      assert.ok(lock, name);
    }
    assert.deepEqual(readdirSync(folder).filter((name) => name.endsWith('-journal')), []);
  });

test('doctor ignores the socket that a server listens on', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await (await openStore(t, { folder })).close();
  const server = createServer().listen(join(folder, 'api.sock'));
  t.after(() => server.close());
  await once(server, 'listening');
  assert.deepEqual(listForeign(folder), []);
});

async function prepare(t: TestContext) {
  const base = makeFolder(t);
  const [folder, backups] = [join(base, 'data'), join(base, 'backups')];
  for (const path of [folder, backups]) mkdirSync(path, { mode: 0o700 });
  const names = new Set<string>();
  const watcher = watch(folder, (_, name) => {
    if (name !== null && name !== 'data') names.add(name); // the watcher also reports the folder
  });
  t.after(() => watcher.close());
  return { folder, backups, names, watcher };
}

function listForeign(folder: string): string[] {
  return listFindings(folder).filter((text) => text.includes('is not a file of this server'));
}
