/** The file of rejected rows: what it contains, and that it can be corrected and imported. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { run } from '../../support/command.ts';
import { openShop } from '../shop.ts';

/** As a spreadsheet may save it: marked, semicolons, decimal commas, quoted line breaks. */
const CATALOGUE = [
  '\uFEFFname;sku;category;price;stock;description',
  '"A ""quoted"" one; indeed";B-1;Kitchen;12,50;3;"<p>\r\nline</p>"',
  'Bad price;B-2;Kitchen;cheap;3;"two\r\n\r\nlines; of ""text"""',
  '',
  'Short;B-3;Kitchen',
  'Fine;B-4;Kitchen;1;1;',
].join('\r\n');

const PRICE_FAULT = /"price: Write a plain number[^"]*"/;

describe('the file of rejected rows', { concurrency: 2 }, () => {
  test('has the rejected rows unchanged, and can be corrected and imported', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    const failedPath = join(shop.folder, 'products.failed.csv');
    writeFileSync(path, CATALOGUE);
    const { status, out, notes } = await shop.run('import', path);
    assert.equal(status, 1);
    assert.match(out, /: 2 created, 0 updated, 0 unchanged, 2 rejected/);
    assert.match(notes, new RegExp('Line 4, SKU B-2: price: .*\n {2}Line 8, SKU B-3: '
      + 'The row has 3 cells, the header 6\\..* set --short-rows blank\\.\n'));
    assert.ok(notes.endsWith(
      `2 rows rejected. They are in ${failedPath}. Correct them there and import that file.\n`));
    assert.equal(statSync(failedPath).mode & 0o777, 0o600);
    const failed = readFileSync(failedPath, 'utf8');
    const [header, ...rest] = failed.split('\r\n');
    assert.equal(header, '\uFEFF"error";name;sku;category;price;stock;description');
    assert.match(rest.join('\r\n'), new RegExp([
      '^', PRICE_FAULT.source,
      ';Bad price;B-2;Kitchen;cheap;3;"two\\r\\n\\r\\nlines; of ""text"""\\r\\n',
      '"The row has 3 cells, the header 6\\.[^"]*";Short;B-3;Kitchen\\r\\n$',
    ].join('')));
    writeFileSync(failedPath,
      failed.replace('cheap', '7,25').replace('B-3;Kitchen', 'B-3;Kitchen;1;5;'));
    const corrected = await shop.run('import', failedPath);
    assert.equal(corrected.status, 0, corrected.notes);
    assert.match(corrected.out, /: 2 created/);
    const again = await shop.run('import', path, '--json', '--short-rows', 'blank');
    assert.match(again.out, /"unchanged":3/);
  });

  test('of a rejected-rows file has one error column, with the new reasons', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, [
      'error,sku,name,category,price,stock',
      'price: unquoted by a spreadsheet,A,A,B,x,1',
      '"price: ""quoted"", as it was",B,A,B,1.2345,1',
      ',C,A,B,x',
      ',D,A,B,1,1',
    ].join('\n'));
    const { status } = await shop.run('import', path, '--rejected', join(shop.folder, 'bad.csv'));
    assert.equal(status, 1);
    const lines = readFileSync(join(shop.folder, 'bad.csv'), 'utf8').split('\r\n');
    assert.equal(lines[0], '\uFEFF"error",sku,name,category,price,stock');
    assert.match(lines[1] ?? '', new RegExp(`^${PRICE_FAULT.source},A,A,B,x,1$`));
    assert.match(lines[2] ?? '', /^"price: [^"]*2 decimals[^"]*",B,A,B,1\.2345,1$/);
    assert.match(lines[3] ?? '', /^"price: [^"]* The row has 5 cells, the header 6[^"]*",C,A,B,x$/);
    assert.equal(lines.length, 5);
  });

  test('of a file with an `error` column has an error column of another name', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, 'sku,name,category,price,stock,error\nA,A,B,x,1,mine\n');
    const first = join(shop.folder, 'first.csv');
    assert.equal((await shop.run('import', path, '--rejected', first)).status, 1);
    const lines = readFileSync(first, 'utf8').split('\r\n');
    assert.equal(lines[0], '\uFEFF"import error",sku,name,category,price,stock,error');
    assert.match(lines[1] ?? '', new RegExp(`^${PRICE_FAULT.source},A,A,B,x,1,mine$`));
    const second = join(shop.folder, 'second.csv');
    assert.equal((await shop.run('import', first, '--rejected', second)).status, 1);
    assert.equal(readFileSync(second, 'utf8'), readFileSync(first, 'utf8'));
  });

  test('runs no formula in a spreadsheet, and is imported with the same values', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    const failedPath = join(shop.folder, 'products.failed.csv');
    writeFileSync(path, 'sku,name,category,price,stock\nA,"=HYPERLINK(""http://x"",1)",K,x,1\n');
    assert.equal((await shop.run('import', path)).status, 1);
    const failed = readFileSync(failedPath, 'utf8');
    assert.ok(failed.includes('"\'=HYPERLINK(""http://x"",1)"'), failed);
    writeFileSync(failedPath, failed.replace(',"x",', ',"5",'));
    assert.equal((await shop.run('import', failedPath)).status, 0);
    const { out } = await shop.run('export', '--format', 'ndjson');
    assert.equal(JSON.parse(out).name, '=HYPERLINK("http://x",1)');
  });

  test('overwrites no other file, and is written for a compressed file too', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv.gz');
    writeFileSync(path, gzipSync('sku,name,category,price,stock\nA,A,B,x,1\n'));
    writeFileSync(join(shop.folder, 'products.failed.csv'), 'mine');
    const { out } = await shop.run('import', path, '--json', '--dry-run');
    assert.equal(JSON.parse(out).failures_file, join(shop.folder, 'products.failed-2.csv'));
    assert.equal(readFileSync(join(shop.folder, 'products.failed.csv'), 'utf8'), 'mine');
    const made = readFileSync(join(shop.folder, 'products.failed-2.csv'), 'utf8');
    assert.match(made, /^\uFEFF"error",sku,name,category,price,stock\r\n"price: .*",A,A,B,x,1\r/);
  });

  test('has the first row of a group before its rejected rows, once', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, [
      'Handle,Title,Type,Variant SKU,Variant Price,Variant Inventory Qty',
      'mug,Mug,Kitchen,M-1,1,1', 'mug,,,M-2,x,1', 'mug,,,M-3,3,1', 'mug,,,M-4,x,1',
      'cup,Cup,Kitchen,C-1,x,1', 'cup,,,C-2,x,1', 'pan,Pan,Kitchen,P-1,1,1',
    ].join('\n'));
    assert.equal((await shop.run('import', path)).status, 1);
    const failedPath = join(shop.folder, 'products.failed.csv');
    const failed = readFileSync(failedPath, 'utf8');
    const rows = failed.split('\r\n').slice(1, -1).map((row) => row.replace(/^"price: .*",/, ''));
    assert.deepEqual(rows, [
      '"",mug,Mug,Kitchen,M-1,1,1', 'mug,,,M-2,x,1', 'mug,,,M-4,x,1',
      'cup,Cup,Kitchen,C-1,x,1', 'cup,,,C-2,x,1',
    ]);
    writeFileSync(failedPath, failed.replaceAll(',x,', ',5,'));
    const corrected = JSON.parse((await shop.run('import', failedPath, '--json')).out).summary;
    assert.deepEqual([corrected.created, corrected.unchanged, corrected.failed], [4, 1, 0]);
  });

  test('is not suggested for import after a dry run', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, 'sku,name,category,price,stock\nA,A,B,x,1\n');
    const { notes } = await shop.run('import', path, '--dry-run');
    assert.ok(notes.endsWith(
      `failed.csv. Correct it in ${path}, `
      + 'or import it and correct the rejected rows.\n'), notes);
  });

  test('has lines of NDJSON byte for byte', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.jsonl');
    const faulty = ['{"name":"\xff"}', '{"sku":"B","price":-1}'].map((line) =>
      Buffer.from(`${line}\n`, 'latin1'));
    const fine = Buffer.from('{"name":"A","category":"B","sku":"C","price":1,"stock":1}\n\n');
    writeFileSync(path, Buffer.concat([faulty[0] ?? fine, fine, faulty[1] ?? fine, fine]));
    assert.equal((await shop.run('import', path)).status, 1);
    const failed = readFileSync(join(shop.folder, 'products.failed.ndjson'));
    assert.deepEqual(failed, Buffer.concat(faulty));
  });

  test('has the errors of lines of NDJSON that are not right without the others', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.ndjson');
    const lines = [1, 2].map((price) =>
      JSON.stringify({ sku: 'A', name: 'A', category: 'B', price, stock: 1 }));
    writeFileSync(path, lines.join('\n'));
    assert.equal((await shop.run('import', path)).status, 1);
    const failedPath = join(shop.folder, 'products.failed.ndjson');
    const failed = readFileSync(failedPath, 'utf8');
    assert.match(failed, /^{"error":"price: Line 1 has .*","sku":"A",.*"price":2,.*}\n$/);
    assert.equal((await shop.run('import', failedPath)).status, 1);
    const again = readFileSync(join(shop.folder, 'products.failed-2.ndjson'), 'utf8');
    assert.equal(again, failed);
  });

  test('asks for the whole file if the rows of a product are added up', async (t) => {
    const shop = await openShop(t);
    const products = join(shop.folder, 'products.csv');
    writeFileSync(products, 'sku,name,category,price,stock\nM,M,K,1,0\n');
    await shop.run('import', products);
    const path = join(shop.folder, 'stock.csv');
    writeFileSync(path, 'sku,place,stock\nM,A,10\nM,B,not stocked\nN,B,1\n');
    const { notes } = await shop.run('stock', 'sync', path, '--duplicates', 'sum');
    assert.match(notes, /Where an error asks for the whole file, sync all of .*stock\.csv again/);
    const failedPath = join(shop.folder, 'stock.failed.csv');
    const failed = readFileSync(failedPath, 'utf8');
    assert.equal(failed.match(/send the whole file again/g)?.length, 3);
    writeFileSync(failedPath, failed.replace('not stocked', '2').replace('N,', 'M,'));
    const again = JSON.parse((await shop.run('stock', 'sync', failedPath, '--json')).out).summary;
    assert.deepEqual([again.applied, again.failed], [0, 3]);
  });

  test('has all rejected rows, of which the first five are printed', async (t) => {
    const shop = await openShop(t);
    const path = join(shop.folder, 'products.csv');
    const rows = Array.from({ length: 3_000 }, (_, n) => `S-${n},A,B,${n % 2 ? 'x' : 1},1`);
    writeFileSync(path, `sku,name,category,price,stock\n${rows.join('\n')}\n`);
    const { out, notes } = await shop.run('import', path);
    assert.match(out, /: 1,500 created, 0 updated, 0 unchanged, 1,500 rejected/);
    assert.equal(notes.match(/ Line \d+, SKU/g)?.length, 5);
    const failed = readFileSync(join(shop.folder, 'products.failed.csv'), 'utf8').split('\r\n');
    const skus = failed.slice(1, -1).map((line) => /S-\d+/.exec(line)?.[0]);
    assert.deepEqual(skus, Array.from({ length: 1_500 }, (_, n) => `S-${2 * n + 1}`));
  });

  test('is not written for a pipe, nor to an impossible path', async (t) => {
    const shop = await openShop(t);
    const rows = 'sku,name,category,price,stock\nA,A,B,x,1\n';
    const args = ['import', '-', '--format', 'csv'];
    const piped = await run(args, shop.environment, rows);
    assert.equal(piped.status, 1);
    assert.match(piped.notes, /1 row rejected\. [^\n]*, import a file instead of a pipe\./);
    const path = join(shop.folder, 'products.csv');
    writeFileSync(path, rows);
    const refused = await shop.run('import', path, '--rejected', join(path, 'failed.csv'));
    assert.equal(refused.status, 1);
    assert.match(refused.notes, /^ENOTDIR[^\n]*\n$/);
  });
});
