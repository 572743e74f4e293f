/** The limits on the parent products that are kept in memory for a shop export. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IMPORT_PARENTS_LIMIT } from '../../src/transfer/limits.ts';
import { CATEGORY_LIMIT_CODE_POINTS } from '../../src/domain/limits.ts';
import { findColumns } from '../../src/transfer/columns.ts';
import { Inheritance } from '../../src/transfer/shop-rows.ts';

const HEADER = ['ID', 'Type', 'SKU', 'Name', 'Categories', 'Regular price', 'Stock', 'Parent'];
const COLUMNS = findColumns(HEADER, new Map());

/** Adds a parent product. */
function add(inheritance: Inheritance, sku: string, id: string, category: string): void {
  const cells = [id, 'variable', sku, '', category, '', '', ''];
  inheritance.apply(cells, COLUMNS, { sku, name: '', category });
}

/** The category that a variation of a parent inherits. */
function inherit(inheritance: Inheritance, parent: string): string {
  const cells = ['', 'variation', 'V', '', '', '', '', parent];
  return inheritance.apply(cells, COLUMNS, { sku: 'V', name: '', category: '' }).category;
}

test('evicts the oldest parent beyond the limit', () => {
  const parents = new Inheritance();
  for (let n = 0; n <= IMPORT_PARENTS_LIMIT; n += 1) add(parents, `S${n}`, `${n}`, `C${n}`);
  assert.deepEqual(['S0', 'id:0', 'S1', 'id:1'].map((key) => inherit(parents, key)),
    ['', '', 'C1', 'C1']);
});

test('truncates a long category, but keeps it too long to be valid', () => {
  const parents = new Inheritance();
  add(parents, 'S', '', 'x'.repeat(100_000));
  const { length } = inherit(parents, 'S');
  assert.ok(length > CATEGORY_LIMIT_CODE_POINTS && length < 10_000, `${length}`);
  assert.equal(inherit(parents, ''), '');
});
