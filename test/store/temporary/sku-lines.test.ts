/** The index of a file's lines by SKU. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SkuLines } from '../../../src/store/temporary/sku-lines.ts';

test('returns the previous line of each of 300,000 SKUs', () => {
  const lines = new SkuLines();
  // Similar texts, which only a good hash distinguishes.
  const skus = Array.from({ length: 300_000 }, (_, n) => `${n % 3 === 0 ? 'SKU-' : ''}${n}`);
  for (const offset of [1, 1_000_000, 2_000_000]) {
    const wrong = skus.filter((sku, n) => lines.note(sku, offset + n)
      !== (offset === 1 ? undefined : Math.max(1, offset - 1_000_000) + n));
    assert.deepEqual(wrong, []);
  }
});

test('finds SKUs that its tables have no room for', () => {
  using lines = new SkuLines(64);
  for (const offset of [1, 30_000, 60_000]) {
    const found = Array.from({ length: 20_000 }, (_, n) => lines.note(`SKU-${n}`, offset + n));
    const previous = offset === 1 ? undefined : Math.max(1, offset - 30_000);
    assert.deepEqual(found, Array.from({ length: 20_000 }, (_, n) => previous && previous + n));
  }
});

test('uses at most 48 MiB for 1,000,000 SKUs, including buffers left over from growing', () => {
  const before = process.memoryUsage().arrayBuffers;
  const lines = new SkuLines();
  for (let n = 0; n < 1_000_000; n += 1) lines.note(`SKU-${n}`, 1 + n);
  assert.equal(lines.note('SKU-999999', 1), 1_000_000);
  assert.ok(process.memoryUsage().arrayBuffers - before < 48 * 1024 * 1024);
});
