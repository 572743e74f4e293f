/** POST /api/v1/stock with a workbook. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readLines } from '../../features/imports/import.ts';
import { makeTables } from '../../transfer/workbook/make-workbook.ts';
import { openShop, readStocks, STOCK } from './stock.ts';

const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

test('takes stock from a workbook, also compressed', async (t) => {
  const { seller } = await openShop(t, { '00123': 1, 'A-1': 2, 'B-1': 3 });
  const send = async (query: string, headers: Record<string, string>, body: Buffer) =>
    readLines(await seller.send({
      method: 'POST', path: `${STOCK}?${query}`, body,
      headers: { 'content-type': TYPE, ...headers },
    }));
  const body = makeTables({ Stock: [
    ['Article', 'Quantity'], ['00123', 5], ['A-1', [2, '0\\ \\p']],
  ] });
  const { last } = await send('map=sku:Article', {}, body);
  assert.deepEqual([last.summary.applied, last.summary.unchanged], [1, 1]);
  const stocktake = makeTables({ Stock: [
    ['SKU', 'Quantity'], ['00123', 6], [815, [46082, 'm/d/yy']],
  ] });
  const failed = await send('complete=true', { 'content-encoding': 'gzip' }, gzipSync(stocktake));
  assert.match(failed.rows[1].errors[0].detail, /^The cell 2026-03-01 is a date\. Format/);
  assert.deepEqual(await readStocks(seller), { '00123': 6, 'A-1': 2, 'B-1': 3 });
});

test('knows the product of a row whose quantity is no number', async (t) => {
  const { seller } = await openShop(t, { 'A-1': 1, 'A-2': 2, 'B-1': 3 });
  const body = makeTables({ 'Stock ': [
    ['Artikel\nnummer', 'Stock\nlevel'], ['A-1', 5], ['A-2', [46082, 'm/d/yy']], ['A-3', true],
  ] });
  const { rows, last } = readLines(await seller.send({
    method: 'POST', body, headers: { 'content-type': TYPE },
    path: `${STOCK}?complete=true&sheet=stock&map=sku:Artikel%20nummer,set:Stock%20level`,
  }));
  assert.deepEqual(rows.map(({ line, sku, errors }: any) => [line, sku, errors?.length]), [
    [2, 'A-1', undefined], [3, 'A-2', 1], [4, 'A-3', 1], [null, 'B-1', undefined],
  ]);
  assert.deepEqual([last.summary.failed, last.summary.zeroed], [2, 1]);
  assert.deepEqual(await readStocks(seller), { 'A-1': 5, 'A-2': 2, 'B-1': 0 });
});
