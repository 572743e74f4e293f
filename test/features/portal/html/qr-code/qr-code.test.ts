/** QR codes of every size, read by an independent decoder. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { qrCode } from '../../../../../src/features/portal/html/qr-code/qr-code.ts';
import { decodeSvg } from './decode.ts';

/** Bytes in byte mode with level M, by version (ISO/IEC 18004, table 7). */
const CAPACITIES =
  [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412];

function decode(text: string) {
  const svg = qrCode('Code', text);
  assert.ok(svg, `no code for ${text.length} characters`);
  return decodeSvg(svg.text);
}

test('encodes a text so that it decodes to the same text, in the smallest version', () => {
  const masks = new Set<number>();
  for (const [index, capacity] of CAPACITIES.entries()) {
    for (const length of [capacity, capacity - 1, (CAPACITIES[index - 1] ?? -1) + 1]) {
      const text = Array.from({ length }, (_, n) => String.fromCharCode(33 + (n * n + length) % 94))
        .join('');
      const { mask, ...decoded } = decode(text);
      assert.deepEqual(decoded, { text, version: index + 1 });
      masks.add(mask);
    }
  }
  assert.ok(masks.size > 4, 'the penalties must select different masks');
});

test('encodes UTF-8, and counts its bytes', () => {
  assert.equal(decode('Zürich 水 🧾').text, 'Zürich 水 🧾');
  assert.equal(decode('ü'.repeat(7)).version, 1);
  assert.equal(decode('ü'.repeat(8)).version, 2);
});

test('returns no code for a text that is too long', () => {
  assert.equal(qrCode('Code', 'x'.repeat(413)), undefined);
});

test('draws dark modules on a light ground, with a name for screen readers', () => {
  const { text = '' } = qrCode('Secret for <app>', 'x') ?? {};
  assert.match(text, /role="img" aria-label="Secret for &lt;app&gt;"/);
  assert.match(text, /<title>Secret for &lt;app&gt;<\/title>/);
  assert.match(text, /<rect width="29" height="29" fill="#ffffff"\/>/);
});
