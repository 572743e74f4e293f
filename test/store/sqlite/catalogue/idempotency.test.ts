/** How idempotency records expire. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import {
  IDEMPOTENCY_PRUNE_RECORDS, IDEMPOTENCY_PRUNE_STEP,
} from '../../../../src/store/limits.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeFolder } from '../../../support/folder.ts';
import { countTo, DAY_MS, makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { readRows } from '../engine/read-file.ts';

test('deletes old keys in small steps while new ones are added', async (t) => {
  const folder = makeFolder(t);
  const clock = makeClock();
  const store = await openStore(t, { folder, clock });
  const actor = await makeActor(store);
  const write = (key: string) =>
    store.createProduct({ ...actor, idempotency: { key, part: 0 } }, makeNewProduct());
  const count = () => readRows(folder, 'SELECT at FROM idempotency').length;
  const old = IDEMPOTENCY_PRUNE_STEP * 2 + 1;
  for (const n of countTo(old)) await write(`old-${n}`);
  assert.equal(count(), old);
  clock.now += 2 * DAY_MS;
  for (const [n, left] of [old - IDEMPOTENCY_PRUNE_STEP, 1, 0].entries()) {
    await write(`new-${n}`);
    assert.equal(count(), left + n + 1);
  }
  await store.close();
});

test('deletes expired keys of inactive sellers, and no valid ones',
  async (t) => {
    const folder = makeFolder(t);
    const clock = makeClock();
    const store = await openStore(t, { folder, clock });
    const [gone, active] = [await makeActor(store), await makeActor(store)];
    const write = (actor: typeof gone, key: string) =>
      store.createProduct({ ...actor, idempotency: { key, part: 0 } }, makeNewProduct());
    for (const n of countTo(IDEMPOTENCY_PRUNE_RECORDS * 2 + 1)) await write(gone, `old-${n}`);
    clock.now += DAY_MS;
    await write(gone, 'last');
    await write(active, 'first');
    clock.now += DAY_MS;
    await store.pruneIdempotency();
    const rows = readRows(folder, 'SELECT key_hash AS hash FROM idempotency');
    const hashes = [[gone, 'last'], [active, 'first']] as const;
    const expected = hashes.map(([{ sellerId }, key]) => hash('sha256', `${sellerId}:${key}`));
    assert.deepEqual(
      rows.map((row) => Buffer.from(row['hash'] as Uint8Array).toString('hex')).toSorted(),
      expected.toSorted(),
    );
    await store.close();
  });
