/** POST /api/v1/stock in NDJSON: results during the request, dry runs, and replays. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Answer } from '../../support/http.ts';
import { withoutImport } from '../../support/import-id.ts';
import { readLines } from '../../features/imports/import.ts';
import { assertProblem, faultsOf } from '../problem.ts';
import {
  NDJSON, openShop, readLedger, readPosition, readStocks, sendLines, sendStock, type Shop, STOCK,
  sync,
} from './stock.ts';

const KEY = { 'idempotency-key': '"lines-1"' };

interface Line {
  readonly line: number;
  readonly status: string;
}

function showLines(answer: Answer): string[] {
  return readLines(answer).rows.map(({ line, status }: Line) => `${line} ${status}`);
}

function summaryOf(answer: Answer) {
  const { last } = readLines(answer);
  assert.ok(last.summary, JSON.stringify(last));
  return last.summary;
}

/** Lines that subtract one each: the remaining stock shows how many were applied. */
function takeOneEach(count: number): object[] {
  return Array.from({ length: count }, () => ({ sku: 'A', adjust: -1 }));
}

test('rejects a line with a number that a double cannot represent', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const answer = await sendLines(seller, [
    '{"sku":"A","set":0.9999999999999999999999}', '{"sku":"A","adjust":1e-400}',
    '{"sku":"A","set":8.0}',
  ]);
  const { rows } = readLines(answer);
  assert.deepEqual(showLines(answer), ['1 invalid', '2 invalid', '3 ok']);
  assert.deepEqual(rows.slice(0, 2).map(({ errors: [{ pointer, code }] }) => [pointer, code]),
    [['/set', 'precision'], ['/adjust', 'precision']]);
  assert.deepEqual(await readStocks(seller), { A: 8 });
});

test('reports each line by its number, and ends with a summary', async (t) => {
  const { seller, ids } = await openShop(t, { A: 7, B: 7 });
  const answer = await sendLines(seller, [
    { sku: 'A', adjust: -2 }, '', { sku: 'none', set: 1 }, '  \t', '{"sku":"A","set":}',
    { id: ids['B'], set: 7 }, { sku: 'A', set: 'x' }, '[1]\r', { sku: 'A', adjust: -9 },
    { sku: 'A', set: 9, expect: 5 },
  ]);
  const { rows, last } = readLines(answer);
  const errors = [5, 7, 8].map((line) =>
    rows.find((row) => row.line === line).errors.map((one: { pointer: string }) => one.pointer));
  assert.deepEqual(errors, [[''], ['/set'], ['']]);
  assert.deepEqual(showLines(answer), [
    '1 ok', '3 not_found', '5 invalid', '6 unchanged', '7 invalid', '8 invalid',
    '9 insufficient', '10 ok',
  ]);
  assert.deepEqual(rows[0], {
    line: 1, sku: 'A', id: ids['A'], status: 'ok', previous: 7, stock: 5, position: 3,
  });
  assert.deepEqual(last, { summary: { applied: 2, unchanged: 1, failed: 5, position: 4 } });
  assert.deepEqual(await readStocks(seller), { A: 9, B: 7 });
});

test('reports a batch while the rest is still being sent', async (t) => {
  const shop = await openShop(t, { A: 5_000 });
  const outgoing = open(t, shop);
  outgoing.write(textOf(takeOneEach(1_001)));
  const [response] = await once(outgoing, 'response') as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => { text += chunk; });
  while (text.split('\n').length <= 1_000) await once(response, 'data');
  assert.deepEqual(await readStocks(shop.seller), { A: 4_000 });
  assert.equal(text.split('\n').length, 1_001);
  outgoing.end('{"sku":"A","set":1}');
  await once(response, 'end');
  const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.slice(0, -1).map(({ line }) => line),
    Array.from({ length: 1_002 }, (_, n) => n + 1));
  assert.deepEqual(withoutImport(lines.at(-1).summary), {
    applied: 1_002, unchanged: 0, failed: 0, position: 1_003,
  });
});

test('accepts compressed lines, and a byte order mark', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const body = gzipSync(`\uFEFF{"sku":"A","adjust":1}\r\n{"sku":"A","adjust":2}`);
  const answer = await seller.send({
    method: 'POST', path: STOCK, body,
    headers: { 'content-type': NDJSON, 'content-encoding': 'gzip' },
  });
  assert.deepEqual(showLines(answer), ['1 ok', '2 ok']);
  assert.deepEqual(await readStocks(seller), { A: 10 });
});

test('reports only failures on request', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const answer = await sendLines(seller, [
    { sku: 'A', adjust: -1 }, { sku: 'B', adjust: -1 }, { sku: 'A', set: 6 }, 'x',
  ], { query: 'report=failed' });
  assert.deepEqual(showLines(answer), ['2 not_found', '4 invalid']);
  assert.deepEqual(summaryOf(answer), { applied: 1, unchanged: 1, failed: 2, position: 2 });
});

test('records source and reason for all lines, and the reasons of single lines', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const query = 'source=erp&reason=sold%20out';
  const lines = [
    { sku: 'A', set: 5, sequence: 4 }, { sku: 'A', set: 4, sequence: 4 },
    { sku: 'A', set: 3, reason: 'own' },
  ];
  const answer = await sendLines(seller, lines, { query });
  assert.deepEqual(showLines(answer), ['1 ok', '2 stale', '3 ok']);
  assert.deepEqual(await readLedger(seller, '&source=erp&reason=sold%20out'), ['A 7 5']);
  assert.deepEqual(await readLedger(seller, '&source=erp&reason=own'), ['A 5 3']);
  const without = readLines(await sendLines(seller, lines.slice(0, 1)));
  assert.equal(without.rows[0].errors[0].pointer, '/sequence');
});

test('evaluates each batch of a dry run on the outcome of the batches before it', async (t) => {
  const { server, seller } = await openShop(t, { A: 2_500, B: 1 });
  const lines = [
    { sku: 'B', set: 5, sequence: 1 }, ...takeOneEach(2_600), { sku: 'B', set: 6, sequence: 1 },
    { sku: 'B', adjust: -5 },
  ];
  const query = 'dry_run=true&source=erp';
  const dry = await sendLines(seller, lines, { query });
  assert.deepEqual(summaryOf(dry), {
    applied: 2_502, unchanged: 0, failed: 101, position: 2 + 2_502,
  });
  assert.equal(await readPosition(server, seller), 2);
  assert.deepEqual(await readStocks(seller), { A: 2_500, B: 1 });
  const made = await sendLines(seller, lines, { query: 'source=erp' });
  assert.deepEqual(readLines(made), readLines(dry));
  assert.equal(await readPosition(server, seller), 2_504);
});

test('applies lines once for their idempotency key, and replays the response', async (t) => {
  const { server, seller } = await openShop(t, { A: 5_000 });
  const lines = [...takeOneEach(2_200), 'x'];
  const first = await sendLines(seller, lines, { headers: KEY });
  assert.equal(first.headers['idempotent-replay'], undefined);
  await sync(seller, [{ sku: 'A', set: 9_000 }]);
  const again = await sendLines(seller, lines, { headers: KEY });
  assert.equal(again.headers['idempotent-replay'], 'true');
  assert.equal(again.text, first.text);
  assert.deepEqual(await readStocks(seller), { A: 9_000 });
  assert.equal(await readPosition(server, seller), 2_202);
});

test('applies no line twice if an interrupted request is sent again', async (t) => {
  const shop = await openShop(t, { A: 9_000, B: 9_000 });
  const { server, seller } = shop;
  const lines = takeOneEach(5_500);
  const outgoing = open(t, shop, KEY);
  outgoing.write(textOf(lines).slice(0, -20));
  while (await readPosition(server, seller) === 2) await turn();
  outgoing.destroy();
  const again = await sendLines(seller, lines, { headers: KEY });
  assert.equal(again.headers['idempotent-replay'], 'true');
  const { rows, last } = readLines(again);
  assert.deepEqual(last.summary, {
    applied: 5_500, unchanged: 0, failed: 0, position: 5_502,
  });
  rows.forEach((row, index) => {
    assert.deepEqual([row.line, row.previous, row.position], [index + 1, 9_000 - index, index + 3]);
  });
  assert.deepEqual(await readStocks(seller), { A: 3_500, B: 9_000 });
  assert.deepEqual(server.reports, []);
});

test('rejects other lines under the same idempotency key', async (t) => {
  const { server, seller } = await openShop(t, { A: 5_000 });
  await sendLines(seller, takeOneEach(1_500), { headers: KEY });
  for (const query of ['source=erp', 'reason=sold']) {
    const answer = await sendLines(seller, takeOneEach(1_500), { headers: KEY, query });
    assertProblem(answer, 422, 'idempotency-mismatch');
  }
  for (const count of [1_000, 1_501, 2_500]) {
    const { last } = readLines(await sendLines(seller, takeOneEach(count), { headers: KEY }));
    assert.equal(last.problem.status, 422);
    assert.deepEqual(last.problem.summary, {
      applied: 1_000, unchanged: 0, failed: 0, position: 1_001,
    });
  }
  assertProblem(await sendStock(seller, { changes: takeOneEach(1) }, { headers: KEY }), 422,
    'idempotency-mismatch');
  assert.equal(await readPosition(server, seller), 1_501);
});

test('stores no idempotency record for a dry run', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  await sendLines(seller, takeOneEach(1), { headers: KEY, query: 'dry_run=true' });
  const made = await sendLines(seller, takeOneEach(2), { headers: KEY });
  assert.equal(made.headers['idempotent-replay'], undefined);
  assert.deepEqual(await readStocks(seller), { A: 5 });
});

test('rejects empty or overlong input, other codings and invalid parameters', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  for (const lines of [[], ['', ' '], [`"${'x'.repeat(256 * 1024)}"`]]) {
    assertProblem(await sendLines(seller, lines), 400, 'invalid-data');
  }
  const query = 'report=some&source=%00&reason=&dry_run=1';
  const answer = await sendLines(seller, takeOneEach(1), { query });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer).sort(), [
    'dry_run format', 'reason blank', 'report format', 'source characters',
  ]);
  const coded = await sendLines(seller, takeOneEach(1), { headers: { 'content-encoding': 'br' } });
  assertProblem(coded, 415, 'unsupported-media-type');
  assert.deepEqual(await readStocks(seller), { A: 7 });
});

test('stops at a line that is too long, and reports what was applied before', async (t) => {
  const { server, seller } = await openShop(t, { A: 5_000 });
  const long = JSON.stringify({ sku: 'A', reason: 'x'.repeat(256 * 1024) });
  const answer = await sendLines(seller, [...takeOneEach(2_500), long, ...takeOneEach(10)]);
  const { rows, last } = readLines(answer);
  assert.equal(last.problem.status, 400);
  assert.match(last.problem.detail, /^Line 2501 .* Changes already written stay\.$/);
  assert.deepEqual(last.problem.summary, {
    applied: 2_000, unchanged: 0, failed: 0, position: 2_001,
  });
  assert.equal(rows.length, 2_000);
  assert.deepEqual(await readStocks(seller), { A: 3_000 });
  assert.deepEqual(server.reports, []);
});

test('rejects a truncated compressed body', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const whole = gzipSync(textOf(takeOneEach(3)));
  const answer = await seller.send({
    method: 'POST', path: STOCK, body: whole.subarray(0, whole.length - 9),
    headers: { 'content-type': NDJSON, 'content-encoding': 'gzip' },
  });
  assertProblem(answer, 400, 'invalid-data');
  assert.deepEqual(await readStocks(seller), { A: 7 });
});

test('rejects a fifth concurrent stream of a seller, until one has ended', async (t) => {
  const shop = await openShop(t, { A: 9_000 });
  const outgoing = await Promise.all(Array.from({ length: 4 }, async () => {
    const one = open(t, shop);
    one.write(textOf(takeOneEach(1_001)));
    const [response] = await once(one, 'response') as [IncomingMessage];
    response.on('error', () => {}).resume();
    return one;
  }));
  const refused = await sendLines(shop.seller, takeOneEach(1));
  assertProblem(refused, 503, 'unavailable');
  assert.equal(refused.headers['retry-after'], '5');
  assert.equal((await sendStock(shop.seller, { changes: takeOneEach(1) })).status, 200);
  const other = await shop.server.makeSeller();
  assert.equal((await sendLines(other, takeOneEach(1))).status, 200);
  outgoing[0]?.destroy();
  let answer = refused;
  while (answer.status === 503) answer = await sendLines(shop.seller, takeOneEach(1));
  assert.equal(answer.status, 200);
  for (const one of outgoing) one.destroy();
  assert.deepEqual(shop.server.reports, []);
});

function open(
  t: TestContext, { server: { port }, seller: { key } }: Shop, headers = {},
): ClientRequest {
  const outgoing = request({
    host: '127.0.0.1', port, method: 'POST', path: STOCK, agent: false,
    headers: { 'x-api-key': key, 'content-type': NDJSON, ...headers },
  });
  outgoing.on('error', () => {}); // the test may break the connection
  t.after(() => outgoing.destroy());
  return outgoing;
}

function textOf(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
