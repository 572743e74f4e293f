/** What scripts add to every page: the theme, passwords, times and toasts; and cards on phones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClock } from '../support/clock.ts';
import { assertQuiet, fillIn, inspect, openPortal, press, readMain } from './portal.ts';

const PHONE = [320, 800] as const;

test('switches the theme in place, keeps what was typed, and keeps the theme', async (t) => {
  const { browser, url } = await openPortal(t, { path: '/products/new' });
  await fillIn(browser, { Name: 'Mug' });
  const readBackground = () => browser.run(() => getComputedStyle(document.body).backgroundColor);
  const light = await readBackground();
  await (await browser.findByRole('button', 'Dark')).click();
  assert.notEqual(await readBackground(), light);
  assert.equal(await (await browser.find('#field-name')).value(), 'Mug');
  await browser.waitFor('the cookie', async () => {
    await browser.open(`${url}/keys`);
    return browser.has('[data-theme="dark"]');
  });
  assert.notEqual(await readBackground(), light);
  await assertQuiet(browser);
});

test('switches the theme without scripts', async (t) => {
  const { browser } = await openPortal(t, { scripts: false, path: '/keys?after=x' });
  await press(browser, 'Dark');
  assert.match(await browser.url(), /\/portal\/keys\?after=x$/);
  assert.ok(await browser.has('[data-theme="dark"]'));
});

test('shows a password on request, and sends it as a password', async (t) => {
  const { browser, shop, url } = await openPortal(t);
  await press(browser, 'Sign out');
  const field = await browser.find('#field-password');
  const readType = () => browser.run(() =>
    document.querySelector('#field-password')?.getAttribute('type'));
  await fillIn(browser, { 'E-mail': shop.email, Password: 'wrong' });
  const button = await browser.findByRole('button', 'Show password');
  assert.equal(await button.attribute('aria-pressed'), 'false');
  await button.click();
  assert.equal(await readType(), 'text');
  assert.equal(await button.attribute('aria-pressed'), 'true');
  await field.fill(shop.password);
  await browser.run(() => document.querySelector('#field-password')?.closest('form')
    ?.addEventListener('submit', (event) => event.preventDefault()));
  await (await browser.findByRole('button', 'Sign in')).click();
  assert.equal(await readType(), 'password');
  await browser.open(`${url}/sign-in`);
  await browser.setScripts(false);
  await browser.reload();
  assert.equal(await browser.has('[data-reveal]:not([hidden])'), false);
});

test('keeps relative times current by the clock of the server', async (t) => {
  const clock = makeClock();
  const { browser, shop: { create }, url } = await openPortal(t, { clock });
  const { id } = await create({ name: 'Mug' });
  clock.now += 3 * 60_000;
  await browser.open(`${url}/products/${id}`);
  assert.match(await readMain(browser), /Created\s+3 minutes ago/);
  await browser.run(() => {
    for (const time of document.querySelectorAll('time')) {
      time.dateTime = new Date(Date.parse(time.dateTime) - 57 * 60_000).toISOString();
    }
    document.dispatchEvent(new Event('timechange'));
  });
  assert.match(await readMain(browser), /Created\s+1 hour ago/);
});

test('shows a toast once after an action, and undoes the action from it', async (t) => {
  const { browser, shop: { create, read }, url } = await openPortal(t);
  const mug = await create({ name: 'Mug', stock: 9 });
  await browser.open(`${url}/products/${mug.id}`);
  await fillIn(browser, { 'Counted quantity': '12' });
  await press(browser, 'Set stock');
  assert.match(await readMain(browser), /Stock of Mug set to 12 \(\+3\)\./);
  await browser.reload();
  assert.doesNotMatch(await readMain(browser), /Stock of Mug set to/);
  await fillIn(browser, { 'Counted quantity': '15' });
  await press(browser, 'Set stock');
  await press(browser, 'Undo');
  assert.match(await readMain(browser), /Stock of Mug set to 12 \(-3\)\./);
  assert.equal((await read(mug))?.['stock'], 12);
  await (await browser.findByRole('button', 'Dismiss')).click();
  assert.doesNotMatch(await readMain(browser), /Stock of Mug set to/);
  await assertQuiet(browser);
});

test('shows wide tables as cards on phones, and keeps their table roles', async (t) => {
  const { browser, shop: { create }, url } = await openPortal(t, { scripts: false });
  await create({ name: 'Mug', stock: 9, price: 5, category: 'Bar', sku: 'M'.repeat(60) });
  await browser.setViewport(...PHONE);
  await browser.open(`${url}/keys`);
  const label = await browser.run(() => {
    const cell = document.querySelector('td');
    return cell && getComputedStyle(cell, '::before').content;
  });
  assert.equal(label, '"Status"');
  assert.ok(await browser.findByRole('table', 'API keys'));
  assert.ok(await browser.findByRole('rowheader', /My first key/));
  assert.ok(await browser.findByRole('columnheader', 'Status'));
  for (const path of ['', '/products', '/keys', '/changes', '/activity', '/account/sessions']) {
    await browser.open(url + path);
    const wide = await browser.run(() => [document.documentElement,
      ...document.querySelectorAll('.scroll')].filter((element) =>
      element.scrollWidth > element.clientWidth + 1).map(({ className }) => className));
    assert.deepEqual(wide, [], path);
  }
});

test('ticks the steps of a new shop while its page is open', async (t) => {
  const { browser, shop: { create, send } } = await openPortal(t);
  assert.match(await readMain(browser), /Get started/);
  await inspect(browser, 'overview-empty');
  await create({ name: 'Mug' });
  await send({ path: '/api/v1/products' });
  for (const step of ['products', 'request']) {
    await browser.waitFor(step, () => browser.has(`[data-step="${step}"].done`));
  }
  await assertQuiet(browser);
});
