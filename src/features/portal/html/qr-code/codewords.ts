/**
 * The codewords of a QR code (ISO/IEC 18004): text in byte mode with error correction level M, in
 * the smallest of the versions 1 to 15, with Reed-Solomon error correction over GF(256).
 */

/** For versions 1 to 15: data codewords; error correction codewords per block; blocks (table 9). */
const DATA_CODEWORDS = [16, 28, 44, 64, 86, 108, 124, 154, 182, 216, 254, 290, 334, 365, 415];
const CORRECTION_CODEWORDS = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10];

const BYTE_MODE = 0b0100;
const MODE_BITS = 4;
/** Versions from this one on count bytes with 16 bits instead of 8 (table 3). */
const LONG_COUNT_VERSION = 10;
const PADDING = [0xec, 0x11];
/** x^8 + x^4 + x^3 + x^2 + 1, which generates the field (section 7.5.2). */
const FIELD_POLYNOMIAL = 0x11d;

/** The version, and its codewords in the order of their placement. Undefined if too long. */
export function encodeText(
  text: string,
): { readonly version: number; readonly codewords: readonly number[] } | undefined {
  const bytes = Buffer.from(text);
  const index = DATA_CODEWORDS.findIndex((count, at) =>
    MODE_BITS + countBits(at + 1) + 8 * bytes.length <= 8 * count);
  if (index < 0) return undefined;
  const version = index + 1;
  return { version, codewords: interleave(version, encodeData(version, bytes)) };
}

function countBits(version: number): number {
  return version < LONG_COUNT_VERSION ? 8 : 16;
}

/** Mode, count, bytes, terminator and padding (section 7.4). */
function encodeData(version: number, bytes: Uint8Array): readonly number[] {
  const binary = [
    toBits(BYTE_MODE, MODE_BITS), toBits(bytes.length, countBits(version)),
    ...Array.from(bytes, (byte) => toBits(byte, 8)),
  ].join('');
  // The mode and the count end in the middle of a codeword, so the terminator always has room.
  const ended = `${binary}0000`;
  const codewords = ended.match(/.{8}/g)?.map((octet) => parseInt(octet, 2)) ?? [];
  const missing = (DATA_CODEWORDS[version - 1] ?? 0) - codewords.length;
  return [...codewords, ...Array.from({ length: missing }, (_, n) => PADDING[n % 2] ?? 0)];
}

function toBits(value: number, length: number): string {
  return value.toString(2).padStart(length, '0');
}

/** Divides data into blocks, and takes a codeword of each block in turn (section 7.6). */
function interleave(version: number, data: readonly number[]): readonly number[] {
  const count = BLOCKS[version - 1] ?? 0;
  const shortLength = Math.floor(data.length / count);
  const longCount = data.length % count;
  let start = 0;
  const blocks = Array.from({ length: count }, (_, n) => {
    const end = start + shortLength + (n < count - longCount ? 0 : 1);
    const block = data.slice(start, end);
    start = end;
    return block;
  });
  const generator = makeGenerator(CORRECTION_CODEWORDS[version - 1] ?? 0);
  const corrections = blocks.map((block) => divide(block, generator));
  return [...takeInTurn(blocks), ...takeInTurn(corrections)];
}

function takeInTurn(blocks: readonly (readonly number[])[]): readonly number[] {
  const longest = Math.max(...blocks.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) =>
    blocks.flatMap((block) => block[index] ?? [])).flat();
}

/** The product of x - 2^n for n below the degree; its leading coefficient, 1, is left out. */
function makeGenerator(degree: number): readonly number[] {
  let [generator, root] = [[1], 1];
  for (let n = 0; n < degree; n += 1) {
    const scaled = generator.map((coefficient) => multiply(coefficient, root));
    generator = [...generator, 0].map((coefficient, index) =>
      coefficient ^ (scaled[index - 1] ?? 0));
    root = multiply(root, 2);
  }
  return generator.slice(1);
}

/** The remainder of the data, times x^degree, divided by the generator. */
function divide(data: readonly number[], generator: readonly number[]): readonly number[] {
  let remainder = generator.map(() => 0);
  for (const codeword of data) {
    const factor = codeword ^ (remainder[0] ?? 0);
    remainder = [...remainder.slice(1), 0].map((coefficient, index) =>
      coefficient ^ multiply(generator[index] ?? 0, factor));
  }
  return remainder;
}

/** In GF(256). */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * FIELD_POLYNOMIAL);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}
