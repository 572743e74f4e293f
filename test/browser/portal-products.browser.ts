/** The products of the portal in a real browser: with scripts and without, and what is live. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { HOSTILE_NAMES, openOther } from '../portal/products/catalogue.ts';
import { startServer } from '../support/server.ts';
import { findFaultsInAllViews } from './accessibility.ts';
import { type Browser, openBrowser } from './browser.ts';

/** A browser that is signed in, and the shop whose programs use the API meanwhile. */
async function open(t: TestContext, hasScripts = true) {
  const server = await startServer(t, { portal: true });
  const shop = await openOther(server);
  const browser = await openBrowser(t);
  await browser.setScripts(hasScripts);
  const url = `http://127.0.0.1:${server.port}`;
  await browser.open(`${url}/portal/sign-in?to=/products`);
  await (await browser.findByLabel('E-mail')).fill(shop.email);
  await (await browser.findByLabel('Password')).fill(shop.password);
  await (await browser.findByRole('button', 'Sign in')).follow();
  const show = (path: string): Promise<void> => browser.open(url + path);
  return { ...shop, browser, show };
}

async function assertSound(browser: Browser): Promise<void> {
  // On a phone the navigation is behind a button.
  assert.deepEqual(await findFaultsInAllViews(browser, { hasNavigation: false }), []);
  assert.deepEqual(await browser.consoleErrors(), []);
  assert.deepEqual(await browser.policyViolations(), []);
}

/** What stands at a member of the one product that has it. */
function read(browser: Browser, id: string, member: string): Promise<string> {
  return browser.run((product, live) => [...document.querySelectorAll(
    `[data-product="${product}"] [data-live="${live}"]`,
  )].map(({ textContent }) => textContent).join(), id, member);
}

test('a product is made, found, changed and deleted without scripts', async (t) => {
  const { browser } = await open(t, false);
  const press = async (name: string) => (await browser.findByRole('button', name)).follow();
  const fill = async (name: string, text: string) =>
    (await browser.find(`#field-${name}`)).fill(text);
  await assertSound(browser);
  await browser.screenshot('products-none');
  await (await browser.findByRole('link', 'Create a product')).follow();
  await assertSound(browser);
  for (const [name, text] of Object.entries({
    name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: '12,5', stock: 'nine',
  })) await fill(name, text);
  await press('Create the product');
  await assertSound(browser);
  await browser.screenshot('product-new-faulty');
  await fill('stock', '9');
  await press('Create the product');
  await assertSound(browser);
  await browser.screenshot('product');
  await fill('amount', '7');
  await press('Take away');
  assert.match(await browser.text(), /The stock was changed/);
  await fill('amount', '7');
  await press('Take away');
  assert.match(await browser.text(), /Only 2 are in stock/);
  await assertSound(browser);
  await fill('name', 'Red mug');
  await press('Save');
  assert.match(await browser.title(), /^Red mug/);
  await (await browser.findByRole('link', 'Products')).follow();
  await fill('q', 'red');
  await (await browser.findByLabel('Stock')).choose('Low: 5 or less');
  await press('Show');
  await assertSound(browser);
  await browser.screenshot('products-found');
  await press('Price');
  assert.match(await browser.url(), /q=red.*sort=price$/);
  await (await browser.findByRole('link', 'Red mug')).follow();
  await (await browser.findByRole('link', 'Delete')).follow();
  await assertSound(browser);
  await press('Delete the product');
  assert.match(await browser.text(), /The product was deleted/);
});

test('the list shows what others change, as it shows everything', async (t) => {
  const { browser, create, patch, sync, send, show } = await open(t);
  const mug = await create({ name: 'Mug', price: 1_234.5, stock: 2_000 });
  const jar = await create({ name: 'Jar', stock: 9 });
  await show('/portal/products');
  const price = await read(browser, mug.id, 'price');
  assert.equal(price, '€1,234.50');
  await sync([{ id: mug.id, set: 1_500 }, { id: jar.id, set: 3 }]);
  await browser.waitFor('the stock', async () => await read(browser, mug.id, 'stock') === '1,500');
  await browser.waitFor('the tag', async () => await read(browser, jar.id, 'level') === 'low');
  await browser.waitFor('its mark', () => browser.has('[data-live="stock"].changed'));
  await patch(mug, { name: 'Cup', price: 2_000, category: '<b>Bar</b>' });
  await browser.waitFor('the name', async () => await read(browser, mug.id, 'name') === 'Cup');
  const texts = ['price', 'category', 'stock'].map((member) => read(browser, mug.id, member));
  assert.deepEqual(await Promise.all(texts), ['€2,000.00', '<b>Bar</b>', '1,500']);
  await browser.waitFor('the time', async () =>
    /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d CES?T$/.test(await read(browser, mug.id, 'updated_at')));
  await browser.findByText(/^[23] changes|1 change$/);
  for (const name of HOSTILE_NAMES) await create({ name });
  await browser.findByText(new RegExp(`New products: ${HOSTILE_NAMES.length}\\.`));
  await send({ method: 'DELETE', path: `/api/v1/products/${jar.id}` });
  await browser.waitFor('the end', () => browser.has(`tr.gone[data-product="${jar.id}"]`));
  await assertSound(browser);
  await browser.screenshot('products-live');
  await (await browser.findByRole('link', 'Show the newest')).follow();
  assert.equal(await browser.run(() => document.querySelectorAll('tbody tr').length), 12);
});

test('the page of a product says that it was changed, and leaves what is typed', async (t) => {
  const { browser, create, patch, sync, send, show } = await open(t);
  const mug = await create({ name: 'Mug', stock: 9 });
  const other = await create({ name: 'Jar', stock: 9 });
  await show(mug.path);
  const name = await browser.find('#field-name');
  await name.fill('My mug');
  await sync([{ id: other.id, set: 1 }, { id: mug.id, set: 5 }]);
  await browser.findByText(/^The stock has moved meanwhile/);
  assert.equal(await read(browser, mug.id, 'stock'), '5');
  assert.doesNotMatch(await browser.text(), /This product was changed/);
  await patch(mug, { name: 'Their mug' });
  await browser.findByText(/^This product was changed meanwhile/);
  assert.equal(await (await browser.find('h1')).text(), 'Their mug');
  assert.equal(await name.value(), 'My mug');
  assert.equal(await browser.run(() => document.querySelector<HTMLInputElement>(
    'input[name="expect"]',
  )?.value), '9');
  await assertSound(browser);
  await (await browser.findByRole('button', 'Save')).follow();
  assert.equal(await (await browser.find('h1')).text(), 'This product was changed meanwhile');
  await assertSound(browser);
  await browser.screenshot('product-conflict');
  await (await browser.findByRole('button', 'Save mine over it')).follow();
  assert.equal(await (await browser.find('h1')).text(), 'My mug');
  await send({ method: 'DELETE', path: `/api/v1/products/${mug.id}` });
  await browser.findByText(/^This product was deleted meanwhile/);
  await assertSound(browser);
});

test('a page that was hidden follows again once it is seen', async (t) => {
  const { browser, create, sync, show } = await open(t);
  const mug = await create({ stock: 9 });
  await show('/portal/products');
  const hide = (isHidden: boolean) => browser.run((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
  await sync([{ id: mug.id, set: 8 }]);
  await browser.waitFor('the stock', async () => await read(browser, mug.id, 'stock') === '8');
  await hide(true);
  await sync([{ id: mug.id, set: 7 }]);
  await browser.run(() => fetch('/portal/products')); // the stream would have told of it before
  assert.equal(await read(browser, mug.id, 'stock'), '8');
  await hide(false);
  await browser.waitFor('the stock', async () => await read(browser, mug.id, 'stock') === '7');
});
