/** The writer: batching, its limit, waiting for another process, and the loss of its thread. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { WRITE_QUEUE_LIMIT } from '../../../../src/store/limits.ts';
import type { Store } from '../../../../src/store/store.ts';
import { makeDataFolder, makeFolder } from '../../../support/folder.ts';
import { countTo, makeActor, makeNewProduct, readAll } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { FILE_NAME } from './read-file.ts';

test('commits writes that arrive together at one time, and later ones separately', async (t) => {
  let now = 1_000;
  const store = await openStore(t, { folder: makeDataFolder(t), clock: () => (now += 1) });
  const actor = await makeActor(store);
  await Promise.all(countTo(20).map(() => store.createProduct(actor, makeNewProduct())));
  await store.createProduct(actor, makeNewProduct());
  const times = (await readAll(store, actor.sellerId)).map(({ createdAt }) => createdAt);
  await store.close();
  assert.equal(new Set(times.slice(0, 20)).size, 1);
  assert.equal(times[20], (times[0] ?? NaN) + 1);
});

test('commits the next write of an acknowledged client with those that wait', async (t) => {
  let now = 1_000;
  const store = await openStore(t, { folder: makeDataFolder(t), clock: () => (now += 1) });
  const actor = await makeActor(store);
  const create = () => store.createProduct(actor, makeNewProduct());
  const first = create();
  for (const before = now; now === before;) await setImmediate(); // until it is in flight
  await Promise.all([first.then(create), create()]);
  const times = (await readAll(store, actor.sellerId)).map(({ createdAt }) => createdAt);
  await store.close();
  assert.deepEqual(times.map((time) => time - (times[0] ?? NaN)), [0, 1, 1]);
});

test('rejects a change when the queue is full, and says when to retry', async (t) => {
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const actor = await makeActor(store);
  const waiting = countTo(WRITE_QUEUE_LIMIT).map(() => store.noteKeyUse(actor, '192.0.2.1'));
  await assert.rejects(store.createProduct(actor, makeNewProduct()), {
    name: 'AppError', code: 'unavailable', retryAfterSeconds: 1,
  });
  await Promise.all(waiting);
  assert.equal((await store.createProduct(actor, makeNewProduct())).position, 1);
  await store.close();
});

test('waits for another process that writes, and continues to read', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  await store.createProduct(actor, makeNewProduct());
  const other = new DatabaseSync(join(folder, FILE_NAME), { timeout: 5_000 });
  other.exec('BEGIN IMMEDIATE');
  const state = { isDone: false };
  const write = store.createProduct(actor, makeNewProduct()).then((made) => {
    state.isDone = true;
    return made;
  });
  for (let turn = 0; turn < 50; turn += 1) {
    assert.equal((await readAll(store, actor.sellerId)).length, 1);
    await setImmediate();
  }
  assert.equal(state.isDone, false);
  other.exec('COMMIT');
  other.close();
  assert.equal((await write).position, 2);
  await store.close();
});

test('reports an unknown outcome if its thread is lost, and then rejects', async (t) => {
  const { store, thread } = await openWithThread(t);
  const actor = await makeActor(store);
  const { id } = await store.createProduct(actor, makeNewProduct());
  thread.postMessage('{ not JSON'); // the thread cannot read it and ends
  const inFlight = store.createProduct(actor, makeNewProduct());
  await assert.rejects(inFlight, {
    name: 'AppError', code: 'unavailable', message: /outcome is unknown/,
  });
  await assert.rejects(store.createProduct(actor, makeNewProduct()), {
    name: 'AppError', code: 'unavailable', message: /cannot write until it is restarted/,
  });
  assert.equal((await store.findProduct(actor.sellerId, { id }))?.id, id);
  await store.close();
});

test('closes although its thread is lost with changes in flight', async (t) => {
  const { store, thread } = await openWithThread(t);
  const actor = await makeActor(store);
  const write = store.createProduct(actor, makeNewProduct());
  const [outcome] = await Promise.all([
    assert.rejects(write, { name: 'AppError', code: 'unavailable' }).then(() => 'refused'),
    thread.terminate(),
    store.close(),
  ]);
  assert.equal(outcome, 'refused');
});

test('fails to open with the reason if its thread cannot open the file', async (t) => {
  const folder = makeFolder(t);
  await (await openStore(t, { folder })).close();
  const db = new DatabaseSync(join(folder, FILE_NAME), { timeout: 5_000 });
  db.exec('DROP TABLE change');
  db.close();
  await assert.rejects(openStore(t, { folder }), /no such table: change/);
});

/** Opens a store and catches the thread that it starts. */
async function openWithThread(t: TestContext): Promise<{ store: Store; thread: Worker }> {
  const started: Worker[] = [];
  const catchThread = (worker: Worker): void => { started.push(worker); };
  process.on('worker', catchThread);
  t.after(() => { process.off('worker', catchThread); });
  const store = await openStore(t, { folder: makeDataFolder(t) });
  const [thread] = started;
  assert.ok(thread && started.length === 1);
  return { store, thread };
}
