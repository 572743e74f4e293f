/** GET /api/v1/stock/movements: the filtered ledger, in pages, and as NDJSON and CSV. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { KeyId } from '../../../src/domain/id.ts';
import type { TestSeller } from '../../support/server.ts';
import { withoutImport } from '../../support/import-id.ts';
import { makeClock } from '../../support/clock.ts';
import { assertProblem, faultsOf } from '../../api/problem.ts';
import {
  MOVEMENTS, openShop, readLedger, readPosition, sendStock, type Shop, STOCK, sync,
} from '../../api/stock/stock.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

interface Page {
  readonly movements: readonly { readonly position: number; readonly sku: string }[];
  readonly next_cursor: string | null;
}

async function readPage(seller: TestSeller, query: string): Promise<Page> {
  const answer = await seller.send({ path: `${MOVEMENTS}?${query}` });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['cache-control'], 'no-store');
  const page: Page = answer.json();
  const link = answer.headers['link'];
  assert.equal(link !== undefined, page.next_cursor !== null);
  if (link !== undefined) assert.match(String(link), /^<\/api\/v1\/stock\/movements\?.*limit=/);
  return page;
}

async function positionsOf(seller: TestSeller, query: string): Promise<number[]> {
  return (await readPage(seller, query)).movements.map(({ position }) => position);
}

/** Positions 1 and 2 are creations; then A and B move alternately, with different sources. */
async function openBusyShop(t: Parameters<typeof openShop>[0]): Promise<Shop> {
  const shop = await openShop(t, { A: 7, B: 0 });
  const { seller } = shop;
  await sync(seller, [{ sku: 'A', adjust: -1 }, { sku: 'B', set: 5, reason: 'count' }], {
    source: 'erp', reason: 'sold',
  });
  await sync(seller, [{ sku: 'A', adjust: -1 }, { sku: 'B', adjust: -1 }], { reason: 'sold' });
  await sync(seller, [{ sku: 'A', set: 9, sequence: 3 }], { source: 'till' });
  return shop;
}

test('returns each movement with its time, key and reason', async (t) => {
  const clock = makeClock();
  const { seller, ids } = await openShop(t, { A: 7 }, { clock });
  clock.now += 1_000;
  await sync(seller, [{ sku: 'A', adjust: -2, sequence: 9 }], { source: 'erp', reason: 'sold' });
  const { movements } = (await seller.send({ path: MOVEMENTS })).json();
  const keyId = movements[0].key_id;
  assert.match(keyId, /^key_/);
  const product = { product_id: ids['A'], sku: 'A', key_id: keyId };
  assert.deepEqual(movements.map(withoutImport), [
    {
      position: 1, type: 'created', ...product, at: new Date(clock.now - 1_000).toISOString(),
      before: 0, after: 7, delta: 7, reason: null, source: null, sequence: null,
    },
    {
      position: 2, type: 'stock', ...product, at: new Date(clock.now).toISOString(),
      before: 7, after: 5, delta: -2, reason: 'sold', source: 'erp', sequence: 9,
    },
  ]);
});

test('finds movements by each filter, and by combined filters', async (t) => {
  const { seller, ids } = await openBusyShop(t);
  const cases: readonly [query: string, positions: readonly number[]][] = [
    ['', [1, 3, 4, 5, 6, 7]],
    ['sort=-position', [7, 6, 5, 4, 3, 1]],
    ['sku=A', [1, 3, 5, 7]],
    ['sku=A&sort=-position', [7, 5, 3, 1]],
    [`id=${ids['B']}`, [4, 6]],
    ['sku=a', []],
    ['source=erp', [3, 4]],
    ['source=ERP', []],
    ['reason=sold', [3, 5, 6]],
    ['reason=sold&source=erp', [3]],
    ['reason=sold&sku=B', [6]],
    [`id=${ids['A']}&source=till&reason=sold`, []],
    ['after=4', [5, 6, 7]],
    ['after=4&sort=-position', [7, 6, 5]],
    ['after=7', []],
    ['after=5&sku=A', [7]],
  ];
  for (const [query, positions] of cases) {
    assert.deepEqual(await positionsOf(seller, query), positions, query);
    assert.deepEqual(await positionsOf(seller, `${query}&limit=1000`), positions, query);
  }
});

test('combines the SKU and the id filter with AND', async (t) => {
  const { seller, ids } = await openBusyShop(t);
  assert.deepEqual(await positionsOf(seller, `sku=A&id=${ids['A']}`), [1, 3, 5, 7]);
  assert.deepEqual(await positionsOf(seller, `sku=A&id=${ids['B']}`), []);
});

test('finds movements by time, with both ends inclusive', async (t) => {
  const clock = makeClock(Date.parse('2026-03-01T10:00:00.000Z'));
  const { seller } = await openShop(t, { A: 1 }, { clock });
  for (const ms of [1, 59_998, 1, 600_000]) {
    clock.now += ms;
    await sync(seller, [{ sku: 'A', adjust: 1 }]);
  }
  const cases: readonly [query: string, positions: readonly number[]][] = [
    ['since=2026-03-01T10:00:00.001Z', [2, 3, 4, 5]],
    ['since=2026-03-01T10:00:00.002Z', [3, 4, 5]],
    ['since=2026-03-01T10:01:00Z', [4, 5]],
    ['since=2026-03-01T10:05:00Z', [5]],
    ['since=2026-03-01T10:11:00.001Z', []],
    ['until=2026-03-01T10:00:00Z', [1]],
    ['until=2026-03-01T09:59:59.999Z', []],
    ['until=2026-03-01T10:00:59.999Z', [1, 2, 3]],
    ['until=2026-03-01T11:00:00%2B01:00', [1]],
    ['until=2036-01-01T00:00:00Z', [1, 2, 3, 4, 5]],
    ['since=1970-01-01T00:00:00Z', [1, 2, 3, 4, 5]],
    ['since=2026-03-01T10:00:00.001Z&until=2026-03-01T10:01:00Z', [2, 3, 4]],
    ['since=2026-03-01T10:00:00.001Z&until=2026-03-01T10:01:00Z&sku=A&sort=-position', [4, 3, 2]],
    ['since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z', []],
  ];
  for (const [query, positions] of cases) {
    assert.deepEqual(await positionsOf(seller, query), positions, query);
  }
});

test('names a product by its current SKU, and a deleted product by its last one', async (t) => {
  const { seller, ids } = await openShop(t, { A: 7, B: 1 });
  const json = { 'content-type': 'application/json' };
  const path = `/api/v1/products/${ids['A']}`;
  await seller.send({ method: 'PATCH', path, headers: json, body: '{"sku":"C"}' });
  await sync(seller, [{ sku: 'C', set: 3 }]);
  assert.deepEqual(await readLedger(seller, '&sku=A'), []);
  assert.deepEqual(await readLedger(seller, '&sku=C'), ['A 0 7', 'C 7 3']);
  await seller.send({ method: 'DELETE', path });
  await seller.create({ sku: 'C', stock: 2 });
  assert.deepEqual(await readLedger(seller, '&sku=C'), ['A 0 7', 'C 7 3', 'C 3 0', 'C 0 2']);
  assert.deepEqual(await readLedger(seller, `&id=${ids['A']}`), ['A 0 7', 'C 7 3', 'C 3 0']);
});

for (const sort of ['position', '-position']) {
  for (const filter of ['', '&sku=A']) {
    test(`pages through sort=${sort}${filter} without gaps during writes`, async (t) => {
      const { server, seller } = await openShop(t, { A: 0, B: 0 });
      await sync(seller, Array.from({ length: 120 }, (_, n) => ({ sku: 'A', set: n + 1 })));
      const end = await readPosition(server, seller);
      const query = `sort=${sort}${filter}`;
      const positions: number[] = [];
      let limit = 10;
      let page = await readPage(seller, `${query}&limit=${limit}`);
      for (;;) {
        assert.ok(page.movements.length <= limit);
        positions.push(...page.movements.map(({ position }) => position));
        if (page.next_cursor === null) break;
        if (positions.length < 60) await sync(seller, [{ sku: 'A', adjust: 1 }]);
        limit = limit === 10 ? 17 : 10; // may change from page to page
        page = await readPage(seller, `${query}&limit=${limit}&cursor=${page.next_cursor}`);
      }
      const wanted = Array.from({ length: 120 }, (_, n) => n + 3);
      const inOrder = sort === 'position' ? positions : positions.toReversed();
      assert.deepEqual(inOrder.filter((position) => position <= end), wanted);
      assert.deepEqual(inOrder, inOrder.toSorted((a, b) => a - b));
      assert.equal(new Set(inOrder).size, inOrder.length);
    });
  }
}

test('rejects altered cursors, and cursors of another query or seller', async (t) => {
  const { server, seller } = await openBusyShop(t);
  const { next_cursor: cursor } = await readPage(seller, 'limit=1');
  assert.ok(cursor);
  const altered = `${cursor.slice(0, 2)}${cursor[2] === 'A' ? 'B' : 'A'}${cursor.slice(3)}`;
  const queries = [
    `cursor=${altered}`, 'cursor=', 'cursor=x', `cursor=${cursor}&sort=-position`,
    `cursor=${cursor}&sku=A`, `cursor=${cursor}&after=1`, `cursor=${cursor}&reason=sold`,
    `cursor=${cursor}&until=2036-01-01T00:00:00Z`,
  ];
  for (const query of queries) {
    const answer = await seller.send({ path: `${MOVEMENTS}?${query}` });
    assertProblem(answer, 400, 'invalid-query');
    assert.match(faultsOf(answer)[0] ?? '', /^cursor /);
  }
  const other = await server.makeSeller();
  const foreign = await other.send({ path: `${MOVEMENTS}?cursor=${cursor}` });
  assertProblem(foreign, 400, 'invalid-query');
  const misplaced = await seller.send({ path: `${STOCK}?cursor=${cursor}` });
  assertProblem(misplaced, 400, 'invalid-query');
  assert.equal((await readPage(seller, `cursor=${cursor}&limit=2`)).movements.length, 2);
});

test('reports all invalid parameters at once', async (t) => {
  const { seller } = await openShop(t, {});
  const query = 'sku=%20&source=&reason=%0A&since=yesterday&until=2026-02-30T00:00:00Z&after=-1'
    + '&sort=stock&limit=1001&format=xml';
  const answer = await seller.send({ path: `${MOVEMENTS}?${query}` });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer).map((error) => error.split(' ')[0]), [
    'sku', 'source', 'reason', 'since', 'until', 'after', 'sort', 'limit', 'format',
  ]);
  const unknown = await seller.send({ path: `${MOVEMENTS}?seller=1` });
  assertProblem(unknown, 400, 'invalid-query');
});

test('exports the ledger as NDJSON, identical to its pages', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  await sync(seller, Array.from({ length: 1_500 }, (_, n) => ({ sku: 'A', set: n + 1 })));
  const pages = await readPage(seller, 'limit=1000&sort=-position');
  const answer = await seller.send({
    path: `${MOVEMENTS}?sort=-position`, headers: { accept: 'application/x-ndjson' },
  });
  assert.equal(answer.headers['content-type'], 'application/x-ndjson');
  assert.equal(answer.headers['seller-position'], '1501');
  const lines = answer.text.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.equal(lines.length, 1_500);
  assert.deepEqual(lines.slice(0, 1_000), pages.movements);
  const same = await seller.send({ path: `${MOVEMENTS}?sort=-position&format=ndjson` });
  assert.equal(same.text, answer.text);
  const empty = await (await server.makeSeller()).send({ path: `${MOVEMENTS}?format=ndjson` });
  assert.deepEqual([empty.status, empty.text], [200, '']);
  for (const query of ['format=csv&limit=5', 'format=ndjson&cursor=x']) {
    assertProblem(await seller.send({ path: `${MOVEMENTS}?${query}` }), 400, 'invalid-query');
  }
  const head = await seller.send({ method: 'HEAD', path: `${MOVEMENTS}?format=csv` });
  assert.deepEqual([head.status, head.text], [200, '']);
});

test('keeps no export open after a HEAD request', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  for (const path of [`${MOVEMENTS}?format=csv`, `${STOCK}?format=ndjson`]) {
    for (let n = 0; n < 60; n += 1) {
      const headers = n % 2 === 0 ? {} : { 'accept-encoding': 'gzip' };
      const head = await seller.send({ method: 'HEAD', path, headers });
      assert.deepEqual([head.status, head.text], [200, '']);
      assert.equal(head.headers['seller-position'], '1');
    }
  }
  assert.deepEqual(server.reports, []);
});

test('exports the ledger as CSV without formulas in cells', async (t) => {
  const { seller, ids } = await openShop(t, { A: 7 });
  const reasons = ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', 'a,"b"', 'plain'];
  const changes = reasons.map((reason, n) => ({ sku: 'A', set: n + 20, reason }));
  await sync(seller, [{ sku: 'A', adjust: -2 }, ...changes], { source: '=source' });
  const answer = await seller.send({ path: `${MOVEMENTS}?format=csv` });
  assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8');
  const rows = answer.text.split('\r\n');
  assert.equal(rows[0], 'position,type,product_id,sku,at,key_id,before,after,delta,reason,source,'
    + 'sequence,actor,import');
  const moved = `^2,stock,${ids['A']},A,[^,]+Z,key_\\w+,7,5,-2,,'=source,,,imp_\\w+$`;
  assert.match(rows[2] ?? '', new RegExp(moved));
  const texts = rows.slice(3).map((row) => row.split(',').slice(9, -2).join(','));
  assert.deepEqual(texts.slice(0, -1), [
    '"\'=HYPERLINK(""http://x"")",\'=source,', "'+1,'=source,", "'-1,'=source,",
    "'@SUM(A1),'=source,", '"a,""b""",\'=source,', "plain,'=source,",
  ]);
  const ndjson = await seller.send({ path: `${MOVEMENTS}?format=ndjson` });
  const imports = ndjson.text.trimEnd().split('\n').map((line) => /"import":"(\w+)"/.exec(line));
  assert.deepEqual(rows.slice(1, -1).map((row) => row.split(',').at(-1)),
    imports.map((found) => found?.[1] ?? ''));
});

test('names in CSV who moved the stock, without formulas', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const by = { sellerId: seller.sellerId, keyId: 1 as KeyId, actorName: '=Ann' };
  await server.store.patchProduct(by, { sku: 'A' as Sku }, { stock: 3 }, {});
  const { text } = await seller.send({ path: `${MOVEMENTS}?format=csv` });
  assert.match(text, /,7,3,-4,,,,'=Ann,\r\n$/);
});

test('says where the kept history begins', async (t) => {
  const clock = makeClock();
  const { server, seller } = await openShop(t, { A: 1, B: 1 }, { clock });
  await sync(seller, [{ sku: 'A', set: 2 }]);
  clock.now += 3 * DAY_MS;
  await sync(seller, [{ sku: 'A', set: 3 }, { sku: 'B', set: 4 }]);
  await server.store.pruneHistory(clock.now - DAY_MS);
  for (const query of ['', '&sort=-position', '&since=1970-01-01T00:00:00Z']) {
    const ledger = await readLedger(seller, query);
    assert.deepEqual(ledger.toSorted(), ['A 2 3', 'B 1 4'], query);
  }
  assert.deepEqual(await readLedger(seller, '&sku=A'), ['A 2 3']);
});

test("returns only movements of the key's seller, and needs changes:read", async (t) => {
  const { server, seller, ids } = await openBusyShop(t);
  const other = await server.makeSeller();
  for (const query of ['', 'sku=A', `id=${ids['A']}`, 'id=prd_', 'id=x']) {
    assert.deepEqual(await positionsOf(other, query), [], query);
  }
  assert.deepEqual(await positionsOf(seller, 'id=prd_00000000000'), []);
  assertProblem(await server.send({ path: MOVEMENTS }), 401, 'key-missing');
  const writer = await server.makeSeller({ scopes: ['stock:write', 'products:read'] });
  assertProblem(await writer.send({ path: MOVEMENTS }), 403, 'scope-missing');
  assert.equal((await sendStock(writer, { changes: [] })).status, 200);
});
