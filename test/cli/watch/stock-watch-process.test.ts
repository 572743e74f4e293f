/** `stock sync --watch` as a process: a server that is down, a second watcher, signals, flags. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { run, spawnCommand, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { serveShop, type Shop } from '../shop.ts';
import { startFakeServer } from '../transfer/fake-server.ts';

const KEY = generateApiKey();

interface Watcher {
  readonly notes: () => string;
  /** Sends the signal and resolves with the exit status. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
  waitForNote(wanted: RegExp): Promise<void>;
}

function startWatcher(
  t: TestContext, folder: string, environment: NodeJS.ProcessEnv, ...flags: readonly string[]
): Watcher {
  const args = ['stock', 'sync', '--watch', folder, '--settle', '0s', ...flags];
  const child = spawnCommand(args, environment);
  t.after(() => { child.kill('SIGKILL'); });
  let notes = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  child.stdout.setEncoding('utf8').on('data', (text: string) => { notes += text; });
  const closed = once(child, 'close') as Promise<[number | null]>;
  return {
    notes: () => notes,
    async stop(signal) {
      child.kill(signal);
      return (await closed)[0];
    },
    async waitForNote(wanted) {
      while (!wanted.test(notes)) {
        assert.equal(child.exitCode, null, notes);
        await wait(10);
      }
    },
  };
}

async function readStock({ run: runCommand }: Shop, sku: string): Promise<number> {
  return JSON.parse((await runCommand('products', 'get', sku, '--json')).out).stock;
}

test('waits for a server that is down, and allows no second watcher of its folder', async (t) => {
  const shop = await serveShop(t);
  const mug = ['name=Mug', 'category=K', 'price=5', 'stock=9', '--create'];
  assert.equal((await shop.run('products', 'set', 'MUG-1', ...mug)).status, 0);
  await shop.serving.stop('SIGKILL');
  const folder = join(shop.folder, 'in');
  mkdirSync(folder);
  writeFileSync(join(folder, 'kasse.csv'), '\ufeffArtikelnummer;Bestand\r\nMUG-1;4\r\nX;5\r\n');
  const watcher = startWatcher(t, folder, shop.environment, '--source', 'kasse');
  await watcher.waitForNote(/No server at .* Retrying kasse\.csv in 1 s\./);
  const second = await shop.run('stock', 'sync', '--watch', folder);
  assert.equal(second.status, 2);
  assert.match(second.notes, /^Another process watches .*in\. Stop it first\.\n$/);
  await startServing(t, [
    '--data', shop.data, '--rate-limit', '0', '--port', String(shop.serving.port),
  ]);
  await watcher.waitForNote(/kasse\.csv: 1 applied, 0 unchanged, 1 rejected\. It is now/);
  assert.equal(await watcher.stop('SIGTERM'), 0);
  assert.match(watcher.notes(), /\nStopped\. Files that were not sent stay in .*\n$/);
  assert.equal(await readStock(shop, 'MUG-1'), 4);
  const [rows = ''] = readdirSync(join(folder, 'rejected'));
  assert.match(rows, /^\d{8}T\d{6}Z-[\da-f]{8}-kasse\.failed\.csv$/);
  assert.equal(readFileSync(join(folder, 'rejected', rows), 'utf8'),
    '\ufeff"error";Artikelnummer;Bestand\r\n"There is no product with the SKU X.";X;5\r\n');
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`ends after the current file on ${signal}`, async (t) => {
    const { promise: arrived, resolve } = Promise.withResolvers<ServerResponse>();
    const url = await startFakeServer(t, (request, response) => {
      request.resume();
      resolve(response);
    });
    const folder = makeFolder(t);
    for (const name of ['a.csv', 'b.csv']) writeFileSync(join(folder, name), 'sku,stock\nA,1\n');
    const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
    const watcher = startWatcher(t, folder, environment);
    const response = await arrived;
    const ended = watcher.stop(signal);
    if (signal === 'SIGHUP') void watcher.stop(signal); // a closed terminal sends two
    await watcher.waitForNote(/^Stopping after the current file\.$/m);
    const summary = { applied: 1, unchanged: 0, failed: 0, position: 1 };
    response.end(`${JSON.stringify({ summary })}\n`);
    assert.equal(await ended, 0);
    assert.match(watcher.notes(), /a\.csv: 1 applied.*\nStopped\. Files that were not .*\n$/);
    assert.ok(readdirSync(folder).includes('b.csv'));
  });
}

const invalidArguments: readonly [args: readonly string[], says: RegExp][] = [
  [['FILE', '--watch', '.'], /^Give either FILE, - for standard input, or --watch DIR\./],
  [[], /^Give either FILE/],
  [['--watch', '.', '--dry-run'], /^--dry-run is for a FILE, not for --watch\./],
  [['--watch', '.', '--settle', '5'], /^"5" is not a duration/],
  [['--watch', '.', '--format', 'xml'], /^--format takes csv or ndjson, not "xml"/],
  [['--watch', './none'], /^There is no folder \.\/none\./],
];

test('reports invalid arguments, and exits with status 2', async () => {
  for (const [args, says] of invalidArguments) {
    const { status, notes } = await run(['stock', 'sync', ...args], { SELLER_API_KEY: KEY });
    assert.match(notes, says);
    assert.equal(status, 2);
  }
});
