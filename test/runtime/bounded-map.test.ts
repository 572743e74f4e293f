/** The map of limited size: what it keeps, by number and by size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedMap } from '../../src/runtime/bounded-map.ts';

test('deletes the oldest entries beyond the limit', () => {
  const map = new BoundedMap<string, number>(2);
  for (const key of 'abc') map.set(key, 0);
  assert.deepEqual([...map.keys()], ['b', 'c']);
  map.set('b', 1).set('d', 0); // b has become newer than c
  assert.deepEqual([...map], [['b', 1], ['d', 0]]);
});

test('counts the sizes of its values', () => {
  const map = new BoundedMap<string, string>(10, (text) => text.length);
  map.set('a', 'x'.repeat(6)).set('b', 'x'.repeat(4));
  assert.deepEqual([...map.keys()], ['a', 'b']);
  map.set('a', 'x').set('c', 'x'.repeat(5)); // 4 + 1 + 5
  assert.deepEqual([...map.keys()], ['b', 'a', 'c']);
  map.set('d', 'x'.repeat(11)); // larger than the limit
  assert.equal(map.size, 0);
});

test('frees the room of what is deleted', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 0).set('b', 0);
  assert.equal(map.delete('a'), true);
  assert.equal(map.delete('a'), false);
  map.set('c', 0);
  assert.deepEqual([...map.keys()], ['b', 'c']);
  map.clear();
  map.set('a', 0).set('b', 0);
  assert.deepEqual([...map.keys()], ['a', 'b']);
});
