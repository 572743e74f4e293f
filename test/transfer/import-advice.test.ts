/** The fix that is suggested if most rows were rejected for one cause. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviseOn, RejectionCauses, type RowError } from '../../src/transfer/import-advice.ts';
import type { RowReader } from '../../src/transfer/import-row.ts';

const WORDS = {
  giveDefaults: (values: readonly string[]) => `default ${values.join()}`,
  nameColumns: (members: readonly string[]) => `map ${members.join()}`,
  change: 'change',
  create: 'create',
  rename: 'rename',
};

function advise(
  rows: readonly (readonly string[])[], file: Partial<RowReader> = {},
): string | undefined {
  const causes = new RejectionCauses();
  for (const errors of rows) {
    causes.add(errors.map((fault): RowError => {
      const [pointer = '', code = ''] = fault.split(' ');
      return { pointer, code, detail: `Is ${code}.` };
    }));
  }
  return causes.advise(WORDS, { format: 'csv', ignoredColumns: [], ...file });
}

test('suggests defaults for stock and category, never for name or price', () => {
  assert.match(advise([['/stock blank']]) ?? '', /for stock\. default stock:0$/);
  assert.match(advise([['/category required', '/stock blank']]) ?? '',
    /for category and stock\. default category:Uncategorized,stock:0$/);
  for (const errors of [['/name blank'], ['/price blank', '/stock blank']]) {
    const advice = advise([errors]) ?? '';
    assert.match(advice, /fill in the blank cells in the file/);
    assert.doesNotMatch(advice, /default/);
  }
});

test('asks for a column if one is unused, but never for NDJSON', () => {
  const ignoredColumns = ['Titel'];
  assert.match(advise([['/name required', '/stock blank']], { ignoredColumns }) ?? '', /map name$/);
  assert.match(advise([['/sku blank']], { ignoredColumns }) ?? '', /has no SKU\. map sku$/);
  const error = { pointer: '/sku', code: 'blank', detail: 'Is blank. Set sku_from.' };
  const file = { format: 'csv', ignoredColumns } as const;
  assert.match(adviseOn({ errors: [error], rows: 2 }, WORDS, file) ?? '',
    /same error: sku: Is blank\. Set sku_from\.$/);
  assert.match(advise([['/stock required']], { format: 'ndjson' }) ?? '', /add stock in the file/);
});

test('also suggests defaults where no column may have the category or the stock', () => {
  assert.match(advise([['/category required']], { ignoredColumns: ['Titel'] }) ?? '',
    /map category If the file has none: default category:Uncategorized$/);
});

test('offers to import products without barcodes that are no GTINs', () => {
  assert.match(advise([['/barcode format'], ['/barcode format']]) ?? '',
    /^2 rejected rows have a barcode that is no GTIN\. .* remove them from the file/);
});

test('does not say that a barcode is wrong that none or several products have', () => {
  for (const code of ['ambiguous', 'unknown']) {
    const errors = [`/barcode ${code}`];
    assert.doesNotMatch(advise([errors, errors]) ?? '', /no GTIN/);
  }
});

test('gives advice if more than half of the rows were rejected for one cause', () => {
  const [stock, taken, unknown] = [['/stock blank'], ['/sku taken'], ['/sku unknown']];
  assert.equal(advise([]), undefined);
  assert.equal(advise([stock, taken]), undefined);
  assert.match(advise([stock, taken, taken]) ?? '', /^2 rejected rows .* exists\. change$/);
  assert.match(advise([stock, unknown, unknown]) ?? '', /^2 .* no product has\. create$/);
  assert.equal(advise([['/price format']]), undefined);
  assert.match(advise([['/price format'], ['/price format']]) ?? '', /price: Is format\.$/);
});

test('ignores an overlong cause', () => {
  const long = [`/${'x'.repeat(300)} unknown`];
  assert.equal(advise([long, long]), undefined);
});
