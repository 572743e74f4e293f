/** CBOR as WebAuthn uses it: the examples of RFC 8949, non-canonical input, and limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCbor, readCbor } from '../../../../src/domain/access/webauthn/cbor.ts';
import {
  CBOR_DEPTH_LIMIT, CBOR_ITEMS_LIMIT, CBOR_LIMIT_BYTES,
} from '../../../../src/domain/limits.ts';
import { encodeCbor } from '../../../support/cbor.ts';

const parse = (hex: string): unknown => parseCbor(Buffer.from(hex, 'hex'));

test('reads the examples of RFC 8949, appendix A', () => {
  const examples: readonly (readonly [hex: string, value: unknown])[] = [
    ['00', 0], ['17', 23], ['1818', 24], ['1864', 100], ['1903e8', 1000], ['1a000f4240', 1_000_000],
    ['1b000000e8d4a51000', 1_000_000_000_000], ['20', -1], ['3863', -100], ['3903e7', -1000],
    ['f4', false], ['f5', true], ['f6', null],
    ['40', Buffer.alloc(0)], ['4401020304', Buffer.from([1, 2, 3, 4])],
    ['60', ''], ['6449455446', 'IETF'], ['62225c', '"\\'], ['62c3bc', 'ü'], ['63e6b0b4', '水'],
    ['80', []], ['83010203', [1, 2, 3]], ['8301820203820405', [1, [2, 3], [4, 5]]],
    ['a0', new Map()], ['a201020304', new Map([[1, 2], [3, 4]])],
    ['a26161016162820203', new Map<string, unknown>([['a', 1], ['b', [2, 3]]])],
    ['826161a161626163', ['a', new Map([['b', 'c']])]],
  ];
  for (const [hex, value] of examples) {
    const parsed = parse(hex);
    const shown = parsed instanceof Uint8Array ? Buffer.from(parsed) : parsed;
    assert.deepEqual(shown, value, hex);
  }
});

test('rejects types that WebAuthn does not use, and non-canonical input', () => {
  const wrong: Readonly<Record<string, RegExp>> = {
    '': /ends early/, '18': /ends early/, '42ff': /ends early/, '8201': /ends early/,
    'a101': /ends early/, '5affffffff00': /ends early/, '9affffffff': /ends early/,
    'bb001fffffffffffff': /ends early/,
    '0000': /after its end/,
    '5f42010243030405ff': /indefinite/, '7f61616161ff': /indefinite/, '9fff': /indefinite/,
    'bfff': /indefinite/, '1c': /indefinite or reserved/,
    '1800': /more bytes/, '1817': /more bytes/, '1900ff': /more bytes/, '1a0000ffff': /more bytes/,
    '1b00000000ffffffff': /more bytes/, '580101': /more bytes/, '3817': /more bytes/,
    '1bffffffffffffffff': /too large/, '3bffffffffffffffff': /too large/,
    '1b0020000000000000': /too large/,
    'c11a514b67b0': /tag/,
    'f90000': /float/, 'fa47c35000': /float/, 'f7': /simple/, 'f0': /simple/, 'f818': /simple/,
    'a201020103': /duplicate/, 'a2616101616102': /duplicate/,
    'a1400100': /key/, 'a1f500': /key/, 'a18000': /key/,
    '61ff': /UTF-8/, '62c080': /UTF-8/,
  };
  for (const [hex, message] of Object.entries(wrong)) {
    assert.throws(() => parse(hex), { code: 'invalid_data', message }, hex);
  }
});

test('limits the size, the depth and the number of items', () => {
  const nested = (depth: number): string => `${'81'.repeat(depth)}00`;
  assert.doesNotThrow(() => parse(nested(CBOR_DEPTH_LIMIT)));
  assert.throws(() => parse(nested(CBOR_DEPTH_LIMIT + 1)), /nested too deeply/);
  const list = (items: number): Buffer => encodeCbor(Array.from({ length: items }, () => 0));
  assert.doesNotThrow(() => parseCbor(list(CBOR_ITEMS_LIMIT - 1)));
  assert.throws(() => parseCbor(list(CBOR_ITEMS_LIMIT)), /too many items/);
  const bytes = (length: number): Buffer => encodeCbor(Buffer.alloc(length));
  assert.doesNotThrow(() => parseCbor(bytes(CBOR_LIMIT_BYTES - 3)));
  assert.throws(() => parseCbor(bytes(CBOR_LIMIT_BYTES)), /too long/);
});

test('reads an item within a larger buffer, and returns what follows it', () => {
  const all = Buffer.from('ffff8219012c6161deadbeef', 'hex');
  const { value, rest } = readCbor(all.subarray(2, 10));
  assert.deepEqual(value, [300, 'a']);
  assert.equal(Buffer.from(rest).toString('hex'), 'dead');
});
