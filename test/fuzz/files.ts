/** Files for imports and streams of stock changes, some of them corrupted. */
import type { Random } from '../domain/random.ts';
import type { Pool } from './pool.ts';
import { JSON_TEXTS, pickText, mutateBytes } from './values.ts';

const HEADERS: readonly (readonly string[])[] = [
  ['name', 'category', 'sku', 'price', 'stock'],
  ['SKU', 'Name', 'Category', 'Price', 'Stock', 'Colour'],
  ['Handle', 'Title', 'Variant SKU', 'Variant Price', 'Variant Inventory Qty', 'Type'],
  ['ID', 'Type', 'SKU', 'Name', 'Categories', 'Regular price', 'Stock', 'Parent'],
  ['sku', 'store_view_code', 'product_type', 'categories', 'name', 'price', 'qty'],
  ['name', 'category', 'sku', 'price', 'stock', 'currency', 'id', 'position', '__proto__'],
  ['constructor', 'sku', 'sku', 'name', ''],
];
const BREAKS = ['\n', '\r\n', '\r', '\n\n', '\n\r'];

/** CSV with a few rows. */
export function makeCsv(random: Random, pool: Pool): Buffer {
  const delimiter = random.pick([',', ',', ';', '\t']);
  const lineBreak = random.below(8) === 0 ? random.pick(BREAKS) : '\n';
  const header = random.pick(HEADERS);
  const rows = Array.from({ length: random.below(7) }, () => header.map((name) => {
    if (random.below(8) === 0) return pickText(random);
    if (/sku/i.test(name)) return pool.pick(random, 'sku', 'MUG-1');
    return /price|stock|qty/i.test(name) ? String(random.below(1_000) / 10) : `a ${name}`;
  }));
  const lines = [header, ...rows].map((cells) =>
    cells.map((cell) => quote(random, cell, delimiter)).join(delimiter));
  if (random.below(12) === 0) lines.unshift(`sep=${delimiter}`);
  const mark = random.below(8) === 0 ? '\ufeff' : '';
  const file = Buffer.from(mark + lines.join(lineBreak) + random.pick(['', lineBreak]));
  return random.below(3) === 0 ? mutateBytes(random, file) : file;
}

function quote(random: Random, cell: string, delimiter: string): string {
  const needs = /["\r\n]/.test(cell) || cell.includes(delimiter);
  if (random.below(20) === 0) return random.pick([cell, `"${cell}`, `${cell}"`, `"${cell}"x`]);
  return needs || random.below(6) === 0 ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** NDJSON of products. */
export function makeProductLines(random: Random, pool: Pool): Buffer {
  return makeLines(random, () => ({
    name: '"a name"', category: '"a category"', price: String(random.below(1_000) / 10),
    sku: JSON.stringify(pool.pick(random, 'sku', 'MUG-1')), stock: String(random.below(1_000)),
  }));
}

/** NDJSON of stock changes. */
export function makeStockLines(random: Random, pool: Pool): Buffer {
  return makeLines(random, () => ({
    ...(random.below(4) === 0
      ? { id: JSON.stringify(pool.pick(random, random.pick(['id', 'foreign']), 'prd_1')) }
      : { sku: JSON.stringify(pool.pick(random, 'sku', 'MUG-1')) }),
    [random.pick(['set', 'adjust'])]: String(random.below(50) - 10),
    ...(random.below(4) === 0 && { sequence: String(random.below(9)), reason: '"count"' }),
  }));
}

function makeLines(random: Random, make: () => Record<string, string>): Buffer {
  const lines = Array.from({ length: random.below(7) }, () => writeObject(random, make()));
  const file = Buffer.from(lines.join(random.below(8) === 0 ? random.pick(BREAKS) : '\n'));
  return random.below(3) === 0 ? mutateBytes(random, file) : file;
}

/** A JSON object, valid or with members corrupted, missing, duplicated or added. */
export function writeObject(random: Random, members: Readonly<Record<string, string>>): string {
  let entries = Object.entries(members);
  for (let count = random.below(2) * (1 + random.below(2)); count > 0; count -= 1) {
    const at = random.below(entries.length + 1);
    const [name = 'x'] = entries[at] ?? [];
    const text = random.pick(JSON_TEXTS);
    switch (random.below(5)) {
      case 0: entries = entries.filter((_, index) => index !== at); break;
      case 1: entries = [...entries, [name, text]]; break;
      case 2: entries = [...entries, [pickText(random), text]]; break;
      default: entries = entries.map(([key, old], n) => [key, n === at ? text : old]);
    }
  }
  const space = random.pick(['', '', ' ', '\n']);
  return `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${space}${text}`).join(',')}}`;
}
