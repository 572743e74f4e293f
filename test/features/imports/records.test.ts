/** GET /api/v1/imports and /{id}, and the filter `import=` of the change feed and the ledger. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import { assertProblem, faultsOf } from '../../api/problem.ts';
import { CHANGES, MOVEMENTS, NDJSON, openShop, sendStock, sync } from '../../api/stock/stock.ts';
import type { TestSeller } from '../../support/server.ts';
import { openEvents } from '../changes/event-stream.ts';
import { CSV_HEADER, importFile, makeRows, sendFile } from './import.ts';

const IMPORTS = '/api/v1/imports';

async function read(seller: TestSeller, path: string) {
  const answer = await seller.send({ path });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['cache-control'], 'no-store');
  return answer.json();
}

const positionsOf = (entries: readonly { readonly position: number }[]) =>
  entries.map(({ position }) => position);

test('returns the actor, the source and the changes of an import', async (t) => {
  const clock = makeClock();
  const { seller } = await openShop(t, {}, { clock });
  const bad = 'Bad,Kitchen,BAD,x,1\n';
  const answer = await sendFile(seller, {
    body: CSV_HEADER + makeRows(3) + bad, query: 'file_name=shop.csv&mode=create',
  });
  const { summary } = JSON.parse(answer.text.trimEnd().split('\n').at(-1) ?? '');
  const record = await read(seller, `${IMPORTS}/${summary.import}`);
  const at = new Date(clock.now).toISOString();
  assert.match(record.key_id, /^key_/);
  assert.deepEqual(record, {
    id: summary.import, kind: 'products', started_at: at, finished_at: at, key_id: record.key_id,
    address: '127.0.0.1', file_name: 'shop.csv', mode: 'create', source: null,
    counts: { created: 3, updated: 0, unchanged: 0, failed: 1, skipped: 0 },
    first_position: 1, last_position: 3,
  });
  assert.deepEqual((await read(seller, IMPORTS)).imports, [record]);
});

test('records stock syncs and stocktakes with their sources', async (t) => {
  const { seller } = await openShop(t, { A: 1, B: 2 });
  const { import: id } = await sync(seller, [{ sku: 'A', set: 5 }, { sku: 'X', set: 1 }], {
    source: 'erp',
  });
  const stocktake = await sync(seller, [{ sku: 'A', set: 5 }], { complete: true });
  const lines = await sendStock(seller, '{"sku":"A","set":6}\n{"sku":"B","set":7}\n', {
    query: 'file_name=stock.ndjson&source=till', headers: { 'content-type': NDJSON },
  });
  const { summary } = JSON.parse(lines.text.trimEnd().split('\n').at(-1) ?? '');
  const { imports } = await read(seller, IMPORTS);
  assert.deepEqual(imports.map((one: { id: string }) => one.id),
    [summary.import, stocktake.import, id]);
  const picked = imports.map((one: Record<string, unknown>) =>
    [one['kind'], one['source'], one['file_name'], one['first_position'], one['last_position']]);
  assert.deepEqual(picked, [
    ['stock', 'till', 'stock.ndjson', 5, 6], ['stocktake', null, null, 4, 4],
    ['stock', 'erp', null, 3, 3],
  ]);
  assert.deepEqual(imports.map((one: { counts: object }) => one.counts), [
    { applied: 2, unchanged: 0, failed: 0 },
    { applied: 0, unchanged: 1, failed: 0, zeroed: 1 },
    { applied: 1, unchanged: 0, failed: 1 },
  ]);
});

test('pages the list, newest first, and filters it by kind', async (t) => {
  const { seller } = await openShop(t, { A: 0 });
  const ids: string[] = [];
  for (let stock = 1; stock <= 5; stock += 1) {
    ids.unshift((await sync(seller, [{ sku: 'A', set: stock }])).import);
  }
  await importFile(seller, { body: CSV_HEADER + makeRows(1) });
  const found: string[] = [];
  for (let path = `${IMPORTS}?kind=stock&limit=2`; ;) {
    const answer = await seller.send({ path });
    const page = answer.json();
    found.push(...page.imports.map((one: { id: string }) => one.id));
    if (page.next_cursor === null) break;
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(String(answer.headers['link'])) ?? [];
    assert.equal(new URLSearchParams(next.split('?')[1]).get('cursor'), page.next_cursor);
    path = next;
  }
  assert.deepEqual(found, ids);
  const { next_cursor: cursor } = await read(seller, `${IMPORTS}?limit=1`);
  const answer = await seller.send({ path: `${IMPORTS}?kind=stock&cursor=${cursor}` });
  assert.deepEqual(faultsOf(answer), ['cursor format']);
});

test('answers identically for foreign and unknown ids, and rejects unknown kinds', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  const { import: id } = await sync(seller, [{ sku: 'A', set: 1 }]);
  const other = await server.makeSeller();
  const details = new Set<unknown>();
  for (const path of [id, `imp_${'0'.repeat(22)}`, 'imp_1', 'A']) {
    const answer = await other.send({ path: `${IMPORTS}/${path}` });
    assertProblem(answer, 404, 'not-found');
    details.add(answer.json().detail);
  }
  assert.equal(details.size, 1);
  assert.deepEqual((await read(other, IMPORTS)).imports, []);
  assert.deepEqual(faultsOf(await seller.send({ path: `${IMPORTS}?kind=x&limit=0` })),
    ['kind format', 'limit range']);
});

test('needs a key with changes:read', async (t) => {
  const { server } = await openShop(t, {});
  const seller = await server.makeSeller({ scopes: ['products:read', 'products:write'] });
  for (const path of [IMPORTS, `${IMPORTS}/imp_1`]) {
    assertProblem(await seller.send({ path }), 403, 'scope-missing');
    assertProblem(await server.send({ path }), 401, 'key-missing');
  }
});

test('filters the feed and the ledger by import', async (t) => {
  const { server, seller } = await openShop(t, { A: 1, B: 1 });
  const { import: id } = await sync(seller, [{ sku: 'B', set: 5 }, { sku: 'A', set: 5 }]);
  await sync(seller, [{ sku: 'A', set: 6 }]);
  const { changes, next } = await read(seller, `${CHANGES}?import=${id}`);
  assert.deepEqual([positionsOf(changes), next], [[3, 4], 5]);
  assert.deepEqual(changes.map((change: { import: string }) => change.import), [id, id]);
  const ledger = await read(seller, `${MOVEMENTS}?import=${id}&sort=-position&limit=1`);
  assert.deepEqual(positionsOf(ledger.movements), [4]);
  const cursor = `cursor=${ledger.next_cursor}`;
  const rest = await read(seller, `${MOVEMENTS}?import=${id}&sort=-position&limit=1&${cursor}`);
  assert.deepEqual([positionsOf(rest.movements), rest.next_cursor], [[3], null]);
  const lines = await seller.send({ path: `${MOVEMENTS}?import=${id}&sku=A&format=ndjson` });
  assert.deepEqual(JSON.parse(lines.text).position, 4);
  const other = await server.makeSeller();
  await other.create({ sku: 'A', stock: 1 });
  for (const unknown of [id, 'imp_1', 'x']) {
    assert.deepEqual(await read(other, `${CHANGES}?import=${unknown}`), { changes: [], next: 1 });
    assert.deepEqual(await read(other, `${MOVEMENTS}?import=${unknown}`),
      { movements: [], next_cursor: null });
  }
});

test('follows the changes of one import as a live stream', async (t) => {
  const { server, seller } = await openShop(t, { A: 1, B: 1 });
  const { import: id } = await sync(seller, [{ sku: 'A', set: 5 }]);
  const stream = await openEvents(t, server.port, seller, { query: `import=${id}` });
  await stream.reach(3);
  await sync(seller, [{ sku: 'B', set: 5 }]);
  await stream.reach(4);
  const found = stream.events.flatMap(({ change }) => change?.position ?? []);
  assert.deepEqual(found, [3]);
  stream.leave();
});
