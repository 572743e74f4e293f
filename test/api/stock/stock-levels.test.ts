/** GET /api/v1/stock: the stock of all products now, at a position and at a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestSeller } from '../../support/server.ts';
import { makeClock } from '../../support/clock.ts';
import { assertProblem, faultsOf } from '../problem.ts';
import { openShop, readLedger, readStocks, STOCK, sync } from './stock.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const JSON_FIELD = { 'content-type': 'application/json' };

interface Level {
  readonly id: string;
  readonly sku: string;
  readonly stock: number;
  readonly position: number;
}

async function readPage(seller: TestSeller, query = '') {
  const answer = await seller.send({ path: `${STOCK}?${query}` });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['cache-control'], 'no-store');
  const page: { stock: Level[]; position: number; next_cursor: string | null } = answer.json();
  const link = answer.headers['link'];
  assert.equal(link !== undefined, page.next_cursor !== null);
  if (link !== undefined) assert.match(String(link), /^<\/api\/v1\/stock\?.*>; rel="next"$/);
  return page;
}

/** The stock at a position or time, as `sku stock position`. */
async function readAt(seller: TestSeller, at: number | string): Promise<string[]> {
  const { stock } = await readPage(seller, `at=${encodeURIComponent(at)}`);
  return stock.map(({ sku, stock: pieces, position }) => `${sku} ${pieces} ${position}`);
}

test('returns the current stock of all products, in the order of creation', async (t) => {
  const { seller, ids } = await openShop(t, { B: 7, A: 3 });
  await sync(seller, [{ sku: 'B', set: 5 }]);
  assert.deepEqual(await readPage(seller), {
    stock: [
      { id: ids['B'], sku: 'B', stock: 5, position: 3 },
      { id: ids['A'], sku: 'A', stock: 3, position: 2 },
    ],
    position: 3, next_cursor: null,
  });
});

test('returns the stock at each position, with the products and SKUs of that time', async (t) => {
  const { seller, ids } = await openShop(t, { A: 7, B: 1 });
  await sync(seller, [{ sku: 'A', set: 5 }, { sku: 'A', set: 4 }]);
  const path = `/api/v1/products/${ids['A']}`;
  await seller.send({ method: 'PATCH', path, headers: JSON_FIELD, body: '{"sku":"C"}' });
  await sync(seller, [{ sku: 'C', set: 9 }]);
  await seller.send({ method: 'DELETE', path });
  await seller.create({ sku: 'A', stock: 2 });
  await seller.send({ method: 'DELETE', path: `/api/v1/products/${ids['B']}` });
  const wanted: readonly (readonly string[])[] = [
    [], ['A 7 1'], ['A 7 1', 'B 1 2'], ['A 5 3', 'B 1 2'], ['A 4 4', 'B 1 2'], ['C 4 5', 'B 1 2'],
    ['C 9 6', 'B 1 2'], ['B 1 2'], ['B 1 2', 'A 2 8'], ['A 2 8'],
  ];
  for (const [position, levels] of wanted.entries()) {
    assert.deepEqual(await readAt(seller, position), levels, `at ${position}`);
  }
  assert.equal((await readPage(seller, 'at=3')).position, 3);
});

test('agrees with the sum of the ledger at every position', async (t) => {
  const { seller } = await openShop(t, { A: 7, B: 1, C: 0 });
  for (let n = 0; n < 20; n += 1) {
    const sku = 'ABC'.charAt(n % 3);
    await sync(seller, [{ sku, adjust: (n * 7) % 5 }, { sku: 'A', adjust: -1 }]);
  }
  const { position: end } = await readPage(seller);
  const ledger = await readLedger(seller);
  assert.ok(ledger.length > 20);
  for (let position = 0; position <= end; position += 1) {
    const { stock } = await readPage(seller, `at=${position}`);
    const sums = new Map<string, number>();
    const path = `${STOCK}/movements?limit=1000`;
    const { movements } = (await seller.send({ path })).json();
    for (const { position: at, sku, delta } of movements) {
      if (at <= position) sums.set(sku, (sums.get(sku) ?? 0) + delta);
    }
    for (const level of stock) assert.equal(level.stock, sums.get(level.sku) ?? 0);
  }
});

test('returns the stock at a time, including the changes of that millisecond', async (t) => {
  const clock = makeClock(Date.parse('2026-03-01T10:00:00.000Z'));
  const { seller } = await openShop(t, { A: 7 }, { clock });
  clock.now += 30_000;
  await sync(seller, [{ sku: 'A', set: 5 }]);
  clock.now += 90_000;
  await sync(seller, [{ sku: 'A', set: 3 }, { sku: 'A', set: 2 }]);
  const cases: readonly [at: string, levels: readonly string[]][] = [
    ['2026-03-01T09:59:59.999Z', []],
    ['1970-01-01T00:00:00Z', []],
    ['2026-03-01T10:00:00Z', ['A 7 1']],
    ['2026-03-01T10:00:29.999Z', ['A 7 1']],
    ['2026-03-01T10:00:30Z', ['A 5 2']],
    ['2026-03-01T11:01:59.999+01:00', ['A 5 2']],
    ['2026-03-01T10:02:00Z', ['A 2 4']],
    ['2036-01-01T00:00:00Z', ['A 2 4']],
  ];
  for (const [at, levels] of cases) assert.deepEqual(await readAt(seller, at), levels, at);
});

test('treats changes after a clock step back as later than those before it', async (t) => {
  const clock = makeClock(Date.parse('2026-03-01T10:05:30.000Z'));
  const { seller } = await openShop(t, { A: 7, B: 0 }, { clock });
  clock.now -= 180_000;
  await sync(seller, [{ sku: 'A', set: 5 }, { sku: 'B', set: 3 }]);
  assert.deepEqual(await readAt(seller, '2026-03-01T11:00:00Z'), ['A 5 3', 'B 3 4']);
  assert.equal((await readLedger(seller, '&until=2026-03-01T11:00:00Z')).length, 3);
});

test('rejects a position beyond the catalogue, and invalid times',
  async (t) => {
    const { seller } = await openShop(t, { A: 7 });
    const beyond = await seller.send({ path: `${STOCK}?at=2` });
    assertProblem(beyond, 400, 'invalid-query');
    assert.deepEqual(faultsOf(beyond), ['at range']);
    const none = [
      '', '-1', '1.5', '01', '00', 'now', '2026-03-01', '9'.repeat(17), '2026-02-30T00:00:00Z',
      '2026-02-20T24:00:00Z',
    ];
    for (const at of none) {
      const answer = await seller.send({ path: `${STOCK}?at=${at}&limit=0&format=pdf` });
      assertProblem(answer, 400, 'invalid-query');
      assert.deepEqual(faultsOf(answer).map((fault) => fault.split(' ')[0]), [
        'at', 'limit', 'format',
      ]);
    }
  });

test('reports a position or a time that the history no longer covers', async (t) => {
  const clock = makeClock(Date.parse('2026-03-01T10:00:00.000Z'));
  const { server, seller } = await openShop(t, { A: 7, B: 1 }, { clock });
  clock.now += 60_000;
  await sync(seller, [{ sku: 'A', set: 5 }]);
  clock.now += 60_000;
  await sync(seller, [{ sku: 'A', set: 4 }]);
  clock.now += 3 * DAY_MS;
  await sync(seller, [{ sku: 'A', set: 3 }]);
  await server.store.pruneHistory(clock.now - DAY_MS);
  const early = ['0', '3', '2026-03-01T10:00:30Z', '2026-03-01T10:01:00Z', '2026-02-01T00:00:00Z'];
  for (const at of early) {
    for (const format of ['json', 'csv']) {
      const answer = await seller.send({ path: `${STOCK}?at=${at}&format=${format}` });
      const { detail } = assertProblem(answer, 410, 'history-pruned');
      assert.match(detail, /begins after position 4/, at);
    }
  }
  for (const at of ['4', '2026-03-01T10:03:00Z', '2026-03-03T00:00:00Z']) {
    assert.deepEqual((await readAt(seller, at)).map((one) => one.slice(0, 3)), ['A 4', 'B 1'], at);
  }
  assert.deepEqual(await readAt(seller, 5), ['A 3 5', 'B 1 2']);
});

test('pages through one position despite concurrent changes', async (t) => {
  const stocks = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`S-${n}`, n]));
  const { seller, ids } = await openShop(t, stocks);
  for (const [at, count] of [['', 25], ['at=25', 25], ['at=20', 20]] as const) {
    let page = await readPage(seller, `${at}&limit=4`);
    const { position } = page;
    const levels = [...page.stock];
    for (let turn = 0; page.next_cursor !== null; turn += 1) {
      if (at === '') {
        const path = `/api/v1/products/${ids[`S-${turn * 3 + 5}`]}`;
        await seller.send({ method: 'DELETE', path });
        await sync(seller, [{ sku: `S-${turn}`, adjust: 100 }, { sku: 'S-24', adjust: 1 }]);
        await seller.create({});
      }
      const limit = turn % 2 === 0 ? 7 : 4;
      page = await readPage(seller, `${at}&limit=${limit}&cursor=${page.next_cursor}`);
      assert.ok(page.stock.length <= limit);
      assert.equal(page.position, position);
      levels.push(...page.stock);
    }
    assert.deepEqual(levels.map(({ sku, stock }) => `${sku} ${stock}`),
      Array.from({ length: count }, (_, n) => `S-${n} ${n}`));
  }
});

test('rejects cursors that were altered, or come from another position or seller', async (t) => {
  const { server, seller } = await openShop(t, { A: 7, B: 1, C: 2 });
  const { next_cursor: cursor } = await readPage(seller, 'limit=1');
  assert.ok(cursor);
  const altered = `${cursor.slice(0, 2)}${cursor[2] === 'A' ? 'B' : 'A'}${cursor.slice(3)}`;
  for (const query of [`cursor=${altered}`, 'cursor=', `cursor=${cursor}&at=3`]) {
    const answer = await seller.send({ path: `${STOCK}?${query}` });
    assertProblem(answer, 400, 'invalid-query');
    assert.match(faultsOf(answer)[0] ?? '', /^cursor /);
  }
  const foreign = await (await server.makeSeller()).send({ path: `${STOCK}?cursor=${cursor}` });
  assertProblem(foreign, 400, 'invalid-query');
});

test('exports the stock as NDJSON and CSV, equal to its pages', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const rows = Array.from({ length: 1_100 }, (_, n) => `P,K,=S-${n},1,${n}\n`).join('');
  await seller.send({
    method: 'POST', path: '/api/v1/products/import', headers: { 'content-type': 'text/csv' },
    body: `name,category,sku,price,stock\n${rows}`,
  });
  await sync(seller, [{ sku: 'A', set: 8 }]);
  const pages = await readPage(seller, 'at=1101&limit=1000');
  const lines = await seller.send({
    path: `${STOCK}?at=1101`, headers: { accept: 'application/x-ndjson' },
  });
  assert.equal(lines.headers['content-type'], 'application/x-ndjson');
  assert.equal(lines.headers['seller-position'], '1101');
  const levels: Level[] = lines.text.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.equal(levels.length, 1_101);
  assert.deepEqual(levels.slice(0, 1_000), pages.stock);
  const csv = await seller.send({ path: `${STOCK}?format=csv` });
  assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8');
  assert.equal(csv.headers['seller-position'], '1102');
  const [head, first, second, ...rest] = csv.text.split('\r\n');
  assert.equal(head, 'id,sku,stock,position');
  assert.equal(first, `${levels[0]?.id},A,8,1102`);
  assert.equal(second, `${levels[1]?.id},'=S-0,0,2`);
  assert.equal(rest.length, 1_100);
  for (const query of ['format=csv&limit=5', 'format=ndjson&cursor=x']) {
    assertProblem(await seller.send({ path: `${STOCK}?${query}` }), 400, 'invalid-query');
  }
});

test('requires the scope to read products, and returns only stock of the own seller', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const other = await server.makeSeller();
  assert.deepEqual(await readPage(other), { stock: [], position: 0, next_cursor: null });
  assertProblem(await server.send({ path: STOCK }), 401, 'key-missing');
  const writer = await server.makeSeller({ scopes: ['stock:write', 'changes:read'] });
  assertProblem(await writer.send({ path: STOCK }), 403, 'scope-missing');
  assert.deepEqual(await readStocks(seller), { A: 7 });
});
