/** Workbooks in the portal without scripts: upload with a sheet, preview, import. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeTables } from '../../../transfer/workbook/make-workbook.ts';
import { act, open, readPage } from './page-setup.ts';

test('previews and imports a sheet of a workbook', async (t) => {
  const { user, send } = await open(t);
  const row = (sku: string) => [
    ['SKU', 'Name', 'Category', 'Price', 'Stock'], [sku, 'Mug', 'Kitchen', 5.5, 1],
    [[7, '000'] as const, 'Jug', 'Kitchen', 5, 1],
  ];
  const tables = { Notes: [['Read me']], Mugs: row('0815'), Cups: row('0816') };
  const file = new File([new Uint8Array(makeTables(tables))], 'shop.xlsx');
  const upload = async (sheet: string) => {
    await user.get('/portal/import');
    const answer = await user.submit({ sheet, file });
    return readPage(answer.status === 303 ? await user.follow() : answer);
  };
  const first = await upload('');
  assert.match(first.text, /no column .* The sheet "Notes" was read\./);
  assert.match(first.text, /set "Sheet" for a new upload: "Mugs", "Cups"\./);
  const mugs = await upload('mugs');
  assert.match(mugs.text, /The cell 7 is shown with zeros or text that it does not have/);
  const jugs = await upload('Jugs');
  assert.match(jugs.text, /The workbook has no sheet "Jugs"\. Its sheets: "Notes"/);
  assert.equal(user.page?.status, 422);
  assert.match(jugs.text, /Upload and preview/);
  await upload('cups');
  const done = await act(user, 'commit');
  assert.match(done.text, /1 of 2 rows imported; 1 rejected/);
  const { products } = (await send({ path: '/api/v1/products' })).json();
  assert.deepEqual(products.map(({ sku, price }: any) => [sku, price]), [['0816', 5.5]]);
  const [, link = ''] = /href="([^"]*\/rejected)"/.exec(user.page?.text ?? '') ?? [];
  const rejected = await user.get(link);
  assert.match(rejected.headers['content-disposition'] ?? '', /shop\.failed\.csv/);
  assert.match(rejected.text, /"sku: The cell 7 is shown .*",7,Jug,Kitchen,5,1\r\n$/);
});
