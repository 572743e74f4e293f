/** The search box on every page, saved filters, and replacing a leaked key in five actions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Browser } from './browser.ts';
import { assertQuiet, fillIn, follow, inspect, openPortal, press, readMain } from './portal.ts';

test('focuses the search box by its shortcut, except while the user types', async (t) => {
  const { browser, shop } = await openPortal(t, { path: '/changes' });
  await shop.create({ name: 'Hoodie, blue', sku: 'HOOD-BLUE' });
  await browser.press('/');
  assert.equal(await readFocus(browser), 'search-box:');
  await browser.press('/');
  assert.equal(await readFocus(browser), 'search-box:/'); // a character of the search
  await (await browser.find('#search-box')).fill('hoodblue');
  await browser.press('Enter');
  await browser.waitFor('the results', async () => (await browser.title()).startsWith('Search'));
  assert.match(await readMain(browser), /Search: hoodblue\s+Products\s+Hoodie, blue/);
  await inspect(browser, 'search');
  await follow(browser, 'Hoodie, blue');
  await (await browser.findByLabel('Name')).fill('x');
  await browser.press('/');
  assert.match(await readFocus(browser), /:x\/$/);
  await assertQuiet(browser);
});

test('turns the shortcut of the search box off and on', async (t) => {
  const { browser } = await openPortal(t, { path: '/search' });
  for (const [label, focus] of [['off', ''], ['on', 'search-box:']] as const) {
    await (await browser.findByRole('button', `Turn this key ${label}`)).click();
    await browser.press('/');
    assert.equal(await readFocus(browser), focus);
  }
  await inspect(browser, 'search-tips');
});

test('searches without scripts, and says what can be searched for', async (t) => {
  const { browser, url } = await openPortal(t, { scripts: false });
  await browser.open(`${url}/search?q=${encodeURIComponent('nothing at all')}`);
  assert.match(await readMain(browser), /Nothing matches “nothing at all”.*What you can search/s);
  await inspect(browser, 'search-empty');
});

test('replaces a leaked key in five actions, and previews the revert', async (t) => {
  const { browser, server, shop } = await openPortal(t, { scripts: false });
  await shop.create({ name: 'Mug', sku: 'MUG-1' });
  const call = async (key: string) =>
    (await server.send({ path: '/api/v1/products', headers: { 'x-api-key': key } })).status;
  await follow(browser, 'Was a key leaked?'); // 1
  await inspect(browser, 'leaked');
  await fillIn(browser, { 'Paste a key to find it': shop.key }); // 2
  await press(browser, 'Find key'); // 3
  await inspect(browser, 'leaked-key');
  await press(browser, 'Revoke and create new key'); // 4
  const key = await (await browser.find('#copy-key')).text(); // 5: to copy it
  assert.deepEqual([await call(shop.key), await call(key)], [401, 200]);
  await follow(browser, 'See what the leaked key did');
  assert.match(await readMain(browser), /This key no longer works.*What it changed.*MUG-1/s);
  await inspect(browser, 'leaked-ended');
  await press(browser, 'Preview revert');
  assert.match(await readMain(browser), /Key My first key/);
});

test('saves a filter, and deletes it', async (t) => {
  const { browser, shop } = await openPortal(t, { path: '/products?stock=low' });
  await shop.create({ name: 'Mug', sku: 'MUG-1' });
  await browser.open(await browser.url());
  await (await browser.find('details.saved summary')).click();
  await fillIn(browser, { 'Name of the filter': 'Nearly gone' });
  await inspect(browser, 'filter-form');
  await press(browser, 'Save filter');
  assert.match(await readMain(browser), /Filter saved/);
  await inspect(browser, 'filter-saved');
  await follow(browser, 'Products');
  await follow(browser, 'Nearly gone');
  await press(browser, 'Delete the saved filter');
  assert.match(await readMain(browser), /Filter deleted/);
});

/** The id and the value of the field that has the focus. */
async function readFocus(browser: Browser): Promise<string> {
  return String(await browser.run(() => {
    const { activeElement: element } = document;
    return element instanceof HTMLInputElement ? `${element.id}:${element.value}` : '';
  }));
}
