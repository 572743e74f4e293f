/** Files with the secrets that all nodes of a database share. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPasswordFile } from '../../../src/store/nodes/secret-files.ts';
import { makeFolder } from '../../support/folder.ts';

test('reads the first line of a password file, in UTF-8 or marked UTF-16', (t) => {
  const path = join(makeFolder(t), 'password');
  for (const bytes of [
    'grün boats\nother', '\uFEFFgrün boats\r\n', Buffer.from('\uFEFFgrün boats\r\n', 'utf16le'),
  ]) {
    writeFileSync(path, bytes, { mode: 0o600 });
    assert.equal(readPasswordFile(path), 'grün boats');
  }
});
