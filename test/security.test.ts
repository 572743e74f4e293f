/** The promises of SECURITY.md name tests, and each of these tests exists under its title. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const [, PROMISES = ''] = /\n## Promises[^\n]*\n(.*?)\n## /s
  .exec(readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')) ?? [];
/** A link to a test: its title, and the path of its file. */
const NAMED = /\[([^\]]+)\]\((test\/[^)]+\.ts)\)/g;

test('every promise names tests that verify it', () => {
  const rows = PROMISES.split('\n').filter((line) => /^\| (?!Promise)/.test(line));
  assert.ok(rows.length > 50, `${rows.length} promises`);
  assert.deepEqual(rows.filter((row) => [...row.matchAll(NAMED)].length === 0), []);
});

test('every test that a promise names exists', () => {
  const lost = [...PROMISES.matchAll(NAMED)].filter(([, title = '', path = '']) => {
    const file = join(ROOT, path);
    return !existsSync(file) || !hasTest(readFileSync(file, 'utf8'), title);
  });
  assert.deepEqual(lost.map(([name]) => name), []);
});

/** Titles with parameters are named with `...` in the place of each parameter. */
function hasTest(source: string, title: string): boolean {
  return [...source.matchAll(/\b(?:test|it|describe)\(\s*(['`])(.*?)\1/gs)]
    .some(([, , text = '']) => text.replaceAll(/\$\{[^}]*\}/g, '...') === title);
}
