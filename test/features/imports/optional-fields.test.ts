/** The optional members of products, in exports and in imports of those. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeProduct, startServer } from '../../support/server.ts';
import { importFile } from './import.ts';

const PRODUCTS = '/api/v1/products';
const VALUES = {
  barcode: '4006381333931', description: 'Line 1\nLine 2', metadata: { erp: '1', shop: '2' },
  low_stock: 3, archived: true,
};

test('exports archived products by default, and imports them with all members', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create({ ...makeProduct(), sku: 'MUG', ...VALUES });
  await seller.create({ ...makeProduct(), sku: 'CUP' });
  for (const [format, type] of [['csv', 'text/csv'], ['ndjson', 'application/x-ndjson']] as const) {
    const file = await seller.send({ path: `${PRODUCTS}?format=${format}` });
    const active = await seller.send({ path: `${PRODUCTS}?format=${format}&archived=false` });
    assert.ok(file.text.includes('MUG') && !active.text.includes('MUG'));
    const other = await server.makeSeller();
    const { summary } = await importFile(other, { body: file.text, type });
    assert.equal(summary['created'], 2);
    const { products } = (await other.send({ path: `${PRODUCTS}?archived=true` })).json();
    assert.equal(products.length, 1);
    assert.partialDeepStrictEqual(products[0], { sku: 'MUG', ...VALUES });
  }
});

test('reads metadata from columns, and merges the pairs', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  await seller.create({ ...makeProduct(), sku: 'MUG', metadata: { erp: '1', old: 'x' } });
  const body = 'sku,EAN,metadata.erp,metadata.Till,archived\nMUG,4006381333931,7,,TRUE\n'
    + 'MUG,123,,,\n';
  const { rows, summary } = await importFile(seller, { body, query: 'mode=update&report=all' });
  assert.deepEqual([summary['updated'], summary['failed']], [1, 1]);
  assert.match(JSON.stringify(rows), /\/barcode/);
  const { metadata, barcode, archived } =
    (await seller.send({ path: `${PRODUCTS}/sku/MUG` })).json();
  assert.deepEqual([metadata, barcode, archived],
    [{ erp: '7', old: 'x' }, '4006381333931', true]);
});
