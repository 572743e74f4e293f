/** `move-to` as a command: arguments that it rejects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../../support/command.ts';

for (const [args, message] of [
  [['move-to', 'folder'], /^Name a database as the target: postgres:.* --database URL\./],
  [['move-to', 'postgres://user:secret@host/shop'], /^The database URL contains a password: /],
  [['move-to', 'postgres://host/one', '--database', 'postgres://host/two'],
    /^--database is the source of a move to a folder\./],
] as const) {
  test(`rejects ${args.slice(1).join(' ')}`, async () => {
    const { status, out, notes } = await run(args);
    assert.deepEqual([status, out], [2, '']);
    assert.match(notes, message);
    assert.doesNotMatch(notes, /secret/);
  });
}
