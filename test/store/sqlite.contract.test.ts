/**
 * The SQLite adapter passes the contract of the store port; and every statement that it executes
 * for that is restricted to the caller's seller.
 */
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeDataFolder, makeFolder } from '../support/folder.ts';
import { processEnd } from '../support/process-end.ts';
import { describeStore } from './contract.ts';
import { recordSqlite } from './isolation/record-sqlite.ts';
import {
  assertExecuted, assertRestricted, readSellerColumns, SQLITE_EXCEPTIONS,
} from './isolation/restrictions.ts';
import { nameCallers } from './isolation/statement-log.ts';

/**
 * SQL that no request executes: what opens and checks a catalogue, and the search projection; and
 * that of PostgreSQL, some of it in `sql/`.
 */
const OTHER_SQL = [
  'sql/check/', 'sqlite/backup/', 'sqlite/check/', 'sqlite/engine/connection.ts',
  'sqlite/engine/database-file.ts', 'sqlite/schema/', 'sqlite/search/', 'temporary/',
  'postgres/', 'move/', 'sql/categories.ts', 'sql/import-jobs.ts',
];

let recorder: ReturnType<typeof recordSqlite>;
before(() => { recorder = recordSqlite(join(makeFolder(processEnd), 'statements')); });
after(() => recorder.restore());

describeStore('SQLite', (t) => {
  const stores: Store[] = [];
  // Before the folder: cleanups run in the order in which they are registered.
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const folder = makeDataFolder(t);
  return async (clock) => {
    const store = await openSqliteStore({ folder, clock });
    stores.push(store);
    return nameCallers(store);
  };
});

test('restricts every statement on SQLite to the seller of its caller', () => {
  const columns = readSellerColumns('sqlite/schema/schema.sql');
  assertRestricted(recorder.read(), columns, SQLITE_EXCEPTIONS);
});

test('executes every statement of the source on SQLite', () => {
  assertExecuted(recorder.read(), OTHER_SQL);
});
