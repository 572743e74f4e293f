/**
 * One-time passwords by the clock (TOTP, RFC 6238, over HOTP, RFC 4226): SHA-1, steps of 30 s and 6
 * digits, which is what all apps for them take. The step before and the one after are good, too,
 * for clocks that are not quite right; none is good twice (RFC 6238, section 5.2).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeBase32, encodeBase32 } from './base32.ts';

declare const brand: unique symbol;
/** In base 32. Shown where it is made, and nowhere else; kept sealed, never put into an error. */
export type TotpSecret = string & { readonly [brand]: 'TotpSecret' };

/** As the output of SHA-1 (RFC 4226, section 4, R6). */
const SECRET_BYTES = 20;
const STEP_MS = 30_000;
const DIGITS = 6;
const NEIGHBOURS = [0, -1, 1];
/**
 * How far ahead of now the last step may be: an hour. One further on was taken by a clock that was
 * wrong; once that is put right, nobody has to wait until then.
 */
export const TOTP_STEPS_AHEAD = 120;
const PASSWORD = /^\d{6}$/;

export function generateTotpSecret(): TotpSecret {
  // The cast is what this function makes.
  return encodeBase32(randomBytes(SECRET_BYTES)) as TotpSecret;
}

/**
 * The step whose password this is; undefined where it is none that is good `at` (milliseconds since
 * 1970), or none of a step after `last`.
 */
export function findTotpStep(
  secret: TotpSecret, password: string, at: number, last: number,
): number | undefined {
  if (!PASSWORD.test(password)) return undefined;
  const key = decodeBase32(secret);
  const sent = Buffer.from(password);
  const now = Math.floor(at / STEP_MS);
  return NEIGHBOURS.map((neighbour) => now + neighbour).find((step) =>
    (step > last || last - now > TOTP_STEPS_AHEAD)
    && timingSafeEqual(Buffer.from(makeHotp(key, step)), sent));
}

/** What people read without losing their place: groups of four. */
export function formatTotpSecret(secret: TotpSecret): string {
  return secret.replace(/.{4}(?=.)/g, '$& ');
}

/** The address that apps for one-time passwords open (the key URI format). */
export function formatTotpUri(secret: TotpSecret, issuer: string, account: string): string {
  const [from, name] = [issuer, account].map((text) =>
    encodeURIComponent(text.toWellFormed().replaceAll(':', ' ')));
  const parameters = `algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1000}`;
  return `otpauth://totp/${from}:${name}?secret=${secret}&issuer=${from}&${parameters}`;
}

/** The password of a counter (RFC 4226, section 5.3). */
function makeHotp(key: Uint8Array, counter: number): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const digest = createHmac('sha1', key).update(message).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  const number = (digest.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}
