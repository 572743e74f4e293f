/** `export` to files and standard output: what it prints and what it rejects. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  createReadStream, existsSync, readFileSync, readdirSync, statSync, writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { CsvReader } from '../../../src/transfer/csv-reader.ts';
import { unescapeFormula } from '../../../src/transfer/csv-cells.ts';
import { program, run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { CSV_EXPORT, endRecord, startFakeServer } from './fake-server.ts';
import { openShop, SAMPLE } from '../shop.ts';

const KEY = generateApiKey();
const absent = { throwIfNoEntry: false } as const;

describe('export', { concurrency: 2 }, () => {
  test('writes what was imported, and its CSV imports back as unchanged', async (t) => {
    const shop = await openShop(t);
    await shop.run('import', SAMPLE);
    const [csv, ndjson] = [join(shop.folder, 'all.csv'), join(shop.folder, 'all.ndjson')];
    const first = await shop.run('export', csv);
    assert.equal(first.status, 0, first.notes);
    assert.equal(first.out, `Exported 100 products at position 100 to ${csv}.\n`);
    assert.match(first.notes, /^0\.0 MiB, 100 rows, [\d,]+ rows\/s\n$/);
    assert.equal(statSync(csv).mode & 0o777, 0o600);
    const again = await shop.run('import', csv, '--json');
    assert.equal(JSON.parse(again.out).summary.unchanged, 100);
    await shop.run('export', ndjson);
    const products = readFileSync(ndjson, 'utf8').trimEnd().split('\n').map((line) => {
      const { name, category, sku, price, stock } = JSON.parse(line);
      return [name, category, sku, price, stock];
    });
    assert.deepEqual(products, await readSample());
    assert.ok(products.some(([name]) => String(name).startsWith('=')));
  });

  test('prints only the products on standard output', async (t) => {
    const shop = await openShop(t);
    await shop.run('import', SAMPLE);
    const args = ['--fields', 'sku,stock', '--sort', 'sku'];
    const { status, out, notes } = await shop.run('export', ...args);
    assert.equal(status, 0);
    const lines = out.split('\r\n');
    assert.deepEqual(lines.slice(0, 3), ['sku,stock', 'CAR-BEARD-30,0', 'CAR-BRUSH-4,210']);
    assert.equal(lines.length, 102);
    assert.match(notes, /\nExported 100 products at position 100\.\n$/);
  });

  test('writes the catalogue as it was at a position', async (t) => {
    const shop = await openShop(t);
    await shop.run('import', SAMPLE);
    const args = ['--at', '2', '--fields', 'stock'];
    const before = (await shop.run('export', ...args)).out;
    const [, first = ''] = before.split('\r\n');
    await shop.run('stock', 'set', 'CAR-BRUSH-4', '1');
    const { status, out, notes } = await shop.run('export', ...args);
    assert.deepEqual([status, out, out.split('\r\n').length], [0, before, 4]);
    assert.match(first, /^\d+$/);
    assert.match(notes, /Exported 2 products at position 2\.\n$/);
    const wrong = await shop.run('export', '--at', '2', '--sort', 'sku', '--category', 'Kitchen');
    assert.equal(wrong.status, 2);
    assert.match(wrong.notes, /--sort: Does not combine with "at"/);
  });

  test('writes to standard output if FILE is -, and creates no file of that name', async (t) => {
    const shop = await openShop(t);
    await shop.run('import', SAMPLE);
    const before = readdirSync('.');
    const { status, out } = await shop.run('export', '-', '--fields', 'sku');
    assert.equal(status, 0);
    assert.equal(out.split('\r\n').length, 102);
    assert.deepEqual(readdirSync('.'), before);
    const json = await shop.run('export', '-', '--json');
    assert.equal(json.status, 2);
    assert.match(JSON.parse(json.out).error.detail, /^--json needs a FILE for the products\. /);
  });

  test('passes its filters to the server', async (t) => {
    const shop = await openShop(t);
    await shop.run('import', SAMPLE);
    const path = join(shop.folder, 'some.jsonl');
    const { out, status, notes } = await shop.run(
      'export', path, '--json', '--q', 'mug', '--category', 'Kitchen', '--price-min', '1',
      '--price-max', '99', '--stock-min', '1', '--stock-max', '50', '--sort=-price',
      '--updated-since', '2020-01-01T00:00:00Z', '--changed-since', '0',
    );
    assert.equal(status, 0, notes);
    assert.deepEqual(JSON.parse(out), { rows: 1, position: 100, file: path });
    assert.equal(JSON.parse(readFileSync(path, 'utf8')).sku, 'KIT-MUG-BLUE');
  });

  test('compresses a file whose name ends in .gz', async (t) => {
    const shop = await openShop(t);
    await shop.run('import', SAMPLE);
    const path = join(shop.folder, 'all.csv.gz');
    assert.equal((await shop.run('export', path)).status, 0);
    assert.match(gunzipSync(readFileSync(path)).toString(), /^id,name,category,sku,/);
    const again = await shop.run('import', path, '--json');
    assert.equal(JSON.parse(again.out).summary.unchanged, 100);
  });

  test('replaces a file only with --force, and leaves no other file', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'all.csv');
    writeFileSync(path, 'mine');
    const refused = await shop.run('export', path);
    assert.equal(refused.status, 2);
    assert.match(refused.notes, /all\.csv already exists\. Replace it with --force\./);
    assert.equal(readFileSync(path, 'utf8'), 'mine');
    assert.equal((await shop.run('export', path, '--force')).status, 0);
    assert.match(readFileSync(path, 'utf8'), /^id,name/);
    assert.deepEqual(readdirSync(shop.folder).sort(), ['all.csv']);
  });

  test('reports an invalid filter in one line, and creates no file', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'all.csv');
    const { status, out, notes } = await shop.run('export', path, '--price-min', 'cheap');
    assert.deepEqual([status, out], [2, '']);
    assert.match(notes, /^--price-min: Must be a price[^\n]*\n$/);
    assert.deepEqual(readdirSync(shop.folder), []);
  });
});

test('creates the file when it is complete, and restarts if the connection breaks', async (t) => {
  const path = join(makeFolder(t), 'all.csv');
  const half = (response: ServerResponse): void => {
    response.writeHead(200, CSV_EXPORT);
    response.write('sku\r\n"two\r\nlines"\r\nB');
  };
  const broken: ServerResponse[] = [];
  const url = await startFakeServer(t, (_, response) => {
    half(response);
    broken.push(response);
  }, (_, response) => {
    half(response);
    response.end(`\r\n${endRecord(2)}`);
  });
  const exporting = run(['export', path, '--json'], { SELLER_API_URL: url, SELLER_API_KEY: KEY });
  const folder = dirname(path);
  const isPart = (name: string): boolean => /^all\.csv\.[\da-f-]+\.part$/.test(name);
  const findPart = () => readdirSync(folder).find(isPart);
  while (!statSync(join(folder, findPart() ?? 'nothing'), absent)?.size) await wait(5);
  assert.equal(existsSync(path), false);
  broken.forEach((response) => response.destroy());
  const { status, out, notes } = await exporting;
  assert.equal(status, 0, notes);
  assert.match(notes, /broke \(\w+\)\. Retrying in 1 s/);
  assert.deepEqual(JSON.parse(out), { rows: 2, position: 7, file: path });
  assert.equal(readFileSync(path, 'utf8'), 'sku\r\n"two\r\nlines"\r\nB\r\n');
  assert.deepEqual(readdirSync(folder), ['all.csv']);
});

test('sends no request if it cannot write the file', async (t) => {
  const path = join(makeFolder(t), 'nowhere', 'all.csv');
  const asked: unknown[] = [];
  const url = await startFakeServer(t, (request) => { asked.push(request.url); });
  const { status, notes } = await run(['export', path], {
    SELLER_API_URL: url, SELLER_API_KEY: KEY,
  });
  assert.equal(status, 1);
  assert.match(notes, /^There is no folder .*nowhere\.\n$/);
  assert.deepEqual(asked, []);
});

test('treats a truncated compressed response as broken', async (t) => {
  const path = join(makeFolder(t), 'all.csv');
  const whole = gzipSync(`sku\r\nA\r\n${endRecord(1)}`);
  const headers = { ...CSV_EXPORT, 'content-encoding': 'gzip' };
  const url = await startFakeServer(t, (_, response) => {
    response.writeHead(200, headers).end(whole.subarray(0, -10)); // its last row is incomplete
  }, (_, response) => {
    response.writeHead(200, headers).end(whole);
  });
  const { status, notes } = await run(['export', path], {
    SELLER_API_URL: url, SELLER_API_KEY: KEY,
  });
  assert.equal(status, 0, notes);
  assert.match(notes, /broke before the end of the file\. Retrying/);
  assert.equal(readFileSync(path, 'utf8'), 'sku\r\nA\r\n');
});

test('does not restart on standard output', async (t) => {
  const url = await startFakeServer(t, (_, response) => {
    response.writeHead(200, CSV_EXPORT);
    response.write('sku\r\nA\r\nB', () => response.destroy());
  });
  const { status, out, notes } = await run(['export'], {
    SELLER_API_URL: url, SELLER_API_KEY: KEY,
  });
  assert.deepEqual([status, out], [1, 'sku\r\nA\r\n']);
  assert.match(notes, /^[^\n]*broke \(\w+\)\. The output is incomplete\.\n$/);
});

test('repeats an export that lacks rows, and keeps no part of it', async (t) => {
  const path = join(makeFolder(t), 'all.csv');
  const url = await startFakeServer(t, (_, response) => {
    response.writeHead(200, CSV_EXPORT).end(`sku\r\nA\r\n${endRecord(2)}`);
  }, (_, response) => {
    assert.equal(existsSync(path), false);
    response.writeHead(200, CSV_EXPORT).end(`sku\r\nA\r\nB\r\n${endRecord(2)}`);
  });
  const { status, notes } = await run(['export', path], {
    SELLER_API_URL: url, SELLER_API_KEY: KEY,
  });
  assert.equal(status, 0, notes);
  assert.match(notes, /The file has 1 of 2 rows: a part is missing\.[^\n]*Retrying/);
  assert.equal(readFileSync(path, 'utf8'), 'sku\r\nA\r\nB\r\n');
});

test('rejects an export whose end the server does not confirm', async (t) => {
  const path = join(makeFolder(t), 'all.csv');
  const url = await startFakeServer(t, (_, response) => {
    response.writeHead(200, { 'seller-position': '7', 'content-type': 'text/csv' }).end('sku\r\n');
  });
  const { status, notes } = await run(['export', path], {
    SELLER_API_URL: url, SELLER_API_KEY: KEY,
  });
  assert.equal(status, 1);
  assert.match(notes, /does not confirm the number of rows\. Update it/);
  assert.deepEqual(readdirSync(dirname(path)), []);
});

test('rejects a response that is no export, and keeps the file of another process', async (t) => {
  const path = join(makeFolder(t), 'all.csv');
  const url = await startFakeServer(t, (_, response) => { response.end('Hello'); });
  const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
  const other = await run(['export', path], environment);
  assert.equal(other.status, 1);
  assert.match(other.notes, /has no position\. Is --url right\?\n$/);
  const real = await startFakeServer(t, (_, response) => {
    response.writeHead(200, CSV_EXPORT).end(`sku\r\n${endRecord(0)}`);
  });
  writeFileSync(`${path}.1.part`, 'another');
  const second = await run(['export', path], { ...environment, SELLER_API_URL: real });
  assert.equal(second.status, 0, second.notes);
  assert.deepEqual(readdirSync(dirname(path)).sort(), ['all.csv', 'all.csv.1.part']);
});

test('ends with one clear line if the reader of its output closes the pipe', async (t) => {
  const url = await startFakeServer(t, (_, response) => {
    response.writeHead(200, CSV_EXPORT);
    const rows = `${'A,'.repeat(10_000)}\n`;
    const endless = Readable.from((function* () { for (;;) yield rows; })());
    pipeline(endless, response, () => {}); // ends with the connection
  });
  const env = { ...process.env, SELLER_API_URL: url, SELLER_API_KEY: KEY };
  const script = `"${program('export').flat().join('" "')}" | head -c 10`;
  const [out, notes] = await new Promise<readonly string[]>((resolve) => {
    execFile('sh', ['-c', script], { env }, (_, ...texts) => resolve(texts));
  });
  assert.equal(out, 'A,A,A,A,A,');
  assert.equal(notes, 'The reader of the output closed it early.\n');
});

const invalidArguments: readonly [args: readonly string[], says: RegExp][] = [
  [['a.csv', 'b.csv'], /^Give FILE\|-, in quotes/],
  [['--json'], /--json needs a FILE/],
  [['all.xlsx'], /--format csv or --format ndjson/],
  [['--format', 'json'], /^--format takes csv or ndjson, not "json"\. Did/],
  [['--category', '-price'], /starts with a dash needs an equals sign: --category=-price/],
];

for (const [args, says] of invalidArguments) {
  test(`rejects "export ${args.join(' ')}"`, async () => {
    const { status, out, notes } = await run(['export', ...args], { SELLER_API_KEY: KEY });
    assert.match(notes, says);
    assert.equal(status, 2);
    if (!args.includes('--json')) assert.equal(out, '');
    else assert.match(JSON.parse(out).error.detail, says);
  });
}

async function readSample(): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  for await (const records of new CsvReader().read(createReadStream(SAMPLE))) {
    for (const { cells: [name = '', category, sku, price, stock] } of records) {
      rows.push([unescapeFormula(name), category, sku, Number(price), Number(stock)]);
    }
  }
  return rows.slice(1);
}
