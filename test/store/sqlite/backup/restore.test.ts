/** Restoring a backup: completely, or not at all. */
import assert from 'node:assert/strict';
import {
  closeSync, copyFileSync, existsSync, linkSync, mkdirSync, openSync, readdirSync, readFileSync,
  rmSync, statSync, truncateSync, writeFileSync, writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type { SellerId } from '../../../../src/domain/id.ts';
import { generateTotpSecret } from '../../../../src/domain/access/totp.ts';
import { backUp } from '../../../../src/store/sqlite/backup/backup.ts';
import { openExclusive, openWriter } from '../../../../src/store/sqlite/engine/connection.ts';
import { AtomicFile } from '../../../../src/store/sqlite/files/atomic-file.ts';
import { restore, type Restored } from '../../../../src/store/sqlite/backup/restore.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { Actor } from '../../../../src/store/write.ts';
import { startServing } from '../../../support/command.ts';
import { makeFolder } from '../../../support/folder.ts';
import { mountSmallDisk } from '../../../support/small-disk.ts';
import { makeNewKey, makeNewProduct, makeSecret, readAll } from '../../contract/fixture.ts';
import { join as joinPortal, makeNewSession } from '../../contract/portal-fixture.ts';
import { makeNewWebhook } from '../../contract/webhooks.ts';
import { openStore } from '../open.ts';
import { FILE_NAME, readFolder, readMode } from '../engine/read-file.ts';
import { findAll } from '../search/fixture.ts';
import { ownerOf } from '../../../support/owner.ts';

const AT = Date.UTC(2026, 10, 21, 9, 30, 5, 999);
const KEPT = `${FILE_NAME}.replaced-20261121T093005Z`;
const ignore = (): void => {};

test('restores a backup, and keeps the old catalogue under another name', async (t) => {
  const { folder, store, file, sellerId } = await makeBackup(t);
  const actor = await makeKey(store, sellerId);
  const before = await readAll(store, sellerId);
  const session = makeNewSession();
  const verified = { ...ownerOf(sellerId), passwordHash: '$argon2id$one', hasTotp: true };
  await store.createSession(verified, session);
  await store.createProduct(actor, makeNewProduct());
  assert.equal((await findAll(store, sellerId)).length, before.length + 1);
  await store.close();

  const bytes = readFileSync(file);
  const { version: _, mark: __, ...told } = await restoreTo(folder, file, { isReplacing: true });
  assert.deepEqual(told, {
    sellers: 1, products: 3, changes: 3, bytes: bytes.length, kept: [KEPT],
    secrets: { sealed: 2, opened: 2 },
  });
  assert.deepEqual(readFileSync(file), bytes);
  assert.deepEqual(readdirSync(folder).toSorted(),
    [FILE_NAME, KEPT, 'search.db.lock', 'server.key']);
  assert.deepEqual([readMode(join(folder, FILE_NAME)), readMode(folder)], ['600', '700']);
  assert.deepEqual(countProducts(join(folder, KEPT)), 4);

  const again = await openStore(t, { folder });
  assert.deepEqual(await readAll(again, sellerId), before);
  assert.deepEqual(await findAll(again, sellerId), before);
  assert.deepEqual(await again.listSessions(ownerOf(sellerId), 10), [], 'all users are signed out');
  assert.equal((await again.createProduct(actor, makeNewProduct())).position, 4);
  assert.equal((await findAll(again, sellerId)).length, 4);
});

test('creates a missing catalogue, and counts secrets that the key cannot decrypt', async (t) => {
  const { folder, store, file } = await makeBackup(t);
  await store.close();
  const other = join(makeFolder(t), 'new', 'data');
  const { secrets, kept } = await restoreTo(other, file);
  assert.deepEqual([secrets, kept], [{ sealed: 2, opened: 0 }, []]);
  assert.deepEqual(readdirSync(other), [FILE_NAME]);
  copyFileSync(join(folder, 'server.key'), join(other, 'server.key'));
  const again = await restoreTo(other, file, { isReplacing: true });
  assert.deepEqual(again.secrets, { sealed: 2, opened: 2 });
});

test('replaces nothing without --replace', async (t) => {
  const { folder, store, file } = await makeBackup(t);
  await store.close();
  const before = readFolder(folder);
  await assert.rejects(restoreTo(folder, file), {
    code: 'unavailable', message: /already contains a catalogue\. .* --replace/,
  });
  assert.deepEqual(readFolder(folder), before);
});

test('rejects a folder that a server uses, and does not disturb the server', async (t) => {
  const { folder, store, file, sellerId } = await makeBackup(t);
  await store.close();
  const serving = await startServing(t, ['--data', folder]);
  await assert.rejects(restoreTo(folder, file, { isReplacing: true }), {
    code: 'unavailable', message: /is in use\. Stop the server.* Nothing was changed\./,
  });
  assert.ok(!readdirSync(folder).some((name) => /replaced|part/.test(name)));
  assert.equal(await serving.stop('SIGTERM'), 0);
  const again = await openStore(t, { folder });
  assert.equal((await readAll(again, sellerId)).length, 3);
});

test('writes to no file that was renamed while it was being opened', (t) => {
  const folder = makeFolder(t);
  const [file, kept] = [join(folder, 'one.db'), join(folder, 'kept.db')];
  const first = new DatabaseSync(file);
  first.exec('PRAGMA journal_mode = WAL; CREATE TABLE one (n)');
  assert.throws(() => openExclusive(file), { errcode: 5 });
  first.close();
  const alone = openExclusive(file);
  const late = new DatabaseSync(file); // as a server that starts during a restore
  assert.throws(() => late.exec('PRAGMA journal_mode = WAL'), { errcode: 5 });
  const target = new AtomicFile(file);
  target.begin();
  openWriter(target.tempPath).close();
  target.replace(kept);
  alone.close();
  assert.throws(() => late.exec('PRAGMA journal_mode = WAL'), /readonly/);
  assert.throws(() => late.exec('INSERT INTO one VALUES (1)'), /readonly/);
  late.close();
});

const DEFECTS: readonly [what: string, corrupt: (file: string) => void, says: RegExp][] = [
  ['no file', (file) => rmSync(file), /There is no file/],
  ['a folder', (file) => { rmSync(file); mkdirSync(file); }, /is not a database of/],
  ['a foreign file', (file) => writeFileSync(file, 'a letter'), /is not a database of/],
  ['one of a newer version', (file) => change(file, 'PRAGMA user_version = 999'), /newer version/],
  ['one that is cut off', (file) => cutOff(file), /copy\.db is damaged|malformed/],
  ['one with an empty page', (file) => corruptPage(file), /copy\.db is damaged|malformed/],
  ['one without a change', (file) => change(file, 'DELETE FROM change WHERE position = 2'),
    /copy\.db is damaged: The history of seller sel_\w+ has no change/],
  ['a database in use', (file) => writeFileSync(`${file}-shm`, ''), /"backup" first/],
];

test('restores only a complete backup, and otherwise keeps the catalogue', async (t) => {
  const { folder, store, file } = await makeBackup(t);
  await store.close();
  const names = readdirSync(folder);
  for (const [what, corrupt, says] of DEFECTS) {
    const defective = join(makeFolder(t), 'copy.db');
    copyFileSync(file, defective);
    corrupt(defective);
    await assert.rejects(restoreTo(folder, defective, { isReplacing: true }), says, what);
    assert.deepEqual(readdirSync(folder), names, what);
    assert.equal(countProducts(join(folder, FILE_NAME)), 3, what);
    const empty = join(makeFolder(t), 'data');
    await assert.rejects(restoreTo(empty, defective), says, what);
    assert.deepEqual(existsSync(empty) ? readdirSync(empty) : [], [], what);
  }
});

for (const [what, sql, text] of [
  ['a trigger', `CREATE TRIGGER unrevoke AFTER UPDATE OF revoked_at ON api_key BEGIN
    UPDATE api_key SET revoked_at = NULL; END`, 'trigger unrevoke does not belong here'],
  ['a view', 'CREATE VIEW everything AS SELECT * FROM product', 'view everything does not'],
  ['a view with endless rows in the place of a table', `ALTER TABLE change_minute RENAME TO other;
    CREATE VIEW change_minute AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)
      SELECT n AS seller_id, n AS position FROM r`, 'table other does not belong here'],
  ['a foreign table', 'CREATE TABLE other (id INTEGER) STRICT', 'table other does not'],
] as const) {
  test(`rejects a backup with ${what}, and keeps the catalogue`, async (t) => {
    const { folder, store, file } = await makeBackup(t);
    await store.close();
    change(file, sql);
    const before = readdirSync(folder);
    await assert.rejects(restoreTo(folder, file, { isReplacing: true }), {
      code: 'unavailable', message: new RegExp(`is not a backup of this server: The ${text}`),
    });
    assert.deepEqual(readdirSync(folder), before);
    assert.equal(countProducts(join(folder, FILE_NAME)), 3);
  });
}

test('does not touch a foreign file or a shared folder', async (t) => {
  const { store, file } = await makeBackup(t);
  await store.close();
  const [foreign, shared] = [makeFolder(t), makeFolder(t)];
  writeFileSync(join(foreign, FILE_NAME), 'a letter');
  writeFileSync(join(shared, 'letter.txt'), 'a letter');
  const before = [foreign, shared].map(readFolder);
  await assert.rejects(restoreTo(foreign, file, { isReplacing: true }), /is not a database of/);
  await assert.rejects(restoreTo(shared, file, { isReplacing: true }), /has other uses/);
  assert.deepEqual([foreign, shared].map(readFolder), before);
});

test('reverts an update, and keeps the catalogue of the newer version', async (t) => {
  const { folder, store, file, sellerId } = await makeBackup(t);
  await store.close();
  change(join(folder, FILE_NAME), 'PRAGMA user_version = 999');
  await restoreTo(folder, file, { isReplacing: true });
  assert.equal((await readAll(await openStore(t, { folder }), sellerId)).length, 3);
  assert.equal(countProducts(join(folder, KEPT)), 3);
});

test('moves the WAL of a missing catalogue aside', async (t) => {
  const { folder, store, file } = await makeBackup(t);
  await store.close();
  rmSync(join(folder, FILE_NAME));
  writeFileSync(join(folder, `${FILE_NAME}-wal`), 'an old WAL');
  const { kept } = await restoreTo(folder, file);
  assert.deepEqual(kept, [`${KEPT}-wal`]);
  assert.equal(readFileSync(join(folder, `${KEPT}-wal`), 'utf8'), 'an old WAL');
});

test('removes the second name that a killed restore has left', async (t) => {
  const { folder, store, file } = await makeBackup(t);
  await store.close();
  const left = join(folder, `${FILE_NAME}.replaced-20260101T000000Z`);
  linkSync(join(folder, FILE_NAME), left);
  const other = join(folder, `${FILE_NAME}.replaced-20250101T000000Z`);
  writeFileSync(other, 'an older catalogue');
  await restoreTo(folder, file, { isReplacing: true });
  assert.deepEqual([existsSync(left), existsSync(other)], [false, true]);
});

test('reports a full disk, and leaves nothing', async (t) => {
  const { store, file } = await makeBackup(t);
  await store.close();
  const disk = mountSmallDisk(t, '64k');
  if (disk === undefined) return;
  await assert.rejects(restoreTo(join(disk, 'data'), file), {
    code: 'storage_full', message: /^The copy needs 1 MiB; .* Nothing was written\.$/,
  });
  assert.deepEqual(readdirSync(join(disk, 'data')), []);
});

/** A store with three products and two encrypted secrets, and a backup of it. */
async function makeBackup(t: TestContext) {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const { sellerId } = await joinPortal(store);
  const actor = await makeKey(store, sellerId);
  for (let n = 0; n < 3; n += 1) await store.createProduct(actor, makeNewProduct());
  await store.createWebhook(actor, makeNewWebhook());
  const totp = { secret: generateTotpSecret(), step: 7, recoveryHashes: [] };
  await store.enableTotp(ownerOf(sellerId), totp, {});
  const file = join(makeFolder(t), 'copy.db');
  await backUp(folder, new AtomicFile(file), ignore);
  return { folder, store, file, sellerId };
}

async function makeKey(store: Store, sellerId: SellerId): Promise<Actor> {
  return { sellerId, keyId: (await store.createKey(sellerId, makeSecret(), makeNewKey())).id };
}

function restoreTo(
  folder: string, file: string, { isReplacing } = { isReplacing: false },
): Promise<Restored> {
  const target = new AtomicFile(join(folder, FILE_NAME));
  return restore({ file, folder, target, isReplacing, at: AT }, ignore);
}

function change(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

function cutOff(file: string): void {
  truncateSync(file, statSync(file).size - 4_096);
}

/** Writes nothing over the first page of an index. */
function corruptPage(file: string): void {
  const db = new DatabaseSync(file, { readOnly: true });
  const row = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'product_sku'").get();
  db.close();
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(4_096), 0, 4_096, (Number(row?.['rootpage']) - 1) * 4_096);
  closeSync(handle);
}

function countProducts(file: string): number {
  const db = new DatabaseSync(file);
  try {
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
    return Number(db.prepare('SELECT count(*) AS count FROM product').get()?.['count']);
  } finally {
    db.close();
  }
}
