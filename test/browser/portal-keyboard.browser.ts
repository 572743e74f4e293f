/** The portal by keyboard alone; the focus is visible at each step. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openOther } from '../features/portal/products/catalogue.ts';
import { startServer } from '../support/server.ts';
import { findViolations } from './accessibility.ts';
import { type Browser, type Lifetime, openBrowser } from './browser.ts';
import { openNextPage } from './element.ts';
import { assertQuiet, follow, inspect, openPortal, readMain } from './portal.ts';

/** More presses than any test needs. */
const STOPS_LIMIT = 60;

test('signs in, creates a product, adjusts its stock and deletes it', async (t) => {
  const { browser } = await signInByKeys(t);
  await tabTo(browser, 'Products');
  await go(browser, 'Enter');
  assert.match(await browser.title(), /^Products/);

  await tabTo(browser, 'Skip to content');
  await browser.press('Enter');
  assert.equal(await tabTo(browser, 'Create a product'), 1); // past the navigation
  await go(browser, 'Enter');
  for (const [label, text] of [
    ['Name', 'Salad bowl'], ['Category', 'Kitchen'], ['SKU', 'BOWL-1'], ['Price in EUR', '48'],
  ] as const) {
    await tabTo(browser, label);
    await type(browser, text);
  }
  await go(browser, 'Enter'); // out of the last field
  assert.match(await browser.title(), /^Salad bowl/);

  await tabTo(browser, 'Quantity');
  await type(browser, '12');
  await tabTo(browser, 'Reason (optional)');
  await type(browser, 'first kiln');
  await tabTo(browser, 'Add');
  await go(browser, 'Space');
  assert.match(await readMain(browser), /\+12\s+0 → 12\s+first kiln/);

  await tabTo(browser, 'Quantity');
  await type(browser, 'none');
  await tabTo(browser, 'Remove');
  await go(browser, 'Enter');
  await tabTo(browser, /^Quantity: /); // in the error summary
  await browser.press('Enter');
  assert.deepEqual(await readFocus(browser), { name: 'Quantity', isVisible: true });

  await tabTo(browser, 'Delete');
  await go(browser, 'Enter');
  await tabTo(browser, 'Delete product');
  await go(browser, 'Enter');
  assert.match(await readMain(browser), / deleted\.\s/);
  await tabTo(browser, 'Sign out');
  await go(browser, 'Enter');
  assert.match(await browser.title(), /^Sign in/);
  await assertQuiet(browser);
});

test('opens and closes the menu of a phone', async (t) => {
  const { browser } = await signInByKeys(t);
  await browser.setViewport(320, 640);
  const isOpen = () => browser.has('#menu:popover-open');
  await tabTo(browser, 'Menu');
  assert.equal(await isOpen(), false);
  await browser.press('Enter');
  assert.equal(await isOpen(), true);
  await browser.press('Tab');
  assert.equal((await readFocus(browser)).name, 'Overview');
  await browser.press('Escape');
  assert.equal(await isOpen(), false);
  assert.deepEqual(await readFocus(browser), { name: 'Menu', isVisible: true }); // returned there
  await browser.press('Space');
  assert.equal(await tabTo(browser, 'Products'), 2);
  await browser.screenshot('menu-keys');
  await go(browser, 'Enter');
  assert.match(await browser.title(), /^Products/);
  assert.equal(await isOpen(), false);
  await tabTo(browser, 'Menu');
  await browser.press('Enter');
  assert.deepEqual(await findViolations(browser), []);
  assert.equal(await isOpen(), true);
});

test('scrolls a table that is wider than a small window', async (t) => {
  const { browser, shop, url } = await signInByKeys(t);
  await shop.create();
  await browser.setViewport(520, 640); // a phone shows the rows as cards
  await browser.open(`${url}/products`);
  await tabTo(browser, 'Products'); // the region, after the closed menu
  const scrolled = () => browser.run(() => document.querySelector('.scroll')?.scrollLeft ?? 0);
  assert.equal(await scrolled(), 0);
  await browser.press('ArrowRight');
  await browser.waitFor('the table to scroll', async () => await scrolled() > 0);
});

/** A desktop browser on the overview. */
async function signInByKeys(t: Lifetime) {
  const server = await startServer(t, { portal: true });
  const shop = await openOther(server);
  const browser = await openBrowser(t);
  const url = `http://127.0.0.1:${server.port}/portal`;
  await browser.open(url);
  await tabTo(browser, 'E-mail');
  await type(browser, shop.email);
  await tabTo(browser, 'Password');
  await type(browser, shop.password);
  await go(browser, 'Enter');
  assert.match(await browser.title(), /^Overview/);
  return { browser, shop, url };
}

test('expands an import by keyboard, without scripts, on a phone', async (t) => {
  const { browser, shop, url } = await openPortal(t, { path: '/changes', scripts: false });
  const rows = Array.from({ length: 30 }, (_, n) => `Mug ${n},Kitchen,M-${n},12.5,${n}\n`);
  await shop.send({
    method: 'POST', path: '/api/v1/products/import?file_name=spring.csv',
    headers: { 'content-type': 'text/csv' },
    body: `name,category,sku,price,stock\n${rows.join('')}`,
  });
  await browser.setViewport(320, 640);
  await browser.open(`${url}/changes`);
  await tabTo(browser, 'Import spring.csv: 30 changes');
  await browser.press('Enter');
  await browser.findByText(/^M-2 Created: Mug 2, Kitchen/);
  await inspect(browser, 'changes-expanded');
  await follow(browser, 'All 30 changes');
  assert.equal((await browser.findAll('tbody tr')).length, 25);
  await follow(browser, 'Import spring.csv');
  await inspect(browser, 'import-record-file');
});

/** Presses Tab until an element of this name has the focus; returns the number of presses. */
async function tabTo(browser: Browser, name: string | RegExp): Promise<number> {
  const passed: string[] = [];
  while (passed.length < STOPS_LIMIT) {
    await browser.press('Tab');
    const focus = await readFocus(browser);
    passed.push(focus.name);
    assert.ok(focus.isVisible, `${focus.name} has no visible focus`);
    if (typeof name === 'string' ? focus.name === name : name.test(focus.name)) {
      return passed.length;
    }
  }
  throw new Error(`Tab does not reach ${name}, only ${passed.join(', ')}`);
}

/** The focused element, and whether its focus is visible. */
function readFocus(browser: Browser): Promise<{ name: string; isVisible: boolean }> {
  return browser.run(() => {
    const element = document.activeElement;
    // After the last stop, Tab moves to the browser's own controls, and then to the first stop.
    if (!element || element === document.body) return { name: '', isVisible: true };
    const { left, top, width, height } = element.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    // The browser draws the focus indicator of the button inside a date field.
    const isInside = element.matches('[type="date"]:not(:focus-visible)');
    const isMarked = isInside || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2);
    const above = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 20));
    return { name: element.computedName, isVisible: isMarked && element.contains(above) };
  });
}

async function type(browser: Browser, text: string): Promise<void> {
  for (const character of text) await browser.press(character === ' ' ? 'Space' : character);
}

/** Presses a key that opens another page, and waits for it. */
function go(browser: Browser, key: string): Promise<void> {
  return openNextPage(browser.session, () => browser.press(key));
}
