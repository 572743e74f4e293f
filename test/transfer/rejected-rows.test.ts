/** Files of rejected rows: what a spreadsheet would run, and what is read back from them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CsvRows } from '../../src/transfer/csv-rows.ts';
import { RejectedRows } from '../../src/transfer/rejected-rows.ts';
import { makeStockCsvReader } from '../../src/transfer/stock-rows.ts';
import { chunksOf, readRecords } from './read.ts';

const EUR = { code: 'EUR', decimals: 2 };
const HOSTILE = [
  '=1+1', '=HYPERLINK("http://x","y")', "=cmd|' /C calc'!A0", '@SUM(A1)', '+1+cmd', '-1+1', '-x',
  '\t=1', '\r=1', '＝1+1', '＋1', '－1', '＠1', "'=1", "'quoted", '="101"', '="1"&A1', '-1', '+2',
  '-', "'101", '101', 'a "b" c', ' =1', 'NULL', "'NULL", '+49 30 1234', 'two  spaces',
];
/** What may stay: signed numbers, and a text that is a constant. */
const HARMLESS = /^(?:[-+][\d.,]*|="[^"]*")$/;

interface FileRows {
  read(chunks: AsyncIterable<Uint8Array>):
    AsyncIterable<readonly { readonly line: number; readonly characters: number }[]>;
}

/** Rejects all rows of a CSV file, and returns the file of them. */
async function rejectAll(
  text: string, content: 'products' | 'stock', lines: readonly number[],
): Promise<string> {
  const chunks: Uint8Array[] = [];
  const rejected = new RejectedRows({
    source: {
      format: 'csv', content, map: new Map(), duplicates: undefined,
      open: () => chunksOf(text) as AsyncIterable<Buffer>,
    },
    create: async () => ({
      append: async (bytes: Uint8Array) => { chunks.push(bytes); },
      close: async () => {},
    }),
  });
  for (const line of lines) await rejected.add(line, '=1+1 is not a number.');
  await rejected.end();
  return Buffer.concat(chunks).toString();
}

/** What the rows of a file are read as. */
async function readValues(reader: FileRows, text: string): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const rows of reader.read(chunksOf(text))) {
    for (const { line, characters, ...value } of rows) values.push(value);
  }
  return values;
}

function openProducts(): CsvRows {
  return new CsvRows(EUR, { map: new Map(), defaults: new Map(), isPartial: false });
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

async function assertHarmless(text: string): Promise<void> {
  const [header, ...rows] = await readRecords(text);
  for (const cell of [...header?.cells ?? [], ...rows.flatMap(({ cells }) => cells)]) {
    if (!HARMLESS.test(cell)) assert.doesNotMatch(cell, /^[=+\-@\t\r＝＋－＠]/);
  }
}

for (const delimiter of [',', ';', '\t']) {
  const file = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
    [header, ...rows].map((cells) => `${cells.map(quote).join(delimiter)}\r\n`).join('');

  test(`products come back as the same values, separated by ${JSON.stringify(delimiter)}`,
    async () => {
      const members = [
        'sku', 'name', 'category', 'barcode', 'description', 'metadata.note', 'junk',
      ];
      const rows = HOSTILE.flatMap((value, row) => members.map((member, index) => [
        ...members.map((other) => (other === member ? value
          : other === 'barcode' ? '' : `${other} ${row * 10 + index}`)), '1', '2',
      ]));
      const text = file([...members, 'price', 'stock'], rows);
      const rejected = await rejectAll(text, 'products',
        (await readRecords(text)).slice(1).map(({ line }) => line));
      await assertHarmless(rejected);
      const values = await readValues(openProducts(), text);
      assert.equal(values.length, rows.length);
      assert.deepEqual(await readValues(openProducts(), rejected), values);
    });

  test(`stock comes back as the same values, separated by ${JSON.stringify(delimiter)}`,
    async () => {
      const rows = HOSTILE.flatMap((value) =>
        [[value, '-1', 'sold'], ['A', '+1', value], ['A', value, ''], ['A', '-1', '', value]]
          .map((cells) => [...cells, '', ''].slice(0, 4)));
      const text = file(['sku', 'adjust', 'reason', '=junk()'], rows);
      const rejected = await rejectAll(text, 'stock',
        (await readRecords(text)).slice(1).map(({ line }) => line));
      await assertHarmless(rejected);
      const open = () => makeStockCsvReader({ hasSource: false, map: new Map() });
      assert.deepEqual(await readValues(open(), rejected), await readValues(open(), text));
    });
}

test('a table without quotes stays one, with the same values', async () => {
  const text = 'sku\tname\tcategory\tprice\tstock\nA\t5" pipe\t=1+1\tx\t1\nB\t6" pipe\tK\tx\t1\n';
  const rejected = await rejectAll(text, 'products', [2, 3]);
  assert.ok(rejected.includes('\tA\t5" pipe\t\'=1+1\tx\t1\r\n'), rejected);
  assert.ok(rejected.includes('\tB\t6" pipe\tK\tx\t1\r\n'), rejected);
});

test('rows without formulas stay as they were written', async () => {
  const text = 'sku;name ;category;price;stock\n A ; "Mug; big" ;K;-1;1\n';
  const rejected = await rejectAll(text, 'products', [2]);
  assert.ok(rejected.endsWith('"; A ; "Mug; big" ;K;-1;1\r\n'), rejected);
});

test('a file of rejected rows is escaped once', async () => {
  const text = 'sku,name,category,price,stock\nA,=1+1,K,x,1\n';
  const once = await rejectAll(text, 'products', [2]);
  assert.equal(await rejectAll(once, 'products', [2]), once);
});
