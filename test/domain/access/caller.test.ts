/** Scope names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isScope, SCOPES } from '../../../src/domain/access/caller.ts';

test('recognises every scope', () => {
  assert.deepEqual(SCOPES.filter(isScope), [
    'products:read', 'products:write', 'prices:write', 'stock:write', 'changes:read',
    'webhooks:write',
  ]);
});

test('rejects any other name', () => {
  const texts = ['', '*', 'products', 'PRODUCTS:READ', 'products:read ', 'products:read,x'];
  for (const text of texts) {
    assert.equal(isScope(text), false, text);
  }
});
