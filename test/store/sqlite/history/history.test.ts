/** The history: one row per position, which records what the response said. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeFolder } from '../../../support/folder.ts';
import {
  countTo, DAY_MS, makeActor, makeNewKey, makeNewProduct, makeSecret,
} from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { readRows } from '../engine/read-file.ts';

const A = 'A' as Sku; // a legal one
const HISTORY = 'SELECT * FROM change WHERE seller_id = ? ORDER BY position';

test('has one row per position, with the product as it was returned', async (t) => {
  const folder = makeFolder(t);
  const clock = makeClock();
  const store = await openStore(t, { folder, clock });
  const [one, other] = [await makeActor(store), await makeActor(store)];
  const { id: keyId } = await store.createKey(one.sellerId, makeSecret(), makeNewKey());
  const second = { ...one, keyId };
  const expected: unknown[] = [];
  for (const [index, actor] of [one, second, one].entries()) {
    clock.now += 1_000;
    const product = makeNewProduct({ stock: index * 5, name: `Überraschung ${index} "🫖"` });
    const { id, position, json } = await store.createProduct(actor, product);
    await store.createProduct(other, makeNewProduct());
    expected.push({
      seller_id: one.sellerId, position, type: 'created', product_id: id, key_id: actor.keyId,
      at: clock.now, stock_before: 0, stock_after: index * 5, product: json, sku: product.sku,
      prior: null, reason: null, source: null, sequence: null, actor: null,
      import_id: null,
    });
  }
  await store.close();
  assert.deepEqual(readRows(folder, HISTORY, one.sellerId), expected);
  assert.equal(readRows(folder, HISTORY, other.sellerId).length, 3);
});

test('writes no history for failed writes', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  const writes = countTo(30).map((n) => {
    const product = makeNewProduct({ sku: n % 10 === 0 ? 'TEN' : `SKU ${n}` });
    // Stock that no parser lets through.
    return store.createProduct(actor, n % 7 === 0 ? { ...product, stock: -1 } : product);
  });
  const outcomes = await Promise.allSettled(writes);
  await store.close();
  const answered = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.json] : []));
  assert.equal(answered.length, 30 - 2 - 4);
  const history = readRows(folder, HISTORY, actor.sellerId);
  assert.deepEqual(history.map(({ product }) => product), answered);
  assert.deepEqual(history.map(({ position }) => position), countTo(answered.length));
  const [seller] = readRows(folder, 'SELECT position FROM seller');
  assert.equal(seller?.['position'], answered.length);
});

test('has a history row for every listed product', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  await Promise.all(countTo(600).map(() => store.createProduct(actor, makeNewProduct())));
  await store.close();
  assert.deepEqual(readRows(folder, `
    SELECT count(*) AS rows, count(DISTINCT p.id) AS products, min(c.position) AS first,
      max(c.position) AS last
    FROM product AS p JOIN change AS c
      ON c.seller_id = p.seller_id AND c.position = p.position AND c.product_id = p.id
    WHERE json_extract(c.product, '$.sku') = p.sku AND c.stock_after = p.stock
  `), [{ rows: 600, products: 600, first: 1, last: 600 }]);
});

test('records what was changed, moved and deleted, and keeps a last snapshot', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  const { id, json } = await store.createProduct(actor, makeNewProduct({ stock: 7 }));
  await store.patchProduct(actor, { id }, { stock: 9 }, {});
  const renamed = await store.patchProduct(actor, { id }, { name: 'Cup', stock: 4 }, {});
  await store.patchProduct(actor, { id }, { name: 'Cup' }, {});
  await store.deleteProduct(actor, { id }, {});
  await store.close();
  const rows = readRows(folder, `
    SELECT position, type, product_id, stock_before, stock_after, product, prior FROM change
    WHERE seller_id = ? ORDER BY position`, actor.sellerId);
  const product_id = id;
  assert.deepEqual(rows, [
    {
      position: 1, type: 'created', product_id, stock_before: 0, stock_after: 7, product: json,
      prior: null,
    },
    {
      position: 2, type: 'stock', product_id, stock_before: 7, stock_after: 9, product: null,
      prior: 1,
    },
    {
      position: 3, type: 'updated', product_id, stock_before: 9, stock_after: 4,
      product: renamed.json, prior: 2,
    },
    {
      position: 4, type: 'deleted', product_id, stock_before: 4, stock_after: 0,
      product: renamed.json, prior: 3,
    },
  ]);
});

test('the movements of every product add up to its stock', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  for (const round of countTo(5)) {
    const products = countTo(40).map((n) => makeNewProduct({ sku: `S${n}`, stock: n * round % 7 }));
    await store.importProducts(actor, products.slice(round), 'upsert');
    await store.deleteProduct(actor, products[round * 5] ?? makeNewProduct(), {});
  }
  await store.close();
  assert.deepEqual(readRows(folder, `
    SELECT c.product_id, sum(c.stock_after - c.stock_before) AS moved, p.stock
    FROM change AS c LEFT JOIN product AS p ON p.seller_id = c.seller_id AND p.id = c.product_id
    GROUP BY c.product_id HAVING moved <> coalesce(p.stock, 0)
  `), []);
});

test('keeps no old snapshot of a product that has a newer one, or is deleted', async (t) => {
  const folder = makeFolder(t);
  const clock = makeClock();
  const store = await openStore(t, { folder, clock });
  const actor = await makeActor(store);
  const prune = async (): Promise<unknown[]> => {
    clock.now += DAY_MS;
    await store.pruneHistory(clock.now);
    return readRows(folder, HISTORY, actor.sellerId).map(({ position }) => position);
  };
  const move = (stock: number) => store.patchProduct(actor, { sku: A }, { stock }, {});
  await store.createProduct(actor, makeNewProduct({ sku: A, stock: 0 })); // at 1
  for (const stock of [1, 2, 3]) await move(stock);
  assert.deepEqual(await prune(), [1, 4]);
  await move(4);
  assert.deepEqual(await prune(), [1, 5]);
  await store.patchProduct(actor, { sku: A }, { stock: 5, name: 'Another' }, {}); // at 6
  assert.deepEqual(await prune(), [6]);
  await move(6);
  assert.deepEqual(await prune(), [6, 7]);
  await store.deleteProduct(actor, { sku: A }, {}); // at 8
  assert.deepEqual(await prune(), [8]);
  await store.createProduct(actor, makeNewProduct()); // at 9
  assert.deepEqual(await prune(), [9]);
});
