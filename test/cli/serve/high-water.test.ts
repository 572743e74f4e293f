/** `serve --high-water-file`: a server notices that its data folder is an older copy. */
import assert from 'node:assert/strict';
import {
  cpSync, mkdirSync, renameSync, rmdirSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { createKey, createSeller } from '../setup.ts';

test('notices an older copy of the data folder, also after kill -9', async (t) => {
  const [folder, mark] = [join(makeFolder(t), 'data'), join(makeFolder(t), 'mark.json')];
  await createSeller(folder);
  const { key } = await createKey(folder);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const args = ['--data', folder, '--high-water-file', mark, '--no-portal'];
  const rejectsMark = async (reason: RegExp): Promise<void> => {
    const { status, notes } = await run(['serve', ...args, '--port', '0']);
    assert.equal(status, 1);
    assert.match(notes, reason);
    assert.match(notes, /^--high-water-file: .* Mount its disk; if the file is new, create it emp/);
  };
  await rejectsMark(/no such file .*mark\.json/);
  mkdirSync(mark);
  await rejectsMark(/EISDIR/);
  rmdirSync(mark);
  writeFileSync(mark, '');
  const serve = async (signal: NodeJS.Signals, sku: string): Promise<string> => {
    const { child, port, ended } = await startServing(t, args);
    const body = JSON.stringify({ name: sku, category: 'Kitchen', sku, price: 1, stock: 1 });
    await send(port, { method: 'POST', path: '/api/v1/products', headers, body });
    const { headers: { etag = '' } } = await send(port, { path: '/api/v1/products', headers });
    child.kill(signal);
    await ended;
    return etag;
  };
  assert.equal(await serve('SIGTERM', 'A'), '"1"');
  cpSync(folder, `${folder}.copy`, { recursive: true });
  assert.equal(await serve('SIGKILL', 'B'), '"2"');
  assert.equal(await serve('SIGTERM', 'C'), '"3"', 'a crash begins no generation');
  renameSync(folder, `${folder}.old`);
  renameSync(`${folder}.copy`, folder);
  assert.match(await serve('SIGTERM', 'D'), /^"[a-z2-7]{5}-2"$/);
});

test('does not protect a data folder from within, also by symbolic links', async (t) => {
  const parent = makeFolder(t);
  const [folder, link] = [join(parent, 'data'), join(parent, 'link')];
  const names = ['high-water.json', 'own.json', '..own.json'];
  const rejectsFiles = async (data: string, of: string): Promise<void> => {
    for (const name of names) {
      const flags = ['--data', data, '--high-water-file', join(of, name)];
      const { status, notes } = await run(['serve', ...flags, '--port', '0']);
      assert.deepEqual([status, notes],
        [1, '--high-water-file must name a file outside of the data folder.\n'], flags.join(' '));
    }
  };
  await rejectsFiles(folder, folder); // before the folder and the files exist
  mkdirSync(folder);
  symlinkSync(folder, link);
  await rejectsFiles(folder, link);
  await rejectsFiles(link, folder);
  for (const name of names) {
    writeFileSync(join(folder, name), '');
    symlinkSync(join(folder, name), join(parent, name));
  }
  await rejectsFiles(folder, folder);
  await rejectsFiles(folder, link);
  await rejectsFiles(link, folder);
  await rejectsFiles(folder, parent);
});

test('accepts a file outside whose path begins like the data folder', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const { status, notes } = await run(
    ['serve', '--data', folder, '--high-water-file', `${folder}.mark`, '--port', '0']);
  assert.equal(status, 1);
  assert.match(notes, /no such file/);
});

test('is for data folders only', async () => {
  const database = ['--database', 'postgres://localhost/shop', '--server-key-file', '/dev/null'];
  for (const file of ['/dev/null', '/missing.json']) {
    const { status, notes } = await run(['serve', ...database, '--high-water-file', file]);
    assert.notEqual(status, 0);
    assert.match(notes, /for data folders/);
  }
});
