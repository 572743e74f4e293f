/**
 * Random catalogues in workbooks: each is read exactly, whatever the types of its cells, or
 * rejected row by row.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../support/server.ts';
import { forRandomAsync } from '../../domain/random.ts';
import { makeTables } from '../../transfer/workbook/make-workbook.ts';
import { importFile } from './import.ts';

const RUNS = 40;
const FORMATS = ['General', '0', '0.00', '#,##0.000', '#,##0.00 [$EUR]'];
const HEADER = ['SKU', 'Name', 'Category', 'Price', 'Stock'];

test('reads the products of any workbook exactly', async (t) => {
  const server = await startServer(t);
  await forRandomAsync(RUNS, async (random) => {
    const seller = await server.makeSeller();
    const writeNumber = (value: number) => random.pick([
      value, String(value), [value, random.pick(FORMATS)] as const,
    ]);
    const items = Array.from({ length: 1 + random.below(20) }, (_, n) => ({
      sku: random.pick([`00${n}`, `A-${n}`, `${4006381330000 + n}`]), name: `Mug ${n}`,
      price: random.below(1_000_000) / 100, stock: random.below(5_000),
    }));
    const rows = items.map(({ sku, name, price, stock }) => [
      sku.startsWith('4') && random.below(2) === 0 ? Number(sku) : sku, name, 'Kitchen',
      writeNumber(price), writeNumber(stock),
    ]);
    // A SKU that is shown with zeros which it does not have is never taken for another one.
    const lost = random.below(3) === 0 ? [[[7, '000'] as const, 'Lost', 'Kitchen', 1, 1]] : [];
    const titles = random.pick([[], [['Price list'], []], [['Stock', 'today']]]);
    const notes = random.below(2) === 0 ? { Notes: [['Hello']] } : {};
    const body = makeTables({ ...notes, Data: [...titles, HEADER, ...rows, ...lost] });
    const { summary } = await importFile(seller, { body, query: 'sheet=data' });
    assert.deepEqual([summary.created, summary.failed], [items.length, lost.length]);
    const { products } = (await seller.send({ path: '/api/v1/products?limit=100' })).json();
    assert.deepEqual(products.map(({ sku, name, price, stock }: any) =>
      ({ sku, name, price, stock })), items);
  });
});
