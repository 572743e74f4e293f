/** The contract of a store: stock syncs of many products, and their dry runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatProductId } from '../../../src/domain/id.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { StockChange } from '../../../src/domain/catalogue/stock-change.ts';
import type { StockSync } from '../../../src/domain/catalogue/stock-sync.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, makeActor, makeNewProduct, plain, type PrepareStore, readAll,
} from './fixture.ts';

const [A, B, C] = ['A', 'B', 'C'].map((text) => text as Sku) as [Sku, Sku, Sku]; // legal ones
const LARGEST = 1_000_000_000;

export function testStock(prepare: PrepareStore): void {
  testEvaluation(prepare);
  testSequences(prepare);
  testAtomicity(prepare);
  testStocktakes(prepare);
  testConcurrency(prepare);
  testDryRuns(prepare);
  testIds(prepare);
}

/** A stock sync, with default values for members that are not given. */
export function makeSync(changes: readonly StockChange[], members: Partial<StockSync> = {}) {
  return {
    changes, source: undefined, reason: undefined, isAtomic: false, completion: undefined,
    ...members,
  };
}

/** A store with a seller whose products A, B and C have 5, 0 and 9 in stock, at 1, 2 and 3. */
async function prepareThree(open: ReturnType<PrepareStore>) {
  const store = await open(makeClock());
  const actor = await makeActor(store);
  const products = [[A, 5], [B, 0], [C, 9]] as const;
  await store.importProducts(
    actor, products.map(([sku, stock]) => makeNewProduct({ sku, stock })), 'create',
  );
  return { store, actor };
}

async function statusesOf(
  store: Store, actor: Actor, changes: readonly StockChange[], members?: Partial<StockSync>,
) {
  const { results } = await store.syncStock(actor, makeSync(changes, members), false);
  return results.map(({ status }) => status);
}

async function stocksOf(store: Store, { sellerId }: Actor): Promise<number[]> {
  return (await readAll(store, sellerId)).map(({ stock }) => stock);
}

function testEvaluation(prepare: PrepareStore): void {
  test('sets and adjusts stock in the order sent, and reports each result', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const [a] = await readAll(store, actor.sellerId);
    assert.ok(a);
    const id = formatProductId(actor.sellerId, a.id);
    const synced = await store.syncStock(actor, makeSync([
      { sku: A, adjust: -2 }, { id, adjust: 4 }, { sku: A, set: 7 }, { sku: B, set: 0 },
    ]), false);
    const of = { id: a.id, sku: A };
    assert.deepEqual(synced.results.slice(0, 3), [
      { status: 'ok', ...of, previous: 5, stock: 3, position: 4 },
      { status: 'ok', ...of, previous: 3, stock: 7, position: 5 },
      { status: 'unchanged', ...of, previous: 7, stock: 7, position: 5 },
    ]);
    assert.deepEqual([synced.results[3]?.status, synced.results[3]?.position], ['unchanged', 2]);
    assert.deepEqual([synced.position, synced.rejection, synced.isReplay], [5, undefined, false]);
    assert.deepEqual(await stocksOf(store, actor), [7, 0, 9]);
  });

  test('rejects a change for its first error, and records nothing', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const shop = { source: 'shop' };
    await statusesOf(store, actor, [{ sku: A, set: 5, sequence: 4 }], shop);
    const before = await readAll(store, actor.sellerId);
    assert.deepEqual(await statusesOf(store, actor, [
      { sku: 'X' as Sku, adjust: -9, expect: 1, sequence: 1 }, // a legal SKU of no product
      { id: 'prd_none', set: 1 },
      { sku: A, adjust: -9, expect: 1, sequence: 4 },
      { sku: A, adjust: -9, expect: 1, sequence: 5 },
      { sku: A, adjust: -9, expect: 5, sequence: 5 },
      { sku: A, adjust: LARGEST, expect: 5, sequence: 5 },
    ], shop), ['not_found', 'not_found', 'stale', 'conflict', 'insufficient', 'invalid']);
    assert.deepEqual(await readAll(store, actor.sellerId), before);
    assert.deepEqual(await statusesOf(store, actor, [
      { sku: A, set: 5, expect: 5, sequence: 5 }, { sku: A, adjust: LARGEST - 5, sequence: 6 },
    ], shop), ['unchanged', 'ok']);
  });

  test("changes no other seller's stock", async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const other = await makeActor(store);
    await store.createProduct(other, makeNewProduct({ sku: A, stock: 1 }));
    const [theirs] = await readAll(store, actor.sellerId);
    const id = formatProductId(actor.sellerId, theirs?.id ?? assert.fail());
    const synced = await store.syncStock(other, makeSync([{ id, set: 2 }, { sku: A, set: 3 }], {
      completion: { zeroLimitPercent: 100 },
    }), false);
    assert.deepEqual(synced.results.map(({ status }) => status), ['not_found', 'ok']);
    assert.deepEqual([synced.position, synced.zeroed], [2, 0]);
    assert.deepEqual(await stocksOf(store, actor), [5, 0, 9]);
  });
}

function testSequences(prepare: PrepareStore): void {
  test('applies each sequence number of a source and product once, and no lower one', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const send = (source: string, sequence: number, sku = A) =>
      statusesOf(store, actor, [{ sku, set: 5, sequence }], { source });
    assert.deepEqual(await send('erp', 7), ['unchanged']);
    assert.deepEqual(await send('erp', 7), ['stale']);
    assert.deepEqual(await send('erp', 6), ['stale']);
    assert.deepEqual(await send('erp', 0, C), ['ok']);
    assert.deepEqual(await send('shop', 0), ['unchanged']);
    assert.deepEqual(await send('erp', 8), ['unchanged']);
  });

  test('applies a sequence number once, whether the product is named by SKU or id', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const [product] = await readAll(store, actor.sellerId);
    assert.ok(product);
    const id = formatProductId(actor.sellerId, product.id);
    const source = { source: 'erp' };
    assert.deepEqual(await statusesOf(store, actor, [{ sku: A, set: 4, sequence: 7 }], source),
      ['ok']);
    assert.deepEqual(await statusesOf(store, actor, [{ id, set: 3, sequence: 7 }], source),
      ['stale']);
    const dryRun = store.dryRunStock(actor, 4, 'erp');
    const { results } = await dryRun.try([{ id, set: 3, sequence: 7 }]);
    assert.deepEqual(results.map(({ status }) => status), ['stale']);
    await dryRun.close();
  });

  test('deletes the sequence numbers of a deleted product', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const change = { sku: A, set: 4, sequence: 9 };
    assert.deepEqual(await statusesOf(store, actor, [change], { source: 'erp' }), ['ok']);
    await store.deleteProduct(actor, { sku: A }, {});
    assert.deepEqual(await statusesOf(store, actor, [change], { source: 'erp' }), ['not_found']);
    await store.createProduct(actor, makeNewProduct({ sku: A }));
    assert.deepEqual(await statusesOf(store, actor, [change], { source: 'erp' }), ['ok']);
  });
}

function testAtomicity(prepare: PrepareStore): void {
  test('makes all changes or none of an atomic request', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const isAtomic = true;
    const changes = [{ sku: A, set: 1, sequence: 1 }, { sku: B, adjust: -1 }];
    const rejected = await store.syncStock(
      actor, makeSync(changes, { isAtomic, source: 'erp' }), false,
    );
    assert.deepEqual(rejected.results.map(({ status }) => status), ['ok', 'insufficient']);
    assert.deepEqual([rejected.rejection, rejected.position], ['failures', 3]);
    assert.deepEqual(await stocksOf(store, actor), [5, 0, 9]);
    const again = makeSync(changes.slice(0, 1), { isAtomic, source: 'erp' });
    const made = await store.syncStock(actor, again, false);
    assert.deepEqual([made.rejection, made.position], [undefined, 4]);
  });

  test('replays the outcome of a call, but processes a rejected call again', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const write = { ...actor, idempotency: { key: 'k', part: 0 } };
    const sync = makeSync([{ sku: A, adjust: 1 }, { sku: B, adjust: -1 }], { isAtomic: true });
    assert.equal((await store.syncStock(write, sync, false)).rejection, 'failures');
    await statusesOf(store, actor, [{ sku: B, set: 1 }]);
    const made = await store.syncStock(write, sync, false);
    assert.equal(made.isReplay, false);
    assert.deepEqual(plain(await store.syncStock(write, sync, false)),
      plain({ ...made, isReplay: true }));
    assert.deepEqual(await stocksOf(store, actor), [6, 0, 9]);
    const mismatch = store.syncStock(write, makeSync([{ sku: A, adjust: 2 }]), false);
    await assert.rejects(mismatch, { code: 'idempotency_mismatch' });
  });
}

function testStocktakes(prepare: PrepareStore): void {
  const count = (zeroLimitPercent: number) => ({ completion: { zeroLimitPercent } });

  test('zeroes products that a stocktake does not name, with its reason and source', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const sync = makeSync([{ sku: A, adjust: -9 }, { sku: B, set: 2 }], {
      ...count(50), reason: 'counted', source: 'erp',
    });
    const counted = await store.syncStock(actor, sync, false);
    assert.deepEqual(counted.results.map(({ status }) => status), ['insufficient', 'ok']);
    assert.deepEqual([counted.zeroed, counted.position], [1, 5]);
    assert.deepEqual(await stocksOf(store, actor), [5, 2, 0]);
    const { changes: [zeroed] } = await store.listChanges(actor.sellerId, { after: 4, limit: 1 });
    assert.deepEqual(zeroed?.movement, {
      before: 9, after: 0, reason: 'counted', source: 'erp', sequence: undefined,
    });
  });

  test('rejects a stocktake that would zero more than its limit of the stock', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const sync = makeSync([{ sku: A, set: 1 }, { sku: B, set: 1 }], count(49));
    const rejected = await store.syncStock(actor, sync, false);
    assert.deepEqual([rejected.rejection, rejected.zeroed, rejected.position],
      ['zero_limit', 1, 3]);
    assert.deepEqual(await stocksOf(store, actor), [5, 0, 9]);
  });

  test('treats products named by invalid changes as counted', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const completion = { zeroLimitPercent: 0 };
    const faulty = [{ sku: C }, { id: 'prd_none' }];
    const counted = await store.syncStock(
      actor, makeSync([{ sku: A, set: 1 }], { completion, faulty }), false,
    );
    assert.deepEqual([counted.rejection, counted.zeroed], [undefined, 0]);
    assert.deepEqual(await stocksOf(store, actor), [1, 0, 9]);
  });

  test('zeroes thousands of products that are not named', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    await store.importProducts(actor, countTo(2_500).map(() => makeNewProduct()), 'create');
    const sync = makeSync([{ sku: A, set: 5 }], count(100));
    const counted = await store.syncStock(actor, sync, false);
    assert.deepEqual([counted.zeroed, counted.position], [2_501, 2_503 + 2_501]);
    const stocks = await stocksOf(store, actor);
    assert.deepEqual([stocks.length, ...new Set(stocks)], [2_503, 5, 0]);
  });
}

function testConcurrency(prepare: PrepareStore): void {
  test('is correct when concurrent writes fail', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const send = (sku: Sku) => statusesOf(store, actor, [{ sku, adjust: 1 }]);
    for (const round of countTo(5)) {
      const taken = store.createProduct(actor, makeNewProduct({ sku: A }));
      const all = Promise.all([send(A), send(C), send(A)]);
      await assert.rejects(taken, { code: 'sku_taken' });
      assert.deepEqual(await all, [['ok'], ['ok'], ['ok']]);
      assert.deepEqual(await stocksOf(store, actor), [5 + 2 * round, 0, 9 + round]);
    }
  });

  test('is correct when another store and other writes change the same products', async (t) => {
    const open = prepare(t);
    const { store, actor } = await prepareThree(open);
    const other = await open(makeClock());
    for (const stock of countTo(5)) {
      assert.deepEqual(await statusesOf(store, actor, [{ sku: A, set: 50 + stock }]), ['ok']);
      await statusesOf(other, actor, [{ sku: A, expect: 50 + stock, set: stock }]);
      assert.deepEqual(
        await statusesOf(store, actor, [{ sku: A, expect: stock, adjust: 1 }]), ['ok'],
      );
      await store.patchProduct(actor, { sku: A }, { sku: 'D' as Sku }, {}); // a legal one
      assert.deepEqual(await statusesOf(store, actor, [{ sku: A, set: 1 }]), ['not_found']);
      await other.patchProduct(actor, { sku: 'D' as Sku }, { sku: A }, {});
    }
  });
}

function testDryRuns(prepare: PrepareStore): void {
  test('a dry run predicts what a call does, and changes nothing', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const sync = makeSync([{ sku: A, adjust: 1, sequence: 1 }, { sku: B, adjust: -1 }], {
      source: 'erp', completion: { zeroLimitPercent: 50 },
    });
    const before = await readAll(store, actor.sellerId);
    const predicted = await store.syncStock(actor, sync, true);
    assert.deepEqual(await readAll(store, actor.sellerId), before);
    assert.deepEqual(await store.syncStock(actor, sync, false), predicted);
    assert.equal(predicted.position, 5);
  });

  test('a dry run in parts applies each part after the parts before it', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const parts: StockChange[][] = [
      [{ sku: A, adjust: -3, sequence: 4 }, { sku: A, adjust: -3 }], [{ sku: A, set: 8 }],
      [{ sku: A, set: 9, sequence: 4 }, { sku: A, adjust: 1, sequence: 5 }],
    ];
    const dryRun = store.dryRunStock(actor, 3, 'erp');
    const predicted = [];
    for (const part of parts) predicted.push(await dryRun.try(part));
    await dryRun.close();
    assert.deepEqual(await stocksOf(store, actor), [5, 0, 9]);
    assert.deepEqual(predicted.flatMap(({ results }) => results.map(({ status }) => status)), [
      'ok', 'insufficient', 'ok', 'stale', 'ok',
    ]);
    for (const [index, part] of parts.entries()) {
      const made = await store.syncStock(actor, makeSync(part, { source: 'erp' }), false);
      assert.deepEqual({ results: made.results, position: made.position }, predicted[index]);
    }
  });

  test('a dry run sees the sequence numbers applied before it', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    await statusesOf(store, actor, [{ sku: A, set: 5, sequence: 9 }], { source: 'erp' });
    const dryRun = store.dryRunStock(actor, 3, 'erp');
    await dryRun.try([{ sku: A, set: 1 }]); // without a number, which a dry run may cache
    const { results } = await dryRun.try([{ sku: A, set: 2, sequence: 9 }]);
    await dryRun.close();
    assert.deepEqual(results.map(({ status }) => status), ['stale']);
  });
}

/** Changes by both SKU and id, as rows of files have them. */
function testIds(prepare: PrepareStore): void {
  test('rejects a change whose id is that of another product than its SKU', async (t) => {
    const { store, actor } = await prepareThree(prepare(t));
    const ids = new Map((await readAll(store, actor.sellerId)).map(({ sku, id }) => [sku, id]));
    const idOf = (sku: Sku): string =>
      formatProductId(actor.sellerId, ids.get(sku) ?? assert.fail());
    const foreign = await store.createProduct(await makeActor(store), makeNewProduct({ sku: B }));
    const other = 'X' as Sku; // a legal one
    const changes: StockChange[] = [
      { sku: B, id: idOf(C), set: 1 }, { sku: C, id: idOf(C), set: 8, sequence: 7 },
      { sku: other, id: idOf(A), set: 1 }, { sku: C, id: 'x', adjust: -1, sequence: 8 },
      { sku: A, id: formatProductId(actor.sellerId, foreign.id), set: 4 },
      { sku: other, id: 'x', set: 1 }, { sku: B, id: idOf(C), set: 2, sequence: 9 },
    ];
    const owned = (sku: Sku) => ({ status: 'invalid', id: ids.get(sku), sku });
    const expected = [owned(C), 'ok', owned(A), 'ok', 'ok', 'not_found', owned(C)];
    // Twice: of the levels that a batch leaves, the next one reads none.
    for (const _ of [1, 2]) {
      const { results } = await store.syncStock(
        actor, makeSync(changes, { source: 'erp' }), true,
      );
      assert.deepEqual(results.map((result) => (result.status === 'invalid'
        ? { status: result.status, id: result.id, sku: result.sku } : result.status)), expected);
    }
    const position = (await store.listProducts(
      actor.sellerId, { after: undefined, limit: 1 },
    )).position;
    const dryRun = store.dryRunStock(actor, position, 'erp');
    const predicted = await dryRun.try(changes);
    await dryRun.close();
    const write = { ...actor, idempotency: { key: 'k', part: 0 } };
    const sync = makeSync(changes, { source: 'erp' });
    const synced = await store.syncStock(write, sync, false);
    assert.deepEqual(plain(synced.results), plain(predicted.results));
    assert.deepEqual(await stocksOf(store, actor), [4, 0, 7]);
    const again = await store.syncStock(write, sync, false);
    assert.deepEqual([plain(again.results), again.isReplay], [plain(synced.results), true]);
  });
}
