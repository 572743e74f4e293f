/** Imports of workbooks: their cells have types, and a file may have several sheets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../support/server.ts';
import { makeTables } from '../../transfer/workbook/make-workbook.ts';
import { counts, importFile, sendFile } from './import.ts';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const HEADER = ['sku', 'name', 'category', 'price', 'stock', 'barcode', 'metadata.erp'];

test('imports a workbook: numbers as typed, texts exactly', async (t) => {
  const server = await startServer(t);
  for (const type of [XLSX, 'text/csv']) {
    const seller = await server.makeSeller();
    const body = makeTables({ Stock: [
      ['Price list'], HEADER,
      ['00123', ' Mug ', 'Kitchen', 12.300000000000001, 7, 4006381333931, 10473],
      [124, 'Cup', 'Kitchen', [1250.5, '#,##0.00'], 0, '', true],
      ['A-1', '12', 'Kitchen', '9,90', 1.0, '', ''],
      ['A-2', 'Jug', 'Kitchen', 1.205, 1, '', ''],
    ] });
    const { rows, summary } = await importFile(seller, { body, type });
    const faults = rows.map(({ line, errors: [{ pointer, code }] }: any) => [line, pointer, code]);
    assert.deepEqual(faults, [[6, '/price', 'precision']]);
    assert.deepEqual(summary, counts({ created: 3, failed: 1, position: 3 }));
    const { products } = (await seller.send({ path: '/api/v1/products' })).json();
    assert.deepEqual(products.map(({ sku, name, price, stock, barcode, metadata }: any) =>
      [sku, name, price, stock, barcode, metadata]), [
      ['00123', 'Mug', 12.3, 7, '4006381333931', { erp: '10473' }],
      ['124', 'Cup', 1250.5, 0, undefined, { erp: 'TRUE' }],
      ['A-1', '12', 9.9, 1, undefined, undefined],
    ]);
  }
});

test('rejects cells that are not what they are used for, with the remedy', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const body = makeTables({ A: [
    HEADER,
    [[123, '00000'], 'Mug', 'Kitchen', 5, 1], ['A-1', 'Mug', 'Kitchen', [46082, 'yyyy-mm-dd'], 1],
    ['A-2', 'Mug', 'Kitchen', 5, true], ['A-3', 'Mug', 'Kitchen', [0.5, '0%'], 1],
    [1.5, 'Mug', 'Kitchen', 5, 1], [4006381333931123, 'Mug', 'Kitchen', 5, 1],
    ['A-4', [46082, 'd/m/yy'], 'Kitchen', 5, 1], ['A-5', 'Mug', 'Kitchen', '1,250', 1],
  ] });
  const { rows, summary } = await importFile(seller, { body, type: XLSX });
  assert.deepEqual(rows.map(({ line, errors: [{ pointer, detail }] }: any) =>
    `${line} ${pointer} ${detail.split('.')[0]}`), [
    '2 /sku The cell 123 is shown with zeros or text that it does not have',
    '3 /price The cell 2026-03-01 is a date', '4 /stock The cell TRUE is true or false',
    '5 /price The cell 0', '6 /sku The cell 1', '7 /sku The cell 4006381333931120 is no whole '
    + 'number of up to 15 digits, which a spreadsheet keeps',
    '8 /name The cell 2026-03-01 is a date',
    '9 /price Could mean 1250, or 1 with the decimals 250',
  ]);
  assert.deepEqual([summary.failed, summary.created], [8, 0]);
  const point = await importFile(seller, { body, type: XLSX, query: 'decimal=comma&dry_run=true' });
  assert.deepEqual(point.rows.map(({ line }: any) => line), [2, 3, 4, 5, 6, 7, 8]);
});

test('reads the sheet that is named, and says which one it has read', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const row = (sku: string) => [HEADER, [sku, 'Mug', 'Kitchen', 5, 1]];
  const body = makeTables({ Notes: [['Hello']], Mugs: row('M'), Cups: row('C') });
  const cups = await importFile(seller, { body, query: 'sheet=cups' });
  assert.deepEqual(cups.summary, counts({ created: 1, position: 1 }));
  const both = makeTables({ Mugs: row('M'), Cups: row('C') });
  const { summary } = await importFile(seller, { body: both });
  assert.deepEqual(summary.notes, [
    'The sheet "Mugs" was read. To read another one, set sheet=NAME: "Cups".',
  ]);
  for (const [file, query, detail] of [
    [body, 'sheet=Jugs', /no sheet "Jugs"\. Its sheets: "Notes", "Mugs", "Cups"\./],
    ['sku,stock\n', 'sheet=Mugs', /Names a sheet of a workbook, and this file is none/],
  ] as const) {
    const answer = await sendFile(seller, { body: file, query });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.json().errors[0].detail, detail);
  }
  const ndjson = await sendFile(seller, {
    body: '{"sku":"A"}', query: 'sheet=A', type: 'application/x-ndjson',
  });
  assert.equal(ndjson.status, 400);
});

test('rejects files that are no workbook as a whole, and writes nothing', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const whole = makeTables({ A: [HEADER, ['A', 'Mug', 'Kitchen', 5, 1]] });
  const macros = makeTables({ A: [HEADER] });
  for (const [body, detail] of [
    [whole.subarray(0, -40), /The workbook is damaged: it is incomplete/],
    [Buffer.from('d0cf11e0a1b11ae1'.padEnd(2_000, '0'), 'hex'), /no workbook/],
    [macros.subarray(0, 60), /damaged|incomplete/],
    [Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)]), /a zip file/],
  ] as const) {
    const answer = await sendFile(seller, { body, type: XLSX });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.json().detail, detail);
  }
  assert.equal((await seller.send({ path: '/api/v1/products' })).json().products.length, 0);
});
