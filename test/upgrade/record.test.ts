/** `make fixture` still works: otherwise nobody would notice until the schema changes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../support/folder.ts';

test('records a data folder with every feature in use', (t) => {
  const folder = makeFolder(t);
  const recorder = join(import.meta.dirname, 'record.ts');
  const { status, stderr } = spawnSync(process.execPath, [recorder, folder], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.deepEqual(readdirSync(folder).toSorted(),
    ['catalogue.db.gz', 'expectations.json', 'search.db.gz', 'server.key.gz']);
});
