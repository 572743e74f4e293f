/**
 * Authenticator data and attestation objects (WebAuthn Level 2, sections 6.1 and 6.5). Extensions
 * must be well-formed and are ignored. So is the attestation statement, whatever its format: the
 * portal asks for none, since it accepts every authenticator and keeps no trust anchors. What the
 * statement could prove is the model of an authenticator, not whose it is.
 */
import { AppError } from '../../error.ts';
import { CREDENTIAL_ID_LIMIT_BYTES } from '../../limits.ts';
import { type CborMap, type CborValue, parseCbor, readCbor } from './cbor.ts';
import { toPublicKey } from './cose-key.ts';

const HASH_BYTES = 32;
const FIXED_BYTES = HASH_BYTES + 1 + 4;
const AAGUID_BYTES = 16;
const FORMAT_LIMIT_CHARACTERS = 32;
/** Bits of the flags. */
const USER_PRESENT = 1;
const USER_VERIFIED = 4;
const HAS_CREDENTIAL = 64;
const HAS_EXTENSIONS = 128;

export interface AttestedCredential {
  readonly credentialId: Uint8Array;
  /** COSE_Key, which `parseCoseKey` accepts. */
  readonly publicKey: Uint8Array;
}

export type AuthenticatorData = ReturnType<typeof parseAuthenticatorData>;

/** @throws AppError `invalid_data` */
export function parseAuthenticatorData(bytes: Uint8Array) {
  if (bytes.length < FIXED_BYTES) throw invalidAuthenticatorData('ends early');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint8(HASH_BYTES);
  const fixed = {
    /** SHA-256 of the RP ID. */
    rpIdHash: bytes.subarray(0, HASH_BYTES),
    isUserPresent: (flags & USER_PRESENT) !== 0,
    isUserVerified: (flags & USER_VERIFIED) !== 0,
    /** 0 if the authenticator does not count. */
    signCount: view.getUint32(HASH_BYTES + 1),
  };
  const variable = bytes.subarray(FIXED_BYTES);
  const { credential, rest } = (flags & HAS_CREDENTIAL) === 0
    ? { credential: undefined, rest: variable } : readCredential(variable);
  if ((flags & HAS_EXTENSIONS) !== 0) toMap(parseCbor(rest));
  else if (rest.length > 0) throw invalidAuthenticatorData('has bytes after its end');
  return { ...fixed, credential }; // only registrations have one
}

/** The authenticator data of an attestation object. @throws AppError `invalid_data` */
export function parseAttestationObject(bytes: Uint8Array): AuthenticatorData {
  const members = toMap(parseCbor(bytes));
  const format = members.get('fmt');
  if (typeof format !== 'string' || format.length > FORMAT_LIMIT_CHARACTERS) {
    throw invalidAuthenticatorData('has no attestation format');
  }
  toMap(members.get('attStmt'));
  const data = members.get('authData');
  if (!(data instanceof Uint8Array)) throw invalidAuthenticatorData('is missing');
  return parseAuthenticatorData(data);
}

/** Attested credential data (section 6.5.1), and what follows it. */
function readCredential(bytes: Uint8Array) {
  const start = AAGUID_BYTES + 2;
  if (bytes.length < start) throw invalidAuthenticatorData('ends early');
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint16(AAGUID_BYTES);
  const end = start + length;
  if (length === 0 || length > CREDENTIAL_ID_LIMIT_BYTES) {
    throw invalidAuthenticatorData('has a credential id of the wrong length');
  }
  const keyBytes = bytes.subarray(end);
  const { value, rest } = readCbor(keyBytes);
  toPublicKey(value);
  const publicKey = keyBytes.subarray(0, keyBytes.length - rest.length);
  const credential: AttestedCredential = { credentialId: bytes.subarray(start, end), publicKey };
  return { credential, rest };
}

function toMap(value: CborValue | undefined): CborMap {
  // The cast: `instanceof` drops the types of keys and values.
  if (value instanceof Map) return value as CborMap;
  throw invalidAuthenticatorData('is not a map where it must be one');
}

function invalidAuthenticatorData(reason: string): AppError {
  return new AppError('invalid_data', `The authenticator data ${reason}.`);
}
