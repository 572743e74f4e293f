/** Workbooks on the command line: `import`, `stock sync` and rejected rows. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { makeTables } from '../../transfer/workbook/make-workbook.ts';
import { isRowsFile } from '../../../src/cli/transfer/source-file.ts';
import { openShop } from '../shop.ts';

const HEADER = ['sku', 'name', 'category', 'price', 'stock'];

test('sends workbooks, and writes their rejected rows as CSV', async (t) => {
  const { folder, run } = await openShop(t);
  const path = join(folder, 'products.xlsx');
  writeFileSync(path, makeTables({ Notes: [['Read me']], Products: [
    HEADER, ['001', 'Mug, "blue"', 'Kitchen', 1.205, 7], ['A-1', 'Cup', 'Kitchen', 5, 1],
  ] }));
  const nothing = await run('import', path);
  assert.equal(nothing.status, 1);
  const sent = await run('import', path, '--sheet', 'products');
  assert.match(sent.notes, /Line 2, SKU 001: price: .*decimal/);
  const rejected = join(folder, 'products.failed.csv');
  const text = readFileSync(rejected, 'utf8');
  assert.match(text, /^\uFEFF"error[^"]*",sku,name,category,price,stock\r\n/);
  assert.match(text, /,001,"Mug, ""blue""",Kitchen,1\.205,7\r\n$/);
  writeFileSync(rejected, text.replace('1.205', '1.20'));
  assert.match((await run('import', rejected)).out, /: 1 created/);

  const stock = join(folder, 'stock.xlsx.gz');
  const table = { Stock: [['SKU', 'Stock'], ['001', 40], ['A-1', 41]], Old: [['SKU', 'Stock']] };
  writeFileSync(stock, gzipSync(makeTables(table)));
  const synced = await run('stock', 'sync', stock);
  assert.match(synced.out, /: 2 applied/);
  assert.match(synced.notes, /The sheet "Stock" was read\. To read another one, set --sheet NAME/);
  assert.ok(!existsSync(join(folder, 'stock.failed.csv')));
});

test('rejects rows again that lost the types of their cells', async (t) => {
  const { folder, run } = await openShop(t);
  const path = join(folder, 'products.xlsx');
  writeFileSync(path, makeTables({ Products: [
    HEADER, [[123, '00000'], 'Mug', 'Kitchen', 1, 1], ['A-1', 'Cup', 'Kitchen', [0.5, '0%'], 1],
  ] }));
  const sent = await run('import', path);
  assert.match(sent.notes, /SKU 123: sku: The cell 123 is shown .* Then send the whole file again/);
  const again = await run('import', join(folder, 'products.failed.csv'));
  assert.match(again.out, /: 0 created, 0 updated, 0 unchanged, 2 rejected/);
});

test('recognises a workbook without its extension by its content', async (t) => {
  const { folder, run } = await openShop(t);
  const path = join(folder, 'products');
  writeFileSync(path, makeTables({ Products: [HEADER, ['001', 'Mug', 'Kitchen', 1.2, 7]] }));
  const { status, out, notes } = await run('import', path);
  assert.deepEqual([status, /: 1 created/.test(out)], [0, true], notes);
  assert.doesNotMatch(notes, /\d rows/); // its rows cannot be counted while it is sent
});

test('takes workbooks from a watched folder', () => {
  for (const name of ['a.xlsx', 'A.XLSX', 'a.xlsx.gz', 'a.csv']) assert.ok(isRowsFile(name), name);
  for (const name of ['a.xls', 'a.gz', 'xlsx', 'a.xlsx.zip']) assert.ok(!isRowsFile(name), name);
});
