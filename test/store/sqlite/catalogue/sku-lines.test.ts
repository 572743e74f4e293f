/** The lines of a file by SKU. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { openSkuLines } from '../../../../src/store/sqlite/catalogue/sku-lines.ts';
import { openTemporary } from '../../../../src/store/sqlite/engine/connection.ts';

const skuOf = (n: number): Sku => `SKU-${n}` as Sku;

test('returns the line noted before it', () => {
  const lines = openSkuLines();
  assert.equal(lines.note(skuOf(1), 2), undefined);
  assert.equal(lines.note(skuOf(2), 3), undefined);
  assert.equal(lines.note(skuOf(1), 8), 2);
  assert.equal(lines.note(skuOf(1), 9), 8);
  lines.close();
  lines.close();
});

test('notes nothing more once its disk is full, and throws no error', () => {
  const db = openTemporary();
  db.exec('PRAGMA max_page_count = 8');
  const lines = openSkuLines(db);
  for (let n = 0; n < 5_000; n += 1) assert.equal(lines.note(skuOf(n), n), undefined);
  assert.equal(lines.note(skuOf(0), 6_000), undefined);
  assert.equal(db.isOpen, false);
  lines.close();
});
