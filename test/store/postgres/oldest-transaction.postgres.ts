/** The metric of the oldest open transaction on the database server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConnection } from '../../../src/store/postgres/connect/open-connection.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { NO_POSTGRES } from '../../support/postgres/install.ts';
import { TEST_KEY } from '../../support/postgres/server.ts';
import { borrowDatabase } from '../../support/postgres/shared-server.ts';

test('says how long the oldest transaction is open', { skip: NO_POSTGRES }, async (t) => {
  const connect = await borrowDatabase(t);
  const store = await openPostgresStore({ connect, key: TEST_KEY });
  const other = await openConnection(connect);
  t.after(() => Promise.all([store.close(), other.close()]));
  const run = (text: string) => other.run([{ text, values: [] }]);
  assert.equal(await store.readOldestTransaction?.(), 0);
  await run('BEGIN');
  await run('SELECT pg_sleep(1)');
  const seconds = await store.readOldestTransaction?.() ?? 0;
  assert.ok(seconds >= 1, `${seconds} s`);
  await run('COMMIT');
  assert.equal(await store.readOldestTransaction?.(), 0);
});
