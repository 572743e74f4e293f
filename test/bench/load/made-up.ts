/** Generated products and files of benchmarks: no two products are the same. */
import { closeSync, openSync, writeSync } from 'node:fs';

const ROWS_PER_WRITE = 1_000;

const ADJECTIVES = ['Blue', 'Small', 'Heavy', 'Woven', 'Round', 'Plain', 'Tall', 'Warm'];
const NOUNS = ['mug', 'lamp', 'chair', 'scarf', 'kettle', 'basket', 'clock', 'towel', 'brush'];
const CATEGORIES = ['Kitchen', 'Living room', 'Garden', 'Clothing', 'Office'];

export function makeProduct(n: number, series: string) {
  // Multiplication by an odd number permutes the numbers of 32 bits.
  const scattered = (Math.imul(n, 2_654_435_761) >>> 0).toString(36);
  const name = `Product name number ${n}`;
  return { name, category: 'Kitchen', sku: `${series}-${scattered}`, price: 1999, stock: 12 };
}

/** The nth product of a catalogue with various names, categories and prices. */
export function makeVariedProduct(n: number) {
  const { sku } = makeProduct(n, 'V');
  const pick = (words: readonly string[], by: number): string =>
    words[Math.floor(n / by) % words.length] ?? '';
  const name = `${pick(ADJECTIVES, 1)} ${pick(NOUNS, 8)} number ${n}`;
  return { name, category: pick(CATEGORIES, 3), sku, price: (n % 9_000) / 100, stock: n % 500 };
}

/** Writes a file of many rows, without keeping it in memory. */
export function writeRows(
  file: string, count: number, header: string, formatRow: (n: number) => string,
): void {
  const handle = openSync(file, 'w');
  writeSync(handle, header);
  for (let from = 0; from < count; from += ROWS_PER_WRITE) {
    const length = Math.min(ROWS_PER_WRITE, count - from);
    writeSync(handle, Array.from({ length }, (_, n) => formatRow(from + n)).join(''));
  }
  closeSync(handle);
}

/** Writes a CSV file of the products of `makeVariedProduct`. */
export function writeCatalogue(file: string, count: number): void {
  writeRows(file, count, 'name,category,sku,price,stock\n', (n) => {
    const { name, category, sku, price, stock } = makeVariedProduct(n);
    return `${name},${category},${sku},${price},${stock}\n`;
  });
}
