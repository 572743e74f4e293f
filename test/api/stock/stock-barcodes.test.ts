/** Stock changes, files and stocktakes that name products by their barcodes. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readLines } from '../../features/imports/import.ts';
import type { TestSeller } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../problem.ts';
import { openShop, readStocks, sendLines, sendStock, sync } from './stock.ts';

/** The same item as UPC-A, EAN-13 and GTIN-14; a case of it; and two others. */
const [UPC, EAN, GTIN, CASE, OTHER, UNKNOWN] = [
  '012345678905', '0012345678905', '00012345678905', '10012345678902', '96385074',
  '4006381333931',
] as const;
const CSV = { 'content-type': 'text/csv' };

/** Products with 5 in stock: A and B share a barcode, C and D have one each, E has none. */
async function openFour(t: TestContext) {
  const shop = await openShop(t, { A: 5, B: 5, C: 5, D: 5, E: 5 });
  const barcodes = { A: UPC, B: EAN, C: CASE, D: OTHER };
  for (const [sku, barcode] of Object.entries(barcodes)) {
    await patch(shop.seller, sku, { barcode });
  }
  return shop;
}

async function patch(seller: TestSeller, sku: string, body: object): Promise<void> {
  const answer = await seller.send({
    method: 'PATCH', path: `/api/v1/products/sku/${sku}`,
    headers: { 'content-type': 'application/merge-patch+json' }, body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200, answer.text);
}

async function sendCsv(seller: TestSeller, body: string, query = '', headers = {}) {
  return readLines(await sendStock(seller, body, { query, headers: { ...CSV, ...headers } }));
}

const rowsOf = ({ rows }: Awaited<ReturnType<typeof sendCsv>>): unknown[] =>
  rows.map(({ sku, status, stock }) => [sku, status, stock].filter((part) => part !== null));

test('resolves a barcode to SKU and id, and names the products of an ambiguous one', async (t) => {
  const { seller, ids } = await openFour(t);
  const { results, applied, failed } = await sync(seller, [
    { barcode: CASE, set: 7 }, { barcode: GTIN, set: 9 }, { barcode: UNKNOWN, adjust: 1 },
  ]);
  assert.deepEqual(results[0], {
    sku: 'C', id: ids['C'], barcode: CASE, status: 'ok', previous: 5, stock: 7, position: 10,
  });
  assert.deepEqual(results[1], {
    sku: null, id: null, barcode: GTIN, status: 'ambiguous', previous: null, stock: null,
    position: null,
    errors: [{
      pointer: '/barcode', code: 'ambiguous',
      detail: 'Is the barcode of several products: "A", "B". Name one of them by its SKU.',
    }],
  });
  assert.deepEqual([results[2].status, results[2].barcode], ['not_found', UNKNOWN]);
  assert.deepEqual([applied, failed], [1, 2]);
});

test('rejects a change that names its product twice, or by an invalid barcode', async (t) => {
  const { seller } = await openFour(t);
  const { results } = await sync(seller, [
    { sku: 'C', barcode: CASE, set: 1 }, { barcode: '4006381333932', set: 1 },
    { barcode: 4006381333931, set: 1 }, { barcode: '400638133393', set: 1 },
    { barcode: null, set: 1 }, { set: 1 },
  ]);
  assert.deepEqual(results.map(({ status, errors }: { status: string; errors: object[] }) =>
    [status, ...errors.map((error) => ('code' in error ? error.code : ''))].join(' ')), [
    'invalid required', 'invalid format', 'invalid type', 'invalid format', 'invalid type',
    'invalid required',
  ]);
});

test('reads barcodes from lines, and from the columns of a file without SKUs', async (t) => {
  const { seller } = await openFour(t);
  const lines = readLines(await sendLines(seller, [
    { barcode: CASE, set: 6 }, { barcode: UPC, set: 1 }, { sku: 'E', set: 4 },
  ]));
  assert.deepEqual(rowsOf(lines), [['C', 'ok', 6], ['ambiguous'], ['E', 'ok', 4]]);
  for (const column of ['barcode', 'EAN', 'GTIN', 'UPC', 'Strichcode']) {
    const answer = await sendCsv(seller, `${column},Bestand\n'${CASE},6\n="00000096385074",5\n`);
    assert.deepEqual(rowsOf(answer), [['C', 'unchanged', 6], ['D', 'unchanged', 5]]);
  }
  const mapped = await sendCsv(seller, `Code,Ware,Stock\nx,${CASE},3\n`, 'map=barcode:Ware');
  assert.deepEqual(rowsOf(mapped), [['C', 'ok', 3]]);
});

test('uses the barcode only of a row without SKU and id', async (t) => {
  const { seller, ids } = await openFour(t);
  const body = `sku,id,ean,stock\nE,,${CASE},1\n,${ids['D']},${CASE},2\n,,${CASE},3\n`
    + 'E2,,1,4\n,,,5\n,,4.00638E+12,6\n';
  const { rows, last } = await sendCsv(seller, body);
  assert.deepEqual(rows.map(({ sku, status }) => [sku, status]), [
    ['E', 'ok'], ['D', 'ok'], ['C', 'ok'], ['E2', 'not_found'], [null, 'invalid'],
    [null, 'invalid'],
  ]);
  assert.deepEqual(rows.slice(4).map(({ errors }) => errors[0].pointer), ['/sku', '/barcode']);
  assert.equal(last.summary.ignored_columns, undefined);
  assert.deepEqual(await readStocks(seller), { A: 5, B: 5, C: 3, D: 2, E: 1 });
  const two = await sendCsv(seller, `sku,ean,upc,stock\nE,${CASE},${CASE},2\n,${CASE},${CASE},9\n`);
  assert.deepEqual(rowsOf(two), [['E', 'ok', 2], ['invalid']]);
  const unclear = await sendStock(seller, `ean,upc,stock\n${CASE},${CASE},9\n`, { headers: CSV });
  assertProblem(unclear, 400, 'invalid-data');
});

test('finds the rows of a product under its SKU and its barcode', async (t) => {
  const { seller } = await openFour(t);
  const body = `sku,ean,stock\nC,,1\n,${CASE},2\n,${UPC},3\nD,,4\n,00000096385074,4\n`;
  const rejected = await sendCsv(seller, body);
  assert.deepEqual(rejected.rows.map(({ status, errors }) => [status, errors?.[0].code]), [
    ['ok', undefined], ['invalid', 'duplicate'], ['ambiguous', 'ambiguous'], ['ok', undefined],
    ['invalid', 'duplicate'],
  ]);
  assert.deepEqual(rejected.last.summary.duplicate_rows,
    [{ line: 3, sku: 'C', previous_line: 2 }, { line: 6, sku: 'D', previous_line: 5 }]);
  assert.deepEqual(rejected.rows.map(({ sku, barcode }) => [sku, barcode]), [
    ['C', undefined], ['C', CASE], [null, UPC], ['D', undefined], ['D', '00000096385074'],
  ]);
  const summed = await sendCsv(seller, body, 'duplicates=sum');
  assert.equal(summed.last.summary.duplicates, 2);
  assert.deepEqual(summed.rows.map(({ sku, barcode }) => [sku, barcode]), [
    ['C', undefined], ['C', CASE], [null, UPC], ['D', undefined], ['D', '00000096385074'],
  ]);
  assert.deepEqual(await readStocks(seller), { A: 5, B: 5, C: 3, D: 8, E: 5 });
  const unknown = `sku,ean,stock\nA,,1\n,${UPC},3\nC,,4\n`;
  const whole = await sendCsv(seller, unknown, 'duplicates=sum_all');
  assert.deepEqual(rowsOf(whole), [['A', 'invalid'], ['ambiguous'], ['C', 'ok', 4]]);
});

test('zeroes nothing in a stream with a barcode that is not that of one product', async (t) => {
  const { seller } = await openFour(t);
  for (const query of ['complete=true&dry_run=true', 'complete=true']) {
    for (const barcode of [UPC, UNKNOWN, '123']) {
      const { last } = await sendCsv(seller, `ean,stock\n${CASE},6\n${barcode},2\n`, query);
      assert.match(last.problem.detail, /Line 3 does not identify its product, so no product was/);
      assert.match(last.problem.detail, query.endsWith('dry_run=true')
        ? /This was a dry run: nothing was changed\.$/ : /Changes already written stay\.$/);
    }
    // One that is invalid may be of any product.
    const { last } = await sendCsv(seller, `ean,stock\n${CASE},6\n${OTHER},-2\n`, query);
    assert.match(last.problem.detail, /Line 3 does not identify its product/);
  }
  assert.deepEqual(await readStocks(seller), { A: 5, B: 5, C: 6, D: 5, E: 5 });
  const { last } = await sendCsv(seller, `sku,ean,stock\nA,,1\nB,,1\n,${CASE},6\n,${OTHER},2\n`,
    'complete=true');
  assert.deepEqual([last.summary.zeroed, last.summary.failed], [1, 0]);
  assert.deepEqual(await readStocks(seller), { A: 1, B: 1, C: 6, D: 2, E: 0 });
});

test('rejects a stocktake in JSON with an invalid change by barcode', async (t) => {
  const { seller } = await openFour(t);
  for (const change of [{ barcode: CASE, set: -1 }, { sku: 'E', barcode: CASE, set: 1 }]) {
    const answer = await sendStock(seller, { changes: [change], complete: true, force: true });
    assertProblem(answer, 400, 'invalid-data');
    assert.match(faultsOf(answer).join(), /^\/changes\/0/);
  }
  for (const [barcode, says] of [
    [UPC, /"012345678905" does not identify its product, so nothing was .*\. Several products/],
    [UNKNOWN, /does not identify its product, so nothing was changed\. No product has this barc/],
  ] as const) {
    for (const force of [true, false]) { // without it, too many products would be set to 0
      const stocktake = { changes: [{ barcode, set: 1 }], complete: true, force };
      const answer = await sendStock(seller, stocktake);
      assertProblem(answer, 409, 'sync-refused');
      assert.match(answer.json().detail, says);
    }
  }
  assert.deepEqual(await readStocks(seller), { A: 5, B: 5, C: 5, D: 5, E: 5 });
});

test('replays a stream under its key after a barcode has moved', async (t) => {
  const { seller } = await openFour(t);
  const key = { 'idempotency-key': 'till-1' };
  const body = `ean,adjust\n${CASE},1\n${UPC},1\n`;
  const first = await sendCsv(seller, body, '', key);
  await patch(seller, 'C', { barcode: null });
  await patch(seller, 'D', { barcode: CASE });
  assert.deepEqual((await sendCsv(seller, body, '', key)).rows, first.rows);
  assert.deepEqual(await readStocks(seller), { A: 5, B: 5, C: 6, D: 5, E: 5 });
});

test('does not find the barcode of another seller', async (t) => {
  const { server } = await openFour(t);
  const other = await server.makeSeller();
  const { results } = await sync(other, [{ barcode: CASE, set: 1 }, { barcode: UPC, set: 1 }]);
  assert.deepEqual(results.map(({ status }: { status: string }) => status),
    ['not_found', 'not_found']);
});
