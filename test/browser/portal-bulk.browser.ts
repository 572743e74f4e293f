/** Bulk edits in a real browser: stocks by keyboard, a deletion, categories without scripts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTo } from '../store/contract/fixture.ts';
import type { Browser } from './browser.ts';
import {
  assertQuiet, follow, inspect, openPortal, press, pressAndFinish, readMain,
} from './portal.ts';

type Options = NonNullable<Parameters<typeof openPortal>[1]>;

/** A browser on a page of a shop with 20 products, 7 in stock each. */
async function open(
  t: Parameters<typeof openPortal>[0], { path = '', ...options }: Options = {},
) {
  const portal = await openPortal(t, options);
  const { browser, url, shop: { create, send } } = portal;
  for (const n of countTo(20)) {
    const sku = `SKU-${String(n).padStart(2, '0')}`;
    await create({ sku, name: `Product ${n}`, category: n < 5 ? 'Cups' : 'Mugs', stock: 7 });
  }
  await browser.open(url + path);
  return {
    ...portal,
    async readStocks(): Promise<number[]> {
      const { products } = (await send({ path: '/api/v1/products' })).json();
      return products.map(({ stock }: { readonly stock: number }) => stock);
    },
  };
}

/** The label of the element with the focus: the column and the product. */
async function readFocus(browser: Browser): Promise<string> {
  const [focused] = await browser.findAll(':focus');
  return await focused?.label() ?? '';
}

test('changes the stock of twenty products with at most 25 actions', async (t) => {
  const { browser, readStocks, shop } = await open(t);
  let actions = 0;
  const act = async (action: Promise<unknown>): Promise<void> => {
    actions += 1;
    await action;
  };
  await act(follow(browser, 'Products'));
  await act(press(browser, 'Edit stock and price'));
  await inspect(browser, 'grid');
  await browser.setViewport(1_280, 800);
  await (await browser.find('#field-stock-0')).click();
  for (const n of countTo(20)) {
    // Typing replaces the selected value; Enter moves to the next row.
    await act((async () => {
      assert.equal(await readFocus(browser), `Stock Product ${n}`);
      for (const digit of String(100 + n)) await browser.press(digit);
      await browser.press('Enter');
    })());
  }
  assert.match(await readFocus(browser), /^Reason/);
  assert.match(await readMain(browser), /20 values changed/);
  await act((await browser.findByLabel('Reason (optional)')).fill('stocktake'));
  await act(press(browser, 'Save'));
  assert.ok(actions <= 25, `${actions} actions`);
  assert.match(await readMain(browser), /20 products saved\./);
  assert.deepEqual(await readStocks(), countTo(20).map((n) => 100 + n));
  const { movements: [first] } = (await shop.send({
    path: '/api/v1/stock/movements?after=20&limit=1',
  })).json();
  assert.equal(first.reason, 'stocktake');
  await pressAndFinish(browser, 'Undo');
  assert.match(await readMain(browser), /Will be restored\s+20/);
  await pressAndFinish(browser, 'Revert now');
  assert.deepEqual(await readStocks(), countTo(20).map(() => 7));
  await assertQuiet(browser);
});

test('moves in the grid as in a spreadsheet, and restores a value', async (t) => {
  const { browser } = await open(t, { path: '/products/grid' });
  await (await browser.find('#field-price-1')).click();
  await browser.press('ArrowDown');
  assert.match(await readFocus(browser), /^Price in EUR Product 3$/);
  await browser.press('ArrowUp');
  await browser.press('ArrowUp');
  await browser.press('ArrowUp'); // there is no row above
  assert.match(await readFocus(browser), /^Price in EUR Product 1$/);
  const price = await browser.find('#field-price-0');
  const before = await price.value();
  await browser.press('5');
  assert.equal(await price.value(), '5');
  await browser.press('Escape');
  assert.equal(await price.value(), before);
});

test('deletes selected products after a typed confirmation, and restores them', async (t) => {
  const { browser, readStocks } = await open(t);
  await follow(browser, 'Products');
  for (const n of [2, 4]) await (await browser.findByLabel(`Product ${n}`)).click();
  assert.match(await readMain(browser), /2 selected/);
  await (await browser.findByLabel('Select this page')).click();
  assert.match(await readMain(browser), /20 selected/);
  await (await browser.findByLabel('Product 1')).click();
  assert.match(await readMain(browser), /19 selected/);
  await inspect(browser, 'selection');
  await browser.setViewport(1_280, 800);
  await press(browser, 'Delete');
  assert.match(await browser.title(), /^Preview: delete 19 products/);
  await inspect(browser, 'bulk-delete');
  await browser.setViewport(1_280, 800);
  await (await browser.findByLabel(/^Type 19 or DELETE/)).fill('18');
  await pressAndFinish(browser, 'Delete 19 products');
  assert.match(await readMain(browser), /Nothing was deleted\. Enter 19 or DELETE\./);
  await inspect(browser, 'bulk-delete-unconfirmed');
  await browser.setViewport(1_280, 800);
  await (await browser.findByLabel(/^Type 19 or DELETE/)).fill('19');
  await pressAndFinish(browser, 'Delete 19 products');
  assert.match(await readMain(browser), /Bulk edit complete: 19 products/);
  assert.equal((await readStocks()).length, 1);
  await inspect(browser, 'bulk-deleted');
  await browser.setViewport(1_280, 800);
  await pressAndFinish(browser, 'Revert this bulk edit');
  await pressAndFinish(browser, 'Revert now');
  assert.deepEqual(await readStocks(), countTo(20).map(() => 7));
});

test('changes a category, and renames one, without scripts on a phone', async (t) => {
  const { browser, shop, url } = await open(t, { scripts: false, path: '/products?sort=name' });
  await browser.setViewport(320, 800);
  await browser.reload();
  await (await browser.findByLabel('Product 7')).click();
  await press(browser, 'Change category');
  await inspect(browser, 'bulk-category-form');
  await (await browser.findByLabel('Category')).fill('Cups');
  await pressAndFinish(browser, 'Preview');
  await inspect(browser, 'bulk-category');
  assert.match(await readMain(browser), /1 product will get the category Cups/);
  await browser.open(`${url}/categories`);
  await inspect(browser, 'categories');
  await follow(browser, 'Rename Cups');
  await inspect(browser, 'category-rename');
  await (await browser.findByLabel('New name')).fill('Mugs');
  await pressAndFinish(browser, 'Rename');
  assert.match(await readMain(browser),
    /16 other products have this category already: 20 will share it/);
  await inspect(browser, 'category-merge');
  await pressAndFinish(browser, /^Change \d+ products/);
  await inspect(browser, 'category-merged');
  const { products } = (await shop.send({ path: '/api/v1/products?category=Mugs' })).json();
  assert.equal(products.length, 20);
});

test('shows a conflict in its row, without scripts', async (t) => {
  const { browser, shop } = await open(t, { scripts: false, path: '/products/grid' });
  await (await browser.find('#field-stock-0')).fill('9');
  await (await browser.find('#field-stock-1')).fill('x');
  await press(browser, 'Save');
  await inspect(browser, 'grid-invalid');
  await shop.sync([{ sku: 'SKU-01', adjust: -1 }]);
  await (await browser.find('#field-stock-1')).fill('8');
  await press(browser, 'Save');
  assert.match(await readMain(browser), /1 product was saved\./);
  assert.match(await readMain(browser), /Someone else changed it from 7 to 6/);
  await inspect(browser, 'grid-conflict');
});
