/** Several lines with the stock of one product: rejected, added up, or the last one used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestSeller } from '../../support/server.ts';
import { assertProblem } from '../problem.ts';
import { readLines } from '../../features/imports/import.ts';
import { openShop, readLedger, readStocks, sendStock } from './stock.ts';

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

interface Row {
  readonly sku?: string;
  readonly id?: string | undefined;
  readonly [member: string]: string | number | undefined;
}

/** Sends rows in one format, and returns the lines of the response. */
async function send(
  seller: TestSeller, format: keyof typeof TYPES, rows: readonly Row[], query = '',
) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const body = format === 'ndjson' ? rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    : [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))]
      .map((cells) => `${cells.join(',')}\n`).join('');
  const headers = { 'content-type': TYPES[format] };
  return readLines(await sendStock(seller, body, { query, headers }));
}

for (const format of ['csv', 'ndjson'] as const) {
  const first = format === 'csv' ? 2 : 1;
  const rows = [{ sku: 'M', set: 10 }, { sku: 'A', set: 1 }, { sku: 'M', set: 2 }];

  test(`rejects a second stock of a product, with the remedy: ${format}`, async (t) => {
    const { seller } = await openShop(t, { M: 7, A: 7 });
    for (const query of ['dry_run=true', '']) {
      const { rows: lines, last } = await send(seller, format, rows, query);
      assert.deepEqual(lines.map(({ status }) => status), ['ok', 'ok', 'invalid']);
      const [error] = lines[2]?.errors ?? [];
      assert.equal(error.code, 'duplicate');
      assert.match(error.detail, new RegExp(`^Line ${first} has a stock of this product, too\\. `
        + 'Set duplicates=sum to add up .*, or duplicates=last '));
      assert.equal(last.summary.failed, 1);
      assert.equal(last.summary.duplicates, 1);
      assert.deepEqual(last.summary.duplicate_rows,
        [{ line: first + 2, sku: 'M', previous_line: first }]);
    }
    assert.deepEqual(await readStocks(seller), { M: 10, A: 1 });
  });

  test(`adds up the rows of a product, also if the file is sent again: ${format}`, async (t) => {
    const { seller } = await openShop(t, { M: 7, A: 7 });
    for (const _ of [1, 2]) {
      const { last } = await send(seller, format, rows, 'duplicates=sum');
      assert.deepEqual([last.summary.failed, last.summary.duplicates], [0, 1]);
      assert.deepEqual(await readStocks(seller), { M: 12, A: 1 });
    }
    const { rows: lines } = await send(seller, format, rows, 'duplicates=sum&dry_run=true');
    assert.deepEqual(lines.map(({ stock }) => stock), [10, 1, 12]);
    assert.deepEqual(await readLedger(seller),
      ['M 0 7', 'A 0 7', 'M 7 10', 'A 7 1', 'M 10 12', 'M 12 10', 'M 10 12']);
  });

  test(`uses the last row of a product: ${format}`, async (t) => {
    const { seller } = await openShop(t, { M: 7, A: 7 });
    const { last } = await send(seller, format, rows, 'duplicates=last');
    assert.deepEqual([last.summary.failed, last.summary.duplicates], [0, 1]);
    assert.deepEqual(await readStocks(seller), { M: 2, A: 1 });
  });

  test(`finds a product by its SKU and its id: ${format}`, async (t) => {
    const { seller, ids } = await openShop(t, { M: 7 });
    const mixed = [{ id: ids['M'], sku: '', set: 1 }, { id: '', sku: 'M', set: 2 },
      { id: ids['M'], sku: '', set: 3 }].map((row) =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== '')));
    const { rows: lines } = await send(seller, format, mixed);
    assert.deepEqual(lines.map(({ status }) => status), ['ok', 'invalid', 'invalid']);
    assert.deepEqual(await readStocks(seller), { M: 1 });
  });

  test(`writes no row of a repeated product with reject_all: ${format}`, async (t) => {
    const { seller, ids } = await openShop(t, { M: 7, A: 7, B: 7, C: 7 });
    const all = [
      ...rows, { sku: 'B', set: -1 }, { sku: 'B', set: 3 }, { id: ids['C'], set: 1 },
      { sku: 'C', set: 1 }, { sku: 'M', adjust: 1 },
    ];
    for (const query of ['duplicates=reject_all&dry_run=true', 'duplicates=reject_all']) {
      const { rows: lines, last } = await send(seller, format, all, query);
      assert.deepEqual(lines.map(({ status }) => status), [
        'invalid', 'ok', 'invalid', 'invalid', 'invalid', 'invalid', 'invalid', 'ok',
      ]);
      assert.match(lines[0]?.errors[0].detail, new RegExp(`^Line ${first + 2} has a stock of`));
      assert.equal(last.summary.duplicates, 5);
      assert.deepEqual(last.summary.duplicate_rows.slice(0, 2), [
        { line: first, sku: 'M', previous_line: first + 2 },
        { line: first + 2, sku: 'M', previous_line: first },
      ]);
    }
    assert.deepEqual(await readStocks(seller), { M: 8, A: 1, B: 7, C: 7 });
  });

  test(`zeroes nothing in a stocktake whose rows repeat a product: ${format}`, async (t) => {
    const { seller } = await openShop(t, { M: 7, A: 7, B: 7 });
    const { last } = await send(seller, format, rows, 'complete=true');
    assert.equal(last.problem.status, 409);
    assert.match(last.problem.detail, new RegExp(`^Line ${first + 2} shares its product with `
      + 'another line, so no product was set to 0\\. Set duplicates=sum or duplicates=last'));
    assert.deepEqual(await readStocks(seller), { M: 10, A: 1, B: 7 });
    const sum = await send(seller, format, rows, 'complete=true&duplicates=sum');
    assert.equal(sum.last.summary.zeroed, 1);
    assert.deepEqual(await readStocks(seller), { M: 12, A: 1, B: 0 });
  });

  test(`applies rows that adjust, expect or number the stock as they are: ${format}`, async (t) => {
    const { seller } = await openShop(t, { M: 7 });
    const changes = [
      { sku: 'M', set: 1, expect: 7, sequence: 1 }, { sku: 'M', set: 2, expect: 1, sequence: 2 },
    ];
    const made = await send(seller, format, changes, 'source=erp');
    assert.deepEqual(made.rows.map(({ status }) => status), ['ok', 'ok']);
    const adjusted = await send(seller, format, [{ sku: 'M', adjust: 1 }, { sku: 'M', adjust: 1 }]);
    assert.equal(adjusted.last.summary.duplicates, undefined);
    assert.deepEqual(await readStocks(seller), { M: 4 });
  });
}

test('says that a rejected row has others, which reject_all rejects with it', async (t) => {
  const { seller } = await openShop(t, { M: 7, A: 7 });
  const rows = [{ sku: 'M', set: 'x' }, { sku: 'M', set: 2 }, { sku: 'A', set: 'x' }];
  const { rows: lines } = await send(seller, 'csv', rows, 'duplicates=reject_all');
  const details = lines.map(({ errors }) => errors.map(({ detail }: any) => detail).join(' '));
  assert.match(details[0] ?? '', /Write a whole number.* Other rows .* send the whole file again/);
  assert.match(details[1] ?? '', /^Line 2 has a stock of this product, too\./);
  assert.doesNotMatch(details[2] ?? '', /whole file/);
});

test('adds nothing to the stock of a product with a rejected row', async (t) => {
  const { seller } = await openShop(t, { M: 7, A: 7 });
  const rows = [{ sku: 'M', set: 'x' }, { sku: 'M', set: 2 }, { sku: 'A', set: 3 }];
  const { rows: lines } = await send(seller, 'csv', rows, 'duplicates=sum');
  assert.deepEqual(lines.map(({ status }) => status), ['invalid', 'invalid', 'ok']);
  assert.match(lines[1]?.errors[0].detail, /^Line 2 was rejected and may be of this product/);
  assert.deepEqual(await readStocks(seller), { M: 7, A: 3 });
});

test('adds up no product with a rejected row in the whole file, as sum_all', async (t) => {
  const { seller } = await openShop(t, { M: 7, A: 7, B: 7 });
  const rows = [
    { sku: 'M', set: 1 }, { sku: 'A', set: 2 }, { sku: 'B', set: 3 }, { sku: 'M', set: 'x' },
    { sku: 'A', set: 4 }, { sku: 'M', set: 5 },
  ];
  for (const query of ['duplicates=sum_all&dry_run=true', 'duplicates=sum_all']) {
    const { rows: lines } = await send(seller, 'csv', rows, query);
    assert.deepEqual(lines.map(({ status }) => status),
      ['invalid', 'ok', 'ok', 'invalid', 'ok', 'invalid']);
    const details = lines.flatMap(({ errors }) => errors?.map(({ detail }: any) => detail) ?? []);
    assert.match(details[0], /^Line 5 was rejected and may be of this product, so the sum is/);
    assert.doesNotMatch(details[1], /Other rows/);
  }
  assert.deepEqual(await readStocks(seller), { M: 7, A: 6, B: 3 });
});

test('adds nothing to the products of a row whose id and SKU contradict', async (t) => {
  const { seller, ids } = await openShop(t, { '0123': 7, '123': 7, C: 7 });
  const rows = [
    { id: ids['0123'], sku: '123', set: 1 }, { id: ids['123'], sku: '123', set: 2 },
    { id: ids['0123'], sku: '0123', set: 3 }, { id: ids['C'], sku: 'C', set: 4 },
    { id: ids['C'], sku: 'C', set: 5 },
  ];
  const { rows: lines } = await send(seller, 'csv', rows, 'duplicates=sum');
  assert.deepEqual(lines.map(({ status }) => status),
    ['invalid', 'invalid', 'invalid', 'ok', 'ok']);
  assert.match(lines[0]?.errors[0].detail, /^Is the id of your product "0123"/);
  assert.match(lines[2]?.errors[0].detail, /^Line 2 was rejected and may be of this product/);
  assert.deepEqual(await readStocks(seller), { '0123': 7, '123': 7, C: 9 });
});

test('adds up nothing below a rejected row that may be of any product', async (t) => {
  const { seller } = await openShop(t, { M: 7 });
  const csv = { 'content-type': 'text/csv' };
  const sendRows = async (rows: string) => readLines(await sendStock(seller, `sku,set\n${rows}`, {
    query: 'duplicates=sum', headers: csv,
  }));
  const { rows } = await sendRows('M,10\nM,2,9\nM,3\n');
  assert.deepEqual(rows.map(({ status }) => status), ['ok', 'invalid', 'invalid']);
  assert.match(rows[2]?.errors[0].detail, /^Line 3 may be of any product, so the sum is unknown/);
  const query = 'duplicates=sum';
  const rejected = await sendStock(seller, '"error",sku,set\n"x",M,2\n', { query, headers: csv });
  assert.match(assertProblem(rejected, 400, 'invalid-data').detail, /Correct the original file/);
  assert.deepEqual(await readStocks(seller), { M: 10 });
});

test('rejects another choice, and a choice for a JSON body', async (t) => {
  const { seller } = await openShop(t, { M: 7 });
  const csv = { 'content-type': 'text/csv' };
  const query = 'duplicates=max';
  const answer = await sendStock(seller, 'sku,set\nM,1\n', { query, headers: csv });
  assertProblem(answer, 400, 'invalid-query');
  assert.match(answer.json().errors[0].detail, /reject, reject_all, sum, sum_all, last/);
  const json = await sendStock(seller, { changes: [] }, { query: 'duplicates=sum' });
  assertProblem(json, 400, 'invalid-query');
  assert.deepEqual(await readStocks(seller), { M: 7 });
});
