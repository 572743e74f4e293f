/** Two clients that adjust the same stock concurrently over HTTP. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { makeRandom, type Random } from '../../domain/random.ts';
import { startServer, type TestSeller } from '../../support/server.ts';

const SKUS = Array.from({ length: 100 }, (_, index) => `S-${index}`);
const STOCK = 5_000;
const CALLS_PER_CLIENT = 20;
const CHANGES_PER_CALL = 500;

interface Entry { readonly sku: string; readonly delta: number; readonly position: number }

test('applies 20,000 concurrent adjustments of two clients to the exact sum', async (t) => {
  const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 32));
  t.diagnostic(`TEST_SEED=${seed} repeats its changes`);
  const seller = await (await startServer(t)).makeSeller();
  const changes = SKUS.map((sku) => ({ sku, stock: STOCK, name: sku, category: 'A', price: 1 }));
  const imported = await post(seller, '/api/v1/products/import', 'application/x-ndjson',
    changes.map((product) => JSON.stringify(product)).join('\n'));
  assert.match(imported, /"created":100/);
  const sums = new Map(SKUS.map((sku) => [sku, STOCK]));
  const random = makeRandom(seed);
  const positions = (await Promise.all([1, 2].map(() => adjust(seller, random, sums)))).flat();
  const count = 2 * CALLS_PER_CLIENT * CHANGES_PER_CALL;
  assert.deepEqual(
    positions.toSorted((one, other) => one - other),
    Array.from({ length: count }, (_, index) => SKUS.length + 1 + index),
  );
  const levels: { sku: string; stock: number }[] = await readLines(seller, '/api/v1/stock');
  assert.deepEqual(levels.map(({ sku, stock }) => [sku, stock]), [...sums]);
  const ledger: Entry[] = await readLines(seller, '/api/v1/stock/movements');
  assert.deepEqual(ledger.map(({ position }) => position),
    Array.from({ length: SKUS.length + count }, (_, index) => 1 + index));
  const moved = new Map(SKUS.map((sku) => [sku, 0]));
  for (const { sku, delta } of ledger) moved.set(sku, (moved.get(sku) ?? 0) + delta);
  assert.deepEqual(moved, sums);
});

/** One client, which sends its requests in sequence. Returns the positions of its changes. */
async function adjust(
  seller: TestSeller, random: Random, sums: Map<string, number>,
): Promise<number[]> {
  const positions: number[] = [];
  for (let call = 0; call < CALLS_PER_CLIENT; call += 1) {
    const changes = Array.from({ length: CHANGES_PER_CALL }, () => ({
      sku: random.pick(SKUS), adjust: random.pick([-3, -2, -1, 1, 2, 4]),
    }));
    const text = await post(
      seller, '/api/v1/stock', 'application/json', JSON.stringify({ changes }),
    );
    const { results, applied } = JSON.parse(text);
    assert.equal(applied, CHANGES_PER_CALL);
    positions.push(...results.map(({ position }: Entry) => position));
    for (const { sku, adjust: by } of changes) sums.set(sku, (sums.get(sku) ?? 0) + by);
  }
  return positions;
}

async function post(
  seller: TestSeller, path: string, type: string, body: string,
): Promise<string> {
  const answer = await seller.send({
    method: 'POST', path, headers: { 'content-type': type }, body,
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

async function readLines<Line>(seller: TestSeller, path: string): Promise<Line[]> {
  const answer = await seller.send({ path, headers: { accept: 'application/x-ndjson' } });
  assert.equal(answer.status, 200, answer.text);
  return answer.text.trimEnd().split('\n').map((line) => JSON.parse(line));
}
