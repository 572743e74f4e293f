/** Public keys of passkeys: the supported algorithms, and invalid keys. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import {
  isSigned, parseCoseKey, PASSKEY_ALGORITHMS,
} from '../../../../src/domain/access/webauthn/cose-key.ts';
import { type Algorithm, SoftwareAuthenticator, toCose } from '../../../support/authenticator.ts';
import { encodeCbor, type Encodable } from '../../../support/cbor.ts';

type Members = Map<number | string, Encodable>;

function membersOf(algorithm: Algorithm): Members {
  const { publicKey } = algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : algorithm === 'EdDSA' ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return toCose(algorithm, publicKey);
}

/** The key with some members replaced; undefined removes one. */
function changed(
  algorithm: Algorithm, changes: readonly (readonly [number, Encodable | undefined])[],
): Buffer {
  const members = membersOf(algorithm);
  for (const [name, value] of changes) {
    if (value === undefined) members.delete(name);
    else members.set(name, value);
  }
  return encodeCbor(members);
}

test('reads keys of each algorithm', () => {
  const algorithms = (['ES256', 'EdDSA', 'RS256'] as const).map((algorithm) =>
    parseCoseKey(new SoftwareAuthenticator(algorithm).publicKey).algorithm);
  assert.deepEqual(algorithms, PASSKEY_ALGORITHMS);
});

test('rejects a key with a member changed, missing or added', () => {
  const wrong: readonly Buffer[] = [
    encodeCbor([1, 2]), encodeCbor('key'), encodeCbor(new Map()),
    changed('ES256', [[1, 1]]), changed('ES256', [[1, undefined]]), changed('ES256', [[3, -35]]),
    changed('ES256', [[3, undefined]]), changed('ES256', [[-1, 2]]), changed('ES256', [[4, 1]]),
    changed('ES256', [[-3, true]]), changed('ES256', [[-3, undefined]]),
    changed('ES256', [[-2, Buffer.alloc(31)]]), changed('ES256', [[-2, Buffer.alloc(33)]]),
    changed('EdDSA', [[-1, 4]]), changed('EdDSA', [[-1, 7]]), changed('EdDSA', [[-2, 'x']]),
    changed('EdDSA', [[3, -7]]), changed('EdDSA', [[-3, Buffer.alloc(32)]]),
    changed('RS256', [[3, -37]]), changed('RS256', [[3, -65535]]), changed('RS256', [[1, 2]]),
    changed('RS256', [[-2, Buffer.from([3])]]), changed('RS256', [[-2, Buffer.from([1, 0, 0])]]),
    changed('RS256', [[-2, Buffer.from([0, 1, 0, 1])]]),
    changed('RS256', [[-1, Buffer.alloc(513, 255)]]),
    changed('RS256', [[-1, Buffer.alloc(255, 255)]]),
  ];
  for (const key of wrong) {
    assert.throws(() => parseCoseKey(key), { code: 'invalid_data' }, key.toString('hex'));
  }
});

test('rejects a point that is not on the curve', () => {
  const [x, y] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  assert.throws(() => parseCoseKey(changed('ES256', [[-2, x], [-3, y]])), /is not valid/);
  const zero = Buffer.alloc(32);
  assert.throws(() => parseCoseKey(changed('ES256', [[-2, zero], [-3, zero]])), /is not valid/);
});

test('rejects a coordinate without its leading zero', () => {
  const members = membersWithZero();
  assert.doesNotThrow(() => parseCoseKey(encodeCbor(members)));
  // The cast: -2 is the coordinate.
  members.set(-2, (members.get(-2) as Buffer).subarray(1));
  assert.throws(() => parseCoseKey(encodeCbor(members)), /wrong length/);
});

/** One key in 256 has a coordinate that begins with a zero. */
function membersWithZero(): Members {
  for (;;) {
    const members = membersOf('ES256');
    const x = members.get(-2);
    if (x instanceof Buffer && x[0] === 0) return members;
  }
}

test('rejects RSA with fewer than 2,048 bits', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2047 });
  const key = encodeCbor(toCose('RS256', publicKey));
  assert.throws(() => parseCoseKey(key), /fewer than 2,048 bits/);
  const padded = Buffer.concat([Buffer.alloc(1), Buffer.alloc(256, 255)]);
  assert.throws(() => parseCoseKey(changed('RS256', [[-1, padded]])), /leading zero/);
});

test('accepts only signatures of the same key', () => {
  const data = Buffer.from('signed');
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    const { publicKey, privateKey } = algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : algorithm === 'EdDSA' ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = parseCoseKey(encodeCbor(toCose(algorithm, publicKey)));
    const signature = sign(algorithm === 'EdDSA' ? null : 'sha256', data, privateKey);
    assert.ok(isSigned(key, data, signature), algorithm);
    assert.ok(!isSigned(key, Buffer.from('other'), signature), algorithm);
    assert.ok(!isSigned(parseCoseKey(encodeCbor(membersOf(algorithm))), data, signature));
    for (const malformed of [Buffer.alloc(0), Buffer.alloc(64), signature.subarray(1)]) {
      assert.ok(!isSigned(key, data, malformed), algorithm);
    }
  }
});
