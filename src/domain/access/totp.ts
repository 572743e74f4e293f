/**
 * Time-based one-time passwords (TOTP, RFC 6238, over HOTP, RFC 4226): SHA-1, 30 s steps and 6
 * digits, which every authenticator app supports. The steps before and after the current one are
 * accepted too, since clocks differ. No step is accepted twice (RFC 6238 section 5.2).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeBase32, encodeBase32 } from './human-code.ts';

declare const brand: unique symbol;
/** Base 32. Shown once when it is generated; stored encrypted, never part of an error. */
export type TotpSecret = string & { readonly [brand]: 'TotpSecret' };

/** As long as the output of SHA-1 (RFC 4226 section 4, R6). */
const SECRET_BYTES = 20;
const STEP_MS = 30_000;
const DIGITS = 6;
const NEIGHBOURS = [0, -1, 1];
/**
 * How far the last accepted step may be ahead of now: an hour. A step further ahead was accepted
 * while the server's clock was wrong; it is ignored, so that its owner is not locked out.
 */
export const TOTP_STEPS_AHEAD = 120;
const PASSWORD = /^\d{6}$/;
const NAME_LIMIT_CHARACTERS = 100;

export function generateTotpSecret(): TotpSecret {
  // The cast is what this function generates.
  return encodeBase32(randomBytes(SECRET_BYTES)) as TotpSecret;
}

/**
 * The step of a one-time password; undefined if the password is not valid `at` (milliseconds since
 * 1970), or its step is not after `last`.
 */
export function findTotpStep(
  secret: TotpSecret, password: string, at: number, last: number,
): number | undefined {
  if (!PASSWORD.test(password)) return undefined;
  const key = decodeBase32(secret);
  const candidate = Buffer.from(password);
  const now = Math.floor(at / STEP_MS);
  return NEIGHBOURS.map((neighbour) => now + neighbour).find((step) =>
    (step > last || last - now > TOTP_STEPS_AHEAD)
    && timingSafeEqual(Buffer.from(makeHotp(key, step)), candidate));
}

/** In groups of four, for people to read. */
export function formatTotpSecret(secret: TotpSecret): string {
  return secret.replace(/.{4}(?=.)/g, '$& ');
}

/**
 * The URI that authenticator apps open (the key URI format). Long names are cut off, so that it
 * fits into a QR code.
 */
export function formatTotpUri(secret: TotpSecret, issuer: string, account: string): string {
  const [from, name] = [issuer, account].map(encodeName);
  const parameters = `algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1000}`;
  return `otpauth://totp/${from}:${name}?secret=${secret}&issuer=${from}&${parameters}`;
}

/** Without the separator; up to a number of characters after encoding. */
function encodeName(name: string): string {
  let encoded = '';
  for (const character of name.toWellFormed().replaceAll(':', ' ')) {
    const next = encoded + encodeURIComponent(character);
    if (next.length > NAME_LIMIT_CHARACTERS) break;
    encoded = next;
  }
  return encoded;
}

/** The password of a counter (RFC 4226 section 5.3). */
function makeHotp(key: Uint8Array, counter: number): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const digest = createHmac('sha1', key).update(message).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  const number = (digest.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}
