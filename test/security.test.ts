/** What SECURITY.md promises is held by tests: each that it names is there under that title. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const [, PROMISES = ''] = /\n## Promises[^\n]*\n(.*?)\n## /s
  .exec(readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')) ?? [];
/** A test as it is named: its title, and the file below `test`. */
const NAMED = /\[([^\]]+)\]\((test\/[^)]+\.ts)\)/g;

test('every promise names the tests that hold it', () => {
  const rows = PROMISES.split('\n').filter((line) => /^\| (?!Promise)/.test(line));
  assert.ok(rows.length > 50, `${rows.length} promises`);
  assert.deepEqual(rows.filter((row) => [...row.matchAll(NAMED)].length === 0), []);
});

test('every test that a promise names is there', () => {
  const lost = [...PROMISES.matchAll(NAMED)].filter(([, title = '', path = '']) => {
    const file = join(ROOT, path);
    return !existsSync(file) || !hasTest(readFileSync(file, 'utf8'), title);
  });
  assert.deepEqual(lost.map(([name]) => name), []);
});

/** Titles that are made in a loop are named by what does not change in them. */
function hasTest(source: string, title: string): boolean {
  return [...source.matchAll(/\b(?:test|it|describe)\(\s*(['`])(.*?)\1/gs)]
    .some(([, , text = '']) => text.replaceAll(/\$\{[^}]*\}/g, '...') === title);
}
