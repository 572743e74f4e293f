/** The contract of a store: stocktakes that arrive in batches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatProductId, type ProductId } from '../../../src/domain/id.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { ZeroingBatch } from '../../../src/store/catalogue-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import { makeActor, makeNewProduct, plain, type PrepareStore, readAll } from './fixture.ts';
import { makeSync } from './stock.ts';

/** A store with a seller whose products have these numbers in stock. */
async function prepareShop(open: ReturnType<PrepareStore>, stocks: readonly number[]) {
  const store = await open(makeClock());
  const actor = await makeActor(store);
  const products = stocks.map((stock, index) => makeNewProduct({ sku: `S${index}`, stock }));
  const { position } = await store.importProducts(actor, products, 'create');
  const ids = (await readAll(store, actor.sellerId)).map(({ id }) => id);
  return { store, actor, ids, position };
}

function makeBatch(members: Partial<ZeroingBatch> = {}): ZeroingBatch {
  return {
    source: undefined, reason: undefined, zeroLimitPercent: 50, products: [], total: undefined,
    ...members,
  };
}

async function stocksOf(store: Store, { sellerId }: Actor): Promise<number[]> {
  return (await readAll(store, sellerId)).map(({ stock }) => stock);
}

export function testStocktakes(prepare: PrepareStore): void {
  testMissing(prepare);
  testZeroing(prepare);
}

function testMissing(prepare: PrepareStore): void {
  test('finds the products in stock that a stocktake has not named', async (t) => {
    const { store, actor, ids, position } = await prepareShop(prepare(t), [5, 5, 0, 5, 5, 5]);
    const { sellerId } = actor;
    const stocktake = store.openStocktake(sellerId);
    const { results } = await store.syncStock(
      actor, makeSync([{ sku: 'S0' as Sku, set: 0 }, { sku: 'S2' as Sku, set: 3 }]), false,
    );
    await stocktake.addNamed(results, [{ sku: 'S1' as Sku }, { sku: 'none' as Sku }]);
    await stocktake.addNamed([{ status: 'not_found' }], [
      { id: formatProductId(sellerId, ids[3] ?? 0 as ProductId) },
    ]);
    assert.deepEqual(await stocktake.findMissing(position), { missing: 2, inStock: 5 });
    const list = async (after?: ProductId) =>
      (await stocktake.listMissing({ after, limit: 1 })).map(({ id, stock }) => [id, stock]);
    assert.deepEqual(await list(), [[ids[4], 5]]);
    assert.deepEqual(await list(ids[4]), [[ids[5], 5]]);
    assert.deepEqual(await list(ids[5]), []);
    await stocktake.close();
    await stocktake.close();
  });

  test('finds only products that existed at the start, with their current stock', async (t) => {
    const { store, actor, ids, position } = await prepareShop(prepare(t), [5, 0]);
    await store.createProduct(actor, makeNewProduct({ stock: 7 }));
    await store.patchProduct(actor, { sku: 'S0' as Sku }, { sku: 'renamed' as Sku, stock: 9 }, {});
    const stocktake = store.openStocktake(actor.sellerId);
    assert.deepEqual(await stocktake.findMissing(position), { missing: 1, inStock: 1 });
    const [level] = await stocktake.listMissing({ after: undefined, limit: 9 });
    assert.deepEqual([level?.id, level?.sku, level?.stock], [ids[0], 'renamed', 9]);
    await stocktake.close();
  });
}

function testZeroing(prepare: PrepareStore): void {
  test('sets products to 0, and skips those that are deleted or empty now', async (t) => {
    const { store, actor, ids, position } = await prepareShop(prepare(t), [5, 6, 7, 8]);
    await store.syncStock(actor, makeSync([{ sku: 'S1' as Sku, set: 0 }]), false);
    await store.deleteProduct(actor, { sku: 'S2' as Sku }, {});
    const { results, ...outcome } = await store.zeroStock(actor, makeBatch({
      products: ids.slice(0, 3), source: 'till', reason: 'count',
      total: { missing: 3, inStock: 6 },
    }));
    assert.deepEqual(results.map(({ id, status }) => [id, status]),
      [[ids[0], 'ok'], [ids[1], 'unchanged'], [ids[2], 'not_found']]);
    assert.deepEqual(plain(outcome), { zeroed: 1, position: position + 3, isReplay: false });
    assert.deepEqual(await stocksOf(store, actor), [0, 0, 8]);
    const page = await store.listChanges(actor.sellerId, { after: position + 2, limit: 1 });
    const [{ movement } = assert.fail()] = page.changes;
    assert.deepEqual(
      [movement.before, movement.after, movement.source, movement.reason],
      [5, 0, 'till', 'count'],
    );
  });

  test('rejects the first batch of a stocktake beyond its limit', async (t) => {
    const { store, actor, ids, position } = await prepareShop(prepare(t), [5, 5]);
    const idempotency = { key: 'k', part: 3 };
    const batch = makeBatch({ products: ids, total: { missing: 2, inStock: 3 } });
    const { rejection, zeroed, results } = await store.zeroStock({ ...actor, idempotency }, batch);
    assert.deepEqual([rejection, zeroed, results], ['zero_limit', 2, []]);
    assert.deepEqual(await stocksOf(store, actor), [5, 5]);
    const made = await store.zeroStock({ ...actor, idempotency }, { ...batch, total: undefined });
    assert.deepEqual([made.rejection, made.position, made.isReplay],
      [undefined, position + 2, false]);
  });

  test('replays a batch of a stocktake, whichever products are missing now', async (t) => {
    const { store, actor, ids } = await prepareShop(prepare(t), [5, 5]);
    const write = { ...actor, idempotency: { key: 'k', part: 1 } };
    const made = await store.zeroStock(write, makeBatch({ products: ids.slice(0, 1) }));
    const again = await store.zeroStock(write, makeBatch({
      products: ids.slice(1), total: { missing: 9, inStock: 9 },
    }));
    assert.deepEqual(again.results, made.results);
    assert.equal(again.isReplay, true);
    assert.deepEqual(await stocksOf(store, actor), [0, 5]);
    await assert.rejects(store.zeroStock(write, makeBatch({ zeroLimitPercent: 51 })),
      { code: 'idempotency_mismatch' });
  });
}
