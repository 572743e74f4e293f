/** A watcher of stock files that is killed repeatedly, and the state that it must leave. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { preload, spawnCommand } from '../../support/command.ts';
import { serveShop, type ServingShop as Shop } from '../shop.ts';

/** The rows of a file: more than one batch. */
const ROWS = 1_001;
const PRELOAD = join(import.meta.dirname, 'kill-at.ts');

export interface WatchedShop {
  readonly shop: Shop;
  /** The folder that is watched. */
  readonly folder: string;
  /** Adds a file that increases the stock of its own product; one row is rejected. */
  addFile(): void;
  /** Runs the watcher until it is killed, or until all files are processed, and stops it then. */
  watch(kill: { readonly at?: number; readonly afterMs?: number }): Promise<'killed' | 'stopped'>;
  /** Asserts that every file was applied once, and is in done/ with its report. */
  assertExactlyOnce(): Promise<void>;
}

export async function openWatchedShop(t: TestContext, filesLimit: number): Promise<WatchedShop> {
  const shop = await serveShop(t);
  const catalogue = join(shop.folder, 'catalogue.csv');
  const products = Array.from({ length: filesLimit }, (_, n) => `P-${n},Part,K,1,0`);
  writeFileSync(catalogue, `sku,name,category,price,stock\n${products.join('\n')}\n`);
  assert.equal((await shop.run('import', catalogue)).status, 0);
  const folder = join(shop.folder, 'in');
  mkdirSync(folder);
  let files = 0;
  return {
    shop, folder,
    addFile() {
      const row = `${JSON.stringify({ sku: `P-${files}`, adjust: 1 })}\n`;
      const text = `${row.repeat(ROWS)}{"sku":"TYPO","adjust":1}\n`;
      const path = join(folder, `till-${String(files).padStart(3, '0')}.ndjson`);
      writeFileSync(`${path}.part`, text);
      renameSync(`${path}.part`, path);
      files += 1;
    },
    async watch({ at, afterMs }) {
      const child = spawnCommand(['stock', 'sync', '--watch', folder, '--settle', '0s'], {
        ...shop.environment,
        ...(at !== undefined && {
          ...preload(PRELOAD), KILL_AT: String(at), KILL_FOLDER: folder,
        }),
      });
      child.stdout.resume();
      let notes = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => { notes += text; });
      t.after(() => { child.kill('SIGKILL'); });
      const closed = once(child, 'close') as Promise<[number | null, string | null]>;
      let isOver = false;
      const ended = closed.finally(() => { isOver = true; });
      if (afterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), afterMs);
      while (!isOver && !isEmpty(folder)) await wait(10);
      child.kill('SIGTERM');
      const [status, signal] = await ended;
      if (signal === 'SIGKILL') return 'killed';
      // SIGTERM ends a process that has no signal handler yet. The folder was empty.
      if (signal === 'SIGTERM') return 'stopped';
      assert.equal(status, 0, notes);
      return 'stopped';
    },
    assertExactlyOnce: () => assertExactlyOnce(shop, folder, files),
  };
}

async function assertExactlyOnce(shop: Shop, folder: string, files: number): Promise<void> {
  const list = (name: string): string[] => readdirSync(join(folder, name)).sort();
  const names = Array.from({ length: files }, (_, n) => `till-${String(n).padStart(3, '0')}`);
  const plain = (path: string): string => path.replace(/^\d{8}T\d{6}Z-[\da-f]{8}-/, '');
  assert.deepEqual(list('done').map(plain).sort(), names.flatMap((name) =>
    [`${name}.ndjson`, `${name}.ndjson.report.json`]));
  assert.deepEqual(list('rejected').map(plain).sort(), names.map((name) =>
    `${name}.failed.ndjson`));
  assert.deepEqual(list('sending'), ['.lock']);
  for (const name of list('rejected')) {
    const rows = readFileSync(join(folder, 'rejected', name), 'utf8');
    assert.equal(rows, '{"sku":"TYPO","adjust":1}\n');
  }
  const { out } = await shop.run('products', 'list', '--fields', 'sku,stock', '--json');
  const stock = new Map(out.trim().split('\n').map((line) => {
    const product = JSON.parse(line);
    return [product.sku, product.stock];
  }));
  for (let n = 0; n < files; n += 1) assert.equal(stock.get(`P-${n}`), ROWS, `P-${n}`);
}

/** Whether no file is left to send or to publish. */
function isEmpty(folder: string): boolean {
  const isFile = (name: string): boolean => name.endsWith('.ndjson');
  const sending = join(folder, 'sending');
  return !readdirSync(folder).some(isFile)
    && !readdirSync(sending).some((name) => name !== '.lock');
}
