/** Codes that people carry: easy to read aloud and to type, and known by their hash alone. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { generateCode, hashCode } from '../../../src/domain/access/human-code.ts';

test('makes codes of 16 characters in groups of four, each another one', () => {
  const codes = Array.from({ length: 200 }, () => generateCode());
  assert.equal(new Set(codes).size, 200);
  const shape = /^(?:[0-9A-HJKMNP-TV-Z]{4}(?:-(?!$)|$)){4}$/;
  for (const code of codes) assert.match(code, shape);
  // All 32 characters come up: 3,200 draws leave one out with a chance of 10^-42.
  assert.equal(new Set(codes.join('').replaceAll('-', '')).size, 32);
});

test('hashes a code by its 16 characters', () => {
  const expected = createHash('sha256').update('7QK2M9XD0AEV4TBC').digest('hex');
  assert.equal(hashCode('7QK2-M9XD-0AEV-4TBC'), expected);
});

test('takes a code however it is typed', () => {
  const expected = hashCode('7QK1-M9XD-0AEV-41BC');
  for (const text of ['7qk1m9xd0aev41bc', ' 7QKI M9XD OAEV 4LBC\n', '7-Q-K-1-M9XD-0aeV-4ibc']) {
    assert.equal(hashCode(text), expected, text);
  }
});

test('takes nothing that cannot be a code', () => {
  for (const text of ['', '7QK2-M9XD-0AEV-4TB', '7QK2-M9XD-0AEV-4TBCC', '7QK2-M9XD-0AEV-4TBU',
    '7QK2_M9XD_0AEV_4TBC', '123456']) {
    assert.equal(hashCode(text), undefined, text);
  }
});
