/** Products as benchmarks need them: many, and no two alike. */

const ADJECTIVES = ['Blue', 'Small', 'Heavy', 'Woven', 'Round', 'Plain', 'Tall', 'Warm'];
const NOUNS = ['mug', 'lamp', 'chair', 'scarf', 'kettle', 'basket', 'clock', 'towel', 'brush'];
const CATEGORIES = ['Kitchen', 'Living room', 'Garden', 'Clothing', 'Office'];

export function makeProduct(n: number, series: string) {
  // Multiplying by an odd number shuffles the numbers of 32 bits without a collision.
  const scattered = (Math.imul(n, 2_654_435_761) >>> 0).toString(36);
  const name = `Product name number ${n}`;
  return { name, category: 'Kitchen', sku: `${series}-${scattered}`, price: 1999, stock: 12 };
}

/** A product of a catalogue in which not everything has the same name, category and price. */
export function makeVariedProduct(n: number) {
  const { sku } = makeProduct(n, 'V');
  const pick = (words: readonly string[], by: number): string =>
    words[Math.floor(n / by) % words.length] ?? '';
  const name = `${pick(ADJECTIVES, 1)} ${pick(NOUNS, 8)} number ${n}`;
  return { name, category: pick(CATEGORIES, 3), sku, price: (n % 9_000) / 100, stock: n % 500 };
}
