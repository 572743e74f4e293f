/**
 * Public keys of passkeys, as COSE_Key (RFC 9052 section 7, RFC 9053 section 7, RFC 8230 section 4)
 * with the restrictions of WebAuthn Level 2, sections 5.8.5 and 6.5.1: ES256 with an uncompressed
 * point on P-256, EdDSA with Ed25519, and RS256 with 2,048 to 4,096 bits and the exponent 65,537.
 * A key must state its algorithm, and have no other members than its type requires.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { AppError } from '../../error.ts';
import { type CborKey, type CborMap, type CborValue, parseCbor } from './cbor.ts';

/** COSE algorithm identifiers, in order of preference. */
export const PASSKEY_ALGORITHMS = [-7, -8, -257] as const;
const [ES256, EDDSA, RS256] = PASSKEY_ALGORITHMS;

/** The members of a key; the negative ones depend on its type. */
const [TYPE, ALGORITHM, CURVE, X, Y, MODULUS, EXPONENT] = [1, 3, -1, -2, -3, -1, -2];
/** Key types, and curves. */
const [OKP, EC2, RSA] = [1, 2, 3];
const [P256, ED25519] = [1, 6];

const COORDINATE_BYTES = 32;
const MODULUS_MIN_BYTES = 256;
const MODULUS_LIMIT_BYTES = 512;
const EXPONENT_65537 = 'AQAB';

interface PublicKey {
  readonly algorithm: (typeof PASSKEY_ALGORITHMS)[number];
  readonly key: KeyObject;
}

/** @throws AppError `invalid_data` */
export function parseCoseKey(bytes: Uint8Array): PublicKey {
  return toPublicKey(parseCbor(bytes));
}

/** @throws AppError `invalid_data` for a key that is not exactly as described above */
export function toPublicKey(value: CborValue): PublicKey {
  if (!(value instanceof Map)) throw invalidKey('is not a map');
  // The cast: `instanceof` drops the types of keys and values.
  const members = value as CborMap;
  switch (members.get(ALGORITHM)) {
    case ES256: return readEs256(members);
    case EDDSA: return readEdDsa(members);
    case RS256: return readRs256(members);
    default: throw invalidKey('has another algorithm than ES256, EdDSA and RS256');
  }
}

/** Whether a key has signed the data. False also for a malformed signature. */
export function isSigned(
  { algorithm, key }: PublicKey, data: Uint8Array, signature: Uint8Array,
): boolean {
  // Ed25519 hashes by itself. ECDSA signatures are in DER (WebAuthn Level 2, section 6.5.6).
  return verify(algorithm === EDDSA ? null : 'sha256', data, key, signature);
}

function readEs256(members: CborMap): PublicKey {
  assertMembers(members, [[TYPE, EC2], [CURVE, P256]], 5);
  const x = readBytes(members, X, COORDINATE_BYTES);
  const y = readBytes(members, Y, COORDINATE_BYTES);
  return { algorithm: ES256, key: importJwk({ kty: 'EC', crv: 'P-256', x, y }) };
}

function readEdDsa(members: CborMap): PublicKey {
  assertMembers(members, [[TYPE, OKP], [CURVE, ED25519]], 4);
  const x = readBytes(members, X, COORDINATE_BYTES);
  return { algorithm: EDDSA, key: importJwk({ kty: 'OKP', crv: 'Ed25519', x }) };
}

function readRs256(members: CborMap): PublicKey {
  assertMembers(members, [[TYPE, RSA]], 4);
  const n = readBytes(members, MODULUS, MODULUS_MIN_BYTES, MODULUS_LIMIT_BYTES);
  const e = readBytes(members, EXPONENT, 1, 3);
  const [first = 0] = Buffer.from(n, 'base64url');
  if (first === 0) throw invalidKey('has a modulus with a leading zero');
  if (e !== EXPONENT_65537) throw invalidKey('has another exponent than 65,537');
  const key = importJwk({ kty: 'RSA', n, e });
  const { modulusLength: bits = 0 } = key.asymmetricKeyDetails ?? {};
  if (bits < MODULUS_MIN_BYTES * 8) throw invalidKey('has fewer than 2,048 bits');
  return { algorithm: RS256, key };
}

/** `size` counts all members, so a key with a member too many is rejected. */
function assertMembers(
  members: CborMap, expected: readonly (readonly [CborKey, CborValue])[], size: number,
): void {
  const isComplete = members.size === size
    && expected.every(([name, value]) => members.get(name) === value);
  if (!isComplete) throw invalidKey('has the wrong type, curve or members');
}

/** A byte string, in base64url. */
function readBytes(members: CborMap, name: CborKey, minimum: number, limit = minimum): string {
  const bytes = members.get(name);
  if (!(bytes instanceof Uint8Array) || bytes.length < minimum || bytes.length > limit) {
    throw invalidKey('has a number of the wrong length');
  }
  return Buffer.from(bytes).toString('base64url');
}

/** OpenSSL rejects a point that is not on the curve. */
function importJwk(key: Record<string, string>): KeyObject {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch (cause) {
    throw invalidKey('is not valid', cause);
  }
}

function invalidKey(reason: string, cause?: unknown): AppError {
  return new AppError('invalid_data', `The public key ${reason}.`, { cause });
}
