/** Products: created, edited, deleted, rejected, and edited by two people. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Browser } from './browser.ts';
import { assertQuiet, fillIn, follow, inspect, openPortal, press, readMain } from './portal.ts';

const BOWL = { name: 'Salad bowl', category: 'Kitchen', sku: 'BOWL-1', price: 48, stock: 22 };

test('keeps the entered values of an invalid product until it is valid', async (t) => {
  const { browser, shop } = await openPortal(t, { path: '/products' });
  await shop.create(BOWL);
  await browser.reload();
  await follow(browser, 'New product');
  await fillIn(browser, {
    Name: 'Butter dish', Category: 'Kitchen', SKU: 'BOWL-1', 'Price in EUR': '1.234', Stock: '-4',
  });
  await press(browser, 'Create product');
  await inspect(browser, 'product-refused');
  const links = await (await browser.findByRole('alert')).findAll('a');
  assert.equal(links.length, 2);
  await links[0]?.click(); // to the field
  assert.equal(await browser.run(() => document.activeElement?.id), 'field-price');
  assert.deepEqual(await readFields(browser), ['Butter dish', 'Kitchen', 'BOWL-1', '1.234', '-4']);
  assert.match(await describe(browser, 'Price in EUR'), /Could mean 1234 or 1\.234/);

  await fillIn(browser, { 'Price in EUR': '32,50', Stock: '24' });
  await press(browser, 'Create product');
  assert.match(await describe(browser, 'SKU'), /You already have a product with the SKU "BOWL-1"/);
  assert.deepEqual(await readFields(browser), ['Butter dish', 'Kitchen', 'BOWL-1', '32,50', '24']);
  await fillIn(browser, { SKU: 'BUTTER-1' });
  await press(browser, 'Create product');
  assert.match(await readMain(browser), / created\..*BUTTER-1.*€32\.50.*24/s);
  await assertQuiet(browser);
});

test('edits a product', async (t) => {
  const { browser, shop, url } = await openPortal(t);
  const { id } = await shop.create(BOWL);
  await browser.open(`${url}/products/${id}`);
  await fillIn(browser, { Name: 'Serving bowl', 'Price in EUR': '' });
  await press(browser, 'Save');
  assert.match(await readMain(browser), /Nothing was saved\./);
  assert.equal(await (await browser.findByLabel('Name')).value(), 'Serving bowl');
  await inspect(browser, 'product-edit-refused');
  await fillIn(browser, { 'Price in EUR': '45' });
  await press(browser, 'Save');
  assert.match(await readMain(browser), / saved\..*€45\.00/s);
  assert.equal(await (await browser.find('h1')).text(), 'Serving bowl');
});

test('shows both versions to the second of two editors', async (t) => {
  const { browser, shop, url } = await openPortal(t);
  const { id } = await shop.create(BOWL);
  const meet = async (mine: string, theirs: string) => {
    await browser.open(`${url}/products/${id}`);
    await fillIn(browser, { Name: mine });
    await shop.patch({ id }, { name: theirs, price: 50 });
    await browser.findByText(/^Someone else edited this product\./);
    assert.equal(await (await browser.findByLabel('Name')).value(), mine);
    await press(browser, 'Save');
    assert.equal(await (await browser.find('h1')).text(), 'Someone else edited this product');
    const choices = await (await browser.findByRole('group', 'Name')).text();
    assert.match(choices, new RegExp(`my version: ${mine}\\s.*keep: ${theirs}`, 's'));
  };
  await meet('Mine', 'Theirs');
  await inspect(browser, 'product-conflict');
  await press(browser, 'Save');
  assert.match(await (await browser.findByRole('alert')).text(), /Name: Choose which version/);
  await inspect(browser, 'product-conflict-refused');
  await (await browser.findByLabel('Overwrite with my version: Mine')).click();
  await press(browser, 'Save');
  assert.deepEqual([(await shop.read({ id }))?.['name'], (await shop.read({ id }))?.['price']],
    ['Mine', 50]);

  await meet('Mine again', 'Theirs again');
  await follow(browser, 'Discard my changes');
  assert.equal(await (await browser.findByLabel('Name')).value(), 'Theirs again');
  assert.equal((await shop.read({ id }))?.['name'], 'Theirs again');
});

test('lists adjustments and stocktakes in the ledger, with reasons', async (t) => {
  const { browser, shop, url } = await openPortal(t);
  const { id } = await shop.create(BOWL);
  await browser.open(`${url}/products/${id}`);
  const movements = async () => (await browser.find('#movements')).text();
  await (await browser.find('#field-amount')).fill('5');
  await (await browser.find('#field-amount_reason')).fill('two broke, and three were a gift');
  await press(browser, 'Remove');
  assert.match(await movements(), /-5\s+22 → 17\s+two broke, and three were a gift/);

  await (await browser.find('#field-amount')).fill('100');
  await press(browser, 'Remove');
  assert.match(await describe(browser, 'Quantity'), /Only 17 in stock/);
  assert.equal(await (await browser.find('#field-amount')).value(), '100');
  await inspect(browser, 'product-stock-refused');

  await (await browser.find('#field-set')).fill('20');
  await shop.sync([{ id, set: 19 }]); // during the stocktake
  await browser.findByText(/^The stock has changed\./);
  await press(browser, 'Set stock'); // the form now expects the stock shown since, 19
  assert.match(await movements(), /\+1\s+19 → 20/);
  await inspect(browser, 'product-stock');
});

test('deletes a product after confirmation', async (t) => {
  const { browser, shop, url } = await openPortal(t, { scripts: false });
  const { id } = await shop.create(BOWL);
  await browser.open(`${url}/products/${id}`);
  await follow(browser, 'Delete');
  await follow(browser, 'Cancel');
  assert.equal((await shop.read({ id }))?.['sku'], 'BOWL-1');
  await follow(browser, 'Delete');
  await press(browser, 'Delete product');
  assert.match(await readMain(browser), / deleted\..*No products\s+View archived products/s);
  assert.equal(await shop.read({ id }), undefined);
  await browser.open(`${url}/products/${id}`);
  assert.match(await readMain(browser), /Page not found/);
  await assertQuiet(browser);
});

test('searches and sorts the list, and opens a product', async (t) => {
  const { browser, shop, url } = await openPortal(t, { scripts: false });
  for (const [n, name] of ['Blue mug', 'Green mug', 'Vase'].entries()) {
    await shop.create({ ...BOWL, name, sku: `S-${n}`, price: 30 - n, stock: n });
  }
  const names = async () => Promise.all(
    (await browser.findAll('tbody th')).map((cell) => cell.text()));
  await browser.open(`${url}/products`);
  await fillIn(browser, { Search: 'mug' });
  await press(browser, 'Show');
  assert.deepEqual(await names(), ['Blue mug', 'Green mug']);
  await press(browser, 'Price');
  assert.deepEqual(await names(), ['Green mug', 'Blue mug']);
  await press(browser, /^Price/);
  assert.deepEqual(await names(), ['Blue mug', 'Green mug']);
  await follow(browser, 'Clear');
  assert.deepEqual(await names(), ['Blue mug', 'Green mug', 'Vase']);
  await follow(browser, 'Vase');
  assert.equal(await (await browser.find('h1')).text(), 'Vase');
  await browser.back();
  assert.deepEqual(await names(), ['Blue mug', 'Green mug', 'Vase']);
});

/** The values in the form of a new product. */
async function readFields(browser: Browser): Promise<string[]> {
  const labels = ['Name', 'Category', 'SKU', 'Price in EUR', 'Stock'];
  return Promise.all(labels.map(async (label) => (await browser.findByLabel(label)).value()));
}

/** The accessible description of a field. */
async function describe(browser: Browser, label: string): Promise<string> {
  const field = await browser.findByLabel(label);
  assert.equal(await field.attribute('aria-invalid'), 'true');
  const ids = (await field.attribute('aria-describedby') ?? '').split(' ');
  const texts = ids.map(async (id) => (await browser.find(`#${id}`)).text());
  return (await Promise.all(texts)).join('\n');
}
