/** A data folder on a full or read-only disk: commands report the problem. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FILE_NAME, readFolder } from '../../store/sqlite/engine/read-file.ts';
import { runProcess, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { fillDisk, freeDisk, makeReadOnly, mountSmallDisk } from '../../support/small-disk.ts';
import { createKey, createSeller } from '../setup.ts';

const ALLOW = ['--webhook-allow-private', '--webhook-allow-http'];
const COMMANDS = [['serve', '--port', '0'], ['seller', 'list']];

test('reports a full disk if it cannot start, and changes nothing',
  async (t) => {
    const disk = mountSmallDisk(t, '900k');
    if (disk === undefined) return;
    const data = join(disk, 'data');
    await createSeller(data);
    fillDisk(disk);
    const before = readFolder(data);
    for (const args of COMMANDS) {
      const { status, notes } = await runProcess([...args, '--data', data]);
      assert.equal(status, 1);
      assert.match(notes, /^\S+\/data is on a full disk\. Make room, and start again\.\n$/);
    }
    const names = before.map(([name]) => name);
    assert.deepEqual(readFolder(data).filter(([name]) => names.includes(name)), before);
    const { notes } = await runProcess(['serve', '--data', join(disk, 'other')]);
    assert.match(notes, /on a full disk/);
    freeDisk(disk);
    assert.equal((await runProcess(['seller', 'list', '--data', data])).status, 0);
  });

test('reports a disk without free inodes as that, not as damage', async (t) => {
  const disk = mountSmallDisk(t, '24m,nr_inodes=12');
  if (disk === undefined) return;
  const data = join(disk, 'data');
  await createSeller(data);
  const names: string[] = [];
  assert.throws(() => {
    for (;;) {
      const name = join(disk, `file-${names.length}`);
      writeFileSync(name, '');
      names.push(name);
    }
  }, { code: 'ENOSPC' });
  for (const args of COMMANDS) {
    const { status, notes } = await runProcess([...args, '--data', data]);
    assert.equal(status, 1);
    assert.match(notes, /\/data is on a disk without free inodes\. Remove files until "df -i"/);
  }
  const doctor = await runProcess(['doctor', '--data', data]);
  assert.equal(doctor.status, 1);
  assert.match(doctor.out, /fault: \S+catalogue\.db is on a disk without free inodes\.\n +Remove/);
  assert.match(doctor.out, /warning: The disk has 0 free inodes; without one, no file can be/);
  assert.doesNotMatch(doctor.out, /cannot be read|restore/);
  for (const name of names) rmSync(name);
  assert.equal((await runProcess(['doctor', '--data', data])).status, 0);
});

test('reports a read-only disk',
  async (t) => {
    const disk = mountSmallDisk(t, '900k');
    if (disk === undefined) return;
    const data = join(disk, 'data');
    await createSeller(data);
    const before = readFolder(data);
    makeReadOnly(disk);
    for (const args of COMMANDS) {
      const { status, notes } = await runProcess([...args, '--data', data]);
      assert.equal(status, 1);
      assert.match(notes, /^\S+\/data is on a read-only disk\.\n$/);
    }
    assert.deepEqual(readFolder(data), before);
  });

test('reports a damaged database, and does not change it', async (t) => {
  const data = join(makeFolder(t), 'data');
  await createSeller(data);
  const file = join(data, FILE_NAME);
  const bytes = readFileSync(file);
  for (const [what, damaged] of [
    ['cut off', bytes.subarray(0, 8192)], ['overwritten', bytes.fill(0xa5, 100, 20_000)],
  ] as const) {
    writeFileSync(file, damaged);
    const { status, notes } = await runProcess(['seller', 'list', '--data', data]);
    assert.equal(status, 1);
    assert.match(notes, /\/data has a damaged database\..*restore a backup\.\n$/, what);
    assert.ok(readFileSync(file).equals(damaged), what);
  }
});

test('rejects a product and a webhook if there is no space',
  async (t) => {
    const disk = mountSmallDisk(t, '1000k');
    if (disk === undefined) return;
    const data = join(disk, 'data');
    await createSeller(data);
    const { key } = await createKey(data);
    const { port, child } = await startServing(t, ['--data', data, ...ALLOW]);
    fillDisk(disk);
    const post = (path: string, body: unknown) => send(port, {
      method: 'POST', path: `/api/v1/${path}`, body: JSON.stringify(body),
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
    });
    const product = (sku: string) => ({ name: 'A', category: 'B', sku, price: 1, stock: 1 });
    const refused = [];
    // The existing files have some free space.
    for (let n = 0; refused.length === 0 && n < 5_000; n += 1) {
      const answer = await post('products', product(`S${n}`));
      if (answer.status !== 201) refused.push(answer);
    }
    refused.push(await post('webhooks', { url: 'http://127.0.0.1:9/' }));
    for (const { status, text, headers } of refused) {
      assert.equal(status, 507, text);
      assert.match(text, /disk of this server is full\. Nothing was changed/);
      assert.ok(Number(headers['retry-after']) > 0);
    }
    freeDisk(disk);
    assert.equal((await post('products', product('again'))).status, 201);
    assert.equal(child.exitCode, null);
  });
