/** Open pages while others change the data: they update themselves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOSTILE_NAMES } from '../features/portal/products/catalogue.ts';
import type { Browser } from './browser.ts';
import { assertQuiet, follow, inspect, openPortal, press } from './portal.ts';

/** The text of a live member of the only product on the page. */
function read(browser: Browser, id: string, member: string): Promise<string> {
  return browser.run((product, live) => [...document.querySelectorAll(
    `:is([data-product="${product}"], tr:has([href$="/${product}"])) [data-live="${live}"]`,
  )].map(({ textContent }) => textContent).join(), id, member);
}

test('updates the product list in the format of the page', async (t) => {
  const { browser, shop: { create, patch, sync, send, read: readProduct } } = await openPortal(t, {
    path: '/products',
  });
  const mug = await create({ name: 'Mug', price: 1_234.5, stock: 2_000 });
  const jar = await create({ name: 'Jar', stock: 9 });
  await browser.reload();
  const price = await read(browser, mug.id, 'price');
  assert.equal(price, '€1,234.50');
  await browser.run(() => document.addEventListener('animationstart', () => {
    document.documentElement.dataset['marked'] = 'yes'; // the highlight itself is brief
  }));
  await sync([{ id: mug.id, set: 1_500 }, { id: jar.id, set: 3 }]);
  await browser.waitFor('the stock', async () => await read(browser, mug.id, 'stock') === '1,500');
  await browser.waitFor('the tag', async () => await read(browser, jar.id, 'level') === 'low');
  await browser.waitFor('its mark', () => browser.has('[data-marked]'));
  await patch(mug, { name: 'Cup', price: 2_000, category: '<b>Bar</b>' });
  await browser.waitFor('the name', async () => await read(browser, mug.id, 'name') === 'Cup');
  const texts = ['price', 'category', 'stock'].map((member) => read(browser, mug.id, member));
  assert.deepEqual(await Promise.all(texts), ['€2,000.00', '<b>Bar</b>', '1,500']);
  assert.equal(await read(browser, mug.id, 'updated_at'), 'now');
  const updated = await readProduct(mug);
  const time = await browser.find(`tr:has([href$="/${mug.id}"]) time`);
  assert.equal(await time.attribute('datetime'), updated?.['updated_at']);
  assert.match(await time.attribute('title') ?? '', /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d CES?T$/);
  await browser.findByText(/^[23] changes|1 change$/);
  for (const name of HOSTILE_NAMES) await create({ name });
  await browser.findByText(new RegExp(`New products: ${HOSTILE_NAMES.length}\\.`));
  await send({ method: 'DELETE', path: `/api/v1/products/${jar.id}` });
  await browser.waitFor('the end', () => browser.has(`tr.gone [href$="/${jar.id}"]`));
  await browser.waitFor('the marks to go', async () => !await browser.has('.changed'));
  await inspect(browser, 'products-live');
  await follow(browser, 'Show the newest');
  assert.equal(await browser.run(() => document.querySelectorAll('tbody tr').length), 12);
});

test('announces a changed product, and keeps what was entered', async (t) => {
  const { browser, url, shop: { create, patch, sync, send } } = await openPortal(t);
  const mug = await create({ name: 'Mug', stock: 9 });
  const other = await create({ name: 'Jar', stock: 9 });
  await browser.open(`${url}/products/${mug.id}`);
  const name = await browser.find('#field-name');
  await name.fill('My mug');
  await sync([{ id: other.id, set: 1 }, { id: mug.id, set: 5 }]);
  await browser.findByText(/^The stock has changed/);
  assert.equal(await read(browser, mug.id, 'stock'), '5');
  assert.doesNotMatch(await browser.text(), /Someone else edited this product/);
  await patch(mug, { name: 'Their mug' });
  await browser.findByText(/^Someone else edited this product/);
  assert.equal(await (await browser.find('h1')).text(), 'Their mug');
  assert.equal(await name.value(), 'My mug');
  // A stocktake expects the stock that the page shows.
  assert.equal(await browser.run(() => document.querySelector<HTMLInputElement>(
    'input[name="expect"]',
  )?.value), '5');
  await browser.waitFor('the marks to go', async () => !await browser.has('.changed'));
  await inspect(browser, 'product-changed');
  await press(browser, 'Save');
  assert.equal(await (await browser.find('h1')).text(), 'Someone else edited this product');
  await (await browser.findByLabel('Overwrite with my version: My mug')).click();
  await press(browser, 'Save');
  assert.equal(await (await browser.find('h1')).text(), 'My mug');
  await send({ method: 'DELETE', path: `/api/v1/products/${mug.id}` });
  await browser.findByText(/^Someone else deleted this product/);
  await browser.waitFor('the marks to go', async () => !await browser.has('.changed'));
  await inspect(browser, 'product-deleted');
});

test('resumes when a hidden page becomes visible', async (t) => {
  const { browser, shop: { create, sync } } = await openPortal(t, { path: '/products' });
  const mug = await create({ stock: 9 });
  await browser.reload();
  const hide = (isHidden: boolean) => browser.run((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
  await sync([{ id: mug.id, set: 8 }]);
  await browser.waitFor('the stock', async () => await read(browser, mug.id, 'stock') === '8');
  await hide(true);
  await sync([{ id: mug.id, set: 7 }]);
  await browser.run(() => fetch('/portal/products')); // the stream would have sent it before
  assert.equal(await read(browser, mug.id, 'stock'), '8');
  await hide(false);
  await browser.waitFor('the stock', async () => await read(browser, mug.id, 'stock') === '7');
  await assertQuiet(browser);
});
