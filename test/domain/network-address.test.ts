/** IP addresses and CIDR ranges. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  rateLimitPrefix, isAddressInRanges, normaliseAddress, parseAddressRanges,
} from '../../src/domain/network-address.ts';
import { forRandom, type Random } from './random.ts';

describe('ranges', () => {
  test('keep their order, a single address with its full prefix length', () => {
    assert.deepEqual(
      read([
        '192.0.2.0/24', '198.51.100.7', '2001:db8::/32', '::1', '0.0.0.0/0', '::/0',
      ]),
      ['192.0.2.0/24', '198.51.100.7/32', '2001:db8::/32', '::1/128', '0.0.0.0/0', '::/0'],
    );
    assert.deepEqual(read([]), []);
  });

  const refused = [
    '', '/', '/24', 'localhost', 'example.org/24', '192.0.2', '192.0.2.0.1', '192.0.2.256',
    '192.0.2.01',
    ' 192.0.2.0', '192.0.2.0 ', '192.0.2.0/', '192.0.2.0/33', '192.0.2.0/-1', '192.0.2.0/+8',
    '192.0.2.0/8.5', '192.0.2.0/1e1', '192.0.2.0/ 8', '192.0.2.0/24/24', '192.0.2.0/255.255.255.0',
    '::1/129', '::g', '[::1]', 'fe80::1%eth0', 'fe80::1%eth0/64', '::1/128/1', '192.0.2.0/1000',
    '192.0.2.0-192.0.2.9', '192.0.2.0,192.0.2.9', '192.0.2.*',
  ];
  for (const range of refused) {
    test(`are not parsed from ${JSON.stringify(range)}`, () => {
      const parsed = parseAddressRanges(['192.0.2.0/24', range]);
      assert.ok('error' in parsed);
      assert.ok(parsed.error.detail.includes(`"${range}"`), parsed.error.detail);
    });
  }

  test('are limited to 32', () => {
    const ranges = Array.from({ length: 33 }, (_, n) => `192.0.2.${n}/32`);
    assert.equal(read(ranges.slice(1)).length, 32);
    const parsed = parseAddressRanges(ranges);
    assert.ok('error' in parsed);
    assert.match(parsed.error.detail, /32/);
  });
});

describe('an address', () => {
  const cases: readonly (readonly [address: string, range: string, isIn: boolean])[] = [
    ['192.0.2.0', '192.0.2.0/24', true], ['192.0.2.255', '192.0.2.0/24', true],
    ['192.0.1.255', '192.0.2.0/24', false], ['192.0.3.0', '192.0.2.0/24', false],
    ['192.0.2.200', '192.0.2.77/24', true], ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.2', '192.0.2.1', false], ['203.0.113.9', '0.0.0.0/0', true],
    ['2001:db8::1', '2001:db8::/32', true], ['2001:db9::1', '2001:db8::/32', false],
    ['2001:0DB8:0:0::1', '2001:db8::1', true], ['::1', '0.0.0.0/0', false],
    ['::1', '::/0', true], ['::ffff:192.0.2.9', '192.0.2.0/24', true],
    ['::ffff:192.0.3.9', '192.0.2.0/24', false], ['192.0.2.9', '::ffff:192.0.2.0/120', true],
    ['192.0.3.9', '::ffff:192.0.2.0/120', false], ['fe80::1%eth0', 'fe80::/10', true],
    ['', '0.0.0.0/0', false], ['junk', '::/0', false], ['192.0.2.1/32', '192.0.2.0/24', false],
  ];
  for (const [address, range, isIn] of cases) {
    test(`${JSON.stringify(address)} is ${isIn ? '' : 'not '}in ${range}`, () => {
      assert.equal(isAddressInRanges(address, read([range])), isIn);
    });
  }

  test('is in any of several ranges, and never in an empty list', () => {
    const ranges = read(['192.0.2.0/24', '2001:db8::/32', '198.51.100.7']);
    for (const address of ['192.0.2.9', '2001:db8::9', '198.51.100.7']) {
      assert.equal(isAddressInRanges(address, ranges), true, address);
      assert.equal(isAddressInRanges(address, []), false, address);
    }
    assert.equal(isAddressInRanges('198.51.100.8', ranges), false);
  });

  for (const [version, bits, spell] of [[4, 32, spellV4], [6, 128, spellV6]] as const) {
    test(`is in an IPv${version} range if and only if the leading bits are the same`, () => {
      forRandom(3_000, (random) => {
        const network = pickBits(random, bits);
        const prefix = random.below(bits + 1);
        const flipped = network ^ (1n << BigInt(random.below(bits)));
        const address = random.below(4) > 0 ? flipped : pickBits(random, bits);
        const shift = BigInt(bits - prefix);
        const range = `${spell(network)}/${prefix}`;
        assert.equal(
          isAddressInRanges(spell(address), read([range])),
          address >> shift === network >> shift, `${spell(address)} in ${range}`,
        );
      });
    });
  }

  test('mapped into IPv6 is the IPv4 address', () => {
    for (const [address, normalised] of [
      ['::ffff:192.0.2.1', '192.0.2.1'], ['192.0.2.1', '192.0.2.1'], ['2001:db8::1', '2001:db8::1'],
      ['::ffff:2001:db8', '::ffff:2001:db8'], ['::ffff:', '::ffff:'],
      ['::ffff:192.0.2', '::ffff:192.0.2'],
      ['', ''],
    ] as const) {
      assert.equal(normaliseAddress(address), normalised);
    }
  });
});

function read(ranges: readonly string[]): readonly string[] {
  const parsed = parseAddressRanges(ranges);
  assert.ok('value' in parsed);
  return parsed.value;
}

function pickBits(random: Random, count: number): bigint {
  let bits = 0n;
  for (let n = 0; n < count; n += 16) bits = (bits << 16n) | BigInt(random.below(2 ** 16));
  return bits;
}

function spellV4(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
}

function spellV6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, n) => (bits >> BigInt(112 - 16 * n)) & 0xffffn);
  return groups.map((group) => group.toString(16)).join(':');
}

test('a rate limit covers the /64 of an IPv6 client, and a single IPv4 address', () => {
  for (const [address, network] of [
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'], ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'], ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'], ['::1', '0:0:0:0::/64'], ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['192.0.2.7', '192.0.2.7'], ['', ''],
  ] as const) {
    assert.equal(rateLimitPrefix(address), network, address);
  }
});
