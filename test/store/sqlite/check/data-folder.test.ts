/** What doctor finds in a data folder: files, modes, the server's key and the search database. */
import assert from 'node:assert/strict';
import {
  chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync,
  truncateSync, utimesSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import { makeClock } from '../../../support/clock.ts';
import { assertHealthy, listFindings } from '../../../support/health.ts';
import { countTo, DAY_MS, makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { FILE_NAME, readFolder, readRows } from '../engine/read-file.ts';
import { copyFolder, damage, makeSampleFolder } from './sample-folder.ts';

let sample = '';
const cleanups: (() => void)[] = [];
before(async () => {
  sample = await makeSampleFolder({ after: (remove) => void cleanups.push(remove as () => void) });
});
after(() => cleanups.forEach((remove) => remove()));

/** A file that its process has not finished. */
const PART = 'catalogue.db.0a1b2c3d-0001-4002-8003-0a1b2c3d4e5f.part';

function leaveOver(path: string): void {
  writeFileSync(path, '', { mode: 0o600 });
  utimesSync(path, new Date(0), new Date(0));
}

const states: readonly [what: string, corrupt: (folder: string) => void, says: RegExp][] = [
  ['a folder that others can read', (folder) => chmodSync(folder, 0o755),
    /^files fault: \/.* has the mode 755, not 700\.$/],
  ['a database that others can read', (folder) => chmodSync(join(folder, FILE_NAME), 0o644),
    /^files fault: .*catalogue\.db has the mode 644, not 600\.$/],
  ['a key that others can read', (folder) => chmodSync(join(folder, 'server.key'), 0o640),
    /^files fault: .*server\.key has the mode 640, not 600\.$/],
  ['uploads that others can read', (folder) => mkdirSync(join(folder, 'uploads'), { mode: 0o755 }),
    /^files fault: .*uploads has the mode 755, not 700\.$/],
  ['a database that is somewhere else', (folder) => {
    renameSync(join(folder, FILE_NAME), join(folder, '..', 'moved.db'));
    symlinkSync('../moved.db', join(folder, FILE_NAME));
  }, /^files fault: .*catalogue\.db is a symbolic link\.$/],
  ['a folder in the place of a file', (folder) => mkdirSync(join(folder, 'webhooks.lock')),
    /^files fault: .*webhooks\.lock is not a file\.$/],
  ['a file in the place of a folder', (folder) => writeFileSync(join(folder, 'uploads'), ''),
    /^files fault: .*uploads is not a folder\.$/],
  ['a key that is too short', (folder) => truncateSync(join(folder, 'server.key'), 31),
    /^files fault: .*server\.key is not a key: it has 31 bytes, not 32\.$/],
  ['a key that is gone', (folder) => rmSync(join(folder, 'server.key')),
    /^secrets fault: .* cannot decrypt 1 of 1 webhook secrets\.$/],
  ['another key', (folder) => writeFileSync(join(folder, 'server.key'), Buffer.alloc(32)),
    /^secrets fault: .* cannot decrypt 1 of 1 one-time password secrets\.$/],
  ['a foreign file', (folder) => writeFileSync(join(folder, 'notes.txt'), ''),
    /^files warning: .*notes\.txt is not a file of this server\.$/],
  ['a database that was never finished', (folder) =>
    leaveOver(join(folder, `${PART}-wal`)),
  /^files warning: .*catalogue\.db\.\S+\.part-wal was left over when a process ended\.$/],
  ['a move that was given up', (folder) => leaveOver(join(folder, 'catalogue.db.moving')),
    /^files warning: .*catalogue\.db\.moving was left over when a process ended\.$/],
  ['an upload that was left over', (folder) => {
    mkdirSync(join(folder, 'uploads'), { mode: 0o700 });
    leaveOver(join(folder, 'uploads', 'one'));
  }, /^files warning: .*uploads\/one was left over when a process ended\.$/],
  ['a WAL that has grown', (folder) => {
    writeFileSync(join(folder, 'search.db-wal'), '', { mode: 0o600 });
    truncateSync(join(folder, 'search.db-wal'), 300 * 2 ** 20); // of holes
  }, /^files warning: .*search\.db-wal has grown to 300 MiB\.$/],
  ['a search database that is damaged', (folder) =>
    writeFileSync(join(folder, 'search.db'), 'x'.repeat(9_000)),
  /^search warning: The search database cannot be read: /],
  ['a search database that misses products', (folder) => {
    const db = new DatabaseSync(join(folder, 'search.db'));
    db.exec('UPDATE seller SET products = products - 1');
    db.close();
  }, /^search warning: Searches of seller sel_\w+ miss some products\.$/],
];

/** What a process leaves if it is killed while it builds the search database. */
const incomplete: readonly [what: string, corrupt: (file: string) => void][] = [
  ['has nothing yet', (file) => writeFileSync(file, '', { mode: 0o600 })],
  ['has no table yet', (file) => change(file, 'PRAGMA journal_mode = WAL')],
  ['was cut off at its first write', (file) => {
    const db = new DatabaseSync(`${file}.other`);
    db.exec('PRAGMA cache_size = 1; CREATE TABLE one (n); BEGIN');
    for (const n of countTo(2_000)) db.exec(`INSERT INTO one VALUES ('cut off ${n}')`);
    for (const end of ['', '-journal']) copyFileSync(`${file}.other${end}`, file + end);
    db.close();
    rmSync(`${file}.other`);
  }],
  ['is of another version', (file) => {
    copyFileSync(join(sample, 'search.db'), file);
    change(file, 'PRAGMA user_version = 1; ALTER TABLE seller DROP COLUMN units');
  }],
];

for (const [what, corrupt] of incomplete) {
  test(`says that the server rebuilds a search database that ${what}`, async (t) => {
    const folder = copyFolder(t, sample);
    const file = join(folder, 'search.db');
    rmSync(file);
    corrupt(file);
    for (const end of ['', '-journal']) if (existsSync(file + end)) chmodSync(file + end, 0o600);
    assert.deepEqual(listFindings(folder), [
      'search warning: The search database is incomplete, or of another version of the server.',
    ]);
    const store = await openSqliteStore({ folder });
    try {
      const [seller] = await store.listSellers({ after: undefined, limit: 1 });
      assert.ok(seller && (await store.readTotals(seller.id, 25)).products > 0);
    } finally {
      await store.close();
    }
    assert.deepEqual(listFindings(folder), []);
    assert.equal(existsSync(`${file}-journal`), false);
  });
}

function change(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

for (const [what, corrupt, says] of states) {
  test(`names ${what}`, (t) => {
    const folder = copyFolder(t, sample);
    corrupt(folder);
    const findings = listFindings(folder);
    assert.ok(findings.some((text) => says.test(text)), findings.join('\n'));
    if (says.source.includes(' fault')) assert.throws(() => assertHealthy(folder));
    else assertHealthy(folder);
  });
}

test('names a file of another user', { skip: process.getuid?.() !== 0 }, (t) => {
  const folder = copyFolder(t, sample);
  chownSync(join(folder, FILE_NAME), 4711, 4711);
  const findings = listFindings(folder).join('\n');
  assert.match(findings, /^files fault: .*catalogue\.db belongs to user 4711, but the folder to/m);
});

test('ignores files in use', (t) => {
  const folder = copyFolder(t, sample);
  mkdirSync(join(folder, 'uploads'), { mode: 0o700 });
  const names = [join('uploads', 'one'), PART, 'README.md', '.gitkeep'];
  for (const name of names) writeFileSync(join(folder, name), '');
  assert.deepEqual(listFindings(folder), []);
});

test('reads a write-ahead log that a crash left, and does not change the files', async (t) => {
  const folder = copyFolder(t, sample);
  const live = copyFolder(t, sample);
  const store = await openSqliteStore({ folder: live });
  try {
    await store.createProduct(await makeActor(store), makeNewProduct());
    for (const suffix of ['', '-wal']) {
      copyFileSync(join(live, FILE_NAME + suffix), join(folder, FILE_NAME + suffix));
    }
  } finally {
    await store.close();
  }
  // The search database gets an empty WAL when it is read.
  const read = () => readFolder(folder).filter(([name]) => /^catalogue\.db(?:-wal)?$/.test(name));
  const before = read();
  assert.deepEqual(listFindings(folder), []);
  assert.ok(before.every((file, index) => file.join() === read()[index]?.join()));
  assert.equal(readRows(folder, 'SELECT id FROM seller').length, 3, 'the WAL was read');
});

test('finds nothing while two stores write, and blocks neither', async (t) => {
  const folder = copyFolder(t, sample);
  const stores = [await openSqliteStore({ folder }), await openSqliteStore({ folder })];
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const authors = await Promise.all(stores.map((store) => makeActor(store)));
  let [written, isOver] = [0, false];
  const writing = Promise.all(stores.map(async (store, index) => {
    while (!isOver) {
      await store.createProduct(authors[index] ?? assert.fail(), makeNewProduct());
      written += 1;
    }
  }));
  for (let look = 0; look < 10; look += 1) {
    const least = written + 4;
    while (written < least) await new Promise((resolve) => { setImmediate(resolve); });
    assertHealthy(folder);
  }
  isOver = true;
  await writing;
  assertHealthy(folder);
});

test('finds nothing while history is pruned', async (t) => {
  const folder = copyFolder(t, sample);
  const clock = makeClock();
  const store = await openSqliteStore({ folder, clock });
  t.after(() => store.close());
  const actor = await makeActor(store);
  const skus = countTo(900).map((n) => `S-${n}`);
  await store.importProducts(actor, skus.map((sku) => makeNewProduct({ sku })), 'create');
  const stock = { source: undefined, reason: undefined, isAtomic: false, completion: undefined };
  for (const day of countTo(3)) {
    clock.now += DAY_MS;
    // The cast: they are legal.
    const changes = skus.map((sku) => ({ sku: sku as Sku, set: day }));
    await store.syncStock(actor, { ...stock, changes }, false);
  }
  let [looks, isOver] = [0, false];
  const pruning = store.pruneHistory(clock.now).then(() => { isOver = true; });
  while (!isOver) {
    assertHealthy(folder);
    looks += 1;
    await new Promise((resolve) => { setImmediate(resolve); });
  }
  await pruning;
  assert.ok(looks > 3);
  assertHealthy(folder);
});

test('reports a missing database', () => {
  const folder = join(sample, 'nowhere');
  const rejection = { code: 'not_found', message: /no catalogue in .*nowhere/ };
  assert.throws(() => listFindings(folder), rejection);
  assert.equal(existsSync(folder), false);
});

test('limits the findings of one kind', (t) => {
  const folder = copyFolder(t, sample);
  damage(folder, `DELETE FROM audit_event; INSERT INTO audit_event
    SELECT 0, value * 2, 0, 'signed_in', '', '', zeroblob(32), NULL
    FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 90)
      SELECT value FROM n)`);
  const findings = listFindings(folder);
  assert.equal(findings.length, 21);
  assert.equal(findings.at(-1), 'audit-chain warning: There are more findings of this kind.');
});
