/**
 * Codes that people carry from one place to another: 80 random bits in Crockford's base 32, which
 * has no letters that are taken for digits, in groups of four. Only their SHA-256 is stored.
 */
import { hash, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 16;
const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** Such as `7QK2-M9XD-0AEV-4TBC`. */
export function generateCode(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(32)));
  return characters.join('').replace(/.{4}(?=.)/g, '$&-');
}

/** The hash of a code as somebody typed it; undefined for what cannot be one. */
export function hashCode(text: string): string | undefined {
  const plain = text.toUpperCase().replace(/[\s-]/g, '')
    .replaceAll('O', '0').replace(/[IL]/g, '1');
  return CODE.test(plain) ? hash('sha256', plain, 'hex') : undefined;
}
