/** Base 32 (RFC 4648, section 6) without padding: how secrets of one-time passwords are written. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS = 5;

export function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let kept = 0;
  let bits = 0;
  for (const byte of bytes) {
    kept = (kept << 8) | byte;
    bits += 8;
    while (bits >= BITS) {
      bits -= BITS;
      text += ALPHABET.charAt((kept >> bits) & 31);
    }
    kept &= 31; // fewer than five bits are left
  }
  return bits === 0 ? text : text + ALPHABET.charAt((kept << (BITS - bits)) & 31);
}

/** Of what `encodeBase32` wrote. @throws TypeError for any other text */
export function decodeBase32(text: string): Uint8Array {
  const bytes: number[] = [];
  let kept = 0;
  let bits = 0;
  for (const character of text) {
    const value = ALPHABET.indexOf(character);
    if (value < 0) throw new TypeError('This is not base 32.');
    kept = ((kept << BITS) | value) & 0xfff;
    bits += BITS;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((kept >> bits) & 255);
  }
  return Uint8Array.from(bytes);
}
