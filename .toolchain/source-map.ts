/** Removes lines of a generated file from its source map (ECMA-426): base64 VLQ, mostly deltas. */

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const CONTINUES = 32;

/** @param removed Indexes of lines. */
export function removeLines(mappings: string, removed: ReadonlySet<number>): string {
  // Source, line and column of a segment are relative to the previous segment that has them.
  let skipped = [0, 0, 0];
  const lines = mappings.split(';').map((line) => line.split(',').filter(Boolean).map(decode));
  return lines.flatMap((segments, index) => {
    if (removed.has(index)) {
      for (const [, ...deltas] of segments) {
        skipped = skipped.map((sum, n) => sum + (deltas[n] ?? 0));
      }
      return [];
    }
    const [[column = 0, ...deltas] = [], ...rest] = segments;
    if (segments.length === 0) return [''];
    const first = [column, ...deltas.map((delta, n) => delta + (skipped[n] ?? 0))];
    skipped = [0, 0, 0];
    return [[first, ...rest].map(encode).join(',')];
  }).join(';');
}

function decode(segment: string): number[] {
  const values: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    value += (digit % CONTINUES) * 2 ** bits;
    bits += 5;
    if (digit >= CONTINUES) continue;
    values.push(value % 2 === 1 ? -(value - 1) / 2 : value / 2);
    bits = 0;
    value = 0;
  }
  return values;
}

function encode(segment: readonly number[]): string {
  return segment.map((number) => {
    let rest = number < 0 ? -number * 2 + 1 : number * 2;
    let text = '';
    do {
      const digit = rest % CONTINUES;
      rest = Math.floor(rest / CONTINUES);
      text += DIGITS[rest > 0 ? digit + CONTINUES : digit];
    } while (rest > 0);
    return text;
  }).join('');
}
