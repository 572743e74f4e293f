/** The contract of a store: the columns that sellers chose in files with the same column names. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { COLUMN_MAPPINGS_PER_SELLER_LIMIT } from '../../../src/store/limits.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, makeSeller, type PrepareStore } from './fixture.ts';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function testColumnMappings(prepare: PrepareStore): void {
  test('keeps the columns that a seller chose last, for that seller only', async (t) => {
    const open = prepare(t);
    const store = await open(makeClock());
    const [one, other] = [await makeSeller(store), await makeSeller(store)];
    const hash = hashOf('a');
    await store.keepColumnMapping(one.id, hash, { sku: 'Code', name: 'Titel' });
    await store.keepColumnMapping(one.id, hash, { sku: 'Nummer' });
    assert.deepEqual(await store.findColumnMapping(one.id, hash), { sku: 'Nummer' });
    assert.equal(await store.findColumnMapping(other.id, hash), undefined);
    assert.equal(await store.findColumnMapping(one.id, hashOf('b')), undefined);
    await store.keepColumnMapping(one.id, hash, { sku: 'x'.repeat(10_000) });
    await store.close();
    const later = await open(makeClock());
    assert.deepEqual(await later.findColumnMapping(one.id, hash), { sku: 'Nummer' });
    await later.keepColumnMapping(one.id, hash, {});
    assert.equal(await later.findColumnMapping(one.id, hash), undefined);
  });

  test('removes the column mapping that was used longest ago', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const [one, other] = [await makeSeller(store), await makeSeller(store)];
    await store.keepColumnMapping(other.id, hashOf('0'), { sku: '0' });
    for (const n of [0, ...countTo(COLUMN_MAPPINGS_PER_SELLER_LIMIT - 1), 0, -1]) {
      clock.now += 1;
      await store.keepColumnMapping(one.id, hashOf(String(n)), { sku: String(n) });
      await store.keepColumnMapping(other.id, hashOf('0'), { sku: '0' });
    }
    assert.deepEqual(await store.findColumnMapping(one.id, hashOf('0')), { sku: '0' });
    assert.equal(await store.findColumnMapping(one.id, hashOf('1')), undefined);
    assert.deepEqual(await store.findColumnMapping(one.id, hashOf('2')), { sku: '2' });
    assert.deepEqual(await store.findColumnMapping(other.id, hashOf('0')), { sku: '0' });
  });
}
