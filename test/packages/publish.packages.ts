/** The package as npm would publish it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyClone, pack } from '../package/clone.ts';
import { makeFolder } from '../support/folder.ts';

/** Warnings about npm itself, and about the account that this machine does not have. */
const OTHERS = /Unknown (?:user|env|builtin) config|requires you to be logged in/;

test('may be published: npm reports no warning', async (t) => {
  const folder = makeFolder(t);
  const archive = await pack(copyClone(join(folder, 'clone')));
  const { status, stderr } = spawnSync('npm', ['publish', '--dry-run', archive], {
    cwd: folder, encoding: 'utf8',
  });
  const lines = stderr.split('\n').filter((line) => /^npm (?:warn|error)/.test(line));
  const isUnreachable = /E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT|NETUNREACH)\b/.test(stderr);
  if (isUnreachable) return t.skip('needs a package registry');
  assert.equal(status, 0, stderr);
  assert.deepEqual(lines.filter((line) => !OTHERS.test(line)), []);
});
