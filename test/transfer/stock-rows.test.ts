/** How the rows of a stock file in CSV become stock changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStockColumnMap } from '../../src/transfer/stock-columns.ts';
import { makeStockCsvReader } from '../../src/transfer/stock-rows.ts';
import { chunksOf } from './read.ts';

interface Reading {
  readonly map?: string;
  readonly hasSource?: boolean;
}

async function read(file: string | Buffer, { map, hasSource = false }: Reading = {}) {
  const rows = makeStockCsvReader({
    map: map === undefined ? new Map() : parseStockColumnMap(map), hasSource,
  });
  const found = [];
  const chunks = async function* () {
    for (const byte of Buffer.from(file)) yield Buffer.of(byte);
  };
  for await (const slice of rows.read(chunks())) found.push(...slice);
  return found;
}

/** The changes of a valid file. */
async function changesOf(file: string | Buffer, reading?: Reading) {
  return (await read(file, reading)).map(({ entry }) => {
    assert.ok('change' in entry, JSON.stringify(entry));
    return entry.change;
  });
}

/** The errors of the rows, as `line pointer code`. */
async function errorsOf(file: string, reading?: Reading): Promise<string[]> {
  return (await read(file, reading)).flatMap(({ line, entry }) =>
    'issues' in entry ? entry.issues.map(({ pointer, code }) => `${line} ${pointer} ${code}`) : []);
}

test('reads commas, semicolons and tabs, byte order marks and mixed line endings', async () => {
  const expected = [{ sku: 'A-1', set: 12 }, { sku: 'B;2', set: 0 }];
  for (const file of [
    'sku,stock\r\nA-1,12\r\n"B;2",0\r\n', '\uFEFFArtikelnummer;Bestand\nA-1;12\r"B;2";0',
    'SKU\tOn hand\rA-1\t12\n\n"B;2"\t0\r\n', 'sep=;\nsku;qty\nA-1;12,0\n"B;2";0,000',
  ]) assert.deepEqual(await changesOf(file), expected);
});

test('reads all members, and omits blank conditions', async () => {
  const file = 'sku,adjust,expect,sequence,reason\nA,-2,10,7,sold\nB,+3,,, \nC,"\'-1",,8,\'=x\n';
  assert.deepEqual(await changesOf(file, { hasSource: true }), [
    { sku: 'A', adjust: -2, expect: 10, sequence: 7, reason: 'sold' },
    { sku: 'B', adjust: 3 },
    { sku: 'C', adjust: -1, sequence: 8, reason: '=x' },
  ]);
});

test('reads the id of a product, and that of a row with a SKU', async () => {
  assert.deepEqual(await changesOf('id,sku,stock\nprd_1,A,1\nprd_2, ,2\n,C,3\n'),
    [{ sku: 'A', set: 1, id: 'prd_1' }, { id: 'prd_2', set: 2 }, { sku: 'C', set: 3 }]);
  const [row] = await read('id,sku,stock\nprd_1,A,x\n');
  assert.ok(row && 'issues' in row.entry);
  assert.deepEqual(row.entry.reference, { sku: 'A', id: 'prd_1' });
});

test('numbers lines as text editors do, across cells of several lines', async () => {
  const rows = await read('sku,qty,reason\nA,1,"two\nlines"\n\n,,\nB,2,\n');
  assert.deepEqual(rows.map(({ line }) => line), [2, 6]);
});

test('rejects a row that lacks a product or a quantity, or has both kinds', async () => {
  assert.deepEqual(await errorsOf('sku,set,adjust\n,5,\nA,,\nB,1,2\nC\n'),
    ['2 /sku blank', '3 /set blank', '4  required', '5  format']);
  assert.deepEqual(await errorsOf('id,adjust\n,5\nx,\n'), ['2 /id blank', '3 /adjust blank']);
  const [{ entry } = { entry: undefined }] = await read('Handle,SKU,On hand\nmug,,5\n');
  assert.match(JSON.stringify(entry), /Shopify, set sku_from=handle\+options\./);
});

test('rejects invalid and out-of-range quantities, and names their products', async () => {
  const cells = ['x', '1,5', '+1', '-1', '1000000001', '1e3', '12 pcs', `${'9'.repeat(999)}`];
  const file = `sku;stock\n${cells.map((cell, n) => `S-${n};${cell}\n`).join('')}`;
  assert.deepEqual(await errorsOf(file), [
    '2 /set format', '3 /set precision', '4 /set range', '5 /set range', '6 /set range',
    '7 /set format', '8 /set format', '9 /set format',
  ]);
  for (const [index, { entry }] of (await read(file)).entries()) {
    assert.ok('issues' in entry);
    assert.equal(entry.reference?.sku, `S-${index}`);
  }
});

test('rejects a level that may have thousands, unless its column or decimal says so', async () => {
  const file = 'sku;stock\nA;12,000\n';
  const settings = { map: new Map(), hasSource: false };
  assert.deepEqual(await errorsOf(file), ['2 /set format']);
  for (const [text, set] of [
    [file, undefined], [`${file}B;0,000\n`, 12], [`${file}B;1.000,5\n`, 12],
    [`${file}B;12.5\n`, 12_000],
  ] as const) {
    const [row] = await read(text);
    assert.deepEqual(row && 'change' in row.entry ? row.entry.change.set : undefined, set, text);
  }
  for (const [decimal, set] of [['comma', 12], ['point', 12_000]] as const) {
    const rows = makeStockCsvReader({ ...settings, decimal });
    const { value: [row] = [] } = await rows.read(chunksOf(file)).next();
    assert.deepEqual(row?.entry, { change: { sku: 'A', set } });
  }
});

test('reports all errors of a row', async () => {
  const file = `sku,stock,expect,reason\n${'x'.repeat(65)},a,-1,${'y'.repeat(201)}\n`;
  assert.deepEqual(await errorsOf(file),
    ['2 /set format', '2 /sku length', '2 /expect range', '2 /reason length']);
});

test('requires a source for sequence numbers', async () => {
  assert.deepEqual(await errorsOf('sku,set,sequence\nA,1,2\nB,1,\n'), ['2 /sequence mismatch']);
});

test('identifies no product by a row with more cells than the header', async () => {
  const [row, other] = await read('sku,stock\nA,12,0\nB,12,\n');
  assert.ok(row && 'issues' in row.entry);
  assert.equal(row.entry.reference, undefined);
  const [issue] = row.entry.issues;
  assert.match(issue?.detail ?? '', /^The row has 3 cells, the header 2\. Put quotes/);
  assert.deepEqual(other?.entry, { change: { sku: 'B', set: 12 } });
});

test('rejects the whole file if it is malformed', async () => {
  for (const [file, message] of [
    ['', /^The file is empty/],
    ['\n\n', /^The file is empty/],
    ['sku,qty\n"A,1\n', /^The quote that opens a cell on line 2 is never closed/],
    ['sku,qty\n"A"x,1\n', /^On line 2 text follows a closing quote/],
    [Buffer.from('sku,qty\nA,1\n', 'utf16le'), /^The first line has NUL .*UTF-16.*CSV UTF-8.*16le/],
    [Buffer.from('sku,qty\nA,1\n', 'utf16le').swap16(), /or set encoding=utf-16be if that is/],
    [Buffer.from('Artikelnummer;Verfügbar\nA;1\n', 'latin1'), /^Line 1 .* not UTF-8.*windows-1252/],
    [Buffer.from('sku;qty;x\nA;1;ü\n', 'latin1'), /^Line 2 has text that is not UTF-8/],
    ['sku,qty\nA,1\n'.replaceAll(',', ':'), /^The file has no column for sku, id or barcode/],
  ] as const) {
    await assert.rejects(read(file), { code: 'invalid_data', message });
  }
  assert.deepEqual(await read('sku,qty\n'), []);
});

test('takes flags for no quantities, whatever the size of the chunks', async () => {
  const flags = `SKU;In stock\r\n${'A;1\r\nB;0\r\n'.repeat(499)}`;
  const fault = { message: /"In stock" is not read as a quantity: it has no number above 1/ };
  const readWhole = (file: string) => {
    const rows = makeStockCsvReader({ map: new Map(), hasSource: false });
    return Array.fromAsync(rows.read(chunksOf(file)));
  };
  for (const readFile of [read, readWhole]) {
    await assert.rejects(readFile(flags), fault);
    await assert.rejects(readFile(`${flags}${'A;1\r\n'.repeat(2)}C;5\r\n`), fault);
    assert.ok((await readFile(`${flags}C;5\r\n`)).length > 0);
  }
  const mapped = await changesOf('SKU;In stock\nA;1\n', { map: 'set:In stock' });
  assert.deepEqual(mapped, [{ sku: 'A', set: 1 }]);
});

test('rejects rows of Etsy that list the SKUs of several variants', async () => {
  const file = 'TITLE,CURRENCY_CODE,QUANTITY,SKU\nMug,EUR,5,MUG-1\nTee,EUR,8,"TEE-S,TEE-M"\n';
  const [first, second] = await read(file);
  assert.deepEqual(first?.entry, { change: { sku: 'MUG-1', set: 5 } });
  assert.ok(second && 'issues' in second.entry && second.entry.reference === undefined);
  assert.deepEqual(await errorsOf(file), ['3 /sku format']);
  assert.deepEqual(await changesOf('sku,set\n"A,B",1\n'), [{ sku: 'A,B', set: 1 }]);
});
