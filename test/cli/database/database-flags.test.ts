/** `--database`: flags that are rejected before a database is used. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

test('rejects a password in the URL, and flags that cannot be combined', async (t) => {
  const key = ['--server-key-file', join(makeFolder(t), 'server.key')];
  writeFileSync(key[1] ?? '', Buffer.alloc(32), { mode: 0o600 });
  for (const [args, message] of [
    [['--database', 'postgres://u:secret@h/d', ...key],
      /^The database URL contains a password: remove it, and set PGPASSWORD.*settings\.$/],
    [['--database', 'mysql://h/d', ...key], /^Invalid database URL: write postgres:\/\/user@host/],
    [['--database', 'postgres://h/d'], /needs --server-key-file FILE.*head -c 32/],
    [['--database', 'postgres://h/d', '--data', 'x'], /^Give either --data or --database\./],
    [['--data', 'x', ...key], /^--server-key-file needs --database\./],
  ] as const) {
    const { status, notes } = await run(['seller', 'list', ...args]);
    assert.equal(status, 2, notes);
    assert.match(notes.trim(), message);
    assert.doesNotMatch(notes, /secret/);
  }
});

test('names the alternatives to backup and restore', async () => {
  const environment = { SELLER_API_DATABASE: 'postgres://h/d', SELLER_API_SERVER_KEY_FILE: 'k' };
  for (const args of [['backup', 'x'], ['restore', 'x'], ['serve', '--backup-folder', 'x']]) {
    const { status, notes } = await run(args, environment);
    assert.equal(status, 2, notes);
    assert.match(notes, /pg_dump and pg_restore.* point-in-time recovery/);
  }
});
