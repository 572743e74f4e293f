/** Base 32 of RFC 4648, without padding. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeBase32, encodeBase32 } from '../../../src/domain/access/base32.ts';
import { forRandom } from '../random.ts';

// RFC 4648, section 10, without the padding.
const vectors: readonly (readonly [plain: string, encoded: string])[] = [
  ['', ''], ['f', 'MY'], ['fo', 'MZXQ'], ['foo', 'MZXW6'], ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'], ['foobar', 'MZXW6YTBOI'],
];

test('writes and reads the examples of the RFC', () => {
  for (const [plain, encoded] of vectors) {
    assert.equal(encodeBase32(Buffer.from(plain)), encoded);
    assert.equal(Buffer.from(decodeBase32(encoded)).toString(), plain);
  }
});

test('reads whatever it wrote', () => {
  forRandom(200, ({ below }) => {
    const bytes = Uint8Array.from({ length: below(64) }, () => below(256));
    assert.deepEqual(decodeBase32(encodeBase32(bytes)), bytes);
  });
});

test('reads nothing else', () => {
  for (const text of ['a', 'MY======', 'M0', 'M Y', 'MZX1']) {
    assert.throws(() => decodeBase32(text), TypeError, text);
  }
});
