/** The version is a constant, so that a bundle has it, too. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VERSION } from '../../src/runtime/version.ts';

test('is the version of package.json', () => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  assert.equal(VERSION, JSON.parse(manifest).version);
});
