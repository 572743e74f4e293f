/** `stock sync` of files and pipes: what it prints, and its exit status. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { openShop, type Shop } from '../shop.ts';
import { startFakeServer } from './fake-server.ts';

const KEY = generateApiKey();

async function openStockedShop(t: Parameters<typeof openShop>[0]): Promise<Shop> {
  const shop = await openShop(t);
  const path = join(shop.folder, 'catalogue.csv');
  writeFileSync(path, 'name,category,sku,price,stock\nMug,K,MUG-1,5,10\nCup,K,CUP-1,5,20\n');
  assert.equal((await shop.run('import', path)).status, 0);
  return shop;
}

async function readStock(shop: Shop): Promise<Record<string, number>> {
  const { out } = await shop.run('products', 'list', '--fields', 'sku,stock', '--json');
  return Object.fromEntries(out.trim().split('\n').map((line) => {
    const { sku, stock } = JSON.parse(line);
    return [sku, stock];
  }));
}

function lines(...changes: readonly object[]): string {
  return changes.map((change) => `${JSON.stringify(change)}\n`).join('');
}

describe('stock sync', { concurrency: 2 }, () => {
  test('applies a file, and reports what changed', async (t) => {
    const shop = await openStockedShop(t);
    const path = join(shop.folder, 'stock.ndjson');
    writeFileSync(path, lines({ sku: 'MUG-1', adjust: -3 }, { sku: 'CUP-1', set: 20 }));
    const { status, out, notes } = await shop.run(
      'stock', 'sync', path, '--source', 'till 2', '--reason', 'sold',
    );
    assert.equal(status, 0, notes);
    assert.match(out, /stock\.ndjson: 1 applied, 1 unchanged, 0 rejected\. .* at position 3\.\n$/);
    assert.match(notes, /^100 %, 2 rows, 0 rejected, [\d,]+ rows\/s\n$/);
    assert.deepEqual(await readStock(shop), { 'MUG-1': 7, 'CUP-1': 20 });
    const feed = await send(shop.port, {
      path: '/api/v1/stock/movements?source=till+2&reason=sold', headers: { 'x-api-key': shop.key },
    });
    assert.deepEqual([feed.json().movements.length, feed.json().movements[0].delta], [1, -3]);
  });

  test('writes rejected rows to a file that can be corrected and sent again', async (t) => {
    const shop = await openStockedShop(t);
    const path = join(shop.folder, 'stock.ndjson');
    writeFileSync(path, lines(
      { sku: 'MUG-1', adjust: -3 }, { sku: 'TYPO', adjust: -1 }, { sku: 'CUP-1', adjust: -21 },
      { sku: 'CUP-1', set: 1, expect: 4 }, { sku: 'CUP-1', set: -1 },
    ));
    const { status, out, notes } = await shop.run('stock', 'sync', path, '--json');
    assert.equal(status, 1);
    const failed = join(shop.folder, 'stock.failed.ndjson');
    const { summary: { import: id, ...summary }, rejected_file } = JSON.parse(out);
    assert.deepEqual(summary, {
      applied: 1, unchanged: 0, failed: 4, position: 3, ignored_columns: [],
    });
    assert.match(id, /^imp_/);
    assert.equal(rejected_file, failed);
    assert.match(notes, / {2}Line 2, SKU TYPO: There is no product with the SKU TYPO\.\n/);
    assert.match(notes, / {2}Line 3, SKU CUP-1: The stock of CUP-1 is only 20\.\n/);
    assert.match(notes, / {2}Line 4, SKU CUP-1: The stock of CUP-1 is 20, not as expected\.\n/);
    assert.match(notes, / {2}Line 5, SKU CUP-1: set: [^\n]+\n/);
    assert.match(notes, /4 rows rejected\. They are in .*\. Correct them there and sync/);
    const [first = ''] = readFileSync(failed, 'utf8').split('\n');
    writeFileSync(failed, first.replace('TYPO', 'CUP-1'));
    const again = await shop.run('stock', 'sync', failed);
    assert.equal(again.status, 0, again.notes);
    assert.deepEqual(await readStock(shop), { 'MUG-1': 7, 'CUP-1': 19 });
  });

  test('rejects the second stock of a product, unless --duplicates says what it is', async (t) => {
    const shop = await openStockedShop(t);
    const path = join(shop.folder, 'stock.csv');
    writeFileSync(path, 'sku;Lager;Bestand\nMUG-1;A;10\nMUG-1;B;2\n');
    const rejected = await shop.run('stock', 'sync', path);
    assert.equal(rejected.status, 1);
    for (const [line, other] of [[2, 3], [3, 2]]) {
      assert.match(rejected.notes, new RegExp(
        `Line ${line}, SKU MUG-1: Line ${other} has .* Set --duplicates sum to add up`));
    }
    assert.match(rejected.notes, /sync all of .*stock\.csv again, corrected or with --duplicate/);
    assert.equal((await readStock(shop))['MUG-1'], 10);
    const sum = await shop.run('stock', 'sync', path, '--duplicates', 'sum', '--json');
    const { duplicates, duplicate_rows: [row] } = JSON.parse(sum.out).summary;
    assert.deepEqual([duplicates, row], [1, { line: 3, sku: 'MUG-1', previous_line: 2 }]);
    assert.match(sum.notes, /1 row of products with an earlier row: the rows .* were added up\./);
    assert.equal((await readStock(shop))['MUG-1'], 12);
  });

  test('reads files as --encoding, --decimal and --short-rows say', async (t) => {
    const shop = await openStockedShop(t);
    const path = join(shop.folder, 'stock.csv');
    const rows = 'Artikelnr;Verf\xfcgbar;Notiz\nMUG-1;1.200;\xe4\nCUP-1;3\n';
    writeFileSync(path, Buffer.from(rows, 'latin1'));
    const failed = await shop.run('stock', 'sync', path);
    assert.equal(failed.status, 2);
    assert.match(failed.notes, /Line 1 .* not UTF-8\..* set --encoding windows-1252 if/);
    const read = ['stock', 'sync', path, '--encoding', 'latin1'];
    const unclear = await shop.run(...read);
    assert.match(unclear.notes, /Could mean 1200, or 1 with .* set --decimal point or --dec/);
    assert.match(unclear.notes, /Line 3: The row has 2 cells, .* set --short-rows blank\./);
    assert.match(readFileSync(join(shop.folder, 'stock.failed.csv'), 'utf8'), /MUG-1;1\.200;ä/);
    const clear = await shop.run(...read, '--decimal', 'comma', '--short-rows', 'blank');
    assert.equal(clear.status, 0, clear.notes);
    assert.deepEqual(await readStock(shop), { 'MUG-1': 1200, 'CUP-1': 3 });
  });

  test('changes nothing in a dry run', async (t) => {
    const shop = await openStockedShop(t);
    const path = join(shop.folder, 'stock.ndjson');
    writeFileSync(path, lines({ sku: 'MUG-1', adjust: -3 }, { sku: 'TYPO', set: 1 }));
    const { status, out, notes } = await shop.run('stock', 'sync', path, '--dry-run');
    assert.equal(status, 1);
    assert.match(out, /^Dry run, nothing was changed: 1 applied, 0 unchanged, 1 rejected/);
    assert.match(notes, /Correct it in .*stock\.ndjson, or sync it and correct/);
    assert.deepEqual(await readStock(shop), { 'MUG-1': 10, 'CUP-1': 20 });
  });

  test('recognizes format and compression of standard input by its content', async (t) => {
    const shop = await openStockedShop(t);
    const input = gzipSync(lines({ sku: 'MUG-1', set: 4 }, { sku: 'X', set: 4 }));
    const { status, out, notes } = await run(
      ['stock', 'sync', '-'], shop.environment, input,
    );
    assert.equal(status, 1);
    assert.match(out, /^standard input: 1 applied, 0 unchanged, 1 rejected/);
    assert.match(notes, /1 row rejected\. [^\n]*, sync a file instead of a pipe\.\n$/);
    const empty = await run(['stock', 'sync', '-'], shop.environment, '');
    assert.equal(empty.status, 2);
    assert.match(empty.notes, /^Give the format of standard input/);
  });

  test('sends CSV unchanged, with the flags as parameters', async (t) => {
    const seen: unknown[] = [];
    const url = await startFakeServer(t, async (request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://x');
      const { 'content-type': type, 'content-encoding': encoding } = request.headers;
      const body = gunzipSync(await buffer(request)).toString();
      seen.push(Object.fromEntries(searchParams), type, encoding, body);
      const summary = { applied: 1, unchanged: 0, failed: 0, zeroed: 7, position: 9 };
      response.end(`${JSON.stringify({ summary })}\n`);
    });
    const path = join(makeFolder(t), 'count.dat'); // the name does not indicate the format
    writeFileSync(path, gzipSync('sku;Bestand\nMUG-1;4\n'));
    const { status, out, notes } = await run([
      'stock', 'sync', path, '--source', 'erp', '--reason', 'count', '--map', 'stock:Bestand',
      '--complete', '--zero-limit', '20', '--force', '--dry-run',
    ], { SELLER_API_URL: url, SELLER_API_KEY: KEY });
    assert.equal(status, 0, notes);
    assert.match(out, /: 1 applied, 0 unchanged, 7 set to 0, 0 rejected\./);
    assert.deepEqual(seen, [{
      source: 'erp', reason: 'count', map: 'stock:Bestand', complete: 'true', zero_limit: '20',
      force: 'true', dry_run: 'true', report: 'failed', file_name: 'count.dat',
      duplicates: 'reject_all',
    }, 'text/csv', 'gzip', 'sku;Bestand\nMUG-1;4\n']);
  });

  test('exits with status 2 if the stocktake is rejected, and says what was applied', async (t) => {
    const url = await startFakeServer(t, async (request, response) => {
      await buffer(request);
      const summary = { applied: 3, unchanged: 0, failed: 0, zeroed: 0, position: 9 };
      const problem = { title: 'The stock sync was rejected', status: 409, detail: 'Over 50 %.' };
      response.end(`${JSON.stringify({ problem: { ...problem, summary } })}\n`);
    });
    const path = join(makeFolder(t), 'count.csv');
    writeFileSync(path, 'sku,stock\nMUG-1,4\n');
    const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
    const { status, notes } = await run(['stock', 'sync', path, '--complete'], environment);
    assert.equal(status, 2);
    assert.equal(notes, 'The stock sync was rejected. Over 50 %. '
      + 'Before that: 3 applied, 0 unchanged, 0 set to 0, 0 rejected.\n');
  });

  test('names a rejected stocktake and its limit in the words of the command line', async (t) => {
    const shop = await openStockedShop(t);
    const path = join(shop.folder, 'count.csv');
    writeFileSync(path, 'sku;Bestand\nMUG-1;4\n');
    const args = ['stock', 'sync', path, '--complete', '--zero-limit'];
    const { status, notes } = await shop.run(...args, '10');
    assert.equal(status, 2);
    assert.equal(notes, 'The stock sync was rejected. 1 product is not named and would be set to '
      + '0: over 10 % of the products in stock. To allow it, raise --zero-limit or add --force. No '
      + 'product was set to 0. Changes already written stay. Before that: 1 applied, 0 unchanged, '
      + '0 set to 0, 0 rejected.\n');
  });

  test('says to send the rejected rows of a stocktake without --complete', async (t) => {
    const shop = await openStockedShop(t);
    const path = join(shop.folder, 'count.csv');
    writeFileSync(path, 'sku;Bestand\nMUG-1;4\nTYPO;1\n');
    const { status, out, notes } = await shop.run('stock', 'sync', path, '--complete');
    assert.equal(status, 1);
    assert.match(out, /: 1 applied, 0 unchanged, 1 set to 0, 1 rejected/);
    assert.match(notes, /Correct it there and sync that file, without --complete\.\n$/);
    assert.deepEqual(await readStock(shop), { 'MUG-1': 4, 'CUP-1': 0 });
  });

  test('says how to continue an interrupted run, which then applies nothing twice', async (t) => {
    const shop = await openStockedShop(t);
    const changes = lines({ sku: 'MUG-1', adjust: -3 });
    const args = ['stock', 'sync', '-', '--idempotency-key', 'till-7'];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { status, out } = await run(args, shop.environment, changes);
      assert.equal(status, 0);
      assert.match(out, /: 1 applied/);
    }
    assert.deepEqual(await readStock(shop), { 'MUG-1': 7, 'CUP-1': 20 });
    const url = await startFakeServer(t, async (request, response) => {
      await buffer(request);
      response.destroy();
    });
    const environment = { SELLER_API_URL: url, SELLER_API_KEY: KEY };
    const broken = await run(['stock', 'sync', '-'], environment, changes);
    assert.equal(broken.status, 2);
    assert.match(broken.notes, /within 48 hours with --idempotency-key [\da-f-]{36}\n$/);
  });

  const stock = lines({ sku: 'MUG-1', set: 1 });
  const failures: readonly [name: string, args: readonly string[], says: RegExp][] = [
    ['no server', ['stock.ndjson', '--url', 'http://127.0.0.1:2'], /^No server at/],
    ['no file', ['none.csv'], /^There is no file .*none\.csv\.\n$/],
    ['a folder', ['.'], /is a folder\. Name a file in it\./],
    ['a damaged workbook', ['noise.xlsx'], /noise\.xlsx is not a workbook, or it is damaged\./],
    ['CSV as NDJSON', ['rows.csv', '--format', 'ndjson'], /This is CSV.* it with --format csv\./],
    ['a wrong flag', ['stock.ndjson', '--source', 'x'.repeat(65)], /^[^\n]*--source: /],
    ['a limit without a stocktake', ['stock.ndjson', '--zero-limit', '5'], /add --complete/],
    ['a limit out of range', ['stock.ndjson', '--complete', '--zero-limit', '101'], /0 to 100/],
  ];
  test('exits with status 2 and one line if nothing was applied', async (t) => {
    const shop = await openStockedShop(t);
    writeFileSync(join(shop.folder, 'stock.ndjson'), stock);
    writeFileSync(join(shop.folder, 'noise.xlsx'), Buffer.from([0, 1, 2, 0, 3]));
    writeFileSync(join(shop.folder, 'rows.csv'), 'sku,stock\nMUG-1,1\n');
    for (const [name, [path = '', ...args], says] of failures) {
      const { status, out, notes } = await shop.run(
        'stock', 'sync', join(shop.folder, path), ...args,
      );
      assert.deepEqual([status, out, notes.split('\n').length], [2, '', 2], `${name}: ${notes}`);
      assert.match(notes, says, name);
    }
    assert.deepEqual(await readStock(shop), { 'MUG-1': 10, 'CUP-1': 20 });
  });
});
