/** What is stored of an import under an Idempotency-Key: a retry after an upgrade must match it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { parseProductRow } from '../../../../src/domain/catalogue/product.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import { makeFolder } from '../../../support/folder.ts';
import { makeAuthor } from '../../contract/fixture.ts';

test('the fingerprint of complete rows is the one that earlier versions stored', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const store = await openSqliteStore({ folder });
  const row = { stock: 7, sku: 'M-1', price: 19.99, name: 'Mug', category: 'Kitchen' };
  const product = parseProductRow(row, { code: 'EUR', decimals: 2 });
  const author = await makeAuthor(store);
  const write = { ...author, idempotency: { key: 'k', part: 0 } };
  await store.importProducts(write, [product], 'upsert');
  await store.close();
  const db = new DatabaseSync(join(folder, 'catalogue.db'), { readOnly: true });
  const stored = db.prepare('SELECT hex(fingerprint) AS hex FROM idempotency').get();
  db.close();
  const text = '["importProducts",{"products":[{"name":"Mug","category":"Kitchen","sku":"M-1",'
    + '"priceMinor":1999,"stock":7}],"mode":"upsert"}]';
  assert.equal(stored?.['hex'], createHash('sha256').update(text).digest('hex').toUpperCase());
});
