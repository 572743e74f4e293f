/** A full disk, simulated by a page limit: no write is half done, and reads continue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/domain/error.ts';
import type { WrittenProduct } from '../../../../src/store/catalogue-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { Actor } from '../../../../src/store/write.ts';
import { makeFolder } from '../../../support/folder.ts';
import {
  countTo, makeActor, makeNewKey, makeNewProduct, makeSecret, readAll,
} from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { readRows } from './read-file.ts';

const PAGE_LIMIT = 70;

test('rejects a write without disk space, and continues to read', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder, pageLimit: PAGE_LIMIT });
  const actor = await makeActor(store);
  const secret = makeSecret();
  await store.createKey(actor.sellerId, secret, makeNewKey());
  const made = await fill(store, actor);
  assert.ok(made.length > 50);

  const rejected = store.createProduct(actor, makeLargeProduct());
  await assert.rejects(rejected, {
    name: 'AppError', code: 'storage_full', message: /disk of this server is full.*Nothing was/,
  });
  assert.equal((await store.findGrant(secret.hash))?.position, made.length);
  const listed = await readAll(store, actor.sellerId);
  assert.deepEqual(listed.map(({ id }) => id), made.map(({ id }) => id));
  await store.close();
  assertComplete(folder, made.length);
});

test('keeps every acknowledged write if a commit does not fit', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder, pageLimit: 400 });
  const actor = await makeActor(store);
  const outcomes = await Promise.allSettled(countTo(2_500).map(() =>
    store.createProduct(actor, makeLargeProduct())));
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.ok(failures.length > 0);
  for (const { reason } of failures) assert.equal(reason.code, 'storage_full');
  // Several commits long: some of them fit.
  const made = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.position] : []));
  assert.ok(made.length > 0);
  assert.deepEqual((await readAll(store, actor.sellerId)).map((one) => one.position), made);
  await store.close();
  assertComplete(folder, made.length);
});

test('continues where it stopped once there is space again', async (t) => {
  const folder = makeFolder(t);
  const full = await openStore(t, { folder, pageLimit: PAGE_LIMIT });
  const actor = await makeActor(full);
  const { length } = await fill(full, actor);
  await full.close();
  const store = await openStore(t, { folder });
  const { position } = await store.createProduct(actor, makeLargeProduct());
  await store.close();
  assert.equal(position, length + 1);
  assertComplete(folder, length + 1);
});

/** Creates products until there is no room, and returns those that were made. */
async function fill(store: Store, actor: Actor): Promise<WrittenProduct[]> {
  const made: WrittenProduct[] = [];
  try {
    while (made.length < 10_000) made.push(await store.createProduct(actor, makeLargeProduct()));
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'storage_full', String(error));
    return made;
  }
  throw new Error('The page limit is not enforced.');
}

function makeLargeProduct() {
  return makeNewProduct({ name: 'x'.repeat(200), category: 'y'.repeat(100) });
}

function assertComplete(folder: string, count: number): void {
  assert.deepEqual(readRows(folder, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  assert.deepEqual(readRows(folder, `SELECT (SELECT position FROM seller) AS position,
    (SELECT count(*) FROM product) AS products, (SELECT count(*) FROM change) AS changes,
    (SELECT max(position) FROM change) AS last`), [
    { position: count, products: count, changes: count, last: count },
  ]);
}
