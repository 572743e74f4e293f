/** The number of imports, which is counted up to a limit. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { LIST_COUNT_LIMIT } from '../../../../src/store/limits.ts';
import { makeDataFolder } from '../../../support/folder.ts';
import { makeSeller } from '../../contract/fixture.ts';
import { FILE_NAME } from '../engine/read-file.ts';
import { openStore } from '../open.ts';

test('counts the imports of a kind only if it has counted all imports', async (t) => {
  const folder = makeDataFolder(t);
  const store = await openStore(t, { folder });
  const [some, more] = [await makeSeller(store), await makeSeller(store)];
  using db = new DatabaseSync(join(folder, FILE_NAME));
  const insert = db.prepare(`
    INSERT INTO import (seller_id, id, kind, key_id, started_at, counts)
    WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < :count)
    SELECT :id, n, 'stock', 1, 0, '{}' FROM number`);
  insert.run({ id: some.id, count: LIST_COUNT_LIMIT });
  insert.run({ id: more.id, count: LIST_COUNT_LIMIT + 1 });
  const all = { count: LIST_COUNT_LIMIT, isExact: true };
  assert.deepEqual(await store.countImports(some.id, 'stock'), all);
  assert.deepEqual(await store.countImports(more.id, undefined), { ...all, isExact: false });
  assert.equal(await store.countImports(more.id, 'stock'), undefined);
});
