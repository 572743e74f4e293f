/**
 * The checks of WebAuthn Level 2, sections 7.1 and 7.2, on responses of a software authenticator,
 * and the examples of WebAuthn Level 3, section 16.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  parseAttestationObject, parseAuthenticatorData,
} from '../../../../src/domain/access/webauthn/authenticator-data.ts';
import {
  findRpId, verifyAssertion, verifyRegistration,
} from '../../../../src/domain/access/webauthn/ceremony.ts';
import { isSigned, parseCoseKey } from '../../../../src/domain/access/webauthn/cose-key.ts';
import {
  CLIENT_DATA_LIMIT_BYTES, CREDENTIAL_ID_LIMIT_BYTES,
} from '../../../../src/domain/limits.ts';
import { SoftwareAuthenticator } from '../../../support/authenticator.ts';
import { encodeCbor, type Encodable } from '../../../support/cbor.ts';

const ceremony = {
  challenge: Buffer.alloc(32, 7).toString('base64url'), origin: 'https://shop.example:8443',
};
/** What may be wrong in a response, and why it is rejected. */
const FAULTS = [
  [{ type: 'webauthn.other' }, /another operation/],
  [{ challenge: Buffer.alloc(32, 8).toString('base64url') }, /another challenge/],
  [{ challenge: '' }, /another challenge/],
  [{ origin: 'https://shop.example' }, /another origin/],
  [{ origin: 'http://shop.example:8443' }, /another origin/],
  [{ origin: 'https://www.shop.example:8443' }, /another origin/],
  [{ crossOrigin: true }, /a frame/],
  [{ rpId: 'example' }, /another host/],
  [{ isPresent: false }, /verified you/],
  [{ isVerified: false }, /verified you/],
] as const;

test('registers a passkey of each algorithm, and verifies its signatures', () => {
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    const authenticator = new SoftwareAuthenticator(algorithm, 5);
    const registered = verifyRegistration(ceremony, authenticator.create(ceremony));
    assert.ok(authenticator.credentialId.equals(registered.credentialId));
    assert.equal(registered.signCount, 5);
    const answer = authenticator.get(ceremony);
    assert.equal(verifyAssertion(ceremony, registered.publicKey, answer), 6, algorithm);
  }
});

test('rejects responses for another operation, challenge, origin or host, from a frame or no user',
  () => {
    const authenticator = new SoftwareAuthenticator();
    for (const [fault, message] of FAULTS) {
      const ask = { rpId: 'shop.example', ...ceremony, ...fault };
      const error = { code: 'invalid_data', message };
      assert.throws(() => verifyRegistration(ceremony, authenticator.create(ask)), error);
      const answer = authenticator.get(ask);
      assert.throws(() => verifyAssertion(ceremony, authenticator.publicKey, answer), error);
    }
  });

test('rejects the response of one operation in the other', () => {
  const authenticator = new SoftwareAuthenticator();
  const ask = { ...ceremony, type: 'webauthn.get' };
  assert.throws(() => verifyRegistration(ceremony, authenticator.create(ask)), /another operation/);
});

test('rejects an invalid signature, and one over other data', () => {
  const authenticator = new SoftwareAuthenticator();
  const answer = authenticator.get(ceremony);
  const other = new SoftwareAuthenticator().publicKey;
  assert.throws(() => verifyAssertion(ceremony, other, answer), /invalid signature/);
  const authenticatorData = Buffer.from(answer.authenticatorData);
  authenticatorData.writeUInt32BE(99, 33);
  assert.throws(() => verifyAssertion(
    ceremony, authenticator.publicKey, { ...answer, authenticatorData },
  ), /invalid signature/);
});

test('rejects client data that is not a JSON object, or is too long', () => {
  const authenticator = new SoftwareAuthenticator();
  for (const text of ['', '[]', 'null', '"webauthn.get"', '{', '\xff', 'x'.repeat(5_000)]) {
    const clientDataJson = Buffer.from(text, 'latin1');
    const answer = { ...authenticator.get(ceremony), clientDataJson };
    assert.throws(() => verifyAssertion(ceremony, authenticator.publicKey, answer), {
      code: 'invalid_data',
    }, text.slice(0, 20));
  }
});

test('rejects client data over its limit, and a format name over 32 characters', () => {
  const authenticator = new SoftwareAuthenticator();
  const withClientData = (bytes: number) => {
    const client = { type: 'webauthn.create', ...ceremony, later: '' };
    const later = 'x'.repeat(bytes - JSON.stringify(client).length);
    const clientDataJson = Buffer.from(JSON.stringify({ ...client, later }));
    const answer = { ...authenticator.create(ceremony), clientDataJson };
    return () => verifyRegistration(ceremony, answer);
  };
  assert.doesNotThrow(withClientData(CLIENT_DATA_LIMIT_BYTES));
  assert.throws(withClientData(CLIENT_DATA_LIMIT_BYTES + 1), /is too long/);
  const withFormat = (format: string) => () =>
    verifyRegistration(ceremony, authenticator.create({ ...ceremony, format }));
  assert.doesNotThrow(withFormat('x'.repeat(32)));
  assert.throws(withFormat('x'.repeat(33)), /no attestation format/);
});

test('accepts client data with unknown members and without crossOrigin', () => {
  const authenticator = new SoftwareAuthenticator();
  const clientDataJson = Buffer.from(JSON.stringify({
    later: { a: 1 }, origin: ceremony.origin, challenge: ceremony.challenge,
    type: 'webauthn.create',
  }));
  const answer = { ...authenticator.create(ceremony), clientDataJson };
  assert.doesNotThrow(() => verifyRegistration(ceremony, answer));
});

test('rejects a registration without its data, without a credential, or with a wrong id', () => {
  const authenticator = new SoftwareAuthenticator();
  const { authenticatorData } = authenticator.get(ceremony);
  const registration = (authData: Encodable | undefined) => ({
    ...authenticator.create(ceremony),
    attestationObject: encodeCbor(new Map<string, Encodable>([
      ['fmt', 'none'], ['attStmt', new Map<string, Encodable>()],
      ...authData === undefined ? [] : [['authData', authData] as const],
    ])),
  });
  for (const authData of [undefined, 'x'.repeat(100), new Map<string, Encodable>()]) {
    assert.throws(() => verifyRegistration(ceremony, registration(authData)), /is missing/);
  }
  const without = registration(authenticatorData);
  assert.throws(() => verifyRegistration(ceremony, without), /no credential/);
  const withId = (length: number, idBytes: number) => {
    const data = Buffer.concat([
      authenticatorData, Buffer.alloc(16), Buffer.from([length >> 8, length & 255]),
      Buffer.alloc(idBytes, 1), authenticator.publicKey,
    ]);
    data.writeUInt8(0x45, 32);
    return () => verifyRegistration(ceremony, registration(data));
  };
  assert.doesNotThrow(withId(CREDENTIAL_ID_LIMIT_BYTES, CREDENTIAL_ID_LIMIT_BYTES));
  assert.throws(withId(CREDENTIAL_ID_LIMIT_BYTES + 1, CREDENTIAL_ID_LIMIT_BYTES + 1), /length/);
  assert.throws(withId(0, 0), /length/);
  for (const [length, idBytes] of [[1_000, 16], [16, 17]] as const) {
    assert.throws(withId(length, idBytes), { code: 'invalid_data' });
  }
  const withoutId = Buffer.concat([authenticatorData, Buffer.alloc(18)]);
  withoutId.writeUInt8(0x45, 32);
  assert.throws(() => parseAuthenticatorData(withoutId), /length/);
  assert.throws(() => parseAuthenticatorData(withoutId.subarray(0, -1)), /ends early/);
});

test('ignores the attestation statement, and well-formed extensions', () => {
  const authenticator = new SoftwareAuthenticator();
  const answer = authenticator.create({ ...ceremony, format: 'packed' });
  assert.doesNotThrow(() => verifyRegistration(ceremony, answer));
  const { authenticatorData } = authenticator.get(ceremony);
  const extended = Buffer.concat([
    authenticatorData, encodeCbor(new Map<string, Encodable>([['credProtect', 2]])),
  ]);
  extended.writeUInt8(0x85, 32);
  assert.equal(parseAuthenticatorData(extended).isUserVerified, true);
  for (const rest of ['', 'a1', 'a0a0', '80']) {
    const wrong = Buffer.concat([authenticatorData, Buffer.from(rest, 'hex')]);
    wrong.writeUInt8(0x85, 32);
    assert.throws(() => parseAuthenticatorData(wrong), { code: 'invalid_data' }, rest);
  }
  assert.throws(() => parseAuthenticatorData(
    Buffer.concat([authenticatorData, Buffer.from('a0', 'hex')]),
  ), /after its end/);
});

test('has an RP ID for host names, and none for addresses', () => {
  assert.equal(findRpId('https://shop.example:8443'), 'shop.example');
  assert.equal(findRpId('http://localhost:3000'), 'localhost');
  assert.equal(findRpId('http://127.0.0.1:3000'), undefined);
  assert.equal(findRpId('https://[::1]:3000'), undefined);
  const address = { ...ceremony, origin: 'https://127.0.0.1' };
  const answer = new SoftwareAuthenticator().create({ ...address });
  assert.throws(() => verifyRegistration(address, answer), /another host/);
});

test('reads the examples of WebAuthn Level 3, section 16, and verifies their signatures', () => {
  const file = readFileSync(new URL('test-vectors.json', import.meta.url), 'utf8');
  // The cast: the file has these members.
  const vectors = JSON.parse(file) as Record<string, Record<string, string>>;
  assert.deepEqual(Object.keys(vectors), ['ES256', 'RS256', 'EdDSA']);
  for (const [name, vector] of Object.entries(vectors)) {
    const bytes = (member: string): Buffer => Buffer.from(vector[member] ?? '', 'hex');
    const { credential, rpIdHash } = parseAttestationObject(bytes('attestationObject'));
    assert.ok(bytes('credentialId').equals(credential?.credentialId ?? Buffer.alloc(0)), name);
    assert.ok(createHash('sha256').update('example.org').digest().equals(rpIdHash));
    const data = bytes('authenticatorData');
    assert.equal(parseAuthenticatorData(data).isUserPresent, true);
    const hash = createHash('sha256').update(vector['clientDataJson'] ?? '').digest();
    const key = parseCoseKey(credential?.publicKey ?? Buffer.alloc(0));
    assert.ok(isSigned(key, Buffer.concat([data, hash]), bytes('signature')), name);
  }
});
