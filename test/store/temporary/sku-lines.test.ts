/** The index of a file's lines by SKU. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SkuLines } from '../../../src/store/temporary/sku-lines.ts';

test('returns the previous line of each of 300,000 SKUs', () => {
  const lines = new SkuLines();
  // Similar texts, which only a good hash distinguishes.
  const skus = Array.from({ length: 300_000 }, (_, n) => `${n % 3 === 0 ? 'SKU-' : ''}${n}`);
  for (const offset of [1, 1_000_000, 2_000_000]) {
    const wrong = skus.filter((sku, n) => lines.note(sku, offset + n)?.line
      !== (offset === 1 ? undefined : Math.max(1, offset - 1_000_000) + n));
    assert.deepEqual(wrong, []);
  }
});

test('finds SKUs that its tables have no room for', () => {
  using lines = new SkuLines({ slotsLimit: 64 });
  for (const offset of [1, 30_000, 60_000]) {
    const found = Array.from({ length: 20_000 },
      (_, n) => lines.note(`SKU-${n}`, offset + n)?.line);
    const previous = offset === 1 ? undefined : Math.max(1, offset - 30_000);
    assert.deepEqual(found, Array.from({ length: 20_000 }, (_, n) => previous && previous + n));
  }
});

test('returns the last level and price with the line, whatever their size', () => {
  using lines = new SkuLines({ hasValues: true, slotsLimit: 64 });
  const makeEntry = (n: number) =>
    ({ line: n, level: 1_000_000_001 - n, price: Number.MAX_SAFE_INTEGER - n });
  for (let n = 1; n <= 20_000; n += 1) {
    const { line, level, price } = makeEntry(n);
    const previous = lines.note(`SKU-${n % 10_000}`, line, level, price);
    assert.deepEqual(previous, n > 10_000 ? makeEntry(n - 10_000) : undefined);
  }
});

test('uses at most 48 MiB for 1,000,000 SKUs, including buffers left over from growing', () => {
  const before = process.memoryUsage().arrayBuffers;
  const lines = new SkuLines();
  for (let n = 0; n < 1_000_000; n += 1) lines.note(`SKU-${n}`, 1 + n);
  assert.equal(lines.note('SKU-999999', 1)?.line, 1_000_000);
  assert.ok(process.memoryUsage().arrayBuffers - before < 48 * 1024 * 1024);
});
