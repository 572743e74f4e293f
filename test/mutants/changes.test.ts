/** Which guards have changed since a commit. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../support/folder.ts';
import { findChanges } from './changes.ts';

test('finds guards with a changed line, and those of new files, wherever they have moved', (t) => {
  const root = makeFolder(t);
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@shop.example', ...args], {
      cwd: root, encoding: 'utf8',
    });
  git('init', '--quiet');
  writeFileSync(join(root, 'a.ts'), 'if (isFree) return;\nassertOwner();\n');
  git('add', '.');
  git('commit', '--quiet', '--message', 'First');
  const commit = git('rev-parse', 'HEAD').trim();
  writeFileSync(join(root, 'a.ts'), 'const n = 1;\n  assertOwner();\nif (isPaid) return;\n');
  writeFileSync(join(root, 'b.ts'), 'assertOwner();\n');
  git('add', '.');
  const paths = ['a.ts', 'b.ts', 'c.ts'];
  const isChanged = findChanges(root, paths, commit);
  const ask = (path: string, line: string) => isChanged?.({ path, lines: [line] });
  assert.deepEqual([
    ask('a.ts', 'assertOwner();'), ask('a.ts', 'if (isPaid) return;'),
    ask('b.ts', 'assertOwner();'), ask('c.ts', 'assertOwner();'),
  ], [false, true, true, false]);
  assert.equal(findChanges(root, paths, '0'.repeat(40)), undefined);
});
