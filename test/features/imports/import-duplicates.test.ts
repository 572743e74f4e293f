/** Rows of a file with the SKU of an earlier row. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../support/server.ts';
import { counts, CSV_HEADER, importFile, makeRows, ONE_BLANK_ROW } from './import.ts';

const NDJSON = 'application/x-ndjson';

test('counts the rows that override an earlier row, and names the first 20', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  // The second row for a SKU may be in another batch, and in another Unicode normal form.
  const body = `${CSV_HEADER}Mug,K,M-é,1,1\n${makeRows(1_500)}${makeRows(1_500)}`
    + 'Pot,K,M-e\u0301,2,1\n';
  const { rows, summary } = await importFile(seller, { body, query: 'duplicates=last' });
  assert.deepEqual(rows, []);
  const { duplicate_rows: named, ...rest } = summary;
  assert.deepEqual(rest, counts({
    created: 1_501, updated: 1, unchanged: 1_500, duplicates: 1_501, position: 1_502,
  }));
  assert.equal(named.length, 20);
  assert.deepEqual(named[0], { line: 1_503, sku: 'SKU-1', overrides: 3 });
  const all = await importFile(seller, { body, query: 'report=all&duplicates=last' });
  assert.deepEqual(all.rows.at(-1),
    { line: 3_003, sku: 'M-e\u0301', status: 'updated', overrides: 2 });
});

test('reports no duplicates if there are none', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  // A rejected row and a blank row have no SKU that a later row could repeat.
  const body = `${CSV_HEADER}A,K,A,x,1\nA,K,A,1,1\n,,,,\n`;
  const { summary } = await importFile(seller, { body });
  assert.deepEqual(summary, counts({ created: 1, failed: 1, position: 1, ...ONE_BLANK_ROW }));
});

test('names the earlier row with mode=create, which rejects the later one', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = `${CSV_HEADER}A,K,A,1,1\nB,K,A,1,1\n`;
  for (const query of ['mode=create&dry_run=true', 'mode=create']) {
    const { rows, summary } = await importFile(seller, { body, query });
    assert.deepEqual([rows[0].line, rows[0].errors[0].code], [3, 'taken']);
    assert.match(rows[0].errors[0].detail, /this SKU\. Line 2 of the file has it, too\.$/);
    assert.equal(summary.duplicates, undefined);
  }
});

test('reports duplicate NDJSON lines, and repeats the report to a retry', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = '{"name":"A","category":"K","sku":"A","price":1,"stock":1}\n\n'
    + '{"sku":"A","stock":2}\n{"sku":"A","stock":3}\n';
  const file = {
    body, type: NDJSON, query: 'report=all&duplicates=last', headers: { 'idempotency-key': '"k"' },
  };
  const first = await importFile(seller, file);
  assert.deepEqual(first.rows.map(({ line, overrides }) => [line, overrides]),
    [[1, undefined], [3, 1], [4, 3]]);
  assert.equal(first.summary.duplicates, 2);
  assert.deepEqual(await importFile(seller, file), first);
});
