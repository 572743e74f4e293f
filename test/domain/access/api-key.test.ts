/** API keys: format, checksum and hash, and the fields of a new key. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  generateApiKey, hashApiKey, maskApiKey, parseApiKey, parseNewApiKey, toStoredSecret,
} from '../../../src/domain/access/api-key.ts';
import { SCOPES } from '../../../src/domain/access/caller.ts';
import { catchAppError } from '../validation-errors.ts';

const BASE62 = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
// Checksum and hash were computed independently, with Python's zlib and hashlib.
const KNOWN = 'spk_0123456789ABCDEFGHIJabcdefghij2pgv6t';
const KNOWN_HASH = '2ec3cc502cd37655abe26d927d67a860144f0c1e90790eb0f342030ff4246b22';

describe('a key', () => {
  test('is spk_ and 36 base62 characters, and is accepted by the parser', () => {
    for (let n = 0; n < 200; n += 1) {
      const key = generateApiKey();
      assert.match(key, /^spk_[0-9A-Za-z]{36}$/);
      assert.equal(parseApiKey(key), key);
    }
  });

  test('differs each time and uses the whole alphabet', () => {
    const keys = Array.from({ length: 500 }, () => generateApiKey());
    assert.equal(new Set(keys).size, keys.length);
    const used = new Set(keys.flatMap((key) => [...key.slice(4, 34)]));
    assert.equal(used.size, BASE62.length);
  });

  test('ends in the CRC-32 of what precedes it', () => {
    assert.equal(parseApiKey(KNOWN), KNOWN);
    assert.equal(parseApiKey('spk_0000000000000000000000000000000S7OPD')?.slice(34), '0S7OPD');
  });

  test('is rejected with any single character changed', () => {
    const key = generateApiKey();
    for (let at = 0; at < key.length; at += 1) {
      for (const character of [...BASE62, '_', '-', ' ', 'é']) {
        if (character === key[at]) continue;
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        assert.equal(parseApiKey(changed), undefined, `${key} became ${changed}`);
      }
    }
  });

  test('is rejected with two adjacent characters swapped', () => {
    const key = generateApiKey();
    for (let at = 0; at + 1 < key.length; at += 1) {
      const swapped = `${key.slice(0, at)}${key[at + 1]}${key[at]}${key.slice(at + 2)}`;
      if (swapped === key) continue;
      assert.equal(parseApiKey(swapped), undefined, `${key} became ${swapped}`);
    }
  });

  const junk = [
    '', 'spk_', KNOWN.slice(0, -1), `${KNOWN}0`, ` ${KNOWN}`, `${KNOWN} `, `${KNOWN}\n`,
    KNOWN.slice(4),
    KNOWN.toUpperCase(), `SPK_${KNOWN.slice(4)}`, `spk_${'0'.repeat(36)}`, 'x'.repeat(100_000),
  ];
  for (const text of junk) {
    test(`is not ${JSON.stringify(text.slice(0, 50))}`, () => {
      assert.equal(parseApiKey(text), undefined);
    });
  }

  test('is shown as its prefix and its last four characters', () => {
    const key = parseApiKey(KNOWN);
    assert.ok(key);
    assert.equal(maskApiKey(toStoredSecret(key)), `spk_…${KNOWN.slice(-4)}`);
  });

  test('is stored as the SHA-256 of its text in hexadecimal', () => {
    const key = parseApiKey(KNOWN);
    assert.ok(key);
    assert.equal(hashApiKey(key), KNOWN_HASH);
    assert.equal(toStoredSecret(key).hash, KNOWN_HASH);
  });
});

describe('a new key', () => {
  const plain = { name: 'till', scopes: [], addressRanges: [], expiresAt: undefined };

  test('has every scope by default', () => {
    assert.deepEqual(parseNewApiKey(plain), {
      ...plain, scopes: [...SCOPES], rateLimitPerMinute: undefined,
    });
  });

  test('has the named scopes, once each, in a fixed order', () => {
    const scopes = ['stock:write', 'products:read', 'stock:write'];
    assert.deepEqual(parseNewApiKey({ ...plain, scopes }).scopes, ['products:read', 'stock:write']);
  });

  test('is rejected for an unknown scope, with a list of the known ones', () => {
    for (const scope of ['', 'products', 'Products:read', '*']) {
      const scopes = ['products:read', scope];
      const error = catchAppError(() => parseNewApiKey({ ...plain, scopes }));
      assert.equal(error.code, 'invalid_data');
      assert.ok(error.publicDetail.includes(`"${scope}"`));
      for (const known of SCOPES) assert.ok(error.publicDetail.includes(known), known);
    }
  });

  test('has a name of 1 to 100 code points', () => {
    assert.equal(parseNewApiKey({ ...plain, name: '😀'.repeat(100) }).name.length, 200);
    for (const name of ['', '\u200b', 'a\nb', '\ud800', '😀'.repeat(101)]) {
      const error = catchAppError(() => parseNewApiKey({ ...plain, name }));
      assert.equal(error.code, 'invalid_data', JSON.stringify(name));
      assert.match(error.publicDetail, /name/);
    }
  });

  test('keeps its expiry and its address ranges, which are validated', () => {
    const addressRanges = ['192.0.2.1', '2001:db8::/32'];
    const made = parseNewApiKey({ ...plain, addressRanges, expiresAt: 5 });
    assert.deepEqual(made.addressRanges, ['192.0.2.1/32', '2001:db8::/32']);
    assert.equal(made.expiresAt, 5);
    const error = catchAppError(() => parseNewApiKey({ ...plain, addressRanges: ['everywhere'] }));
    assert.equal(error.code, 'invalid_data');
  });

  test('has a rate limit of 1 a minute up to that of the server', () => {
    for (const [rateLimitPerMinute, server] of [[1], [10_000_000], [60, 60], [61, 0]] as const) {
      const key = parseNewApiKey({ ...plain, rateLimitPerMinute }, server);
      assert.equal(key.rateLimitPerMinute, rateLimitPerMinute);
    }
    const rejected = [[0], [-1], [1.5], [NaN], [10_000_001], [61, 60], [10_000_001, 1e9]] as const;
    for (const [rateLimitPerMinute, server] of rejected) {
      const error = catchAppError(() => parseNewApiKey({ ...plain, rateLimitPerMinute }, server));
      assert.equal(error.issues[0]?.pointer, '/rateLimitPerMinute');
      assert.match(error.publicDetail, /^Requests per minute: Must be/);
    }
  });

  test('with several errors is rejected with the pointer of each, and describes the first', () => {
    const input = { name: ' ', scopes: ['all'], addressRanges: ['here'], expiresAt: undefined };
    const error = catchAppError(() => parseNewApiKey(input));
    assert.deepEqual(
      error.issues.map(({ pointer, code }) => [pointer, code]),
      [['/name', 'blank'], ['/scopes', 'format'], ['/allow', 'format']],
    );
    assert.equal(error.publicDetail, 'The key\'s name: Must not be blank.');
    const second = catchAppError(() => parseNewApiKey({ ...input, name: 'x' }));
    assert.equal(second.publicDetail, second.issues[0]?.detail);
  });
});
