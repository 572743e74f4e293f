/**
 * Verifies what a browser returns when it creates or uses a passkey (WebAuthn Level 2, sections 7.1
 * and 7.2): the client data, for this challenge and exactly this origin and not in a frame of
 * another one; the RP ID; that the user was present and verified; and the signature. The caller
 * finds the passkey, uses each challenge once, and compares the signature counter as it stores it.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { AppError } from '../../error.ts';
import { CLIENT_DATA_LIMIT_BYTES } from '../../limits.ts';
import {
  type AttestedCredential, type AuthenticatorData, parseAttestationObject, parseAuthenticatorData,
} from './authenticator-data.ts';
import { isSigned, parseCoseKey } from './cose-key.ts';

/** What the browser must have been asked. */
interface Ceremony {
  /** In base64url. */
  readonly challenge: string;
  /** Such as `https://shop.example`. */
  readonly origin: string;
}

type Attestation = Readonly<Record<'clientDataJson' | 'attestationObject', Uint8Array>>;

type Assertion = Readonly<
  Record<'clientDataJson' | 'authenticatorData' | 'signature', Uint8Array>
>;

export interface RegisteredCredential extends AttestedCredential {
  readonly signCount: number;
}

/**
 * The RP ID of an origin, its host name (section 5.1.3); undefined if passkeys cannot work there,
 * because its host is an IP address.
 */
export function findRpId(origin: string): string | undefined {
  const hostname = URL.parse(origin)?.hostname ?? '';
  const isName = hostname !== '' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  return isName ? hostname : undefined;
}

/** @throws AppError `invalid_data` */
export function verifyRegistration(
  ceremony: Ceremony, { clientDataJson, attestationObject }: Attestation,
): RegisteredCredential {
  verifyClientData(ceremony, 'webauthn.create', clientDataJson);
  const data = parseAttestationObject(attestationObject);
  verifyAuthenticator(ceremony, data);
  if (!data.credential) throw rejected('has no credential');
  return { ...data.credential, signCount: data.signCount };
}

/**
 * Returns the signature counter.
 * @param publicKey The COSE_Key of the passkey. @throws AppError `invalid_data`
 */
export function verifyAssertion(
  ceremony: Ceremony, publicKey: Uint8Array,
  { clientDataJson, authenticatorData, signature }: Assertion,
): number {
  verifyClientData(ceremony, 'webauthn.get', clientDataJson);
  const data = parseAuthenticatorData(authenticatorData);
  verifyAuthenticator(ceremony, data);
  const signed = Buffer.concat([authenticatorData, hash('sha256', clientDataJson, 'buffer')]);
  if (isSigned(parseCoseKey(publicKey), signed, signature)) return data.signCount;
  throw rejected('has an invalid signature');
}

/** Unknown members are ignored, as section 5.8.1 demands. */
function verifyClientData({ challenge, origin }: Ceremony, type: string, bytes: Uint8Array): void {
  const data = parseClientData(bytes);
  if (data['type'] !== type) throw rejected('is for another operation');
  if (!isSame(data['challenge'], challenge)) throw rejected('is for another challenge');
  if (data['origin'] !== origin) throw rejected('is for another origin');
  if (data['crossOrigin'] !== undefined && data['crossOrigin'] !== false) {
    throw rejected('comes from a frame of another origin');
  }
}

function verifyAuthenticator(
  { origin }: Ceremony, { rpIdHash, isUserPresent, isUserVerified }: AuthenticatorData,
): void {
  const rpId = findRpId(origin);
  if (rpId === undefined || !timingSafeEqual(rpIdHash, hash('sha256', rpId, 'buffer'))) {
    throw rejected('is for another host');
  }
  if (!isUserPresent || !isUserVerified) {
    throw rejected('does not confirm that it verified you, by a PIN, a fingerprint or your face');
  }
}

function parseClientData(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  if (bytes.length > CLIENT_DATA_LIMIT_BYTES) throw rejected('is too long');
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    // The cast: any object can be read by name, and its values stay unknown.
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    // JSON.parse throws the one, TextDecoder the other.
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw rejected('is not JSON');
}

function isSame(challenge: unknown, expected: string): boolean {
  if (typeof challenge !== 'string') return false;
  const [bytes, expectedBytes] = [Buffer.from(challenge), Buffer.from(expected)];
  return bytes.length === expectedBytes.length && timingSafeEqual(bytes, expectedBytes);
}

function rejected(reason: string): AppError {
  return new AppError('invalid_data', `The passkey response ${reason}.`);
}
