/** The names of an open catalogue: what counts as their loss, and what a store does then. */
import assert from 'node:assert/strict';
import {
  cpSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync,
  utimesSync, writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { AppError } from '../../../../src/domain/error.ts';
import {
  openBeside, type OpenFile, openFiles, prepareProof,
} from '../../../../src/store/sqlite/files/open-files.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import { makeDataFolder, makeFolder } from '../../../support/folder.ts';
import { countTo, makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { BY_ID } from '../search/model.ts';

const NAMES = ['catalogue.db', 'catalogue.db-wal', 'catalogue.db-shm', 'server.key'];

/** The copy could have the inode of the file, if nobody had that open. */
function replaceByCopy(path: string): void {
  const bytes = readFileSync(path);
  rmSync(path);
  writeFileSync(path, bytes);
}

/** What happens to a data folder with an open catalogue, and the name that is lost. */
const LOSSES: readonly (readonly [what: string, lose: (folder: string) => void, name: RegExp])[] = [
  ['the folder is moved', (folder) => renameSync(folder, `${folder}.old`), /catalogue\.db was mov/],
  ['the folder is removed', (folder) => rmSync(folder, { recursive: true }), /catalogue\.db was m/],
  ['the folder is replaced by a copy', (folder) => {
    renameSync(folder, `${folder}.old`);
    cpSync(`${folder}.old`, folder, { recursive: true });
  }, /catalogue\.db was replaced/],
  ['its parent is moved', (folder) => renameSync(dirname(folder), `${dirname(folder)}.old`),
    /catalogue\.db was moved/],
  ...NAMES.map((name) => [`${name} is removed`, (folder: string) => rmSync(join(folder, name)),
    new RegExp(`/${name} was moved or removed`)] as const),
  ...NAMES.slice(0, 2).map((name) => [`${name} is replaced`,
    (folder: string) => replaceByCopy(join(folder, name)),
    new RegExp(`/${name} was replaced`)] as const),
  ['server.key is overwritten', (folder) => {
    writeFileSync(join(folder, 'server.key'), 'x'.repeat(32));
  }, /server\.key was replaced/],
];

for (const [what, lose, name] of LOSSES) {
  test(`neither writes nor reads any more once ${what}`, async (t) => {
    const { folder, store, actor } = await openCatalogue(t);
    lose(folder);
    const rejection = { code: 'unavailable', message: /moved, removed or replaced/ };
    await assert.rejects(store.createProduct(actor, makeNewProduct()), rejection);
    await assert.rejects(store.listSellers({ after: undefined, limit: 1 }), rejection);
    await assert.rejects(store.createProduct(actor, makeNewProduct()), {
      ...rejection, message: /moved, removed or replaced on its disk\..* Nothing was changed\.$/,
    });
    const { failure } = await store.readMetrics();
    assert.match(failure ?? '', rejection.message);
    const error = await store.lost;
    assert.ok(error && error.cause instanceof Error);
    assert.match(error.cause.message, name);
    assert.match(error.cause.message, /Stop the server, .* and start it again\.$/);
    assert.ok(!error.publicDetail.includes(folder));
    await store.close();
  });
}

const KEPT: readonly [what: string, change: (folder: string) => void][] = [
  ['server.key is replaced by a copy', (folder) => replaceByCopy(join(folder, 'server.key'))],
  ['server.key is touched', (folder) => utimesSync(join(folder, 'server.key'), 1, 1)],
  ['search.db is removed', (folder) => rmSync(join(folder, 'search.db'), { force: true })],
  ['the files are moved to a new folder of the name', (folder) => {
    renameSync(folder, `${folder}.old`);
    mkdirSync(folder);
    for (const name of NAMES) linkSync(join(`${folder}.old`, name), join(folder, name));
  }],
];

for (const [what, change] of KEPT) {
  test(`continues if ${what}`, async (t) => {
    const { folder, store, actor } = await openCatalogue(t);
    change(folder);
    const { position } = await store.createProduct(actor, makeNewProduct());
    assert.equal((await store.readMetrics()).failure, undefined);
    await store.close();
    const reopened = await openStore(t, { folder });
    assert.equal((await reopened.findSeller(actor.sellerId))?.position, position);
  });
}

test('notices a loss without a write, and stays lost when the folder is back', async (t) => {
  const { folder, store, actor } = await openCatalogue(t);
  renameSync(folder, `${folder}.old`);
  await store.lost;
  renameSync(`${folder}.old`, folder);
  await assert.rejects(store.createProduct(actor, makeNewProduct()), { code: 'unavailable' });
  await assert.rejects(store.findSeller(actor.sellerId), { code: 'unavailable' });
  await store.close();
  const reopened = await openStore(t, { folder });
  assert.equal((await reopened.findSeller(actor.sellerId))?.position, 1);
});

test('keeps what was written when only the write-ahead log was removed', async (t) => {
  const { folder, store, actor } = await openCatalogue(t);
  rmSync(join(folder, 'catalogue.db-wal'));
  await store.lost;
  await store.close();
  const reopened = await openStore(t, { folder });
  assert.equal((await reopened.findSeller(actor.sellerId))?.position, 1);
});

test('opens a catalogue through a link, and notices another target', async (t) => {
  const [real, other] = [makeDataFolder(t), makeDataFolder(t)];
  const link = join(makeFolder(t), 'data');
  symlinkSync(real, link);
  const store = await openStore(t, { folder: link });
  const actor = await makeActor(store);
  rmSync(link);
  symlinkSync(other, link);
  await assert.rejects(store.createProduct(actor, makeNewProduct()), { code: 'unavailable' });
  assert.match(String((await store.lost)?.cause), /was replaced/);
  await store.close();
  const folder = makeDataFolder(t);
  renameSync(join(folder, 'catalogue.db'), join(other, 'elsewhere.db'));
  symlinkSync(join(other, 'elsewhere.db'), join(folder, 'catalogue.db'));
  const linked = await openStore(t, { folder });
  await makeActor(linked);
  rmSync(join(other, 'elsewhere.db-wal'));
  await linked.lost;
});

test('opens nothing in another folder: neither a search database nor a lock', async (t) => {
  const { folder, store, actor } = await openCatalogue(t);
  const search = () => store.searchProducts(actor.sellerId, {
    filter: {}, sort: BY_ID, after: undefined, limit: 1,
  }, 1);
  renameSync(folder, `${folder}.old`);
  cpSync(`${folder}.old`, folder, { recursive: true });
  await assert.rejects(search(), { code: 'unavailable' });
  await assert.rejects(search(), { code: 'unavailable' });
  const files: readonly OpenFile[] = [{ path: join(folder, 'catalogue.db'), id: '0:0' }];
  assert.throws(() => openBeside(files, () => assert.fail('opened')), { code: 'unavailable' });
  for (const name of ['search.db', 'search.db.lock', 'webhooks.lock']) {
    assert.equal(statSync(join(folder, name), { throwIfNoEntry: false }), undefined, name);
  }
  await store.close();
});

test('closes a file that was opened while the folder was replaced', (t) => {
  const { folder, files } = openPlainFiles(t);
  let isClosed = false;
  assert.throws(() => openBeside(files, () => {
    rmSync(join(folder, 'catalogue.db'));
    return { [Symbol.dispose]: () => { isClosed = true; } };
  }), (error) => error instanceof AppError && /was moved or removed/.test(String(error.cause)));
  assert.equal(isClosed, true);
});

test('recognizes a file in the place of one whose inode is used again', (t) => {
  const { folder, files } = openPlainFiles(t);
  const key = join(folder, 'server.key');
  const { ino } = statSync(key);
  const reuses = countTo(50).filter(() => {
    rmSync(key);
    writeFileSync(key, 'another key');
    assert.match(prepareProof(files)(false) ?? '', /server\.key was replaced/);
    return statSync(key).ino === ino;
  });
  t.diagnostic(`${reuses.length} of 50 files got the inode again`);
  writeFileSync(key, 'the key');
  assert.equal(prepareProof(files)(false), undefined);
});

test('looks the log up at a commit if its folder has changed, and otherwise later', (t) => {
  const { folder, files } = openPlainFiles(t);
  const prove = prepareProof(files);
  assert.equal(prove(true), undefined);
  const { atime, mtime } = statSync(folder);
  utimesSync(folder, atime, mtime); // as of a file system with rough times
  assert.equal(prove(true), undefined);
  rmSync(join(folder, 'catalogue.db-wal'));
  utimesSync(folder, atime, mtime);
  assert.equal(prove(true), undefined);
  assert.match(prove(false) ?? '', /catalogue\.db-wal was moved or removed/);
  writeFileSync(join(folder, 'other'), '');
  assert.match(prove(true) ?? '', /catalogue\.db-wal was moved or removed/);
});

async function openCatalogue(t: TestContext) {
  const folder = join(makeFolder(t), 'parent', 'data');
  cpSync(makeDataFolder(t), folder, { recursive: true });
  const store = await openSqliteStore({ folder });
  t.after(() => store.close());
  const actor = await makeActor(store);
  await store.createProduct(actor, makeNewProduct());
  return { folder, store, actor };
}

function openPlainFiles(t: TestContext) {
  const folder = makeFolder(t);
  for (const name of NAMES) writeFileSync(join(folder, name), name);
  writeFileSync(join(folder, 'server.key'), 'the key');
  const files = openFiles(folder, join(folder, 'catalogue.db'));
  assert.equal(readFileSync(join(folder, 'server.key'), 'utf8'), 'the key');
  assert.equal(prepareProof(files)(false), undefined);
  return { folder, files };
}
