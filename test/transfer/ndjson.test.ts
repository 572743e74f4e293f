/** Products in NDJSON files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IMPORT_RECORD_LIMIT_BYTES } from '../../src/transfer/limits.ts';
import type { Currency } from '../../src/domain/catalogue/currency.ts';
import type { ImportRow } from '../../src/transfer/import-row.ts';
import { makeNdjsonReader } from '../../src/transfer/ndjson.ts';
import { assertSliced, chunksOf, readRows } from './read.ts';

const EUR = { code: 'EUR', decimals: 2 };
const MUG = { name: 'Mug', category: 'Kitchen', sku: 'M-1', price: 19.99, stock: 7 };
const PRODUCT = { name: 'Mug', category: 'Kitchen', sku: 'M-1', priceMinor: 1999, stock: 7 };

const readNdjson = (content: string | Uint8Array): Promise<ImportRow[]> =>
  readRows(makeNdjsonReader(EUR), content);

function errorsOf({ content }: ImportRow): string[] | undefined {
  return content?.issues?.map(({ pointer, code, detail }) => {
    assert.ok(detail.length > 5);
    return `${pointer} ${code}`;
  });
}

test('reads a product from each line, wherever the chunks are cut', async () => {
  const line = JSON.stringify({ ...MUG, name: 'Küche 🥄' });
  const text = `\uFEFF${line}\r\n\n \t\r\n${line}\n${line}`;
  for (let size = 1; size <= Buffer.byteLength(text); size += 1) {
    const rows: ImportRow[] = [];
    for await (const batch of makeNdjsonReader(EUR).read(chunksOf(text, size))) rows.push(...batch);
    assert.deepEqual(rows.map((row) => [row.line, row.sku]), [[1, 'M-1'], [4, 'M-1'], [5, 'M-1']]);
    for (const { content } of rows) {
      assert.deepEqual(content?.product, { ...PRODUCT, name: 'Küche 🥄' });
    }
  }
});

test('reads the id, and ignores other members that only our own export has', async () => {
  const own = {
    id: 'prd_1', ...MUG, currency: 'EUR', position: 7, created_at: 'x', updated_at: 'y',
  };
  const [row] = await readNdjson(JSON.stringify(own));
  assert.deepEqual(row?.content?.product, { ...PRODUCT, id: 'prd_1' });
  for (const [id, read] of [['', undefined], [null, undefined], [17, '17'], [['x'], '["x"]']]) {
    const [other] = await readNdjson(JSON.stringify({ ...own, id }));
    assert.equal(other?.content?.product?.id, read);
  }
});

test('rejects only invalid lines, with every error in them', async () => {
  const invalid = Buffer.from('{"name":"\xff"}\n', 'latin1');
  const rows = await readNdjson(Buffer.concat([
    Buffer.from(`${JSON.stringify({ ...MUG, currency: 'USD', colour: 'blue' })}\n`),
    Buffer.from('{"name":\n[]\n"text"\n{"sku":7}\n'),
    invalid,
    Buffer.from('{"sku":"A","sku":"B"}\n[[[[[[[[[1]]]]]]]]]\n'),
    Buffer.from(`${JSON.stringify({ ...MUG, __proto__: null, price: '19.99', stock: -1 })}\n`),
    Buffer.from(JSON.stringify(MUG)),
  ]));
  assert.deepEqual(rows.map(({ line }) => line), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.deepEqual(rows.map(errorsOf), [
    ['/currency mismatch', '/colour unknown'],
    [' format'],
    [' type'],
    [' type'],
    ['/sku type'],
    [' format'],
    ['/sku duplicate'],
    [' format'],
    ['/price type', '/stock range'],
    undefined,
  ]);
  assert.deepEqual(rows.map(({ sku }) => sku),
    ['M-1', null, null, null, null, null, null, null, 'M-1', 'M-1']);
});

test('rejects numbers that a double cannot represent', async () => {
  const write = (price: string, stock: string): string =>
    `{"name":"n","category":"c","sku":"s","price":${price},"stock":${stock}}\n`;
  const lines = write('1e-400', '1') + write('1', '0.9999999999999999999999') + write('1e2', '1.0');
  const rows = await readNdjson(Buffer.from(lines));
  assert.deepEqual(rows.map(errorsOf), [['/price precision'], ['/stock precision'], undefined]);
});

test('omits missing members, and rejects null and blank ones', async () => {
  const rows = await readNdjson('{"sku":"A","stock":5}\n{"sku":"A","name":null,"category":""}\n{}');
  const [row, faulty, empty] = rows;
  assert.deepEqual(row?.content?.product, { sku: 'A', stock: 5, defaults: {} });
  assert.deepEqual(row?.content?.missing?.map(({ pointer, code }) => `${pointer} ${code}`),
    ['/name required', '/category required', '/price required']);
  assert.deepEqual(faulty && errorsOf(faulty), ['/name type', '/category blank']);
  assert.deepEqual(empty && errorsOf(empty), ['/sku required']);
});

test('says "line" rather than "body" in errors', async () => {
  const [row] = await readNdjson(Buffer.from([0xff, 0x0a]));
  assert.equal(row?.content?.issues?.[0]?.detail, 'The line is not UTF-8.');
});

test('rejects a file without any line', async () => {
  for (const text of ['', '\n \r\n', '\uFEFF']) {
    await assert.rejects(readNdjson(text), { code: 'invalid_data', message: /file is empty/ });
  }
});

test('rejects a line over the size limit without waiting for its end', async () => {
  const most = `{"name":"${'x'.repeat(IMPORT_RECORD_LIMIT_BYTES - 11)}"}`;
  assert.equal((await readNdjson(`${most}\n{}`)).length, 2);
  for (const text of [`{}\n${most} \n`, `{}\n${most} `, `{}\n${'x'.repeat(10_000_000)}`]) {
    await assert.rejects(readNdjson(text), {
      code: 'invalid_data', message: /Line 2 has more than 256 KiB/,
    });
  }
});

test('parses at most one slice of lines at a time', async () => {
  const text = `${JSON.stringify(MUG)}\n`.repeat(250) + 'x'.repeat(IMPORT_RECORD_LIMIT_BYTES + 1);
  const makeReader = (currency: Currency) => makeNdjsonReader(currency);
  await assertSliced(makeReader, chunksOf(text, text.length), /Line 251 has more than/);
});
