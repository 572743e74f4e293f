/** Rows of imports that name their products by barcode. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { makeProduct, startServer, type TestSeller } from '../../support/server.ts';
import { assertProblem } from '../../api/problem.ts';
import { importFile, readLines, sendFile } from './import.ts';

const [UPC, EAN, CASE, UNKNOWN] =
  ['012345678905', '0012345678905', '10012345678902', '4006381333931'] as const;
const NDJSON = 'application/x-ndjson';

/** Products A and B share a barcode, and C has one. */
async function openShop(t: TestContext): Promise<TestSeller> {
  const seller = await (await startServer(t)).makeSeller();
  for (const [sku, barcode] of [['A', UPC], ['B', EAN], ['C', CASE]]) {
    await seller.create({ ...makeProduct(), sku, barcode, price: 1 });
  }
  return seller;
}

const show = ({ rows }: { rows: { sku: string; status: string; errors?: { code: string }[] }[] }) =>
  rows.map(({ sku, status, errors = [] }) =>
    [sku, status, ...errors.map(({ code }) => code)].filter((part) => part !== null).join(' '));

test('updates the one product with the barcode of a row without a SKU', async (t) => {
  const seller = await openShop(t);
  const csv = `sku,EAN,price\n,${CASE},2\n,${UPC},2\n,${UNKNOWN},2\nA,,3\n,,4\n,123,5\n`;
  const expected = [
    'C updated', 'failed ambiguous', 'failed unknown', 'A updated', 'failed blank',
    'failed length required',
  ];
  for (const query of ['report=all&dry_run=true', 'report=all&mode=update']) {
    const file = await importFile(seller, { body: csv, query });
    assert.deepEqual(show(file), expected);
    assert.match(file.rows[1].errors[0].detail, /several products: "A", "B"\. Name one of them by/);
    assert.match(file.rows[2].errors[0].detail, /no product with this barcode\. A new product/);
  }
  const lines = [
    { barcode: CASE, price: 3 }, { barcode: EAN, price: 3 }, { barcode: UNKNOWN, price: 3 },
    { price: 1 }, { sku: '', barcode: CASE }, { sku: 'A', barcode: UPC, price: 3 },
  ].map((line) => JSON.stringify(line)).join('\n');
  const file = await importFile(seller, { body: lines, query: 'report=all', type: NDJSON });
  assert.deepEqual(show(file), ['C updated', 'failed ambiguous', 'failed unknown',
    'failed required', ' failed blank', 'A unchanged']);
  const { price, barcode } = (await seller.send({ path: '/api/v1/products/sku/C' })).json();
  assert.deepEqual([price, barcode], [3, CASE]);
});

test('keeps the barcode of a product as it was sent first', async (t) => {
  const seller = await openShop(t);
  await importFile(seller, { body: 'sku,barcode\nB,\n', query: 'map=barcode:barcode' });
  await seller.send({
    method: 'PATCH', path: '/api/v1/products/sku/B', body: '{"barcode":null}',
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  const { summary } = await importFile(seller, { body: `barcode,price\n${EAN},9\n` });
  assert.equal(summary['updated'], 1);
  const { price, barcode } = (await seller.send({ path: '/api/v1/products/sku/A' })).json();
  assert.deepEqual([price, barcode], [9, UPC]);
});

test('creates no product from a row without a SKU', async (t) => {
  const seller = await openShop(t);
  const header = 'name,category,barcode,price,stock\n';
  const file = await importFile(seller, { body: `${header}New,C,${UNKNOWN},1,1\n` });
  assert.deepEqual(show(file), ['failed unknown']);
  const created = await sendFile(seller, {
    body: `${header}New,C,${UNKNOWN},1,1\n`, query: 'mode=create',
  });
  assertProblem(created, 400, 'invalid-data');
  const lines = `{"barcode":"${UNKNOWN}","price":1}\n{"barcode":"${CASE}","price":1}\n`;
  const { rows } = readLines(await sendFile(seller, {
    body: lines, query: 'mode=create', type: NDJSON,
  }));
  assert.deepEqual(show({ rows }), ['failed unknown', 'C failed taken']);
});

test('rejects another price of a product that an earlier row has named by its SKU', async (t) => {
  const seller = await openShop(t);
  const body = `sku,barcode,price,stock\nC,,2,5\n,${CASE},3,5\n,${CASE},2,6\n`;
  const file = await importFile(seller, { body, query: 'report=all' });
  assert.deepEqual(show(file), ['C updated', 'failed duplicate', 'failed duplicate']);
  const last = await importFile(seller, { body, query: 'report=all&duplicates=last' });
  assert.deepEqual(show(last), ['C unchanged', 'C updated', 'C updated']);
  assert.deepEqual(last.rows.map(({ overrides }) => overrides), [undefined, 2, 3]);
  const sum = await importFile(seller, { body, query: 'report=all&duplicates=sum' });
  assert.deepEqual(show(sum), ['C updated', 'failed required', 'failed required']);
});

test('rejects a row by barcode if an earlier row may have moved the barcode', async (t) => {
  const seller = await openShop(t);
  const product = { ...makeProduct(), stock: 5 };
  const filler = Array.from({ length: 2_500 }, (_, n) => ({ sku: 'A', price: 1 + n % 2 }));
  const files: readonly (readonly object[])[] = [
    [{ ...product, sku: 'NEW', barcode: UNKNOWN }, { barcode: UNKNOWN, stock: 9 }],
    [{ sku: 'NEW', barcode: UNKNOWN }, ...filler, { barcode: UNKNOWN, stock: 9 }],
    [{ sku: 'C', barcode: null }, { barcode: CASE, stock: 9 }],
    [{ sku: 'B', barcode: null }, { sku: 'A', stock: 8 }, { barcode: UPC, stock: 9 }],
  ];
  for (const rows of files) {
    const body = rows.map((row) => JSON.stringify(row)).join('\n');
    for (const query of ['dry_run=true', 'duplicates=last&dry_run=true', 'duplicates=last', '']) {
      const { rows: failed } = await importFile(seller, { body, query, type: NDJSON });
      const last = failed.at(-1);
      assert.deepEqual([last.line, last.errors[0].pointer, last.errors[0].code],
        [rows.length, '/barcode', 'mismatch'], `${query}: ${JSON.stringify(last)}`);
      assert.match(last.errors[0].detail, /^Line 1 may change which product has this barcode\./);
      for (const [sku, barcode] of [['B', EAN], ['C', CASE]]) {
        await seller.send({
          method: 'PATCH', path: `/api/v1/products/sku/${sku}`, body: `{"barcode":"${barcode}"}`,
          headers: { 'content-type': 'application/merge-patch+json' },
        });
      }
    }
  }
});

test('replays an import with rows by barcode under its key', async (t) => {
  const seller = await openShop(t);
  const body = [{ ...makeProduct(), sku: 'NEW', barcode: UNKNOWN }, { barcode: UNKNOWN, stock: 9 }]
    .map((row) => JSON.stringify(row)).join('\n');
  const send = () => sendFile(seller, {
    body, type: NDJSON, headers: { 'idempotency-key': 'erp-1' },
  });
  const first = await send();
  assert.equal(first.status, 200);
  assert.equal((await send()).text, first.text);
});

test('does not name the product of another seller by its barcode', async (t) => {
  const server = await startServer(t);
  const [seller, other] = [await server.makeSeller(), await server.makeSeller()];
  await seller.create({ ...makeProduct(), sku: 'C', barcode: CASE });
  const file = await importFile(other, { body: `barcode,price\n${CASE},9\n` });
  assert.deepEqual(show(file), ['failed unknown']);
});
