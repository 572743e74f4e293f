/** The lists of mutants match the source. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../audit/places.ts';
import { readAccepted } from './accepted.ts';
import { findMutants } from './find-mutants.ts';
import { listGuardFiles } from './guards.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const ids = new Set(findMutants(ROOT, listGuardFiles()).map(({ id }) => id));

test('finds many mutants, each with an id of its own', () => {
  assert.ok(ids.size > 900, String(ids.size));
  assert.ok(ids.has('src/store/sql/webhooks/webhooks.ts webhookQueries.list seller-dropped '
    + 'seller_id = :sellerId'));
});

test('accepts no mutant that does not exist: remove its reason', () => {
  assert.deepEqual([...readAccepted(read('accepted.txt')).keys()].filter((id) => !ids.has(id)), []);
});

test('runs no mutant in each change that does not exist', () => {
  const subset = read('subset.txt').split('\n').filter(Boolean);
  assert.ok(subset.length > 30, String(subset.length));
  assert.deepEqual(subset.filter((id) => !ids.has(id)), []);
});

test('names test files that exist', () => {
  const tests = new Set(read('finders.txt').match(/test\/\S+/g));
  assert.deepEqual([...tests].filter((file) => !existsSync(join(ROOT, file))), []);
});
