/** Long reads of the ledger yield to the event loop, so that other requests proceed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { makeDataFolder } from '../../../support/folder.ts';
import { countTurns } from '../../../support/turns.ts';
import { countTo, makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { makeSync } from '../../contract/stock.ts';
import { openStore } from '../open.ts';

const PRODUCTS = 1_000;
const MOVES = 10_000;

test('yields to the event loop while it finds the past level of many products',
  async (t) => {
    const store = await openStore(t, { folder: makeDataFolder(t) });
    const actor = await makeActor(store);
    const skus = countTo(PRODUCTS).map((n) => `S${n}` as Sku); // legal ones
    const products = skus.map((sku) => makeNewProduct({ sku, stock: 5 }));
    await store.importProducts(actor, products, 'create');
    const moves = skus.map((sku) => ({ sku, set: 6 }));
    await store.syncStock({ ...actor, idempotency: undefined }, makeSync(moves), false);
    const list = () =>
      store.listStockAt(actor.sellerId, PRODUCTS, { after: undefined, limit: PRODUCTS });
    assert.ok(await countTurns(list) >= 5);
    assert.ok((await list()).levels.every(({ stock }) => stock === 5));
  });

test('yields to the event loop while it reads the movements of one product',
  async (t) => {
    const store = await openStore(t, { folder: makeDataFolder(t) });
    const actor = await makeActor(store);
    const sku = 'A' as Sku; // a legal one
    await store.createProduct(actor, makeNewProduct({ sku, stock: 0 }));
    const moves = countTo(MOVES).map((n) => ({ sku, set: n }));
    await store.syncStock({ ...actor, idempotency: undefined }, makeSync(moves), false);
    const list = (isDescending: boolean) => store.listMovements(actor.sellerId, {
      filter: { sku, reason: 'none' }, after: 0, upTo: MOVES + 1, isDescending, limit: 1,
    });
    for (const isDescending of [true, false]) {
      const turns = await countTurns(async () => {
        assert.deepEqual((await list(isDescending)).movements, []);
      });
      assert.ok(turns >= 12, `${turns} turns`);
    }
  });
