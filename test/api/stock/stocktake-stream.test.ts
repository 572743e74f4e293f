/** Stocktakes as streams: products that no line names are set to 0 at the end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertProblem, faultsOf } from '../problem.ts';
import { readLines } from '../../features/imports/import.ts';
import type { TestSeller } from '../../support/server.ts';
import {
  openShop, readLedger, readPosition, readStocks, sendLines, sendStock, type Shop, STOCK,
} from './stock.ts';

const COMPLETE = 'complete=true';
const CSV = { 'content-type': 'text/csv' };
/** Long, so that a batch is written before the body ends. */
const LONG_ROW = `A,-1,${'x'.repeat(100)}\n`;
const KEY = { 'idempotency-key': 'count-1' };

/** Sends a stocktake in CSV, and returns the lines of its response. */
async function take(seller: TestSeller, rows: string, query = '', headers = {}) {
  const sent = query === '' ? COMPLETE : `${COMPLETE}&${query}`;
  const answer = await sendStock(seller, `sku,stock\n${rows}`, {
    query: sent, headers: { ...CSV, ...headers },
  });
  return readLines(answer);
}

/** Creates more products with a stock of 1, as one import. */
async function addProducts(seller: TestSeller, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => `N,C,X-${n},1,1\n`).join('');
  const answer = await seller.send({
    method: 'POST', path: '/api/v1/products/import', headers: CSV,
    body: `name,category,sku,price,stock\n${rows}`,
  });
  assert.match(answer.text, new RegExp(`"created":${count}`));
}

test('sets products to 0 that no line names, and reports them', async (t) => {
  const { seller, ids } = await openShop(t, { A: 5, B: 5, C: 5, D: 0 });
  const { rows, last } = await take(seller, 'A,3\nB,5\n', 'reason=count&source=till');
  assert.deepEqual(rows.map(({ line, sku, status }) => [line, sku, status]),
    [[2, 'A', 'ok'], [3, 'B', 'unchanged'], [null, 'C', 'zeroed']]);
  assert.deepEqual(rows.at(-1), {
    line: null, sku: 'C', id: ids['C'], status: 'zeroed', previous: 5, stock: 0, position: 6,
  });
  assert.deepEqual(last.summary,
    { applied: 1, unchanged: 1, failed: 0, zeroed: 1, position: 6 });
  assert.deepEqual(await readStocks(seller), { A: 3, B: 5, C: 0, D: 0 });
  assert.deepEqual(await readLedger(seller, '&reason=count&source=till'), ['A 5 3', 'C 5 0']);
});

test('zeroes neither product of a row whose id and SKU contradict each other', async (t) => {
  const { seller, ids } = await openShop(t, { '0123': 5, '123': 5, C: 5, D: 5 });
  const body = `id,sku,stock\n${ids['0123']},123,1\n${ids['C']},C,x\n`;
  for (const query of [`${COMPLETE}&dry_run=true`, COMPLETE]) {
    const { last } = readLines(await sendStock(seller, body, { query, headers: CSV }));
    assert.equal(last.summary.zeroed, 1);
  }
  assert.deepEqual(await readStocks(seller), { '0123': 5, '123': 5, C: 5, D: 0 });
});

test('zeroes nothing if a spreadsheet has shortened a SKU', async (t) => {
  const { seller } = await openShop(t, { 4006381333931: 5, B: 5 });
  const { last } = await take(seller, 'B,5\n4.00638E+12,5\n', 'force=true');
  assert.ok(last.problem.detail.startsWith('Line 3 does not identify its product, so no '
    + 'product was set to 0. Correct the SKU, or create its product first, and send the stocktake '
    + 'again. A spreadsheet has shortened this number. Format the column as text, and enter the '
    + 'SKU again.'), last.problem.detail);
  for (const sku of ['04-mars', '04-janv.', '4. Sept', '2024/03/04', '2024-03-04 00:00:00']) {
    const { last: other } = await take(seller, `B,5\n${sku},5\n`, 'force=true');
    assert.match(other.problem.detail, /^Line 3 does not identify its product/, sku);
  }
  assert.deepEqual(await readStocks(seller), { 4006381333931: 5, B: 5 });
  const { last: right } = await take(seller, 'B,5\nMUG-12,5\n4006381333931,5\n', 'force=true');
  assert.equal(right.summary.zeroed, 0);
});

test('zeroes nothing if an unknown SKU may be that of a product', async (t) => {
  const meantBySku = {
    815: '00815', 'a-1': 'A-1', '0A-1': 'A-1', 'A\u20111': 'A-1', b2: 'B 2', '5A': '-5A',
    '1.234.567': '1234567', 'STRASSE 1': 'Straße 1', 100000: '1E5', 'CAFE\u0301': 'café',
    '12.00': '12', '5.0000': '5', '2.00E-10': '2E-10', '01:30:00': '1:30',
    4006381333931230000: '4006381333931234567',
  };
  const skus = [...new Set(Object.values(meantBySku))];
  const stocks = Object.fromEntries([...skus, 'C'].map((sku) => [sku, 5]));
  const { seller } = await openShop(t, stocks);
  for (const [sku, meant] of Object.entries(meantBySku)) {
    const rows = skus.filter((other) => other !== meant);
    const file = [sku, ...rows].map((name) => `${name},5\n`).join('');
    for (const query of ['force=true&dry_run=true', 'force=true']) {
      const { last } = await take(seller, file, query);
      const fault = `Line 2 has a SKU that no product has, and may mean your product "${meant}", `;
      assert.ok(last.problem.detail.startsWith(fault), last.problem.detail);
    }
  }
  assert.deepEqual(await readStocks(seller), stocks);
  // Both products are named, so nobody can mean one by the other.
  const file = [815, 'a-1', ...skus].map((name) => `${name},5\n`).join('');
  const { last } = await take(seller, file, 'force=true');
  assert.equal(last.summary.zeroed, 1);
});

test('zeroes nothing if a line of NDJSON has a SKU with the mark of a spreadsheet', async (t) => {
  const stocks = { 101: 5, '00123': 5, '-5A': 5, C: 5 };
  const { seller } = await openShop(t, stocks);
  for (const [sku, meant] of [["'101", '101'], ['="00123"', '00123'], ["'-5A", '-5A']] as const) {
    const lines = [sku, ...Object.keys(stocks).filter((other) => other !== meant)];
    const answer = await sendLines(seller, lines.map((name) => ({ sku: name, set: 5 })), {
      query: `${COMPLETE}&force=true`,
    });
    assert.match(readLines(answer).last.problem.detail,
      new RegExp(`^Line 1 has a SKU that no product has, and may mean your product "${meant}", `));
  }
  assert.deepEqual(await readStocks(seller), stocks);
});

test('rejects a file of rejected rows, which has only some of the products', async (t) => {
  const { seller } = await openShop(t, { A: 5, B: 5, C: 5 });
  const NDJSON = { 'content-type': 'application/x-ndjson' };
  for (const [file, headers, name] of [
    ['error,sku,stock\n,A,1\n', CSV, 'x.csv'],
    ['\ufeffError ;sku;stock\nUnknown;A;1\n', CSV, 'x.csv'],
    ['sku,stock\nA,1\n', CSV, 'inventory.failed.csv'],
    ['{"error":"Must be a number.","sku":"A","set":1}\n', NDJSON, 'x.ndjson'],
    ['{"sku":"A","set":1}\n', NDJSON, 'inventory.failed-2 (1).ndjson'],
  ] as const) {
    for (const options of ['', '&dry_run=true&force=true']) {
      const query = `${COMPLETE}${options}&file_name=${encodeURIComponent(name)}`;
      const answer = await sendStock(seller, file, { query, headers });
      assert.equal(answer.json().detail, 'A file of rejected rows has only some '
        + 'of the products, so it cannot be a stocktake. Send it as changes of stock instead, or '
        + 'correct the original file and send all of it.');
    }
  }
  assert.deepEqual(await readStocks(seller), { A: 5, B: 5, C: 5 });
});

test('accepts NDJSON, by SKU and id, and reports only failed lines on request', async (t) => {
  const { seller, ids } = await openShop(t, { A: 5, B: 5, C: 5 });
  const lines = [{ id: ids['A'], adjust: -1 }, { sku: 'B', set: 1, expect: 9 }];
  const { rows, last } = readLines(await sendLines(seller, lines, {
    query: `${COMPLETE}&report=failed`,
  }));
  assert.deepEqual(rows.map(({ line, status }) => [line, status]), [[2, 'conflict']]);
  assert.deepEqual(last.summary,
    { applied: 1, unchanged: 0, failed: 1, zeroed: 1, position: 5 });
  assert.deepEqual(await readStocks(seller), { A: 4, B: 5, C: 0 });
});

test('zeroes thousands of products in batches of one import', async (t) => {
  const { server, seller } = await openShop(t, { A: 5 });
  await addProducts(seller, 2_500);
  const { rows, last } = await take(seller, 'A,5\nX-7,1\n', 'force=true&file_name=count.csv');
  assert.equal(rows.filter(({ status }) => status === 'zeroed').length, 2_499);
  assert.deepEqual(last.summary,
    { applied: 0, unchanged: 2, failed: 0, zeroed: 2_499, position: 5_000 });
  assert.deepEqual(new Set(Object.values(await readStocks(seller))), new Set([5, 0, 1]));
  const [record] = await server.store.listImports(seller.sellerId, { before: undefined, limit: 1 });
  assert.ok(record?.finishedAt !== undefined);
  assert.deepEqual(
    [record.kind, record.fileName, record.counts, record.firstPosition, record.lastPosition],
    ['stocktake', 'count.csv', { applied: 0, unchanged: 2, failed: 0, zeroed: 2_499 }, 2_502,
      5_000],
  );
});

test('checks the zero limit before the first product is set to 0', async (t) => {
  const { server, seller } = await openShop(t, { A: 5, B: 5, C: 5 });
  const { rows, last } = await take(seller, 'A,4\n');
  assert.equal(rows.length, 1);
  assert.deepEqual([last.problem.status, last.problem.type],
    [409, 'urn:problem-type:seller-product-api:sync-refused']);
  assert.match(last.problem.detail, /^2 products are not named and would be set to 0: over 50 % /);
  assert.match(last.problem.detail, /zero_limit or set force to true\. No product was set to 0\. /);
  assert.deepEqual(last.problem.summary,
    { applied: 1, unchanged: 0, failed: 0, zeroed: 0, position: 4 });
  assert.deepEqual(await readStocks(seller), { A: 4, B: 5, C: 5 });
  assert.equal((await take(seller, 'A,4\n', 'zero_limit=66.6')).last.problem.status, 409);
  assert.equal((await take(seller, 'A,4\n', 'zero_limit=66.7')).last.summary.zeroed, 2);
  assert.equal((await take(seller, 'B,4\n', 'zero_limit=0&force=true')).last.summary.zeroed, 1);
  assert.deepEqual(await readStocks(seller), { A: 0, B: 4, C: 0 });
  assert.deepEqual(server.reports, []);
});

test('counts a product as in stock if it was in stock before its first line', async (t) => {
  const { seller } = await openShop(t, { A: 5, B: 5, C: 0, D: 5, E: 5 });
  // Of four products in stock, two are named: C was at 0.
  const { last } = await take(seller, 'A,0\nA,0\nB,1\nC,9\n', 'duplicates=last');
  assert.equal(last.summary.zeroed, 2);
});

test('zeroes nothing if a line does not identify its product', async (t) => {
  const { seller } = await openShop(t, { A: 5, B: 5, C: 5 });
  for (const [rows, detail] of [
    [`${'A,5\n'.repeat(1_200)},3\nB,5\n`, /^Line 1202 does not identify its product, so no/],
    ['A,5\nB,1,200\n', /^Line 3 does not identify/],
    [`A,5\n${'x'.repeat(65)},1\n`, /^Line 3 does/],
    [',1\nA,5\n,2\n', /^2 lines do not identify their products, the first is line 2, so no/],
  ] as const) {
    const { last } = await take(seller, rows, 'force=true');
    assert.equal(last.problem.status, 409);
    assert.match(last.problem.detail, detail);
  }
  for (const line of ['{"sku":7,"set":1}', '{"set":1}', 'nonsense', '[]']) {
    const { last } = readLines(await sendLines(seller, ['{"sku":"A","set":5}', line], {
      query: `${COMPLETE}&force=true`,
    }));
    assert.match(last.problem.detail, /^Line 2 does not identify its product/);
  }
  assert.deepEqual(await readStocks(seller), { A: 5, B: 5, C: 5 });
});

test('counts an invalid line that identifies its product as naming it', async (t) => {
  const { seller, ids } = await openShop(t, { A: 5, B: 5, C: 5, D: 5, E: 5 });
  const lines = [
    { sku: 'A', set: -1 }, { id: ids['B'], set: 'x' }, { sku: 'C', id: ids['D'], set: 1 },
    { sku: 'unknown', set: 1 }, { id: 'prd_unknown', set: 1 },
  ];
  const { last } = readLines(await sendLines(seller, lines, { query: COMPLETE }));
  assert.deepEqual(last.summary,
    { applied: 0, unchanged: 0, failed: 5, zeroed: 1, position: 6 });
  assert.deepEqual(await readStocks(seller), { A: 5, B: 5, C: 5, D: 5, E: 0 });
});

test('zeroes nothing if the body is cut off', async (t) => {
  const shop = await openShop(t, { A: 5_000, B: 5 });
  const { server, seller } = shop;
  const body = `sku,adjust,reason\n${LONG_ROW.repeat(2_500)}`;
  for (const headers of [{}, { 'content-length': body.length + 1 }]) {
    const outgoing = open(t, shop, headers);
    outgoing.write(body);
    const [response] = await once(outgoing, 'response') as [IncomingMessage];
    response.on('error', () => {}).resume();
    const closed = new Promise((resolve) => { response.once('close', resolve); });
    outgoing.destroy();
    await closed;
  }
  const gzip = gzipSync(body);
  for (const broken of [gzip.subarray(0, -6), Buffer.concat([gzip.subarray(0, -8), gzip])]) {
    const answer = await seller.send({
      method: 'POST', path: `${STOCK}?${COMPLETE}&force=true`, body: broken,
      headers: { ...CSV, 'content-encoding': 'gzip' },
    });
    if (answer.status === 200) assert.equal(readLines(answer).last.problem.status, 400);
    else assertProblem(answer, 400, 'invalid-data');
  }
  assert.equal((await take(seller, 'A,1\n"B,1\n', 'force=true').catch(() => undefined)), undefined);
  assert.equal((await readStocks(seller))['B'], 5);
  assert.deepEqual(server.reports, []);
});

test('does not zero products that were created during the stocktake', async (t) => {
  const shop = await openShop(t, { A: 5_000, B: 5, C: 5 });
  const { seller } = shop;
  const outgoing = open(t, shop);
  outgoing.write(`sku,adjust,reason\n${LONG_ROW.repeat(1_500)}`);
  const [response] = await once(outgoing, 'response') as [IncomingMessage];
  await seller.create({ sku: 'NEW', stock: 7 });
  // Concurrent changes to an existing product do not matter: no line names it.
  await sendStock(seller, { changes: [{ sku: 'B', adjust: 3 }] });
  outgoing.end('A,-1,\n');
  const text = (await response.setEncoding('utf8').toArray()).join('');
  assert.match(text, /"summary":\{"applied":1501,"unchanged":0,"failed":0,"zeroed":2,/);
  assert.deepEqual(await readStocks(seller), { A: 3_499, B: 0, C: 0, NEW: 7 });
});

test('reports in a dry run what it would set to 0', async (t) => {
  const { server, seller } = await openShop(t, { A: 5, B: 5, C: 5 });
  const dry = await take(seller, 'A,1\nB,5\n', 'dry_run=true');
  assert.equal(await readPosition(server, seller), 3);
  assert.deepEqual(dry.rows.at(-1)?.status, 'zeroed');
  assert.equal((await take(seller, 'A,1\n', 'dry_run=true')).last.problem.status, 409);
  assert.deepEqual(await take(seller, 'A,1\nB,5\n'), dry);
});

test('replays the report of a stocktake under the same Idempotency-Key', async (t) => {
  const { server, seller } = await openShop(t, { A: 5, B: 5, C: 5 });
  const first = await take(seller, 'A,1\nB,5\n', '', KEY);
  await sendStock(seller, { changes: [{ sku: 'C', set: 9 }] });
  assert.deepEqual(await take(seller, 'A,1\nB,5\n', '', KEY), first);
  assert.equal(await readPosition(server, seller), 6);
  assert.deepEqual(await readStocks(seller), { A: 1, B: 5, C: 9 });
  const other = await take(seller, 'A,1\nB,5\n', 'zero_limit=99', KEY);
  assert.equal(other.last.problem.status, 422);
});

test('resumes under the same Idempotency-Key after it stopped between batches', async (t) => {
  const { server, seller } = await openShop(t, { A: 5 });
  await addProducts(seller, 2_500);
  const { zeroStock } = server.store;
  let batches = 0;
  Object.assign(server.store, {
    zeroStock: (...args: Parameters<typeof zeroStock>) => {
      batches += 1;
      if (batches === 2) return Promise.reject(new Error('stopped'));
      return zeroStock(...args);
    },
  });
  const stopped = await take(seller, 'A,4\n', 'zero_limit=100', KEY);
  assert.equal(stopped.last.problem.summary.zeroed, 1_000);
  // A later change to a zeroed product stays; the second attempt zeroes the other products.
  await sendStock(seller, { changes: [{ sku: 'X-3', set: 8 }, { sku: 'X-2400', adjust: 1 }] });
  await seller.create({ sku: 'NEW', stock: 7 });
  const { rows, last } = await take(seller, 'A,4\n', 'zero_limit=100', KEY);
  assert.deepEqual([last.summary.zeroed, last.summary.failed], [2_500, 0]);
  assert.deepEqual(rows.slice(0, 1_001), stopped.rows);
  const stocks = await readStocks(seller);
  assert.deepEqual([stocks['A'], stocks['X-3']], [4, 8]);
  const { products } = (await seller.send({ path: '/api/v1/products?stock_min=1' })).json();
  assert.deepEqual(products.map(({ sku }: { sku: string }) => sku).sort(), ['A', 'NEW', 'X-3']);
  assert.equal(server.reports.length, 1); // the error of the test
});

test('rejects invalid parameters, and stream parameters in JSON requests', async (t) => {
  const { seller } = await openShop(t, { A: 5 });
  const query = 'complete=1&zero_limit=101&force=yes';
  const answer = await sendStock(seller, 'sku,stock\nA,1\n', { query, headers: CSV });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer).sort(),
    ['complete format', 'force format', 'zero_limit range']);
  const json = await sendStock(seller, { changes: [] }, { query: 'complete=true&map=sku:A' });
  assert.deepEqual(faultsOf(json), ['complete mismatch', 'map mismatch']);
  assert.deepEqual(await readStocks(seller), { A: 5 });
});

test('applies the zero limit to a file without rows', async (t) => {
  const { seller } = await openShop(t, { A: 5 });
  const answer = await sendStock(seller, 'sku,stock\n', { query: COMPLETE, headers: CSV });
  assertProblem(answer, 409, 'sync-refused');
  assert.deepEqual(await readStocks(seller), { A: 5 });
  assert.equal((await take(seller, '', 'force=true')).last.summary.zeroed, 1);
  assert.deepEqual(await readStocks(seller), { A: 0 });
});

function open(
  t: TestContext, { server: { port }, seller: { key } }: Shop, headers = {},
): ClientRequest {
  const outgoing = request({
    host: '127.0.0.1', port, method: 'POST', path: `${STOCK}?${COMPLETE}&force=true`, agent: false,
    headers: { 'x-api-key': key, ...CSV, ...headers },
  });
  outgoing.on('error', () => {}); // the test may break the connection
  t.after(() => outgoing.destroy());
  return outgoing;
}

test('rejects zero_limit and force without complete, and changes nothing', async (t) => {
  const { seller } = await openShop(t, { A: 5, B: 5 });
  for (const [query, faults] of [
    ['zero_limit=10', ['zero_limit mismatch']], ['force=true', ['force mismatch']],
    ['zero_limit=10&force=true&complete=false', ['zero_limit mismatch', 'force mismatch']],
  ] as const) {
    const csv = await sendStock(seller, 'sku,stock\nA,1\n', { query, headers: CSV });
    assertProblem(csv, 400, 'invalid-query');
    assert.deepEqual(faultsOf(csv), faults);
    const lines = await sendLines(seller, [{ sku: 'A', set: 1 }], { query });
    assert.deepEqual(faultsOf(lines), faults);
  }
  assert.deepEqual(await readStocks(seller), { A: 5, B: 5 });
});
