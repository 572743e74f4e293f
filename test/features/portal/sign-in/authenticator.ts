/** A minimal app for one-time passwords (RFC 6238), independent of the code under test. */
import { createHmac } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code at a time for a base32 secret, with or without spaces. */
export function showCode(secret: string, at: number): string {
  const plain = secret.replaceAll(' ', '');
  let bits = 0n;
  for (const character of plain) bits = bits * 32n + BigInt(ALPHABET.indexOf(character));
  const hex = (bits >> BigInt((plain.length * 5) % 8)).toString(16);
  const key = Buffer.from(hex.padStart(Math.floor((plain.length * 5) / 8) * 2, '0'), 'hex');
  const counter = Math.floor(at / 30_000).toString(16).padStart(16, '0');
  const digest = createHmac('sha1', key).update(Buffer.from(counter, 'hex')).digest('hex');
  const offset = Number.parseInt(digest.at(-1) ?? '', 16) * 2;
  const number = Number.parseInt(digest.slice(offset, offset + 8), 16) % 2 ** 31;
  return String(number).slice(-6).padStart(6, '0');
}
