/** What the summary of an import says of rows that are not products. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../support/server.ts';
import { MAGENTO, SHOPIFY, WOOCOMMERCE } from '../../transfer/shop-exports.ts';
import { counts, CSV_HEADER, importFile, readLines, sendFile } from './import.ts';

test('says why rows were skipped', async (t) => {
  const server = await startServer(t);
  const import_ = async (body: string) =>
    (await importFile(await server.makeSeller(), { body, query: 'default=stock:0' })).summary;
  for (const [file, reasons, note] of [
    [SHOPIFY, { image: 1 }, 'Skipped rows: 1 without SKU, price and stock, such as images.'],
    [WOOCOMMERCE, { container: 2 }, 'Skipped rows: 2 of products that are sold as variants.'],
    [MAGENTO, { translation: 1, container: 1 },
      'Skipped rows: 1 of products that are sold as variants, 1 for a store view.'],
    [`${CSV_HEADER}A,B,C,1,1\n,,,,\n ,,,,\n`, { blank: 2 }, 'Skipped rows: 2 without any text.'],
  ] as const) {
    const { skipped, skip_reasons, notes } = await import_(file);
    assert.deepEqual(skip_reasons, reasons);
    const sum = Object.values(reasons).reduce((total: number, count) => total + count, 0);
    assert.deepEqual([skipped, notes], [sum, [note]]);
  }
  assert.equal((await import_(`${CSV_HEADER}A,B,C,1,1\n`)).skip_reasons, undefined);
});

test('says that nothing was imported, and what to do', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const header = 'sku,store_view_code,product_type,categories,name,price,qty\n';
  const german = `${header}A,german,simple,C,Tasse,1,1\nB,german,simple,C,Kanne,1,1\n`;
  const { summary } = await importFile(seller, { body: german });
  assert.deepEqual(summary, counts({
    skipped: 2, position: 0, skip_reasons: { translation: 2 },
    notes: [
      'Nothing to import: every row was skipped.',
      'Skipped rows: 2 for a store view. To import the rows of a store view as products, remove '
      + 'the column store_view_code.',
    ],
  }));
  // Unless it stopped before its end.
  const cut = CSV_HEADER + 'A,B,C,x,1\n'.repeat(1_100) + '"A,B,C,1,1\n';
  const { last } = readLines(await sendFile(seller, { body: cut }));
  assert.deepEqual([last.problem.summary.failed, last.problem.summary.notes], [1_000, undefined]);
  const rejected = await importFile(seller, { body: `${CSV_HEADER}A,B,C,x,1\n,,,,\n` });
  assert.equal(rejected.summary.notes[0],
    'Nothing to import: every row was skipped or rejected.');
});
