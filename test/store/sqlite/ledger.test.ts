/** The ledger in SQLite: looks that have to go far back let others have their turns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sku } from '../../../src/domain/product.ts';
import { makeFolder } from '../../support/folder.ts';
import { countTo, makeAuthor, makeNewProduct } from '../contract/fixture.ts';
import { makeSync } from '../contract/stock.ts';
import { openStore } from './open.ts';

test('gives others turns while it goes back through the changes of many products', async (t) => {
  const store = await openStore(t, { folder: makeFolder(t) });
  const author = await makeAuthor(store);
  const skus = countTo(10).map((n) => `SKU ${n}` as Sku); // legal ones
  for (const sku of skus) await store.createProduct(author, makeNewProduct({ sku, stock: 5 }));
  const changes = countTo(1_000).flatMap((n) => skus.map((sku) => ({ sku, set: n })));
  await store.syncStock(author, makeSync(changes), false);
  let hadTurn = false;
  setImmediate(() => { hadTurn = true; });
  const { levels } = await store.listStockAt(author.sellerId, 10, { after: undefined, limit: 100 });
  assert.deepEqual(levels.map(({ stock }) => stock), skus.map(() => 5));
  assert.ok(hadTurn);
});
