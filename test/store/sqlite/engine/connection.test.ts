/** The settings of connections to the database file. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { prepareCatalogueFile } from '../../../../src/store/sqlite/engine/database-file.ts';
import { openReader, openWriter } from '../../../../src/store/sqlite/engine/connection.ts';
import { makeFolder } from '../../../support/folder.ts';

test('opens a writer with every setting that durability and safety need', (t) => {
  const db = openTestWriter(t);
  assert.deepEqual(readPragmas(db, [
    'journal_mode', 'synchronous', 'secure_delete', 'trusted_schema', 'cell_size_check',
    'foreign_keys', 'timeout', 'mmap_size', 'temp_store', 'journal_size_limit',
    'wal_autocheckpoint', 'max_page_count',
  ]), {
    journal_mode: 'wal', synchronous: 2, secure_delete: 1, trusted_schema: 0, cell_size_check: 1,
    foreign_keys: 1, timeout: 5_000, mmap_size: 0, temp_store: 2, journal_size_limit: 67_108_864,
    wal_autocheckpoint: 8_000, max_page_count: 4_294_967_294,
  });
});

test('limits the pages of the file if asked to', (t) => {
  const db = openWriter(prepareCatalogueFile(makeFolder(t)).file, 500);
  t.after(() => db.close());
  assert.deepEqual(readPragmas(db, ['max_page_count']), { max_page_count: 500 });
});

test('opens a reader with the safety settings, which cannot write', (t) => {
  const db = openReader(prepareCatalogueFile(makeFolder(t)).file);
  t.after(() => db.close());
  assert.deepEqual(readPragmas(db, [
    'trusted_schema', 'cell_size_check', 'foreign_keys', 'timeout', 'mmap_size',
  ]), { trusted_schema: 0, cell_size_check: 1, foreign_keys: 1, timeout: 1_000, mmap_size: 0 });
  assert.throws(() => db.exec('DELETE FROM product'), /readonly database/);
  assert.throws(() => db.exec('PRAGMA user_version = 9'), /readonly database/);
});

test('rejects statements that only an attacker would run', (t) => {
  const db = openTestWriter(t);
  db.exec('PRAGMA writable_schema = ON');
  assert.throws(() => db.exec("UPDATE sqlite_schema SET sql = ''"), /may not be modified/);
  const other = join(makeFolder(t), 'other.db');
  assert.throws(() => db.exec(`ATTACH '${other}' AS other`), /attached databases/);
  assert.throws(() => db.exec(`SELECT ${'1+'.repeat(20_000)}1`), /too big|too large/i);
  assert.throws(() => db.exec(`SELECT ${'1+'.repeat(100)}1`), /maximum depth/);
  assert.throws(() => db.exec("SELECT load_extension('x')"), /not authorized|no such function/);
  assert.throws(() => db.exec('SELECT "not a column"'), /no such column/);
});

test('enforces the limits of the data in the tables', (t) => {
  const db = openTestWriter(t);
  db.exec(`
    INSERT INTO seller (id, name, currency, currency_decimals, created_at)
    VALUES (1, 'A shop', 'EUR', 2, 0);
    INSERT INTO product
      (seller_id, id, sku, name, category, price_minor, stock, position, created_at, updated_at,
        snapshot_position)
    VALUES (1, 1, 'A', 'A', 'A', 1, 1, 1, 0, 0, 1)`);
  const illegal: readonly [column: string, value: string][] = [
    ['stock', '-1'], ['stock', '1000000001'], ['stock', "'many'"], ['price_minor', '-1'],
    ['price_minor', '1000000000000000'], ['price_minor', '0.5'], ['sku', "''"], ['name', "''"],
    ['sku', `'${'x'.repeat(65)}'`], ['name', `'${'x'.repeat(201)}'`], ['category', "''"],
    ['position', '0'], ['created_at', '-1'], ['seller_id', '2'], ['id', '0'],
  ];
  for (const [column, value] of illegal) {
    const update = () => db.exec(`UPDATE product SET ${column} = ${value}`);
    assert.throws(update, /constraint failed|cannot store/, `${column} = ${value}`);
  }
});

function openTestWriter(t: TestContext): DatabaseSync {
  const db = openWriter(prepareCatalogueFile(makeFolder(t)).file);
  t.after(() => db.close());
  return db;
}

function readPragmas(db: DatabaseSync, columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => {
    const pragma = column === 'timeout' ? 'busy_timeout' : column;
    return [column, db.prepare(`PRAGMA ${pragma}`).get()?.[column]];
  }));
}
