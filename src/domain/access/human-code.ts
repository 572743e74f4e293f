/**
 * Random bits as text that people copy by hand. Invitation codes, which expire, are 80 bits, and
 * recovery codes 120 bits (OWASP ASVS 5.0, 6.5.2), in Crockford's base 32, which has no letters
 * that look like digits, in groups of four; only their SHA-256 is stored. TOTP secrets use base 32
 * of RFC 4648 section 6 without padding, as authenticator apps do.
 */
import { hash, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 16;
export const RECOVERY_CODE_LENGTH = 24;
const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}(?:[${ALPHABET}]{8})?$`);

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Such as `7QK2-M9XD-0AEV-4TBC`. */
export function generateCode(length: 16 | 24 = LENGTH): string {
  const characters = Array.from({ length }, () => ALPHABET.charAt(randomInt(32)));
  return characters.join('').replace(/.{4}(?=.)/g, '$&-');
}

/** The hash of a code as a person typed it; undefined for text that cannot be a code. */
export function hashCode(text: string): string | undefined {
  const plain = text.toUpperCase().replace(/[\s-]/g, '')
    .replaceAll('O', '0').replace(/[IL]/g, '1');
  return CODE.test(plain) ? hash('sha256', plain, 'hex') : undefined;
}

export function encodeBase32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replace(/.{1,5}/g, (five) => BASE32.charAt(Number.parseInt(five.padEnd(5, '0'), 2)));
}

/** @throws TypeError for text that `encodeBase32` did not write */
export function decodeBase32(text: string): Uint8Array {
  if (!/^[A-Z2-7]*$/.test(text)) throw new TypeError('This is not base 32.');
  const bits = text.replace(/./g, (digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0'));
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}
