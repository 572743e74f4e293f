/** The ledger in SQLite: how far back it reads, and that it yields to the event loop. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { ledgerMethods } from '../../../../src/store/rules/history/ledger.ts';
import { Reader } from '../../../../src/store/sqlite/engine/reader.ts';
import type { MovementPage } from '../../../../src/store/history-store.ts';
import { makeDataFolder, makeFolder } from '../../../support/folder.ts';
import { countTo, makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { makeSync } from '../../contract/stock.ts';
import { openStore } from '../open.ts';
import { FILE_NAME } from '../engine/read-file.ts';

test('yields to the event loop while it reads the changes of many products', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  const skus = countTo(10).map((n) => `SKU ${n}` as Sku); // legal ones
  for (const sku of skus) await store.createProduct(actor, makeNewProduct({ sku, stock: 5 }));
  const changes = countTo(1_000).flatMap((n) => skus.map((sku) => ({ sku, set: n })));
  await store.syncStock(actor, makeSync(changes), false);
  let hasYielded = false;
  setImmediate(() => { hasYielded = true; });
  const { levels } = await store.listStockAt(actor.sellerId, 10, { after: undefined, limit: 100 });
  assert.deepEqual(levels.map(({ stock }) => stock), skus.map(() => 5));
  assert.ok(hasYielded);
});

test('reads no further back for a page of one product than its movements reach', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  const [a, b] = [makeNewProduct({ stock: 0 }), makeNewProduct({ stock: 0 })];
  const { id } = await store.createProduct(actor, a);
  await store.createProduct(actor, b);
  const changes = countTo(2_000).flatMap((set) => [{ sku: b.sku, set }, { sku: a.sku, set }]);
  const { position } = await store.syncStock(actor, makeSync(changes), false);
  const { ledger, countRead } = countReads(t, folder);
  for (const filter of [{ productId: id }, { productId: id, sku: a.sku }]) {
    const stocks: number[] = [];
    for (let upTo: number | undefined = position; upTo !== undefined;) {
      const query = { filter, after: 0, upTo, isDescending: true, limit: 50 };
      const page: MovementPage = await ledger.listMovements(actor.sellerId, query);
      stocks.push(...page.movements.map(({ movement }) => movement.after));
      assert.ok(countRead() <= 200);
      upTo = page.next;
    }
    assert.deepEqual(stocks, countTo(2_000).toReversed());
  }
  const query = { filter: { sku: a.sku }, after: 0, upTo: position, isDescending: true, limit: 50 };
  assert.equal((await ledger.listMovements(actor.sellerId, query)).movements.length, 50);
  assert.ok(countRead() <= 200);
});

/** A ledger on its own connection, and how many changes it has read since the last call. */
function countReads(t: TestContext, folder: string) {
  const reader = new Reader(join(folder, FILE_NAME));
  t.after(() => reader.close());
  let count = 0;
  const { queries } = reader;
  return {
    ledger: ledgerMethods({
      ...queries,
      async listVersions(...asked) {
        const steps = await queries.listVersions(...asked);
        count += steps.length;
        return steps;
      },
    }),
    countRead() {
      const since = count;
      count = 0;
      return since;
    },
  };
}
