/** Exports that are copied into a temporary database. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { SellerId } from '../../../src/domain/id.ts';
import { CONCURRENT_EXPORTS_PER_SELLER_LIMIT } from '../../../src/store/limits.ts';
import { prepareSpooledExports } from '../../../src/store/temporary/spooled-exports.ts';

test('gives back the place of an export whose temporary database cannot be opened', async (t) => {
  const seller = 1 as SellerId; // the cast: any positive integer is an id
  const query = { filter: {}, sort: { by: 'id', isDescending: false } } as const;
  const exportProducts = prepareSpooledExports(async (_seller, _query, position, add) =>
    add({ products: [], position, hasMore: false }));
  const prepare = t.mock.method(DatabaseSync.prototype, 'prepare', () => {
    throw new Error('No room.');
  });
  for (let n = 0; n <= CONCURRENT_EXPORTS_PER_SELLER_LIMIT; n += 1) {
    await assert.rejects(exportProducts(seller, query, 7), /No room/);
  }
  prepare.mock.restore();
  const { position, pages } = await exportProducts(seller, query, 7);
  assert.equal(position, 7);
  assert.deepEqual(await Array.fromAsync(pages), []);
});
