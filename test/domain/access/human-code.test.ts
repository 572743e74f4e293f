/** Codes for people, such as invitations: easy to read aloud and to type, stored as a hash. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  decodeBase32, encodeBase32, generateCode, hashCode, RECOVERY_CODE_LENGTH,
} from '../../../src/domain/access/human-code.ts';
import { forRandom } from '../random.ts';

test('generates distinct codes of 16 characters in groups of four', () => {
  const codes = Array.from({ length: 200 }, () => generateCode());
  assert.equal(new Set(codes).size, 200);
  const shape = /^(?:[0-9A-HJKMNP-TV-Z]{4}(?:-(?!$)|$)){4}$/;
  for (const code of codes) assert.match(code, shape);
  // All 32 characters occur: the probability that 3,200 draws omit one is 10^-42.
  assert.equal(new Set(codes.join('').replaceAll('-', '')).size, 32);
});

test('generates recovery codes of 120 bits, and hashes them', () => {
  const code = generateCode(RECOVERY_CODE_LENGTH);
  assert.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{4}(?:-(?!$)|$)){6}$/);
  const expected = createHash('sha256').update(code.replaceAll('-', '')).digest('hex');
  assert.equal(hashCode(code.toLowerCase()), expected);
  assert.equal(hashCode(code.slice(0, -5)), undefined);
});

test('hashes a code by its 16 characters', () => {
  const expected = createHash('sha256').update('7QK2M9XD0AEV4TBC').digest('hex');
  assert.equal(hashCode('7QK2-M9XD-0AEV-4TBC'), expected);
});

test('accepts a code in any spacing and case, and with similar letters for digits', () => {
  const expected = hashCode('7QK1-M9XD-0AEV-41BC');
  for (const text of ['7qk1m9xd0aev41bc', ' 7QKI M9XD OAEV 4LBC\n', '7-Q-K-1-M9XD-0aeV-4ibc']) {
    assert.equal(hashCode(text), expected, text);
  }
});

test('rejects malformed codes', () => {
  for (const text of ['', '7QK2-M9XD-0AEV-4TB', '7QK2-M9XD-0AEV-4TBCC', '7QK2-M9XD-0AEV-4TBU',
    '7QK2_M9XD_0AEV_4TBC', '123456']) {
    assert.equal(hashCode(text), undefined, text);
  }
});

// RFC 4648, section 10, without the padding.
const vectors: readonly (readonly [plain: string, encoded: string])[] = [
  ['', ''], ['f', 'MY'], ['fo', 'MZXQ'], ['foo', 'MZXW6'], ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'], ['foobar', 'MZXW6YTBOI'],
];

test('encodes and decodes the base 32 examples of RFC 4648', () => {
  for (const [plain, encoded] of vectors) {
    assert.equal(encodeBase32(Buffer.from(plain)), encoded);
    assert.equal(Buffer.from(decodeBase32(encoded)).toString(), plain);
  }
});

test('decodes the base 32 that it encodes', () => {
  forRandom(200, ({ below }) => {
    const bytes = Uint8Array.from({ length: below(64) }, () => below(256));
    assert.deepEqual(decodeBase32(encodeBase32(bytes)), bytes);
  });
});

test('rejects text that is not base 32', () => {
  for (const text of ['a', 'MY======', 'M0', 'M Y', 'MZX1']) {
    assert.throws(() => decodeBase32(text), TypeError, text);
  }
});
