/** Cells that a spreadsheet, a database or another program has changed, at every door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShop, readStocks, sendStock } from '../../api/stock/stock.ts';
import { CSV_HEADER, importFile, readLines, sendFile } from './import.ts';

const CSV = { 'content-type': 'text/csv' };
const NO_VALUES =
  ['#N/A', '#NV', '#REF!', '#WERT!', '#NAME?', '#DIV/0!', '#¡VALOR!', 'NULL', '\\N'];

test('imports no error value, missing value or text in apostrophes', async (t) => {
  const { seller } = await openShop(t, { A: 5 });
  for (const cell of [...NO_VALUES, "'A-1'", "'101'"]) {
    const rows = [`N,C,${cell},1,1`, `${cell},C,A,1,1`, `N,${cell},A,1,1`];
    const imported = await importFile(seller, { body: `${CSV_HEADER}${rows.join('\n')}\n` });
    assert.deepEqual(imported.rows.map(({ errors }) => errors[0].pointer),
      ['/sku', '/name', '/category'], cell);
    assert.match(imported.rows[0].errors[0].detail, /^(?:Stands for an error|Is in apostrophes)/);
    // The remedy keeps the text.
    const kept = await importFile(seller, { body: `${CSV_HEADER}N,C,'${cell},1,1\n` });
    assert.equal(kept.summary.created, 1, cell);
  }
  const body = `${CSV_HEADER}'s-Hertogenbosch,#1 Mugs,NULL-1,1,1\n`;
  assert.equal((await importFile(seller, { body })).summary.created, 1);
});

test('reads no SKU from such a cell in a stocktake, and zeroes nothing', async (t) => {
  const { seller } = await openShop(t, { A: 5, 4711: 5 });
  for (const cell of [...NO_VALUES, "'A'", "'101'", '4711.0', '"4711,0"']) {
    const answer = await sendStock(seller, `sku,stock\n${cell},1\n`, {
      query: 'complete=true&force=true', headers: CSV,
    });
    const { rows, last } = readLines(answer);
    assert.equal(rows.length, 1);
    assert.match(last.problem.detail, /^Line 2 does not identify its product/, cell);
  }
  assert.deepEqual(await readStocks(seller), { A: 5, 4711: 5 });
});

test('creates no product from a number to which a program added decimals', async (t) => {
  const { seller } = await openShop(t, { '815.0': 5 });
  const { rows, summary } = await importFile(seller, {
    body: `${CSV_HEADER}N,C,4711.0,1,1\nN,C,815.0,1,1\nN,C,2.0,1,1\n`,
  });
  assert.deepEqual([summary.failed, summary.updated, summary.created], [1, 1, 1]);
  assert.match(rows[0].errors[0].detail, /A program has added decimals\. Write the SKU without/);
});

test('checks the units of every row', async (t) => {
  const { seller } = await openShop(t, { A: 5, B: 5 });
  const pieces = Array.from({ length: 1_100 }, (_, n) => `X${n},1,Stk\n`).join('');
  const file = `sku,Menge,Einheit\n${pieces}A,500,g\nB,7,\n`;
  const send = async (query: string) =>
    readLines(await sendStock(seller, file, { query, headers: CSV }));
  const { rows } = await send('dry_run=true');
  assert.deepEqual(rows.slice(-2).map(({ sku, status }) => [sku, status]),
    [['A', 'invalid'], ['B', 'ok']]);
  assert.match(rows.at(-2).errors[0].detail, /^By "Einheit", the row is for g\./);
  assert.equal((await send('map=set:Menge')).rows.at(-2).stock, 500);
  const body = `sku,name,category,price,menge,einheit,Preiseinheit\n${
    Array.from({ length: 1_100 }, (_, n) => `A${n},N,C,1,1,St,1\n`).join('')
  }K,N,C,1,1,kg,1\nL,N,C,1,1,St,100\nM,N,C,1,1,St,"1,00"\nN,N,C,1,1,,1.000\n`;
  const imported = await importFile(seller, { body });
  assert.deepEqual(imported.rows.map(({ sku }) => sku), ['K', 'L', 'N']);
  assert.match(imported.rows[1].errors[0].detail, /^By "Preiseinheit", the row is for 100\./);
});

test('rejects a variation whose stock is that of its parent', async (t) => {
  const { seller } = await openShop(t, {});
  const body = 'Type,SKU,Name,Regular price,Stock,Categories,Parent\n'
    + 'variable,M,Mug,,9,K,\nvariation,M-1,Mug,1,parent,,M\nvariation,M-2,Mug,1,3,,M\n';
  const { rows, summary } = await importFile(seller, { body });
  assert.deepEqual([summary.created, summary.failed, summary.skipped], [1, 1, 1]);
  assert.match(rows[0].errors[0].detail, /^Its parent has the stock of all variations\./);
});

test('reads no price in the sign of another currency', async (t) => {
  const { seller } = await openShop(t, { A: 5 });
  const send = (name: string, query = 'mode=update') =>
    sendFile(seller, { body: `sku,${name}\nA,7\n`, query: encodeURI(query) });
  const { status, text } = await send('Price ($)');
  assert.equal(status, 400);
  assert.match(text, /"Price \(\$\)\\" has prices in \$, and your currency is EUR\. If they are/);
  for (const [name, query] of [['Price (€)'], ['Price ($)', 'map=price:Price ($)']] as const) {
    assert.equal(readLines(await send(name, query)).last.summary.failed, 0);
  }
});

test('says that a column which may have prices was ignored', async (t) => {
  const { seller } = await openShop(t, { A: 5 });
  const read = async (header: string) => (await importFile(seller, {
    body: `${header}\nA,7,8\n`, query: 'mode=update',
  })).summary.notes;
  assert.deepEqual(await read('sku,stock,Preis Liste 1'), ['No prices were read, and the column '
    + '"Preis Liste 1" was ignored. If it has them, name it as the column of price.']);
  assert.equal(await read('sku,stock,Colour'), undefined);
  assert.equal(await read('sku,price,Preis Liste 1'), undefined);
});

test('says which line has the column names, and how many rows are short', async (t) => {
  const { seller } = await openShop(t, { A: 5, B: 5 });
  const file = 'Report\n\nsku,stock,remark\nA,1\nB,2\nC,3,x\n';
  const notes = ['The column names are on line 3, below titles.',
    'Short rows, whose last cells are read as blank: 2.'];
  const { last } = readLines(await sendStock(seller, file, {
    query: 'short_rows=blank', headers: CSV,
  }));
  assert.deepEqual(last.summary.notes, notes);
  const body = 'Report\n\nsku,name,remark\nA,X\nB,Y\n';
  assert.deepEqual((await importFile(seller, { body, query: 'short_rows=blank' })).summary.notes,
    notes);
  // Those that are rejected have their own message.
  assert.deepEqual((await importFile(seller, { body })).summary.notes?.slice(1), notes.slice(0, 1));
});

test('warns of SKUs that look like dates with a year of two digits', async (t) => {
  const { seller } = await openShop(t, {});
  const body = `${CSV_HEADER}N,C,05.06.24,1,1\nN,C,10.40.24,1,1\n`;
  const { summary } = await importFile(seller, { body });
  assert.deepEqual([summary.date_skus, summary.first_date_sku], [1, '05.06.24']);
});
