/** How commands handle a data folder that is missing or cannot be created. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

const SELLER = 'sel_00000000005';
const KEY = 'key_0000000000500000000005';
/** The commands that need an existing catalogue. */
const COMMANDS: readonly (readonly string[])[] = [
  ['seller', 'list'], ['seller', 'disable', SELLER], ['seller', 'enable', SELLER],
  ['seller', 'invite', '--seller', SELLER], ['seller', 'reset-password', SELLER],
  ['seller', 'reset-totp', SELLER], ['key', 'create', '--name', 'N'], ['key', 'list'],
  ['key', 'rotate', KEY], ['key', 'revoke', KEY], ['doctor'], ['backup', 'copy.db'],
  ['backup', '--folder', '.'],
];

describe('the data folder', () => {
  for (const args of COMMANDS) {
    test(`${args.join(' ')} creates nothing if there is no catalogue`, async (t) => {
      const folder = makeFolder(t);
      const empty = join(folder, 'empty');
      mkdirSync(empty);
      for (const data of [join(folder, 'no', 'such'), empty]) {
        const { status, out, notes } = await run([...args, '--data', data]);
        assert.deepEqual([status, out], [1, ''], notes);
        assert.ok(notes.startsWith(`There is no catalogue in ${data}. Name the right folder with `
          + '--data'), notes);
      }
      assert.deepEqual(readdirSync(folder, { recursive: true }), ['empty']);
    });
  }

  test('is created with its parents by the commands that create a catalogue', async (t) => {
    const folder = join(makeFolder(t), 'a', 'b');
    for (const args of [['seller', 'create', 'A shop'], ['seller', 'invite']]) {
      const { status, notes } = await run([...args, '--data', join(folder, args[1] ?? '')]);
      assert.equal(status, 0, notes);
    }
    assert.equal(statSync(folder).mode & 0o777, 0o700);
  });

  test('is rejected with one clear line if it cannot be a folder', async (t) => {
    const file = join(makeFolder(t), 'file');
    writeFileSync(file, 'text');
    for (const data of [file, join(file, 'data')]) {
      for (const args of [['serve', '--port', '0'], ['seller', 'create', 'A shop']]) {
        const { status, out, notes } = await run([...args, '--data', data]);
        assert.deepEqual([status, out], [1, ''], notes);
        assert.equal(notes, `${data} is not a folder, or its path leads through a file. `
          + 'Use another data folder.\n');
      }
    }
  });

  test('is rejected, without endless retries, if folders cannot be created', {
    skip: !existsSync('/proc/self') && 'no /proc here', timeout: 30_000,
  }, async () => {
    for (const args of [['serve', '--port', '0'], ['seller', 'create', 'A shop']]) {
      const { status, notes } = await run([...args, '--data', '/proc/1/x/y']);
      assert.equal(status, 1);
      assert.match(notes, /^\/proc\/1\/x\/y cannot be created[^\n]*Use another data folder\.\n$/);
    }
  });
});
