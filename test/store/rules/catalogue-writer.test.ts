/** The queue of writes to catalogues: which seller is written next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyId, SellerId } from '../../../src/domain/id.ts';
import { CONCURRENT_WRITES_LIMIT, WRITE_BATCH_ROWS_LIMIT } from '../../../src/store/limits.ts';
import {
  type CallsBySeller, CatalogueWriter,
} from '../../../src/store/rules/working-set/catalogue-writer.ts';
import { countTo, makeNewProduct } from '../contract/fixture.ts';

test('writes a seller soon, although others have long queues', async () => {
  const written: SellerId[] = [];
  const writer = new CatalogueWriter({
    isRemembered: () => false,
    findPlace: () => 0,
    commitOptimistically: async () => undefined,
    async commitWithLock(calls: CallsBySeller) {
      written.push(...calls.keys());
      return [...calls.values()].flat().map(() => ({ isDone: true, value: undefined }));
    },
  });
  const write = (id: number, rows: number): Promise<unknown> => {
    // The test makes the ids up.
    const actor = { sellerId: id as SellerId, keyId: 9 as KeyId };
    return writer.run('createProduct', { actor, product: makeNewProduct() }, undefined, rows);
  };
  const busy = countTo(CONCURRENT_WRITES_LIMIT).flatMap((id) =>
    countTo(20).map(() => write(id, WRITE_BATCH_ROWS_LIMIT)));
  await Promise.all([...busy, write(99, 1)]);
  assert.equal(written.indexOf(99 as SellerId), CONCURRENT_WRITES_LIMIT);
  assert.equal(written.length, busy.length + 1);
});
