/** Replaces named parameters by positional ones, and changes nothing else in a statement. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPositional } from '../../../src/store/sql/positional.ts';

test('numbers parameters by their first occurrence', () => {
  assert.deepEqual(
    toPositional('SELECT :b::bigint, :a, :b WHERE x=:a_1', { a: 1, b: undefined, a_1: 'x' }),
    { text: 'SELECT $1::bigint, $2, $1 WHERE x=$3', values: [null, 1, 'x'] },
  );
});

for (const text of [
  `SELECT ':a', 'it''s :a'`, `SELECT ":a"" :a" FROM t`, 'SELECT 1 -- :a', 'SELECT /* :a\n:a */ 1',
  `SELECT E'\\':a', e'\\\\'`, 'SELECT $$:a$$, $tag$ :a $$ :a $tag$', 'SELECT a::text, b[1:2]',
  `SELECT 'a'::text`,
]) {
  test(`leaves ${JSON.stringify(text)} as it is`, () => {
    assert.deepEqual(toPositional(text, {}), { text, values: [] });
  });
}

test('finds parameters after literals and comments', () => {
  assert.equal(toPositional(`SELECT 'x' || :a -- it's\n, "y" = :a /* ' */ AND :a`, { a: 1 }).text,
    `SELECT 'x' || $1 -- it's\n, "y" = $1 /* ' */ AND $1`);
});

test('rejects missing parameters, and values without a parameter', () => {
  assert.throws(() => toPositional('SELECT :a', {}), /The parameter :a is missing/);
  assert.throws(() => toPositional('SELECT :a', { a: 1, b: 2 }), /Unused parameters: b/);
});
