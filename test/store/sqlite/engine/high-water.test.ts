/** High-water marks: an older copy of a catalogue is noticed when it is opened, nothing else is. */
import assert from 'node:assert/strict';
import {
  copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { parseNewSeller } from '../../../../src/domain/access/seller.ts';
import { prepareCatalogueFile } from '../../../../src/store/sqlite/engine/database-file.ts';
import {
  checkHighWater, HIGH_WATER_FILE_NAME, openHighWater, readMark,
} from '../../../../src/store/sqlite/engine/high-water.ts';
import { HIGH_WATER_INTERVAL_MS } from '../../../../src/store/sqlite/limits.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import { makeDataFolder, makeFolder } from '../../../support/folder.ts';

const MARK = /^[a-z2-7]{5}$/;

/** As when a store is opened, used until the catalogue has so many changes, and closed. */
async function use(file: string, changes: number | undefined, files: readonly string[]) {
  await checkHighWater(file, files);
  using db = new DatabaseSync(file);
  if (changes !== undefined) db.prepare('UPDATE seller SET position = ?').run(changes);
  await openHighWater(() => readMark(db), files).close();
  return readMark(db).generation;
}

/** A folder whose catalogue has two changes, and a copy of the catalogue after the first. */
async function makeCopied(t: TestContext) {
  const folder = makeDataFolder(t);
  const [file, copy] = [join(folder, 'catalogue.db'), join(makeFolder(t), 'copy.db')];
  const store = await openSqliteStore({ folder });
  await store.createSeller(parseNewSeller('A shop', 'EUR'));
  await store.close();
  const mark = join(folder, HIGH_WATER_FILE_NAME);
  assert.equal(JSON.parse(readFileSync(mark, 'utf8')).changes, 0, 'a store keeps it');
  await use(file, 1, [mark]);
  copyFileSync(file, copy);
  assert.equal(await use(file, 2, [mark]), undefined);
  return { folder, file, copy, mark };
}

test('an older copy begins a generation, once', async (t) => {
  const { folder, file, copy, mark } = await makeCopied(t);
  copyFileSync(copy, file);
  const store = await openSqliteStore({ folder });
  const { generation } = store;
  await store.close();
  assert.match(String(generation), MARK);
  assert.equal(await use(file, 2, [mark]), generation);
  assert.equal(await use(file, undefined, [mark]), generation);
  copyFileSync(copy, file); // older than the generation
  const next = await use(file, 9, [mark]);
  assert.match(String(next), MARK);
  assert.notEqual(next, generation);
});

test('the same catalogue, a newer copy and another catalogue begin none', async (t) => {
  const { folder, file, mark } = await makeCopied(t);
  const copy = `${file}.old`;
  copyFileSync(file, copy);
  copyFileSync(copy, file);
  assert.equal(await use(file, undefined, [mark]), undefined);
  await use(copy, 3, [join(makeFolder(t), 'mark.json')]);
  copyFileSync(copy, file);
  assert.equal(await use(file, undefined, [mark]), undefined);
  rmSync(file);
  prepareCatalogueFile(folder);
  assert.equal(await use(file, undefined, [mark]), undefined, 'a new one, without changes');
});

test('what a power cut may leave of a mark begins none', async (t) => {
  const { file, mark } = await makeCopied(t);
  for (const text of ['', '\0\0\0', '{"catalogue":"', '{}', '[]', 'null']) {
    writeFileSync(mark, text);
    assert.equal(await use(file, undefined, [mark]), undefined);
    assert.equal(JSON.parse(readFileSync(mark, 'utf8')).changes, 2, 'and it is written again');
  }
});

test('a copy of the whole folder is noticed with a mark elsewhere', async (t) => {
  const { folder, file, mark } = await makeCopied(t);
  const outside = join(makeFolder(t), 'mark.json');
  const copy = join(makeFolder(t), 'data');
  await use(file, undefined, [mark, outside]);
  assert.equal(statSync(outside).mode & 0o777, 0o600);
  cpSync(folder, copy, { recursive: true });
  await use(file, 3, [mark, outside]);
  const files = [join(copy, HIGH_WATER_FILE_NAME), outside];
  const catalogue = join(copy, 'catalogue.db');
  assert.equal(await use(catalogue, undefined, files.slice(0, 1)), undefined, 'nothing says so');
  assert.match(String(await use(catalogue, 3, files)), MARK);
});

test('a store opens and writes while its own mark cannot be written', async (t) => {
  const { folder, mark } = await makeCopied(t);
  rmSync(mark);
  mkdirSync(mark);
  const store = await openSqliteStore({ folder });
  await store.createSeller(parseNewSeller('Another shop', 'EUR'));
  await store.close();
});

test('writes a mark at most once a second, and never a lower one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const file = join(makeFolder(t), 'mark.json');
  const read = t.mock.fn(() => ({ catalogue: 'c', generation: undefined, changes }));
  const counts = (): number => read.mock.callCount();
  let changes = 10;
  const highWater = openHighWater(read, [file]);
  t.mock.timers.tick(HIGH_WATER_INTERVAL_MS);
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await setImmediate();
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).changes, 10);
  for (changes = 11; changes < 20; changes += 1) highWater.noteCommit();
  t.mock.timers.tick(HIGH_WATER_INTERVAL_MS - 1);
  assert.equal(counts(), 1);
  t.mock.timers.tick(1);
  assert.equal(counts(), 2);
  changes = 5; // the catalogue was replaced while it was open
  highWater.noteCommit();
  await highWater.close();
  assert.deepEqual([counts(), JSON.parse(readFileSync(file, 'utf8')).changes], [3, 20]);
});
