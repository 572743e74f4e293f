/** The table of limits, and the relations between limits. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertApiLimits } from '../../src/api/limits.ts';
import { assertServeLimits } from '../../src/cli/limits.ts';
import { assertChangesLimits } from '../../src/features/changes/limits.ts';
import { assertPortalLimits } from '../../src/features/portal/limits.ts';
import { assertWebhookLimits } from '../../src/features/webhooks/limits.ts';
import { assertHttpLimits } from '../../src/http/limits.ts';
import { assertSqliteLimits } from '../../src/store/sqlite/limits.ts';
import { LIMITS_FILE, loadLimits, renderLimits } from './limits.ts';

test('src/LIMITS.md is current: run `make limits`', async () => {
  assert.equal(readFileSync(LIMITS_FILE, 'utf8'), await renderLimits());
});

test('every limit says what it limits, and has a name and a value of its own', async () => {
  const limits = [...(await loadLimits()).values()].flat();
  assert.ok(limits.length > 200, String(limits.length));
  for (const { name, value, comment } of limits) {
    assert.match(comment, /^[A-Z`].*\.$/, name);
    assert.notEqual(value, undefined, name);
  }
  assert.equal(new Set(limits.map(({ name }) => name)).size, limits.length);
});

test('no limits contradict each other', () => {
  assertHttpLimits();
  assertApiLimits();
  assertSqliteLimits();
  assertChangesLimits();
  assertWebhookLimits();
  assertPortalLimits();
  assertServeLimits();
});
