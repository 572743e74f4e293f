/** The temporary database of a stocktake that arrives in batches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProductId } from '../../../src/domain/id.ts';
import { openStreamedStocktake } from '../../../src/store/temporary/streamed-stocktake.ts';
import { openTemporary } from '../../../src/store/temporary/temporary-database.ts';

test('reports a full disk, instead of losing named products', async () => {
  const db = openTemporary();
  db.exec('PRAGMA max_page_count = 10');
  const stocktake = openStreamedStocktake({
    readLevels: () => [], listLevels: () => [], listExisting: async () => new Set(),
  }, db);
  const results = Array.from({ length: 100_000 }, (_, n) =>
    ({ status: 'ok', id: n + 1 as ProductId, previous: 1 }) as const);
  await assert.rejects(stocktake.addNamed(results, []), { code: 'storage_full' });
  await stocktake.close();
});
