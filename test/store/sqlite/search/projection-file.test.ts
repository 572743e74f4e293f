/** The file of the projection: damage or loss costs only the time of a rebuild. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type { Store } from '../../../../src/store/store.ts';
import type { Actor } from '../../../../src/store/write.ts';
import { makeRandom } from '../../../domain/random.ts';
import { makeFolder } from '../../../support/folder.ts';
import { makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { readMode } from '../engine/read-file.ts';
import { assertAllFound, importProducts, readProgress, waitFor } from './fixture.ts';
import { BY_ID } from './model.ts';

const FILE = 'search.db';

test('creates files that only their owner may read', async (t) => {
  const { folder, store, actor } = await prepareSearched(t, 10);
  await assertAllFound(store, actor);
  const names = readdirSync(folder).filter((name) => name.startsWith(FILE)).toSorted();
  assert.deepEqual(names, [FILE, `${FILE}-shm`, `${FILE}-wal`, `${FILE}.lock`]);
  for (const name of names) assert.equal(readMode(join(folder, name)), '600', name);
  await store.close();
  const left = readdirSync(folder).filter((name) => name.startsWith(FILE)).toSorted();
  assert.deepEqual(left, [FILE, `${FILE}.lock`]);
});

test('reuses the existing file', async (t) => {
  const { folder, store, actor } = await prepareSearched(t, 10);
  await store.close();
  const created = readFileSync(join(folder, FILE));
  const next = await openStore(t, { folder });
  await assertAllFound(next, actor);
  await next.close();
  assert.deepEqual(readFileSync(join(folder, FILE)), created);
});

const FAULTS: readonly [what: string, corrupt: (file: string) => void][] = [
  ['was removed', (file) => rmSync(file)],
  ['is empty', (file) => truncateSync(file)],
  ['was cut off', (file) => truncateSync(file, 40_960)],
  ['is no database', (file) => writeFileSync(file, 'Not a database, but a text. '.repeat(400))],
  ['has pages of nonsense', (file) => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xa5, 8_192));
  }],
  ['is of an earlier version', (file) => change(file, `
    PRAGMA user_version = 1;
    ALTER TABLE seller DROP COLUMN units; ALTER TABLE seller DROP COLUMN value_minor;`)],
  ['is of a later version', (file) => change(file, 'PRAGMA user_version = 4')],
  ['is of another program', (file) => change(file, 'PRAGMA application_id = 7')],
];

for (const [what, corrupt] of FAULTS) {
  test(`rebuilds the projection if its file ${what}`, async (t) => {
    const { folder, store, actor } = await prepareSearched(t, 2_500);
    await store.close();
    corrupt(join(folder, FILE));
    const next = await openStore(t, { folder });
    await assertAllFound(next, actor);
    await next.createProduct(actor, makeNewProduct());
    await assertAllFound(next, actor);
    assert.equal(readProgress(folder)?.rows, 2_501);
    assert.equal(readMode(join(folder, FILE)), '600');
  });
}

test('continues a build after kill -9', async (t) => {
  const seed = Date.now() % 1e9;
  t.diagnostic(`seed ${seed}`);
  const random = makeRandom(seed);
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  await importProducts(store, actor, 10_000);
  let rows = 0;
  for (let round = 0; round < 3; round += 1) {
    const goal = rows + 1_000 + random.below(2) * 1_000;
    rows = await buildAndKill(folder, goal);
    const progress = readProgress(folder);
    assert.ok(progress && progress.built_to !== null && progress.rows >= goal);
    await store.createProduct(actor, makeNewProduct());
  }
  await assertAllFound(store, actor);
  // Each product was added once, although four processes took part in the build.
  assert.equal(readProgress(folder)?.rows, 10_003);
});

for (const isOverrun of [false, true]) {
  const when = isOverrun ? 'that has been written to' : 'that was not changed';
  test(`rebuilds for an older copy of the catalogue ${when}`, async (t) => {
    const { folder, store, actor } = await prepareSearched(t, 5);
    await store.close();
    copyFileSync(join(folder, 'catalogue.db'), join(folder, 'catalogue.db.copy'));
    const later = await openStore(t, { folder });
    await importProducts(later, actor, 3);
    await assertAllFound(later, actor);
    await later.close();
    copyFileSync(join(folder, 'catalogue.db.copy'), join(folder, 'catalogue.db'));
    const restored = await openStore(t, { folder });
    if (isOverrun) await importProducts(restored, actor, 4);
    await assertAllFound(restored, actor);
    assert.equal(readProgress(folder)?.position, isOverrun ? 9 : 5);
  });
}

test('rebuilds for another catalogue', async (t) => {
  const { folder, store } = await prepareSearched(t, 5);
  await store.close();
  const other = await prepareSearched(t, 5);
  await other.store.close();
  copyFileSync(join(folder, FILE), join(other.folder, FILE));
  const db = new DatabaseSync(join(other.folder, FILE));
  db.prepare('UPDATE seller SET seller_id = ?').run(other.actor.sellerId);
  db.close();
  const next = await openStore(t, { folder: other.folder });
  await assertAllFound(next, other.actor);
});

/** A catalogue of some products, all of which were searched. */
async function prepareSearched(
  t: TestContext, count: number,
): Promise<{ folder: string; store: Store; actor: Actor }> {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  await importProducts(store, actor, count);
  await assertAllFound(store, actor);
  return { folder, store, actor };
}

function change(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

/**
 * Starts a process that builds, and kills it once it has built `goal` rows; returns how many there
 * are. The process stops after 1,000 more, so that a late kill does not find a finished build.
 */
async function buildAndKill(folder: string, goal: number): Promise<number> {
  const script = join(import.meta.dirname, 'build.ts');
  const args = [script, folder, String(goal + 1_000)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const ended = once(child, 'exit');
  try {
    await waitFor(() => (readProgress(folder)?.rows ?? 0) >= goal);
  } finally {
    child.kill('SIGKILL');
  }
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  return readProgress(folder)?.rows ?? 0;
}

test('is rebuilt when it is deleted while in use, for searches and exports', async (t) => {
  const { folder, store, actor } = await prepareSearched(t, 1_500);
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, FILE + suffix), { force: true });
  assert.equal((await exportAll(store, actor)).length, 1_500);
  await assertAllFound(store, actor);
  assert.ok(readdirSync(folder).includes(FILE));
});

test('is rebuilt when an export finds damage', async (t) => {
  const { folder, store, actor } = await prepareSearched(t, 3_000);
  await store.close();
  const file = join(folder, FILE);
  const db = new DatabaseSync(file);
  const select = "SELECT pageno FROM dbstat WHERE name = 'product' AND pagetype = 'leaf'";
  const pages = db.prepare(`${select} ORDER BY pageno`).all();
  db.close();
  const page = Number(pages[pages.length >> 1]?.['pageno']);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, (page - 1) * 4_096, page * 4_096));
  const next = await openStore(t, { folder });
  await assert.rejects(exportAll(next, actor), { name: 'AppError' });
  assert.equal((await exportAll(next, actor)).length, 3_000);
});

async function exportAll(store: Store, { sellerId }: Actor): Promise<unknown[]> {
  const position = (await store.findSeller(sellerId))?.position ?? NaN;
  const { pages } = await store.exportProducts(sellerId, { filter: {}, sort: BY_ID }, position);
  const products: unknown[] = [];
  for await (const page of pages) products.push(...page);
  return products;
}
