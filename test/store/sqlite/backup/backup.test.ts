/** Copies of the database during writes: one complete snapshot, or no file. */
import assert from 'node:assert/strict';
import {
  chmodSync, closeSync, cpSync, openSync, readdirSync, readFileSync, statfsSync, statSync,
  symlinkSync, writeFileSync, writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { backUp } from '../../../../src/store/sqlite/backup/backup.ts';
import type { CopyState } from '../../../../src/store/sqlite/backup/database-copy.ts';
import { AtomicFile } from '../../../../src/store/sqlite/files/atomic-file.ts';
import type { Store } from '../../../../src/store/store.ts';
import type { Actor } from '../../../../src/store/write.ts';
import { makeFolder } from '../../../support/folder.ts';
import { mountSmallDisk } from '../../../support/small-disk.ts';
import { countTo, makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { FILE_NAME, readFolder, readMode, readRows } from '../engine/read-file.ts';

const ignore = (): void => {};

test('copies one snapshot while another connection commits between any two steps', async (t) => {
  const { folder, store, actor } = await makeCatalogue(t, 8_000);
  const file = join(makeFolder(t), 'copy.db');
  const states: CopyState[] = [];
  const written: Promise<unknown>[] = [];
  const writer = new DatabaseSync(join(folder, FILE_NAME), { timeout: 10_000 });
  t.after(() => writer.close());
  const made = await backUp(folder, new AtomicFile(file), (state) => {
    // SQLite's own backup restarts after each commit, so it would never end.
    assert.ok(states.push(state) < 200, 'the copy restarts again and again');
    writer.exec("INSERT INTO seller (name, currency, currency_decimals, created_at) "
      + "VALUES ('Another', 'EUR', 2, 0)");
    written.push(store.createProduct(actor, makeNewProduct()));
  });
  assert.ok(states.length > 3, `${states.length} steps`);
  assert.equal((await Promise.all(written)).length, states.length);
  const shares = states.map(({ bytes, sizeBytes }) => bytes / sizeBytes);
  assert.deepEqual(shares, shares.toSorted((one, other) => one - other));
  assert.equal(shares.at(-1), 1);

  const { version: _, mark: __, ...facts } = made;
  const bytes = statSync(file).size;
  assert.deepEqual(facts, { sellers: 1, products: 8_000, changes: 8_000, bytes });
  const expected = { sellers: 1, products: 8_000, changes: 8_000, last: 8_000 };
  assert.deepEqual(readCounts(file), expected);
  assert.deepEqual(readdirSync(join(file, '..')), ['copy.db']);
  assert.equal(readMode(file), '600');
  const db = new DatabaseSync(file, { readOnly: true });
  t.after(() => db.close());
  assert.deepEqual({ ...db.prepare('PRAGMA journal_mode').get() }, { journal_mode: 'delete' });
});

test('never overwrites a file, not even one that appears during the copy', async (t) => {
  const { folder } = await makeCatalogue(t, 10);
  const file = join(makeFolder(t), 'copy.db');
  writeFileSync(file, 'mine');
  await assert.rejects(backUp(folder, new AtomicFile(file), ignore), /copy\.db already exists/);
  const late = join(makeFolder(t), 'copy.db');
  await assert.rejects(backUp(folder, new AtomicFile(late), () => writeFileSync(late, 'mine')),
    /copy\.db already exists/);
  for (const path of [file, late]) {
    assert.deepEqual(readFolder(join(path, '..')).map((one) => one.slice(0, 2)),
      [['copy.db', 'mine']]);
  }
});

test('rejects a copy of a damaged database, and leaves nothing', async (t) => {
  const { folder, store } = await makeCatalogue(t, 200);
  await store.close();
  const db = new DatabaseSync(join(folder, FILE_NAME));
  db.exec('DELETE FROM change WHERE position = 17');
  db.close();
  const target = makeFolder(t);
  const backup = (): Promise<unknown> =>
    backUp(folder, new AtomicFile(join(target, 'copy.db')), ignore);
  await assert.rejects(backup,
    /The copy is damaged: The history of seller sel_\w+ has no change at position 17/);
  damageIndex(folder);
  await assert.rejects(backup, /The copy is damaged: .*page \d+/);
  assert.deepEqual(readdirSync(target), []);
});

test('rejects a folder without a catalogue and a foreign file, and changes neither', async (t) => {
  const target = new AtomicFile(join(makeFolder(t), 'copy.db'));
  const [empty, foreign, newer] = [makeFolder(t), makeFolder(t), makeFolder(t)];
  writeFileSync(join(foreign, FILE_NAME), 'a letter');
  const db = new DatabaseSync(join(newer, FILE_NAME));
  db.exec('PRAGMA application_id = 0x53504163; PRAGMA user_version = 9999');
  db.close();
  const before = [empty, foreign, newer].map(readFolder);
  await assert.rejects(backUp(empty, target, ignore), /There is no catalogue in/);
  await assert.rejects(backUp(foreign, target, ignore), /is not a database of this server/);
  await assert.rejects(backUp(newer, target, ignore), /was written by a newer version/);
  assert.deepEqual([empty, foreign, newer].map(readFolder), before);
  assert.deepEqual(readdirSync(join(target.path, '..')), []);
});

test('removes only the files that a killed backup to the same file has left', async (t) => {
  const { folder } = await makeCatalogue(t, 10);
  const target = makeFolder(t);
  const { tempPath: part } = new AtomicFile('copy.db');
  const kept = [part.replace('copy', 'other'), `${part}.txt`];
  const stale = ['', '-journal', '-wal', '-shm', '.lock'].map((end) => part + end);
  for (const name of [...stale, ...kept]) {
    writeFileSync(join(target, name), 'x');
  }
  await backUp(folder, new AtomicFile(join(target, 'copy.db')), ignore);
  assert.deepEqual(readdirSync(target).toSorted(), ['copy.db', ...kept].toSorted());
});

test('does not write to a foreign file at the place of the copy', async (t) => {
  const { folder } = await makeCatalogue(t, 10);
  const [target, elsewhere] = [makeFolder(t), join(makeFolder(t), 'stolen.db')];
  writeFileSync(elsewhere, '');
  const file = new AtomicFile(join(target, 'a\nb.db')); // a name that the cleanup skips
  symlinkSync(elsewhere, file.tempPath);
  await assert.rejects(backUp(folder, file, ignore), {
    code: 'unavailable', message: /already exists/,
  });
  assert.equal(readFileSync(elsewhere, 'utf8'), '');
});

test('reports a full disk, leaves nothing, and does not disturb the server', async (t) => {
  const { folder, store, actor } = await makeCatalogue(t, 3_000);
  const disk = mountSmallDisk(t, '1m');
  if (disk === undefined) return;
  const target = new AtomicFile(join(disk, 'copy.db'));
  await assert.rejects(backUp(folder, target, ignore), {
    code: 'storage_full', message: /^The copy needs \d+ MiB; .* has 1 MiB free\. Nothing was/,
  });
  assert.deepEqual(readdirSync(disk), []);
  // On the server's disk it leaves room for what is written during the backup.
  const shared = mountSmallDisk(t, '16m') ?? assert.fail('no other disk');
  cpSync(folder, join(shared, 'data'), { recursive: true });
  const copy = new AtomicFile(join(shared, 'copy.db'));
  await assert.rejects(backUp(join(shared, 'data'), copy, ignore), {
    code: 'storage_full', message: /^The copy needs \d+ MiB, and the server 64 MiB beside it; /,
  });
  assert.deepEqual(readdirSync(shared), ['data']);
  // Room for it when it begins, and not any more when it ends.
  const larger = mountSmallDisk(t, '6m') ?? assert.fail('no second disk');
  const late = new AtomicFile(join(larger, 'copy.db'));
  const fill = (): void => {
    const { bavail, bsize } = statfsSync(larger);
    writeFileSync(join(larger, 'other'), Buffer.alloc((bavail - 4) * bsize));
  };
  await assert.rejects(backUp(folder, late, fill), {
    code: 'storage_full',
    message: /^The disk has no room for .*copy\.db\. No partial file was left\.$/,
  });
  assert.deepEqual(readdirSync(larger), ['other']);
  const { position } = await store.createProduct(actor, makeNewProduct());
  assert.equal(position, 3_001);
});

test('reports a folder that is missing or not writable', async (t) => {
  const { folder } = await makeCatalogue(t, 1);
  const target = makeFolder(t);
  const lost = new AtomicFile(join(target, 'lost', 'copy.db'));
  await assert.rejects(backUp(folder, lost, ignore), { code: 'ENOENT' });
  chmodSync(target, 0o500);
  if (process.getuid?.() === 0) return; // root may
  const closed = new AtomicFile(join(target, 'copy.db'));
  await assert.rejects(backUp(folder, closed, ignore), { code: 'EACCES' });
});

/** An open store with one seller, who has this many products. */
async function makeCatalogue(
  t: TestContext, count: number,
): Promise<{ folder: string; store: Store; actor: Actor }> {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  for (let made = 0; made < count; made += 1_000) {
    const some = Math.min(1_000, count - made);
    await store.importProducts(actor, countTo(some).map(() => makeNewProduct()), 'create');
  }
  return { folder, store, actor };
}

/** Writes nothing over the first page of the index. */
function damageIndex(folder: string): void {
  const [row] = readRows(folder, `
    SELECT rootpage FROM sqlite_schema WHERE name = 'change_deleted'`);
  const handle = openSync(join(folder, FILE_NAME), 'r+');
  writeSync(handle, Buffer.alloc(4_096), 0, 4_096, (Number(row?.['rootpage']) - 1) * 4_096);
  closeSync(handle);
}

function readCounts(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return { ...db.prepare(`SELECT (SELECT count(*) FROM seller) AS sellers,
      (SELECT count(*) FROM product) AS products, (SELECT count(*) FROM change) AS changes,
      (SELECT position FROM seller) AS last`).get() };
  } finally {
    db.close();
  }
}
