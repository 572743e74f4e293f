/**
 * Random bits as text that people copy by hand. Invitation and recovery codes are 80 bits in
 * Crockford's base 32, which has no letters that look like digits, in groups of four; only their
 * SHA-256 is stored. Secrets of one-time passwords use base 32 of RFC 4648 section 6, without
 * padding, as authenticator apps do.
 */
import { hash, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 16;
const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BASE32_BITS = 5;

/** Such as `7QK2-M9XD-0AEV-4TBC`. */
export function generateCode(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(32)));
  return characters.join('').replace(/.{4}(?=.)/g, '$&-');
}

/** The hash of a code as a person typed it; undefined for text that cannot be a code. */
export function hashCode(text: string): string | undefined {
  const plain = text.toUpperCase().replace(/[\s-]/g, '')
    .replaceAll('O', '0').replace(/[IL]/g, '1');
  return CODE.test(plain) ? hash('sha256', plain, 'hex') : undefined;
}

export function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let kept = 0;
  let bits = 0;
  for (const byte of bytes) {
    kept = (kept << 8) | byte;
    bits += 8;
    while (bits >= BASE32_BITS) {
      bits -= BASE32_BITS;
      text += BASE32.charAt((kept >> bits) & 31);
    }
    kept &= 31; // fewer than five bits are left
  }
  return bits === 0 ? text : text + BASE32.charAt((kept << (BASE32_BITS - bits)) & 31);
}

/** Decodes what `encodeBase32` wrote. @throws TypeError for any other text */
export function decodeBase32(text: string): Uint8Array {
  const bytes: number[] = [];
  let kept = 0;
  let bits = 0;
  for (const character of text) {
    const value = BASE32.indexOf(character);
    if (value < 0) throw new TypeError('This is not base 32.');
    kept = ((kept << BASE32_BITS) | value) & 0xfff;
    bits += BASE32_BITS;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((kept >> bits) & 255);
  }
  return Uint8Array.from(bytes);
}
