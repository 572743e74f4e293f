/**
 * Reads a QR code as a scanner does, from the SVG: format and version information, masks, blocks,
 * error correction and text, by the tables of ISO/IEC 18004 instead of formulas.
 */
import assert from 'node:assert/strict';

/** Format information of level M for the masks 0 to 7, and version information (annexes C, D). */
const FORMATS = [
  '101010000010010', '101000100100101', '101111001111100', '101101101001011',
  '100010111111001', '100000011001110', '100111110010111', '100101010100000',
];
const VERSIONS: Readonly<Record<number, string>> = {
  7: '000111110010010100', 8: '001000010110111100', 9: '001001101010011001',
  10: '001010010011010011', 11: '001011101111110110', 12: '001100011101100010',
  13: '001101100001000111', 14: '001110011000001101', 15: '001111100100101000',
};
/** Level M: for each version, numbers of blocks with their codewords, and those of data. */
const BLOCKS: readonly (readonly (readonly [count: number, total: number, data: number])[])[] = [
  [[1, 26, 16]], [[1, 44, 28]], [[1, 70, 44]], [[2, 50, 32]], [[2, 67, 43]], [[4, 43, 27]],
  [[4, 49, 31]], [[2, 60, 38], [2, 61, 39]], [[3, 58, 36], [2, 59, 37]],
  [[4, 69, 43], [1, 70, 44]], [[1, 80, 50], [4, 81, 51]], [[6, 58, 36], [2, 59, 37]],
  [[8, 59, 37], [1, 60, 38]], [[4, 64, 40], [5, 65, 41]], [[5, 65, 41], [5, 66, 42]],
];
const ALIGNMENT = [
  [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46],
  [6, 28, 50], [6, 30, 54], [6, 32, 58], [6, 34, 62], [6, 26, 46, 66], [6, 26, 48, 70],
];
const INVERTS: readonly ((i: number, j: number) => boolean)[] = [
  (i, j) => (i + j) % 2 === 0, (i) => i % 2 === 0, (_, j) => j % 3 === 0,
  (i, j) => (i + j) % 3 === 0, (i, j) => ((i >> 1) + Math.trunc(j / 3)) % 2 === 0,
  (i, j) => (i * j) % 6 === 0, (i, j) => (i * j) % 6 < 3,
  (i, j) => ((i + j) % 2 + (i * j) % 3) % 2 === 0,
];

export interface Decoded {
  readonly text: string;
  readonly version: number;
  readonly mask: number;
}

export function decodeSvg(svg: string): Decoded {
  const [, view = ''] = /viewBox="0 0 (\d+) \1"/.exec(svg) ?? [];
  const size = Number(view);
  const picture = Array.from({ length: size }, () => Array.from({ length: size }, () => 0));
  for (const [, x, y, width] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    picture[Number(y)]?.fill(1, Number(x), Number(x) + Number(width));
  }
  const margin = 4;
  const inner = picture.slice(margin, -margin).map((row) => row.slice(margin, -margin));
  const count = (rows: number[][]): number => rows.flat().filter(Boolean).length;
  assert.equal(count(picture), count(inner), 'the quiet zone is empty');
  return decodeModules(inner);
}

function decodeModules(modules: readonly (readonly number[])[]): Decoded {
  const version = (modules.length - 17) / 4;
  const at = (y: number, x: number): number => modules.at(y)?.at(x) ?? NaN;
  assertPatterns(version, at);
  const mask = readFormat(at);
  const bits = listDataModules(version).map(([y, x]) =>
    at(y, x) ^ (INVERTS[mask]?.(y, x) === true ? 1 : 0));
  const codewords = bits.join('').match(/.{8}/g)?.map((octet) => parseInt(octet, 2)) ?? [];
  const data = takeBlocks(version, codewords).flatMap(({ all, size }) => {
    assertCorrect(all);
    return all.slice(0, size);
  });
  return { text: readText(version, data), version, mask };
}

/** Timing patterns, the corners of finder patterns, the dark module and version information. */
function assertPatterns(version: number, at: (y: number, x: number) => number): void {
  const size = 17 + 4 * version;
  for (let n = 8; n < size - 8; n += 1) {
    assert.deepEqual([at(6, n), at(n, 6)], [(n + 1) % 2, (n + 1) % 2], 'a timing pattern');
  }
  const finder = ['1111111', '1000001', '1011101', '1011101', '1011101', '1000001', '1111111'];
  for (const [top, left] of [[0, 0], [0, size - 7], [size - 7, 0]] as const) {
    assert.deepEqual(finder, finder.map((_, y) =>
      Array.from({ length: 7 }, (__, x) => at(top + y, left + x)).join('')), 'a finder pattern');
  }
  assert.equal(at(size - 8, 8), 1, 'the dark module');
  if (version < 7) return;
  const read = (isTop: boolean): string => Array.from({ length: 18 }, (_, n) => {
    const [along, across] = [Math.trunc((17 - n) / 3), size - 11 + ((17 - n) % 3)];
    return isTop ? at(along, across) : at(across, along);
  }).join('');
  assert.deepEqual([read(true), read(false)], [VERSIONS[version], VERSIONS[version]]);
}

/** The mask, from both copies; the level must be M. */
function readFormat(at: (y: number, x: number) => number): number {
  const beside = [
    ...[0, 1, 2, 3, 4, 5, 7, 8].map((x) => at(8, x)), ...[7, 5, 4, 3, 2, 1, 0].map((y) => at(y, 8)),
  ].join('');
  const split = [
    ...[-1, -2, -3, -4, -5, -6, -7].map((y) => at(y, 8)),
    ...[-8, -7, -6, -5, -4, -3, -2, -1].map((x) => at(8, x)),
  ].join('');
  assert.equal(beside, split);
  const mask = FORMATS.indexOf(beside);
  assert.notEqual(mask, -1, `unknown format ${beside}`);
  return mask;
}

/** The positions of codeword bits in their order. */
function listDataModules(version: number): readonly (readonly [y: number, x: number])[] {
  const size = 17 + 4 * version;
  const positions: (readonly [number, number])[] = [];
  let isUpwards = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let n = 0; n < size; n += 1) {
      const y = isUpwards ? size - 1 - n : n;
      for (const x of [right, right - 1]) if (isData(version, y, x)) positions.push([y, x]);
    }
    isUpwards = !isUpwards;
  }
  return positions;
}

function isData(version: number, y: number, x: number): boolean {
  const size = 17 + 4 * version;
  const isCorner = (y < 9 && (x < 9 || x >= size - 8)) || (y >= size - 8 && x < 9);
  const isVersion = version >= 7 && ((y < 6 && x >= size - 11) || (x < 6 && y >= size - 11));
  const centers = ALIGNMENT[version - 1] ?? [];
  const isAlignment = centers.some((row) => centers.some((column) =>
    Math.abs(y - row) <= 2 && Math.abs(x - column) <= 2
    && !(row === 6 && column === 6) && !(row === 6 && column === centers.at(-1))
    && !(row === centers.at(-1) && column === 6)));
  return y !== 6 && x !== 6 && !isCorner && !isVersion && !isAlignment;
}

/** The blocks, each with its data first. */
function takeBlocks(version: number, codewords: readonly number[]) {
  const blocks = (BLOCKS[version - 1] ?? []).flatMap(([count, total, size]) =>
    Array.from({ length: count }, () => ({ all: [] as number[], total, size })));
  let next = 0;
  const longest = Math.max(...blocks.map(({ size }) => size));
  for (let index = 0; index < longest; index += 1) {
    for (const { all, size } of blocks) if (index < size) all.push(codewords[next++] ?? NaN);
  }
  while (blocks.some(({ all, total }) => all.length < total)) {
    for (const { all } of blocks) all.push(codewords[next++] ?? NaN);
  }
  assert.equal(next, codewords.length, 'all codewords belong to blocks');
  return blocks;
}

/** Whether the syndromes of a block are zero, starting with the one at α^0. */
function assertCorrect(block: readonly number[]): void {
  const powers = [1];
  while (powers.length < 255) {
    const double = (powers.at(-1) ?? 0) * 2;
    powers.push(double > 255 ? double ^ 0x11d : double);
  }
  const multiply = (a: number, b: number): number =>
    a === 0 || b === 0 ? 0 : powers[(powers.indexOf(a) + powers.indexOf(b)) % 255] ?? NaN;
  const syndrome = (n: number): number =>
    block.reduce((sum, codeword) => multiply(sum, powers[n] ?? NaN) ^ codeword, 0);
  for (let n = 0; n < 10; n += 1) assert.equal(syndrome(n), 0, `syndrome ${n}`);
}

function readText(version: number, data: readonly number[]): string {
  const bits = data.map((codeword) => codeword.toString(2).padStart(8, '0')).join('');
  assert.equal(bits.slice(0, 4), '0100', 'byte mode');
  const start = version < 10 ? 12 : 20;
  const length = parseInt(bits.slice(4, start), 2);
  const bytes = Array.from({ length }, (_, n) =>
    parseInt(bits.slice(start + 8 * n, start + 8 * n + 8), 2));
  assert.match(bits.slice(start + 8 * length), /^0{4}(1110110000010001)*(11101100)?$/);
  return Buffer.from(bytes).toString();
}
