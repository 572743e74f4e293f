/** The target of an export: it replaces nothing but files, and otherwise sends no request. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync,
} from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { NO_STRACE, traceCommand } from '../../support/strace.ts';
import { CSV_EXPORT, endRecord, startFakeServer } from './fake-server.ts';

const answer: RequestListener = (_, response) => {
  response.writeHead(200, CSV_EXPORT).end(`sku\r\n${endRecord(0)}`);
};

const refused: readonly [what: string, make: (path: string) => void, says: RegExp][] = [
  ['a pipe', (path) => { spawnSync('mkfifo', [path]); },
    /all\.csv is not a file\. Leave out FILE and redirect standard output\./],
  ['a link to a device', (path) => symlinkSync('/dev/null', path), /all\.csv is not a file\. /],
  ['a link to nothing', (path) => symlinkSync('nothing', path), /all\.csv is not a file\. /],
  ['a folder', (path) => mkdirSync(path), /all\.csv is a folder\. Name a file in it\./],
];

for (const [what, make, says] of refused) {
  test(`does not replace ${what}, and sends no request`, async (t) => {
    const { path, folder, asked, exportTo } = await prepare(t);
    make(path);
    const before = lstatSync(path).ino;
    for (const flags of [[], ['--force']]) {
      const { status, out, notes } = await exportTo(path, ...flags);
      assert.match(notes, says);
      assert.deepEqual([status, out], [2, '']);
    }
    assert.equal(lstatSync(path).ino, before);
    assert.deepEqual([readdirSync(folder), asked], [['all.csv'], []]);
  });
}

test('replaces the target of a symbolic link, and keeps the link', async (t) => {
  const { path, folder, exportTo } = await prepare(t);
  mkdirSync(join(folder, 'real'));
  writeFileSync(join(folder, 'real/products.csv'), 'old');
  symlinkSync('real/products.csv', path);
  assert.equal((await exportTo(path)).status, 2);
  const { status, notes } = await exportTo(path, '--force');
  assert.equal(status, 0, notes);
  assert.ok(lstatSync(path).isSymbolicLink());
  assert.equal(readFileSync(join(folder, 'real/products.csv'), 'utf8'), 'sku\r\n');
  assert.deepEqual(readdirSync(join(folder, 'real')), ['products.csv']);
});

test('flushes the folder after renaming the file', { skip: NO_STRACE }, async (t) => {
  const { path, folder, environment } = await prepare(t);
  writeFileSync(path, 'old');
  const calls = await traceCommand(t, 'fsync,rename', ['export', path, '--force'], environment);
  const renamed = calls.findIndex(({ name, paths }) => name === 'rename' && paths[1] === path);
  assert.ok(renamed > 0);
  const part = calls[renamed]?.paths[0];
  const flushed = (name: string | undefined): number =>
    calls.findLastIndex(({ name: call, paths: [file] }) => call === 'fsync' && file === name);
  assert.ok(flushed(part) >= 0 && flushed(part) < renamed);
  assert.ok(flushed(folder) > renamed);
});

async function prepare(t: TestContext) {
  const folder = makeFolder(t);
  const asked: unknown[] = [];
  const url = await startFakeServer(t, (request, response) => {
    asked.push(request.url);
    answer(request, response);
  });
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: generateApiKey() };
  return {
    path: join(folder, 'all.csv'), folder, asked, environment,
    exportTo: (...args: string[]) => run(['export', ...args], environment),
  };
}
