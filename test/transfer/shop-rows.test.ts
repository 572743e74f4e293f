/** Which rows of a shop export are products, and the limits on what is kept in memory for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IMPORT_PARENTS_LIMIT } from '../../src/transfer/limits.ts';
import { CATEGORY_LIMIT_CODE_POINTS } from '../../src/domain/limits.ts';
import { findColumns } from '../../src/transfer/columns.ts';
import { Inheritance, StoreViews } from '../../src/transfer/shop-rows.ts';

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

function rolesOf(views: StoreViews, rows: readonly (readonly [sku: string, view: string])[]) {
  return rows.map(([sku, view]) => views.findRole(view, sku));
}

test('takes rows for the store views admin and default as products', () => {
  assert.deepEqual(rolesOf(new StoreViews(), [
    ['A', 'default'], ['B', 'admin'], ['C', ' Default '], ['D', 'german'], ['E', ''],
  ]), ['product', 'product', 'product', 'translation', 'product']);
});

test('takes a row for the view default as a translation if the product has its own row', () => {
  assert.deepEqual(rolesOf(new StoreViews(), [
    ['A', ''], ['B', 'admin'], ['B', 'default'], ['A', 'german'], ['A', 'default'],
    ['C', 'default'],
  ]), ['product', 'product', 'translation', 'translation', 'translation', 'product']);
});

test('does not guess what a row is if it has forgotten products', () => {
  const views = new StoreViews();
  for (let n = 0; n <= IMPORT_PARENTS_LIMIT; n += 1) rolesOf(views, [[`S${n}`, '']]);
  assert.deepEqual(rolesOf(views, [['S0', 'default'], ['S1', 'default'], ['X', 'default']]),
    ['unclear', 'translation', 'unclear']);
});
