/** The search thread: its loss, its end, and its limits. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, rmdirSync } from 'node:fs';
import { test } from 'node:test';
import { SEARCHES_PER_SELLER_LIMIT } from '../../../../src/store/sqlite/search/limits.ts';
import { makeDataFolder, makeFolder } from '../../../support/folder.ts';
import { countTo, makeActor } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { assertAllFound, catchThreads, importProducts } from './fixture.ts';
import { BY_ID } from './model.ts';

const QUERY = { filter: {}, sort: BY_ID, after: undefined, limit: 1 };

test('starts no thread before the first search', async (t) => {
  const threads = catchThreads(t);
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  await store.listProducts(actor.sellerId, { after: undefined, limit: 1 });
  assert.equal(threads.length, 0);
  await store.searchProducts(actor.sellerId, QUERY, 0);
  await store.searchProducts(actor.sellerId, QUERY, 0);
  assert.equal(threads.length, 1);
});

test('rejects pending searches when its thread is lost, and starts another one', async (t) => {
  const threads = catchThreads(t);
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  await importProducts(store, actor, 10);
  await assertAllFound(store, actor);
  const [thread] = threads;
  assert.ok(thread);
  const exported = await store.exportProducts(actor.sellerId, { filter: {}, sort: BY_ID }, 10);
  thread.postMessage('{ not JSON'); // the thread cannot read it and ends
  await assert.rejects(store.searchProducts(actor.sellerId, QUERY, 10), {
    name: 'AppError', code: 'unavailable', message: /interrupted/, retryAfterSeconds: 5,
  });
  await assert.rejects(exported.pages.next(), { name: 'AppError', code: 'unavailable' });
  await assertAllFound(store, actor);
  assert.equal(threads.length, 2);
});

test('rejects pending and later searches when it is closed', async (t) => {
  const threads = catchThreads(t);
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  await importProducts(store, actor, 3_000);
  const exported = await store.exportProducts(actor.sellerId, { filter: {}, sort: BY_ID }, 3_000);
  const search = store.searchProducts(actor.sellerId, QUERY, 3_001);
  const rejected = assert.rejects(search, { name: 'AppError', code: 'unavailable' });
  const [thread] = threads;
  assert.ok(thread);
  const ended = once(thread, 'exit');
  await Promise.all([store.close(), rejected, ended]);
  const stopping = { name: 'AppError', code: 'unavailable', message: /stopping/ };
  await assert.rejects(store.searchProducts(actor.sellerId, QUERY, 0), stopping);
  await assert.rejects(
    store.exportProducts(actor.sellerId, { filter: {}, sort: BY_ID }, 0), stopping,
  );
  await assert.rejects(exported.pages.next(), stopping);
  assert.equal(threads.length, 1);
});

test('rejects searches over the limit while others wait', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  const find = () => store.searchProducts(actor.sellerId, QUERY, 0);
  const waiting = countTo(SEARCHES_PER_SELLER_LIMIT + 50).map(find);
  const other = await makeActor(store);
  const theirs = store.searchProducts(other.sellerId, QUERY, 0);
  const results = await Promise.allSettled(waiting);
  const rejected = results.flatMap((result) => result.status === 'rejected' ? [result.reason] : []);
  assert.ok(rejected.length > 0 && rejected.length <= 50, `${rejected.length}`);
  for (const { code, retryAfterSeconds } of rejected) {
    assert.deepEqual([code, retryAfterSeconds], ['unavailable', 5]);
  }
  assert.equal((await theirs).position, 0);
  assert.equal((await find()).position, 0);
});

test('rejects a search while its file cannot be created', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  mkdirSync(`${folder}/search.db.lock`);
  await assert.rejects(store.searchProducts(actor.sellerId, QUERY, 0), {
    name: 'AppError', code: 'unavailable',
  });
  rmdirSync(`${folder}/search.db.lock`);
  assert.equal((await store.searchProducts(actor.sellerId, QUERY, 0)).position, 0);
});
