/** POST /api/v1/reverts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer, type TestSeller } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../../api/problem.ts';
import { CSV_HEADER, makeRows, sendFile } from './import.ts';

const REVERTS = '/api/v1/reverts';

async function importText(seller: TestSeller, body: string): Promise<string> {
  const { text } = await sendFile(seller, { body });
  return JSON.parse(text.trim().split('\n').at(-1) ?? '').summary.import;
}

function post(seller: TestSeller, body: unknown, headers = {}, query = '') {
  return seller.send({
    method: 'POST', path: `${REVERTS}${query}`, body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
}

async function revert(seller: TestSeller, body: unknown, headers = {}, query = '') {
  const answer = await post(seller, body, headers, query);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['content-type'], 'application/x-ndjson');
  const lines = answer.text.trim().split('\n').map((line) => JSON.parse(line));
  return { answer, rows: lines.slice(0, -1), summary: lines.at(-1).summary };
}

async function sell(seller: TestSeller, sku: string, units: number): Promise<void> {
  const body = JSON.stringify({ changes: [{ sku, adjust: -units }] });
  const headers = { 'content-type': 'application/json' };
  const { status } = await seller.send({ method: 'POST', path: '/api/v1/stock', body, headers });
  assert.equal(status, 200);
}

async function readProducts(seller: TestSeller) {
  const { text } = await seller.send({ path: '/api/v1/products' });
  return JSON.parse(text).products.map(({ sku, price, stock }: Record<string, unknown>) =>
    [sku, price, stock]);
}

test('reverts a wrong import, and keeps the sales since', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await importText(seller, `${CSV_HEADER}Mug,K,M-1,10,40\nCup,K,C-1,5,20\nJar,K,J-1,7,3\n`);
  await sell(seller, 'M-1', 2);
  const wrong = await importText(
    seller, `${CSV_HEADER}Mug,K,M-1,99,0\nCup,K,C-1,99,0\nNew,K,N-1,1,1\n`,
  );
  await importText(seller, 'sku,stock\nC-1,5\n');
  await sell(seller, 'C-1', 1);
  const before = await readProducts(seller);

  const dry = await revert(seller, { import: wrong, dry_run: true });
  assert.deepEqual(await readProducts(seller), before);
  const [mug, cup, added] = dry.rows;
  assert.deepEqual(mug.changes, { price: { from: 99, to: 10 }, stock: { from: 0, to: 38 } });
  assert.deepEqual([mug.status, added.status, added.sku], ['restored', 'deleted', 'N-1']);
  assert.deepEqual([cup.status, cup.conflict], ['conflict', 'moved']);
  assert.match(cup.detail, /^Only its stock changed since\. With "force"/);
  assert.match(dry.summary.advice, /1 had only stock movements since, such as sales/);
  assert.equal(dry.summary.import, undefined);

  const { rows, summary } = await revert(seller, { import: wrong });
  assert.deepEqual(rows.map(({ status }) => status), dry.rows.map(({ status }) => status));
  const { import: id, advice: _, ...counts } = summary;
  assert.deepEqual(counts, {
    restored: 1, deleted: 1, recreated: 0, unchanged: 0, conflicts: 1, position: 11,
  });
  assert.match(id, /^imp_/);
  await revert(seller, { import: wrong, force: true });
  // C-1: the 5 of the later import plus the restored 20, minus the one sold.
  assert.deepEqual(await readProducts(seller), [['M-1', 10, 38], ['C-1', 5, 24], ['J-1', 7, 3]]);
  const feed = await seller.send({ path: '/api/v1/changes?after=9' });
  const imports = JSON.parse(feed.text).changes.map((one: { import: string }) => one.import);
  assert.deepEqual(imports.slice(0, 2), [id, id]);
  assert.deepEqual(server.reports, []);
});

test('accepts dry_run and force as query parameters, too', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const created = await importText(seller, CSV_HEADER + makeRows(2));
  await sell(seller, 'SKU-1', 1);
  const query = '?dry_run=true&force=true';
  const { summary } = await revert(seller, { import: created }, {}, query);
  assert.equal(summary.deleted, 2);
  assert.equal((await readProducts(seller)).length, 2);
});

test('repeats the report to a retry with the same key', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const created = await importText(seller, CSV_HEADER + makeRows(2_500));
  const key = { 'idempotency-key': '"revert-1"' };
  const first = await revert(seller, { import: created }, key);
  assert.equal(first.summary.deleted, 2_500);
  const again = await revert(seller, { import: created }, key);
  assert.equal(again.answer.headers['idempotent-replay'], 'true');
  assert.equal(again.answer.text, first.answer.text);
  const other = await post(seller, { import: created, force: true }, key);
  assertProblem(other, 422, 'idempotency-mismatch');
});

test('rejects invalid selections, and unknown imports', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const other = await server.makeSeller();
  await seller.create();
  const theirs = await importText(other, CSV_HEADER + makeRows(1));
  const invalid: readonly [body: unknown, pointer: string, code: string][] = [
    [{}, '/import', 'required'],
    [[], '', 'type'],
    [{ import: 7 }, '/import', 'type'],
    [{ after: 0 }, '/up_to', 'required'],
    [{ up_to: 1 }, '/after', 'required'],
    [{ after: 1, up_to: 0 }, '/up_to', 'range'],
    [{ after: 0, up_to: 2 }, '/up_to', 'range'],
    [{ after: -1, up_to: 1 }, '/after', 'range'],
    [{ after: 0, up_to: 1, key_id: 'key_x' }, '/key_id', 'format'],
    [{ after: 0, up_to: 1, source: '' }, '/source', 'blank'],
    [{ import: theirs, after: 0 }, '/after', 'mismatch'],
    [{ import: theirs, dry_run: 'yes' }, '/dry_run', 'type'],
    [{ import: theirs, dryrun: true }, '/dryrun', 'unknown'],
  ];
  for (const [body, pointer, code] of invalid) {
    const answer = await post(seller, body);
    assertProblem(answer, 400, 'invalid-data');
    assert.deepEqual(faultsOf(answer), [`${pointer} ${code}`], JSON.stringify(body));
  }
  for (const id of [theirs, 'imp_x', `imp_${'0'.repeat(22)}`, '']) {
    assertProblem(await post(seller, { import: id }), 404, 'not-found');
  }
  assert.equal((await readProducts(seller)).length, 1);
});

test('does not revert a change twice when a later revert covers it again', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await importText(seller, `${CSV_HEADER}Mug,K,M-1,10,40\nCup,K,C-1,5,20\n`);
  const first = await importText(seller, 'sku,stock\nM-1,100\nC-1,0\n');
  await sell(seller, 'M-1', 2);
  const { summary } = await revert(seller, { import: first, force: true });
  assert.equal(summary.restored, 2);
  const range = { after: 2, up_to: 5, force: true };
  const { rows } = await revert(seller, range);
  assert.deepEqual(rows.map(({ sku, status }) => [sku, status]),
    [['M-1', 'restored'], ['C-1', 'unchanged']]);
  assert.deepEqual(await readProducts(seller), [['M-1', 10, 40], ['C-1', 5, 20]]);
});
