/** How many parents an import remembers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IMPORT_PARENTS_LIMIT } from '../../src/transfer/limits.ts';
import { CATEGORY_LIMIT_CODE_POINTS } from '../../src/domain/limits.ts';
import { ParentCategories } from '../../src/transfer/parent-categories.ts';

test('forgets the oldest parent beyond the limit', () => {
  const parents = new ParentCategories();
  for (let n = 0; n <= IMPORT_PARENTS_LIMIT; n += 1) parents.add(`S${n}`, `${n}`, `C${n}`);
  assert.deepEqual(['S0', 'id:0', 'S1', 'id:1'].map((key) => parents.find(key)),
    ['', '', 'C1', 'C1']);
});

test('keeps of a category what shows that it is too long, and no more', () => {
  const parents = new ParentCategories();
  parents.add('S', '', 'x'.repeat(100_000));
  const { length } = parents.find('S');
  assert.ok(length > CATEGORY_LIMIT_CODE_POINTS && length < 10_000, `${length}`);
  assert.equal(parents.find(''), '');
});
