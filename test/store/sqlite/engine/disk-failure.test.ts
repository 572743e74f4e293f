/** Why a database cannot be opened, as far as the disk says so. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { explainOpening, NO_INODES } from '../../../../src/store/sqlite/engine/disk-failure.ts';
import { OPENING_INODES } from '../../../../src/store/sqlite/limits.ts';

const CANTOPEN = { code: 'ERR_SQLITE_ERROR', errcode: 14 };
const FULL = { code: 'ENOSPC' };

const CASES: readonly [error: object, files: number, free: number, isForInodes: boolean][] = [
  [CANTOPEN, 1_000, OPENING_INODES - 1, true], [FULL, 1_000, 0, true],
  [CANTOPEN, 1_000, OPENING_INODES, false], [FULL, 1_000, OPENING_INODES, false],
  [CANTOPEN, 0, 0, false], // a file system without a limit, such as Btrfs
  [{ code: 'EACCES' }, 1_000, 0, false], [{ code: 'ERR_SQLITE_ERROR', errcode: 11 }, 9, 0, false],
];

test('blames the lack of inodes only where it is the reason', (t) => {
  for (const [error, files, free, isForInodes] of CASES) {
    t.mock.method(fs, 'statfsSync', () => ({ files, ffree: free }));
    syncBuiltinESMExports();
    const explained = String(explainOpening(Object.assign(new Error('x'), error), '/folder'));
    const what = JSON.stringify({ error, files, free });
    assert.equal(explained.includes(NO_INODES), isForInodes, what);
    t.mock.restoreAll();
  }
  syncBuiltinESMExports();
});

test('does not blame the folder for a file that is missing elsewhere', () => {
  const missing = (path?: string) => Object.assign(new Error('ENOENT'), { code: 'ENOENT', path });
  for (const path of ['/srv/shop/data', '/srv/shop', '/srv/shop/data/catalogue.db']) {
    assert.match(String(explainOpening(missing(path), '/srv/shop/data')), /cannot be created/);
  }
  for (const cause of [missing('/srv/app/schema.sql'), missing('/srv/shop/data.sql'), missing()]) {
    assert.equal(explainOpening(cause, '/srv/shop/data'), cause);
  }
});
