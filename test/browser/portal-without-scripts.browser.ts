/** The whole portal with scripts switched off. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../support/folder.ts';
import { startServer } from '../support/server.ts';
import { type Browser, openBrowser } from './browser.ts';
import { assertQuiet, fillIn, follow, inspect, press, pressAndFinish, readMain } from './portal.ts';

test('opens a shop, manages its products and signs out without scripts', async (t) => {
  const server = await startServer(t, { portal: { openRegistration: true } });
  const browser = await openBrowser(t);
  await browser.setScripts(false);
  await browser.open(`http://127.0.0.1:${server.port}/portal/join`);
  await fillIn(browser, {
    'Shop name': 'Nordlicht Ceramics', 'E-mail': 'anna@nordlicht.example',
    Password: 'seven boats on the lake',
  });
  await press(browser, 'Create shop');
  assert.match(await (await browser.find('#copy-key')).text(), /^spk_/);
  assert.equal((await browser.findAllByRole('button', 'Copy')).length, 0); // it would do nothing
  await follow(browser, 'Go to your shop');
  await inspect(browser, 'overview-empty');

  await follow(browser, 'Create a product');
  await fillIn(browser, {
    Name: 'Salad bowl', Category: 'Kitchen', SKU: 'BOWL-1', 'Price in EUR': '48', Stock: '3',
  });
  await press(browser, 'Create product');
  await fillIn(browser, { Name: 'Serving bowl' });
  await press(browser, 'Save');
  assert.equal(await (await browser.find('h1')).text(), 'Serving bowl');
  await (await browser.find('#field-amount')).fill('9');
  await press(browser, 'Add');
  assert.match(await (await browser.find('#movements')).text(), /\+9\s+3 → 12/);

  await openMenu(browser);
  await follow(browser, 'Import and export');
  const path = join(makeFolder(t), 'more.csv');
  const rows = 'name,category,sku,price,stock\nButter dish,Kitchen,BUTTER-1,32.5,24\n';
  writeFileSync(path, rows);
  await (await browser.findByLabel('Product or stock file')).upload(path);
  await pressAndFinish(browser, 'Upload and preview');
  await pressAndFinish(browser, 'Import now');
  await follow(browser, 'View products');
  assert.match(await readMain(browser), /Serving bowl.*12.*Butter dish.*24/s);
  await inspect(browser, 'products-without-scripts');

  await press(browser, 'Sign out');
  assert.match(await browser.title(), /^Sign in/);
  await browser.back(); // the browser must not show a cached page
  assert.doesNotMatch(await browser.text(), /Serving bowl/);
  await assertQuiet(browser);
});

/** On a phone, where the browser itself opens the menu. */
async function openMenu(browser: Browser): Promise<void> {
  await browser.setViewport(320, 800);
  await (await browser.findByRole('button', 'Menu')).click();
  await browser.screenshot('menu-phone');
}
