/** Stock changes in CSV files, as POS systems and ERPs write them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { TestSeller } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../problem.ts';
import { readLines } from '../../features/imports/import.ts';
import { openShop, readLedger, readStocks, sendStock, STOCK } from './stock.ts';

const CSV = { 'content-type': 'text/csv' };

/** Sends a file that the server accepts, and returns the lines of its response. */
async function sendFile(
  seller: TestSeller, body: string, query = '', headers: Readonly<Record<string, string>> = {},
) {
  return readLines(await sendStock(seller, body, { query, headers: { ...CSV, ...headers } }));
}

test('sets the stock from a file, and reports each row with its line number', async (t) => {
  const { seller, ids } = await openShop(t, { A: 1, B: 2, C: 3 });
  const { rows, last } = await sendFile(seller,
    '\uFEFFArtikelnummer;Bezeichnung;Bestand;Preis\r\nA;"Tasse\nrot";12,0;5\r\n'
    + 'B;Kanne;2;5\r\n;;;\r\nX;;1;\r\nC;Teller;1,5;\r\n', 'source=erp&reason=count');
  assert.deepEqual(rows, [
    { line: 2, sku: 'A', id: ids['A'], status: 'ok', previous: 1, stock: 12, position: 4 },
    { line: 4, sku: 'B', id: ids['B'], status: 'unchanged', previous: 2, stock: 2, position: 2 },
    { line: 6, sku: 'X', id: null, status: 'not_found', previous: null, stock: null,
      position: null },
    { line: 7, sku: 'C', id: null, status: 'invalid', previous: null, stock: null, position: null,
      errors: [{ pointer: '/set', code: 'precision', detail: 'Must be a whole number.' }] },
  ]);
  assert.deepEqual(last.summary, {
    applied: 1, unchanged: 1, failed: 2, position: 4, ignored_columns: ['Bezeichnung', 'Preis'],
  });
  assert.deepEqual(await readStocks(seller), { A: 12, B: 2, C: 3 });
  assert.deepEqual(await readLedger(seller, '&source=erp&reason=count'), ['A 1 12']);
});

test('adjusts stock conditionally, by SKU or id', async (t) => {
  const { seller, ids } = await openShop(t, { A: 10, B: 10, C: 10, D: 10 });
  const file = 'sku,id,adjust,expect,sequence,reason\n'
    + `A,,-2,,1,sold\n,${ids['B']},+5,10,1,\nC,,-1,9,1,\nD,,-11,,1,\nA,,-1,,1,late\n`;
  const { rows, last } = await sendFile(seller, file, 'source=till&report=failed');
  assert.deepEqual(rows.map(({ line, status }) => [line, status]),
    [[4, 'conflict'], [5, 'insufficient'], [6, 'stale']]);
  assert.deepEqual(last.summary, { applied: 2, unchanged: 0, failed: 3, position: 6 });
  assert.deepEqual(await readStocks(seller), { A: 8, B: 15, C: 10, D: 10 });
});

test('reads the columns named in map, and changes nothing in a dry run', async (t) => {
  const { seller } = await openShop(t, { A: 1 });
  const file = 'SKU,EAN,Quantity,Available\nX,A,5,4\n';
  assertProblem(await sendStock(seller, file, { headers: CSV }), 400, 'invalid-data');
  const query = 'map=sku:EAN,stock:Available&dry_run=true';
  assert.equal((await sendFile(seller, file, query)).rows[0]?.stock, 4);
  assert.deepEqual(await readStocks(seller), { A: 1 });
  await sendFile(seller, file, 'map=sku:EAN,stock:Available');
  assert.deepEqual(await readStocks(seller), { A: 4 });
});

test('accepts its own stock export', async (t) => {
  const { seller } = await openShop(t, { A: 1, 'B,2': 2 });
  const { text } = await seller.send({ path: `${STOCK}?format=csv` });
  const { last } = await sendFile(seller, text);
  assert.deepEqual(last.summary, { applied: 0, unchanged: 2, failed: 0, position: 2 });
});

test('accepts gzip, and replays a file under the same Idempotency-Key', async (t) => {
  const { seller } = await openShop(t, { A: 1_500 });
  const body = gzipSync(`sku,adjust\n${'A,-1\n'.repeat(1_200)}`);
  const send = () => seller.send({
    method: 'POST', path: STOCK, body,
    headers: { ...CSV, 'content-encoding': 'gzip', 'idempotency-key': 'k-1' },
  });
  const first = await send();
  assert.deepEqual(readLines(first).last.summary,
    { applied: 1_200, unchanged: 0, failed: 0, position: 1_201 });
  const again = await send();
  assert.equal(again.headers['idempotent-replay'], 'true');
  assert.equal(again.text, first.text);
  assert.deepEqual(await readStocks(seller), { A: 300 });
});

test('returns the same response to the same changes in CSV and NDJSON', async (t) => {
  const { seller } = await openShop(t, { A: 1, B: 2 });
  const csv = await sendFile(seller, '\nsku,set\nA,5\nB,1000000001\nX,1\n', 'dry_run=true');
  const lines = '\n\n{"sku":"A","set":5}\n{"sku":"B","set":1000000001}\n{"sku":"X","set":1}\n';
  const ndjson = readLines(await sendStock(seller, lines, {
    query: 'dry_run=true', headers: { 'content-type': 'application/x-ndjson' },
  }));
  assert.deepEqual(csv, ndjson);
});

test('rejects malformed files and invalid parameters', async (t) => {
  const { seller } = await openShop(t, { A: 1 });
  for (const [file, detail] of [
    ['', /The file is empty/], ['sku\nA\n', /no column for set or adjust/],
    ['sku,qty,Qty\nA,1,1\n', /two columns for set/], ['sku,qty\n"A,1\n', /never closed/],
    [`sku,qty\n${'x'.repeat(256 * 1024)},1\n`, /more than 256 KiB/],
    ['SKU,In stock?\nA,5\n', /no column for set or adjust\. Its columns: SKU, In stock\?/],
    ['SKU,Available\nA,0\n', /"Available" is not read as a quantity: it has no number above 1/],
    ['Artikelnummer;Menge;Mengeneinheit\nA;500;G\n', /by "Mengeneinheit", it is not in pieces/],
  ] as const) {
    const answer = await sendStock(seller, file, { headers: CSV });
    assertProblem(answer, 400, 'invalid-data');
    assert.match(answer.json().detail, detail);
  }
  for (const [query, fault] of [
    ['map=name:X', 'map format'], ['map=set:X', 'map unknown'],
    ['default=stock:0', 'default unknown'],
  ] as const) {
    const answer = await sendStock(seller, 'sku,qty\nA,9\n', { query, headers: CSV });
    assertProblem(answer, 400, 'invalid-query');
    assert.deepEqual(faultsOf(answer), [fault]);
  }
  const lines = await sendStock(seller, '{"sku":"A","set":9}\n', {
    query: 'map=sku:A', headers: { 'content-type': 'application/x-ndjson' },
  });
  assert.deepEqual(faultsOf(lines), ['map unknown']);
  const accept = { ...CSV, accept: 'text/csv' };
  assertProblem(await sendStock(seller, 'sku,qty\n', { headers: accept }), 406, 'not-acceptable');
  assert.deepEqual(await readStocks(seller), { A: 1 });
});

test('keeps the batches applied before a malformed row', async (t) => {
  const { seller } = await openShop(t, { A: 5_000 });
  const { rows, last } = await sendFile(seller, `sku,adjust\n${'A,-1\n'.repeat(1_500)}"A"x,1\n`);
  assert.equal(last.problem.status, 400);
  assert.match(last.problem.detail, /^On line 1502 text follows .* already written stay\.$/);
  assert.deepEqual(last.problem.summary,
    { applied: 1_000, unchanged: 0, failed: 0, position: 1_001 });
  assert.equal(rows.length, 1_000);
});

test('responds to a file with only a header with a summary', async (t) => {
  const { seller } = await openShop(t, { A: 1 });
  const { rows, last } = await sendFile(seller, 'sku,qty\n');
  assert.deepEqual([rows, last.summary],
    [[], {
      applied: 0, unchanged: 0, failed: 0, position: 1,
      notes: ['Nothing to apply: the file has no rows.'],
    }]);
});

test('rejects a row whose id is that of another product than its SKU', async (t) => {
  const { seller, ids } = await openShop(t, { '0123': 1, '123': 2, C: 3 });
  const file = `id,sku,stock\n${ids['0123']},123,9\n${ids['123']},123,8\n${ids['C']},NEW,7\n`
    + `prd_x,C,6\nprd_x,NEW,5\n${ids['0123']},0123,4\n`;
  for (const query of ['duplicates=last&dry_run=true', 'duplicates=last']) {
    const { rows, last } = await sendFile(seller, file, query);
    const shown = rows.map(({ line, sku, id, status, stock }) => [line, sku, id, status, stock]);
    assert.deepEqual(shown, [
      [2, '123', ids['0123'], 'invalid', null], [3, '123', ids['123'], 'ok', 8],
      [4, 'NEW', ids['C'], 'invalid', null], [5, 'C', ids['C'], 'ok', 6],
      [6, 'NEW', 'prd_x', 'not_found', null], [7, '0123', ids['0123'], 'ok', 4],
    ]);
    const [{ pointer, code, detail }] = rows[0].errors;
    assert.deepEqual([pointer, code], ['/id', 'mismatch']);
    assert.match(detail, /^Is the id of your product "0123"\. Correct the SKU, or remove the id /);
    const { notes, ...counts } = last.summary;
    assert.deepEqual([counts.applied, counts.failed, counts.unknown_ids], [3, 3, 2]);
    assert.deepEqual(notes, ['2 rows have an id that none of your products has. It was ignored.']);
  }
  assert.deepEqual(await readStocks(seller), { '0123': 4, '123': 8, C: 6 });
});

test('says that nothing was applied if every row was rejected', async (t) => {
  const { seller } = await openShop(t, { A: 1 });
  const { last } = await sendFile(seller, 'sku,qty\nX,1\nA,x\n');
  assert.deepEqual(last.summary.notes, ['Nothing to apply: every row was rejected.']);
  assert.equal((await sendFile(seller, 'sku,qty\nA,1\n')).last.summary.notes, undefined);
});
