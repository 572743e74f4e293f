/** Stock files in the portal without scripts: upload, preview, import, result. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { HEADER, makeRows } from './setup.ts';
import { act, open, readPage, upload } from './page-setup.ts';

/** A shop with the products SKU-1 to SKU-4, each with 7 in stock. */
async function openStocked(t: TestContext) {
  const shop = await open(t);
  await upload(shop.user, HEADER + makeRows(4));
  await act(shop.user, 'commit');
  const readStock = async (): Promise<Record<string, number>> => {
    const { products } = (await shop.send({ path: '/api/v1/products' })).json();
    return Object.fromEntries(products.map(({ sku, stock }: { sku: string; stock: number }) =>
      [sku, stock]));
  };
  return { ...shop, readStock };
}

test('adds up rows and reads numbers as chosen', async (t) => {
  const { user, readStock } = await openStocked(t);
  const rows = ['SKU-1;A;1.200', 'SKU-1;B;2', 'SKU-2;A;3', 'SKU-3;B', 'NONE;A;1'];
  const file = `Artikelnummer;Lager;Bestand\r\n${rows.join('\r\n')}`;
  const preview = await upload(user, file, 'till.csv');
  assert.match(preview.text, /The file has a column "Lager": .* choose the sum/);
  assert.match(preview.text, /Could mean 1200, or 1 with .* "Decimal mark" to comma\./);
  assert.match(preview.text, /set "Rows with too few cells" to blank/);
  const comma = await act(user, '', { decimal: 'comma', short_rows: 'blank' });
  assert.match(comma.text, /2 SKU-1 Line 3 has a stock of this product, too\. Set "Several rows/);
  assert.match(comma.text, /3 SKU-1 Line 2 has a stock of this product, too\. Set "Several rows/);
  const sum = await act(user, '', { duplicates: 'sum' });
  assert.match(sum.text, /Will change 3 Unchanged 0 Unknown SKUs 1 Other rejected rows 1/);
  await act(user, 'commit');
  assert.deepEqual(await readStock(), { 'SKU-1': 1202, 'SKU-2': 3, 'SKU-3': 7, 'SKU-4': 7 });
});

test('takes no file of rejected rows for a stocktake, by its name', async (t) => {
  const { user, readStock } = await openStocked(t);
  for (const [file, name] of [
    ['SKU,Bestand\nSKU-1,1\n', 'till.failed.csv'],
    ['{"sku":"SKU-1","set":1}', 'till.failed.ndjson'],
  ] as const) {
    await upload(user, file, name);
    const { text } = await act(user, '', { complete: 'true', zero_limit: '100' });
    assert.match(text, /A file of rejected rows has only some of the products, so it cannot be a/);
    assert.doesNotMatch(text, /Import now/);
  }
  assert.equal((await readStock())['SKU-2'], 7);
});

test('writes no row of a repeated product, nor zeroes others', async (t) => {
  const { user, readStock } = await openStocked(t);
  await upload(user, 'SKU,Bestand\nSKU-1,10\nSKU-2,3\nSKU-1,2\nSKU-3,x\nSKU-3,4\n', 'till.csv');
  const stocktake = await act(user, '', { complete: 'true', zero_limit: '100' });
  assert.match(stocktake.text,
    /3 lines share products with other lines, the first is line 2, so no product was set to 0/);
  await act(user, '', { complete: '' });
  const done = await act(user, 'commit');
  assert.match(done.text, /1 of 5 rows imported; 4 rejected\./);
  assert.match(done.text, /Where a reason asks for the whole file, upload all of it again/);
  assert.deepEqual(await readStock(), { 'SKU-1': 7, 'SKU-2': 3, 'SKU-3': 7, 'SKU-4': 7 });
});

test('recognizes a stock file, previews it, and imports it', async (t) => {
  const { user, readStock } = await openStocked(t);
  const file = 'Artikelnummer;Bestand;Lager\r\nSKU-1;5;A\r\nSKU-2;7;A\r\nNONE;1;A\r\nSKU-3;x;A\r\n';
  const preview = await upload(user, file, 'till.csv');
  assert.match(preview.text, /Preview of till\.csv/);
  assert.match(preview.text, /Read as a stock file: only stock changes/);
  assert.match(preview.text, /Checked the whole file: 4 rows, .* Nothing has been changed yet/);
  assert.match(preview.text,
    /Matched products 2 Will change 1 Unchanged 1 Unknown SKUs 1 Other rejected rows 1/);
  assert.match(preview.text, /Columns that are not read: Lager\./);
  assert.match(preview.text, /First changes .* SKU-1 2 7 5 /);
  assert.match(preview.text, /First unknown products .* NONE 4 /);
  assert.match(preview.text, /First rejected rows .* 5 SKU-3 stock: /);
  assert.match(preview.text, /Bestand stock 5 · 7 · 1 Lager not used/);
  assert.equal((await readStock())['SKU-1'], 7);

  const done = await act(user, 'commit');
  assert.match(done.text, /Imported: till\.csv/);
  assert.match(done.text, /2 of 4 rows imported; 2 rejected\./);
  assert.match(done.text,
    /Matched products 2 Changed 1 Unchanged 1 Unknown SKUs 1 Other rejected rows 1/);
  assert.deepEqual(await readStock(), { 'SKU-1': 5, 'SKU-2': 7, 'SKU-3': 7, 'SKU-4': 7 });
  const [, href = ''] = /href="([^"]*\/rejected)"/.exec(user.page?.text ?? '') ?? [];
  assert.equal((await user.get(href)).text, '\uFEFF"error";Artikelnummer;Bestand;Lager\r\n'
    + '"There is no product with the SKU NONE.";NONE;1;A\r\n'
    + '"stock: Write a whole number, such as 1234: no units or exponents.";SKU-3;x;A\r\n');
});

test('imports NDJSON of stock changes with a reason and a source', async (t) => {
  const { user, send, readStock } = await openStocked(t);
  const preview = await upload(user,
    '{"sku":"SKU-1","adjust":-2}\n{"sku":"SKU-2","adjust":-9}\n', 'till.jsonl');
  assert.match(preview.text, /Will change 1 .* Other rejected rows 1/);
  assert.match(preview.text, /SKU-2 The stock of SKU-2 is only 7\./);
  assert.doesNotMatch(preview.text, /Column for/);
  await act(user, '', { reason: ' Week 12 ', source: 'till' });
  await act(user, 'commit');
  assert.equal((await readStock())['SKU-1'], 5);
  const { changes } = (await send({ path: '/api/v1/changes?after=4' })).json();
  assert.deepEqual(changes.map(({ data }: { data: Record<string, unknown> }) =>
    [data['reason'], data['source']]), [['Week 12', 'till']]);
});

test('lets the seller choose between several columns of stock', async (t) => {
  const { user, readStock } = await openStocked(t);
  const preview = await upload(user, 'SKU,On hand,Available\nSKU-1,9,3\n');
  assert.match(preview.text,
    /several columns for stock: "On hand" and "Available"\. Choose one of them below\./);
  assert.match(preview.text, /Detected: On hand or Available/);
  assert.doesNotMatch(preview.text, /Import now/);
  const shared = await act(user, '', { column_sku: '2', column_set: '2' });
  assert.match(shared.text, /One column cannot be both .* choose another one\./);
  const chosen = await act(user, '', { column_sku: '', column_set: '2' });
  assert.match(chosen.text, /SKU-1 2 7 3 /);
  await act(user, 'commit');
  assert.equal((await readStock())['SKU-1'], 3);
});

test('switches between reading a file as a product file and as a stock file', async (t) => {
  const { user } = await openStocked(t);
  const products = await upload(user, `${HEADER}Product 1,Kitchen,SKU-1,19.99,3\n`);
  assert.match(products.text, /Will be updated 1/);
  const stock = await act(user, '', { kind: 'stock' });
  assert.match(stock.text, /Matched products 1 Will change 1/);
  assert.match(stock.text, /Columns that are not read: name, category, price\./);
  assert.match((await act(user, '', { kind: 'products' })).text, /Will be updated 1/);
});

test('rejects a row whose id is that of another product than its SKU', async (t) => {
  const { user, send, readStock } = await openStocked(t);
  const { products } = (await send({ path: '/api/v1/products' })).json();
  const preview = await upload(user,
    `id,sku,stock\n${products[0].id},SKU-2,9\nprd_x,SKU-3,2\nX,4.00638E+12,1\n`);
  assert.match(preview.text, /Matched products 1 Will change 1 /);
  assert.match(preview.text, / Unknown SKUs 1 Other rejected rows 1 /);
  assert.match(preview.text, /SKU-2 id: Is the id of your product "SKU-1"\. Correct the SKU, or /);
  assert.match(preview.text, /2 rows have an id that none of your products has\. It was ignored\./);
  const done = await act(user, 'commit');
  assert.match(done.text, /1 of 3 rows imported; 2 rejected\./);
  assert.match(done.text, /2 rows have an id that none of your products has\./);
  assert.deepEqual(await readStock(), { 'SKU-1': 7, 'SKU-2': 7, 'SKU-3': 2, 'SKU-4': 7 });
});

test('says that a file has no rows', async (t) => {
  const { user } = await openStocked(t);
  const preview = await upload(user, 'sku,stock\n,\n');
  assert.match(preview.text, /Nothing to import: the file has no rows\./);
  assert.doesNotMatch(preview.text, /Import now/);
});

test('preselects no column of flags, and reads it if the seller chooses it', async (t) => {
  const { user, readStock } = await openStocked(t);
  await upload(user, 'SKU,Available\nSKU-1,1\nSKU-2,0\n');
  const preview = await act(user, '', { kind: 'stock' });
  assert.match(preview.text, /no column for stock or stock adjustment\. "Available" is not read/);
  assert.match(preview.text, /it may only say whether there is stock\. Choose the columns below/);
  assert.match(preview.text, /Column for stock Not found/);
  assert.doesNotMatch(preview.text, /Import now/);
  assert.match((await act(user, '', { column_set: '1' })).text, /SKU-1 2 7 1 /);
  await act(user, 'commit');
  assert.deepEqual([(await readStock())['SKU-1'], (await readStock())['SKU-2']], [1, 0]);
});

test('asks at the top what a file with stock and names or prices is', async (t) => {
  const { user, readStock } = await openStocked(t);
  const question = /^.*Is this a product file or a stock file\?.* Summary /;
  const file = 'Artikelnummer;Bezeichnung;Preis;Bestand\nSKU-1;Tasse;5;3\n';
  const products = await upload(user, file);
  assert.match(products.text, question);
  assert.match(products.text, /read as a product file: its names and prices are imported, too\./);
  assert.match(products.text, /Will be updated 1 .* SKU-1 2 name Product 1 Tasse/);
  const stock = await act(user, '', { kind: 'stock' });
  assert.match(stock.text, question);
  assert.match(stock.text, /read as a stock file: only stock changes\. Its names and prices are/);
  assert.match(stock.text, /Columns that are not read: Bezeichnung, Preis\./);
  await act(user, 'commit');
  assert.equal((await readStock())['SKU-1'], 3);
  for (const clear of [`${HEADER}Mug,Kitchen,M-1,5,1\n`, 'SKU;Bestand\nSKU-1;3\n']) {
    assert.doesNotMatch((await upload(user, clear)).text, /Is this a product file/);
  }
});

test('suggests reading a file without any known SKU as a product file', async (t) => {
  const { user } = await openStocked(t);
  const preview = await upload(user, 'sku,stock\nX-1,5\nX-2,5\n');
  assert.match(preview.text, /None of the rows matches one of your products\./);
  assert.match(preview.text, /Nothing to import: no stock would change\./);
});

test('shows invalid settings at their fields, and keeps the preview', async (t) => {
  const { user } = await openStocked(t);
  await upload(user, 'sku,stock\nSKU-1,5\n');
  const invalid = await act(user, '', { zero_limit: '101', reason: 'r'.repeat(201), source: 's' });
  assert.equal(invalid.status, 422);
  assert.match(invalid.text, /in stock: Must be from 0 to 100, in percent\./);
  assert.equal(user.valueOf('source'), 's');
  assert.match(invalid.text, /SKU-1 2 7 5 /);
  assert.match((await act(user, 'commit')).text, /Import complete: 1 row\./);
});

test('previews which products a stocktake sets to 0, and sets them to 0', async (t) => {
  const { user, readStock } = await openStocked(t);
  await upload(user, 'sku,stock\nSKU-1,5\nSKU-2,7\nSKU-3,7\n', 'count.csv');
  const preview = await act(user, '', { complete: 'true' });
  assert.match(preview.text, /Will change 1 Unchanged 2 .* Will be set to 0 1 Import now/);
  assert.match(preview.text, /Will be set to 0 The first products in stock .* SKU-4 7 0 /);
  assert.equal((await readStock())['SKU-4'], 7);
  const done = await act(user, 'commit');
  assert.match(done.text, /Import complete: 3 rows\..* Set to 0 1/);
  assert.deepEqual(await readStock(), { 'SKU-1': 5, 'SKU-2': 7, 'SKU-3': 7, 'SKU-4': 0 });
  const [, record = ''] = /href="([^"]*\/imports\/imp_[^"]*)"/.exec(user.page?.text ?? '') ?? [];
  assert.match(readPage(await user.get(record)).text, /Stocktake count\.csv/);
});

test('blocks a stocktake over its zero limit, until the seller raises it', async (t) => {
  const { user, readStock } = await openStocked(t);
  await upload(user, 'sku,stock\nSKU-1,5\n');
  const blocked = await act(user, '', { complete: 'true' });
  assert.match(blocked.text, /3 of 4 products in stock \(75 %\) are not in the file/);
  assert.match(blocked.text, /The limit is 50 %\. Check that the file is complete\./);
  assert.match(blocked.text, /Will be set to 0 The first .* SKU-2 7 0 SKU-3 7 0 SKU-4 7 0/);
  assert.doesNotMatch(blocked.text, /Import now/);
  await act(user, '', { complete: 'true', zero_limit: '75' });
  await act(user, 'commit');
  assert.deepEqual(await readStock(), { 'SKU-1': 5, 'SKU-2': 0, 'SKU-3': 0, 'SKU-4': 0 });
});

test('blocks a stocktake with a row that names no product', async (t) => {
  const { user } = await openStocked(t);
  await upload(user, 'sku,stock\nSKU-1,5\n,5\nSKU-2,5\nSKU-3,5\n');
  const blocked = await act(user, '', { complete: 'true' });
  assert.match(blocked.text, /Line 3 does not identify its product, so no product was set to 0/);
  assert.match(blocked.text, /clear "This file is a complete stocktake: set them to 0" below/);
  assert.doesNotMatch(blocked.text, /Import now/);
  assert.match((await act(user, '', { complete: undefined })).text, /Import now/);
});

test('sets nothing to 0 if the zero limit is exceeded only by the import itself', async (t) => {
  const { user, readStock, send } = await openStocked(t);
  await upload(user, 'sku,stock\nSKU-1,5\nSKU-2,5\nSKU-3,5\n');
  await act(user, '', { complete: 'true', zero_limit: '25' });
  await send({
    method: 'POST', path: '/api/v1/products', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'New', category: 'K', sku: 'NEW', price: 1, stock: 3 }),
  });
  const failed = await act(user, 'commit');
  assert.match(failed.text, /The import failed after 3 rows: 2 products are not named .* 25 %/);
  assert.match(failed.text, /upload the file again and raise the limit/);
  const { 'SKU-1': changed, 'SKU-4': kept } = await readStock();
  assert.deepEqual([changed, kept], [5, 7]);
});

test('remembers the columns of a stock file', async (t) => {
  const { user } = await openStocked(t);
  const file = 'SKU,On hand,Available\nSKU-1,9,3\n';
  await upload(user, file);
  await act(user, '', { column_set: '2' });
  await act(user, 'commit');
  const again = await upload(user, file);
  assert.match(again.text, /The columns below are those that you chose for your last import/);
  assert.match(again.text, /Will change 0 Unchanged 1/);
});

test('asks to rename columns if a member has two with the same name', async (t) => {
  const { user } = await openStocked(t);
  const preview = await upload(user, 'SKU,Qty,QTY\nSKU-1,9,3\n');
  assert.match(preview.text, /several columns for stock: "Qty" and "QTY"\. Rename or remove one/);
});
