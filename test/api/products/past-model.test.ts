/**
 * Random requests against a model that only replays the change feed: at every position, lists,
 * exports and single products have the bytes that the feed implies and that GET returned then.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { makeRandom, type Random } from '../../domain/random.ts';
import { makeClock } from '../../support/clock.ts';
import { startServer, type TestSeller } from '../../support/server.ts';

const RUNS = Number(process.env['PAST_RUNS'] ?? 3);
const STEPS = Number(process.env['PAST_STEPS'] ?? 40);
/** Positions that are read after the last step, in addition to those at which a page was read. */
const LOOKS = 12;
const PRODUCTS = '/api/v1/products';
const SKUS = ['A', 'B', 'C', 'a/b', 'ü', '=1+1'];
const NAMES = ['Mug', 'Cup, "large"', '=SUM(A1)', 'Teekanne\u{1fad6}', ' two  spaces '];
const JSON_FIELD = { 'content-type': 'application/json' };
const CSV_FIELD = { 'content-type': 'text/csv' };

interface FeedChange {
  readonly position: number;
  readonly type: string;
  readonly product_id: string;
  readonly at: string;
  readonly data: { readonly after?: number };
}

/** The catalogue as GET returned it at a position. */
interface Seen {
  readonly position: number;
  readonly csv: string;
  readonly list: string;
}

for (let run = 1; run <= RUNS; run += 1) {
  test(`returns at a position what the feed up to it implies (run ${run})`, async (t) => {
    const seed = Number(process.env['PAST_SEED'] ?? randomInt(2 ** 32));
    t.diagnostic(`PAST_SEED=${seed} repeats this`);
    const random = makeRandom(seed);
    const clock = makeClock();
    const { makeSeller, store } = await startServer(t, { clock });
    const seller = await makeSeller();
    const seen: Seen[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      clock.now += random.pick([0, 1, 1_000, 86_400_000]);
      await makeRequest(seller, random);
      if (random.below(3) === 0) seen.push(await readNow(seller));
    }
    const feed = await readFeed(seller);
    const end = feed.at(-1)?.position ?? 0;
    await assertPast(seller, random, { feed, seen, first: 0, end });
    const first = random.below(end);
    await store.pruneHistory(Date.parse(feed[first]?.at ?? ''));
    const kept = (await store.listMovements(seller.sellerId, {
      filter: {}, after: 0, upTo: end, isDescending: false, limit: 1,
    })).prunedTo;
    assert.ok(kept <= first);
    await assertPast(seller, random, { feed, seen, first: kept, end });
  });
}

/** Sends a random request, which may be rejected. */
async function makeRequest(seller: TestSeller, random: Random): Promise<void> {
  const { below, pick } = random;
  const sku = pick(SKUS);
  const path = `${PRODUCTS}/sku/${encodeURIComponent(sku)}`;
  const product = { name: pick(NAMES), category: 'K', price: below(500) / 100, stock: below(5) };
  const patches = [{ sku: pick(SKUS) }, { name: pick(NAMES) }, { stock: below(5) }, product];
  const changes = Array.from({ length: below(5) }, () => ({ sku: pick(SKUS), set: below(9) }));
  const rows = Array.from({ length: below(4) }, () => `${pick(SKUS)},N,K,${below(9)},${below(9)}`);
  const send = (method: string, to: string, body: object) =>
    seller.send({ method, path: to, headers: JSON_FIELD, body: JSON.stringify(body) });
  const requests = [
    () => send('POST', PRODUCTS, { ...product, sku }), () => send('PUT', path, product),
    () => send('PATCH', path, pick(patches)), () => send('PATCH', path, pick(patches)),
    () => send('PATCH', path, { sku: pick(SKUS) }), () => seller.send({ method: 'DELETE', path }),
    () => revert(seller, random), () => revert(seller, random),
    () => send('POST', '/api/v1/stock', { changes }),
    () => seller.send({
      method: 'POST', path: `${PRODUCTS}/import`, headers: CSV_FIELD,
      body: `sku,name,category,price,stock\n${rows.join('\n')}\n`,
    }),
  ];
  const { status, text } = await pick(requests)();
  assert.ok(status < 500, text);
}

/** Reverts a few changes, which restores deleted products with their ids. */
async function revert(seller: TestSeller, random: Random) {
  const { position } = (await read(seller, '/api/v1/stock?limit=1')).json();
  const after = random.below(position + 1);
  const body = { after, up_to: after + random.below(position - after + 1), force: true };
  return seller.send({
    method: 'POST', path: '/api/v1/reverts', headers: JSON_FIELD, body: JSON.stringify(body),
  });
}

async function read(seller: TestSeller, path: string) {
  const answer = await seller.send({ path });
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer;
}

async function readNow(seller: TestSeller): Promise<Seen> {
  const csv = await read(seller, `${PRODUCTS}?format=csv`);
  const { text: list } = await read(seller, `${PRODUCTS}?limit=1000`);
  return { position: Number(csv.headers['seller-position']), csv: csv.text, list };
}

async function readFeed(seller: TestSeller): Promise<FeedChange[]> {
  const { changes, next } = (await read(seller, '/api/v1/changes?after=0&limit=1000')).json();
  assert.equal(changes.length, next);
  return changes;
}

/** The products as JSON by id, replayed from the feed, in the order of creation. */
function replay(feed: readonly FeedChange[], position: number): Map<string, string> {
  const products = new Map<string, string>();
  for (const { type, product_id: id, at, data, position: last } of feed.slice(0, position)) {
    if (type === 'deleted') products.delete(id);
    else if (type !== 'stock') products.set(id, JSON.stringify(data));
    else {
      const product = JSON.parse(products.get(id) ?? '');
      const moved = { ...product, stock: data.after, position: last, updated_at: at };
      products.set(id, JSON.stringify(moved));
    }
  }
  // Ids grow in the order of creation; a revert restores a product with its id.
  return new Map([...products].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

async function assertPast(
  seller: TestSeller, random: Random,
  { feed, seen, first, end }: {
    feed: readonly FeedChange[]; seen: readonly Seen[]; first: number; end: number;
  },
): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const at = first + random.below(end - first + 1);
    await assertSame(seller, random, at, replay(feed, at));
  }
  for (const { position, csv, list } of seen.filter((one) => one.position >= first)) {
    const past = `${PRODUCTS}?at=${position}`;
    assert.equal((await read(seller, `${past}&format=csv`)).text, csv, past);
    assert.equal((await read(seller, `${past}&limit=1000`)).text, list, past);
  }
  for (const path of [PRODUCTS, `${PRODUCTS}/sku/A`]) {
    const beyond = await seller.send({ path: `${path}?at=${end + 1}` });
    assert.equal(beyond.status, 400, beyond.text);
    if (first === 0) continue;
    const pruned = await seller.send({ path: `${path}?at=${random.below(first)}` });
    assert.equal(pruned.status, 410, pruned.text);
  }
}

/** Compares the list in pages, the export, and each product by its id and by its SKU. */
async function assertSame(
  seller: TestSeller, random: Random, at: number, expected: Map<string, string>,
): Promise<void> {
  const past = `at=${at}`;
  const products = [...expected.values()];
  const pages: string[] = [];
  const limit = random.pick([1, 2, 1_000]);
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = `${past}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { text, json, headers } = await read(seller, `${PRODUCTS}?${query}`);
    const page = json().products.map((product: object) => JSON.stringify(product));
    pages.push(...page);
    assert.ok(text.startsWith(`{"products":[${page}],`), text);
    assert.deepEqual([headers['seller-position'], headers['etag']], [`${at}`, `"${at}"`]);
    cursor = json().next_cursor;
  }
  assert.deepEqual(pages, products, past);
  const lines = await read(seller, `${PRODUCTS}?${past}&format=ndjson`);
  assert.equal(lines.text, products.map((product) => `${product}\n`).join(''), past);
  for (const [id, product] of expected) {
    const answer = await read(seller, `${PRODUCTS}/${id}?${past}`);
    assert.equal(answer.text, product, past);
    assert.equal(answer.headers['etag'], `"${JSON.parse(product).position}"`);
  }
  for (const sku of SKUS) {
    const product = products.find((json) => JSON.parse(json).sku === sku);
    const path = `${PRODUCTS}/sku/${encodeURIComponent(sku)}?${past}`;
    const { status, text } = await seller.send({ path });
    assert.deepEqual([status, status === 404 ? undefined : text], [product ? 200 : 404, product]);
  }
}
