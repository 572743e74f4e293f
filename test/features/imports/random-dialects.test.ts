/**
 * Random catalogues, written in random dialects of CSV: each file is read exactly, or rejected with
 * a remedy that, applied, reads it exactly. Never is it read as something else.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer, type TestSeller } from '../../support/server.ts';
import { forRandomAsync, type Random } from '../../domain/random.ts';

const RUNS = 60;
const TEXTS = ['Mug', 'Küche', 'Größe 3', 'Set "blue"', ' outer ', 'a, b', 'c; d', 'g | h',
  "'s-Hertog", '5" wide'];
const DESCRIPTIONS = ['', 'Plain', 'Two\nlines', 'With "quotes", commas\n\nand\nlines; of text'];
const PLACES = ['North', 'South', 'West'];

interface Item {
  readonly sku: string;
  readonly name: string;
  readonly category: string;
  readonly description: string;
  readonly cents: number;
  readonly stock: number;
}

/** How a program writes its files. */
interface Dialect {
  readonly delimiter: string;
  readonly end: string;
  readonly quoting: 'none' | 'needed' | 'all';
  readonly encoding: 'utf-8' | 'utf-16le' | 'windows-1252';
  readonly hasMark: boolean;
  readonly titles: readonly string[];
  readonly decimal: 'point' | 'comma';
  readonly thousands: string;
  /** Digits after the decimal mark. */
  readonly digits: number;
  readonly leavesOutBlanks: boolean;
  /** Written around SKUs of digits, so that spreadsheets take them for text. */
  readonly textMark: readonly [before: string, after: string];
}

function makeDialect(random: Random): Dialect {
  const decimal = random.pick(['point', 'comma'] as const);
  const encoding = random.pick(['utf-8', 'utf-8', 'utf-16le', 'windows-1252'] as const);
  const quoting = random.pick(['none', 'needed', 'needed', 'all'] as const);
  return {
    // Without quoting, numbers must not have the delimiter.
    delimiter: random.pick(quoting === 'none' ? [';', '\t', '|'] : [',', ';', '\t', '|']),
    end: random.pick(['\r\n', '\n', '\r']),
    quoting, encoding, hasMark: encoding !== 'windows-1252' && random.below(2) === 0,
    titles: random.pick([[], [], ['Report'], ['Stock of today', '', '#INFO=1']]),
    decimal, digits: random.pick([2, 2, 3]),
    thousands: random.pick(['', '', ' ', '\u00a0', "'", decimal === 'point' ? ',' : '.']),
    leavesOutBlanks: random.below(4) === 0,
    textMark: random.pick([['', ''], ['', ''], ["'", '']] as const),
  };
}

function makeItems(random: Random, { quoting }: Dialect): Item[] {
  // Without quoting, a program cannot write these.
  const listTexts = (texts: readonly string[]) =>
    (quoting === 'none' ? texts.filter((text) => !/[\n,;|"]|^ /.test(text)) : texts);
  return Array.from({ length: 1 + random.below(12) }, (_, n) => ({
    sku: `${random.pick(['A', '00', 'x-', 'ä'])}${n}`,
    name: random.pick(listTexts(TEXTS)), category: random.pick(listTexts(TEXTS)),
    description: random.pick(listTexts(DESCRIPTIONS)),
    cents: random.pick([0, 5, 1250, 99_990, 120_000, 1_234_500, random.below(2_000_000)]),
    stock: random.pick([0, 7, 250, 1_200, random.below(2_000_000)]),
  }));
}

function formatNumber(value: number, digits: number, { decimal, thousands }: Dialect): string {
  const [whole = '', decimals = ''] = value.toFixed(digits).split('.');
  const grouped = whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, thousands);
  return decimals === '' ? grouped : `${grouped}${decimal === 'point' ? '.' : ','}${decimals}`;
}

function writeFile(rows: readonly (readonly string[])[], dialect: Dialect): Buffer {
  const { delimiter, quoting, encoding, hasMark, titles, end, leavesOutBlanks } = dialect;
  const write = (cell: string): string => {
    const isNeeded = /^\s|\s$|["\r\n]/.test(cell) || cell.includes(delimiter);
    return quoting === 'all' || (quoting === 'needed' && isNeeded)
      ? `"${cell.replaceAll('"', '""')}"` : cell;
  };
  const lines = rows.map((row) => {
    const last = leavesOutBlanks ? row.findLastIndex((cell) => cell !== '') + 1 : row.length;
    return row.slice(0, last).map(write).join(delimiter);
  });
  const text = `${hasMark ? '\uFEFF' : ''}${[...titles, ...lines].join(end)}${end}`;
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le');
  // Of windows-1252, the texts have only what it shares with Latin-1.
  return Buffer.from(text, encoding === 'windows-1252' ? 'latin1' : 'utf8');
}

/** Sends a file until nothing is rejected, each time with the remedies of its errors. */
async function sendWithRemedies(
  seller: TestSeller, path: string, body: Buffer, remedies: ReadonlyMap<string, string>,
): Promise<void> {
  const query = new URLSearchParams({ report: 'failed' });
  for (;;) {
    const send = (isDryRun: boolean) => seller.send({
      method: 'POST', path: `${path}?${query}&dry_run=${isDryRun}`, body,
      headers: { 'content-type': 'text/csv' },
    });
    const { status, text } = await send(true);
    const last = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
    if (status === 200 && last.summary?.failed === 0) {
      assert.equal((await send(false)).status, 200);
      return;
    }
    const named = [...remedies].filter(([name]) => !query.has(name) && text.includes(`${name}=`));
    assert.ok(named.length > 0, `no further remedy: ${query} ${text}`);
    for (const [name, value] of named) query.set(name, value);
  }
}

async function readProducts(seller: TestSeller): Promise<Item[]> {
  const { products } = (await seller.send({ path: '/api/v1/products?limit=100' })).json();
  return products.map(({ sku, name, category, description, price, stock }: Item & {
    readonly price: number;
  }) => ({
    sku, name, category, description: description ?? '', cents: Math.round(price * 100), stock,
  }));
}

test('reads a file of any dialect exactly, or says how', async (t) => {
  const server = await startServer(t);
  await forRandomAsync(RUNS, async (random) => {
    const seller = await server.makeSeller();
    const dialect = makeDialect(random);
    const items = makeItems(random, dialect);
    const remedies = new Map([
      ['encoding', dialect.encoding], ['decimal', dialect.decimal], ['short_rows', 'blank'],
      ['duplicates', 'sum'],
    ]);
    const markSku = (sku: string): string =>
      (/^\d+$/.test(sku) ? dialect.textMark.join(sku) : sku);
    const writeProduct = ({ sku, name, category, description, cents }: Item): string[] => [
      markSku(sku), name, category, description, formatNumber(cents / 100, dialect.digits, dialect),
    ];
    const table = items.map((item) =>
      [...writeProduct(item), formatNumber(item.stock, 0, dialect), random.pick(['', 'note'])]);
    const header = ['sku', 'name', 'category', 'description', 'price', 'stock'];
    const file = writeFile([[...header, 'remark'], ...table], dialect);
    await sendWithRemedies(seller, '/api/v1/products/import', file, remedies);
    assert.deepEqual(await readProducts(seller), items);
    // A product file, and then a stock file, with a row for each place, whose stocks add up.
    const split = (changed: readonly Item[]) => changed.flatMap((item) => {
      const places = PLACES.slice(0, 1 + random.below(3));
      const share = Math.floor(item.stock / places.length);
      return places.map((place, n) => {
        const level = n > 0 ? share : item.stock - share * (places.length - 1);
        return { item, place, level };
      });
    });
    const moved = items.map((item) => ({ ...item, stock: item.stock + random.below(500) }));
    const places = split(moved).map(({ item, place, level }) =>
      [...writeProduct(item), formatNumber(level, 0, dialect), place]);
    const placesFile = writeFile([[...header, 'warehouse'], ...places], dialect);
    await sendWithRemedies(seller, '/api/v1/products/import', placesFile, remedies);
    assert.deepEqual(await readProducts(seller), moved);
    const counted = items.map((item) => ({ ...item, stock: item.stock + random.below(500) }));
    const digits = dialect.digits === 3 ? 3 : 0;
    const levels = split(counted).map(({ item: { sku }, place, level }) =>
      [markSku(sku), place, formatNumber(level, digits, dialect)]);
    const stockFile = writeFile([['sku', 'warehouse', 'stock'], ...levels], dialect);
    await sendWithRemedies(seller, '/api/v1/stock', stockFile, remedies);
    assert.deepEqual(await readProducts(seller), counted);
  });
});
