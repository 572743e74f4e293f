/**
 * A QR code as inline SVG. Phones need dark modules on a light ground with a margin (ISO/IEC 18004,
 * section 6.3.8), so it has its own colors in every theme. Sections 7.7 to 7.10: function patterns,
 * the placement of codewords, and of the eight masks the one with the least penalty.
 */
import { html, type Html } from '../html.ts';
import { encodeText } from './codewords.ts';

/** The quiet zone, in modules. */
const MARGIN = 4;

/** Undefined if the text is too long: over 412 bytes. @param title The accessible name. */
export function qrCode(title: string, text: string): Html | undefined {
  const encoded = encodeText(text);
  if (!encoded) return undefined;
  const modules = drawModules(encoded.version, encoded.codewords);
  const size = modules.length + 2 * MARGIN;
  // One rectangle for each run of dark modules in a row.
  const path = modules.flatMap((row, y) =>
    [...row.map((isDark) => isDark ? '1' : '0').join('').matchAll(/1+/g)].map(({ index, 0: run }) =>
      `M${index + MARGIN} ${y + MARGIN}h${run.length}v1h-${run.length}z`)).join('');
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${title}"
    shape-rendering="crispEdges"><title>${title}</title>
    <rect width="${size}" height="${size}" fill="#ffffff"/><path d="${path}"/></svg>`;
}

/** Rows of modules; true is dark. */
type Modules = readonly (readonly boolean[])[];

/** While it is drawn: undefined until the codewords are placed. */
type Canvas = (boolean | undefined)[][];

/** Whether a mask inverts the module (table 10). */
const MASKS: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_row, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => (row * column) % 2 + (row * column) % 3 === 0,
  (row, column) => ((row * column) % 2 + (row * column) % 3) % 2 === 0,
  (row, column) => ((row + column) % 2 + (row * column) % 3) % 2 === 0,
];
/** Format information: the code of level M (00) and mask, and what it is combined with. */
const FORMAT_CODE = { polynomial: 0b101_0011_0111, bits: 10 };
const FORMAT_MASK = 0b101_0100_0001_0010;
const VERSION_CODE = { polynomial: 0b1_1111_0010_0101, bits: 12 };
/** A finder pattern in one direction, beside four light modules (table 11). */
const LIKE_A_FINDER = /(?=00001011101|10111010000)/g;

/** All modules, without the quiet zone. */
function drawModules(version: number, codewords: readonly number[]): Modules {
  const patterns = drawFunctionPatterns(version);
  const data = placeCodewords(patterns, codewords);
  const candidates = MASKS.map((isInverted, mask) => {
    const canvas = patterns.map((row) => [...row]);
    drawFormat(canvas, mask);
    return canvas.map((row, y) => row.map((module, x) =>
      module ?? (data[y]?.[x] === true) !== isInverted(y, x)));
  });
  const penalties = candidates.map(computePenalty);
  return candidates[penalties.indexOf(Math.min(...penalties))] ?? [];
}

function drawFunctionPatterns(version: number): Canvas {
  const size = 17 + 4 * version; // modules on each side
  const canvas: Canvas = Array.from({ length: size }, () =>
    Array.from({ length: size }, () => undefined));
  for (let n = 0; n < size; n += 1) {
    set(canvas, 6, n, n % 2 === 0);
    set(canvas, n, 6, n % 2 === 0);
  }
  for (const [y, x] of [[3, 3], [3, size - 4], [size - 4, 3]] as const) {
    drawSquares(canvas, y, x, 4, (ring) => ring !== 2 && ring !== 4);
  }
  const centers = alignmentCenters(version, size);
  const [first, last] = [centers[0], centers.at(-1)];
  for (const y of centers) {
    for (const x of centers) {
      const isFinder = (y === first && (x === first || x === last)) || (y === last && x === first);
      if (!isFinder) drawSquares(canvas, y, x, 2, (ring) => ring !== 1);
    }
  }
  if (version >= 7) drawVersion(canvas, version);
  drawFormat(canvas, 0); // reserves its modules
  return canvas;
}

/** Coordinates of the centers of alignment patterns, in both directions (annex E). */
function alignmentCenters(version: number, size: number): readonly number[] {
  if (version === 1) return [];
  const last = size - 7;
  const gaps = Math.floor(version / 7) + 1;
  // Even, and equal except for the first.
  const step = Math.ceil((last - 6) / gaps / 2) * 2;
  return [6, ...Array.from({ length: gaps }, (_, gap) => last - (gaps - 1 - gap) * step)];
}

/** Concentric squares around a center, cut off at the edges. */
function drawSquares(
  canvas: Canvas, y: number, x: number, radius: number, isDark: (ring: number) => boolean,
): void {
  for (let dy = -radius; dy <= radius; dy += 1) {
    for (let dx = -radius; dx <= radius; dx += 1) {
      set(canvas, y + dy, x + dx, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
    }
  }
}

/** Two copies of the version, in blocks of 6 x 3 (section 7.10). */
function drawVersion(canvas: Canvas, version: number): void {
  const bits = withCheckBits(version, VERSION_CODE);
  const start = canvas.length - 11;
  for (let n = 0; n < 18; n += 1) {
    const [along, across] = [Math.floor(n / 3), start + (n % 3)];
    set(canvas, along, across, isBitSet(bits, n));
    set(canvas, across, along, isBitSet(bits, n));
  }
}

/** Two copies of level and mask, beside the finder patterns (section 7.9). */
function drawFormat(canvas: Canvas, mask: number): void {
  const size = canvas.length;
  const bits = withCheckBits(mask, FORMAT_CODE) ^ FORMAT_MASK;
  for (let n = 0; n < 15; n += 1) {
    const isDark = isBitSet(bits, n);
    // Skips the timing pattern.
    const near = n < 6 ? n : n < 8 ? n + 1 : 14 - n;
    if (n < 8) set(canvas, near, 8, isDark);
    else set(canvas, 8, n === 8 ? 7 : near, isDark);
    if (n < 8) set(canvas, 8, size - 1 - n, isDark);
    else set(canvas, size - 15 + n, 8, isDark);
  }
  set(canvas, size - 8, 8, true);
}

/** A value and the remainder of its division by the polynomial: a BCH or Golay code. */
function withCheckBits(
  value: number, { polynomial, bits }: { readonly polynomial: number; readonly bits: number },
): number {
  let remainder = value << bits;
  while (bitLength(remainder) > bits) {
    remainder ^= polynomial << (bitLength(remainder) - bits - 1);
  }
  return (value << bits) | remainder;
}

function bitLength(value: number): number {
  return 32 - Math.clz32(value);
}

/** In columns of two modules from the right, upwards and downwards in turn (section 7.7.3). */
function placeCodewords(patterns: Canvas, codewords: readonly number[]): Modules {
  const size = patterns.length;
  const placed = patterns.map((row) => row.map(() => false));
  let bit = 0;
  for (let step = 0; step < (size - 1) / 2; step += 1) {
    // The vertical timing pattern has a column of its own.
    const right = size - 1 - 2 * step - (2 * step < size - 7 ? 0 : 1);
    for (let n = 0; n < size; n += 1) {
      const y = step % 2 === 0 ? size - 1 - n : n;
      for (const x of [right, right - 1]) {
        if (patterns[y]?.[x] !== undefined) continue;
        // Modules after the last codeword are light.
        set(placed, y, x, isBitSet(codewords[bit >> 3] ?? 0, 7 - (bit & 7)));
        bit += 1;
      }
    }
  }
  return placed;
}

/** Section 7.8.3: runs, blocks, what looks like a finder pattern, and the share of dark modules. */
function computePenalty(modules: Modules): number {
  const rows = modules.map(toText);
  const columns = modules.map((_, x) => toText(modules.map((row) => row[x] === true)));
  let penalty = 0;
  for (const line of [...rows, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
    penalty += 40 * [...line.matchAll(LIKE_A_FINDER)].length;
  }
  for (const [y, row] of rows.slice(1).entries()) {
    const above = rows[y] ?? '';
    for (let x = 1; x < row.length; x += 1) {
      const module = row[x];
      if (module === row[x - 1] && module === above[x] && module === above[x - 1]) penalty += 3;
    }
  }
  const dark = modules.flat().filter(Boolean).length;
  return penalty + 10 * Math.floor(Math.abs(dark / modules.length ** 2 - 0.5) * 20);
}

function toText(line: readonly boolean[]): string {
  return line.map(Number).join('');
}

function set(canvas: (boolean | undefined)[][], y: number, x: number, isDark: boolean): void {
  const row = canvas[y];
  if (row && x in row) row[x] = isDark;
}

function isBitSet(bits: number, n: number): boolean {
  return ((bits >> n) & 1) === 1;
}
