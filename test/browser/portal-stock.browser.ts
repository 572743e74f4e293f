/** Stock files and reverts in a real browser: with scripts and without, in every view. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { HEADER, makeRows } from '../features/portal/imports/setup.ts';
import { makeFolder } from '../support/folder.ts';
import { follow, inspect, openPortal, pressAndFinish, readMain } from './portal.ts';

/** A signed-in browser on the import page of a shop with products SKU-1 to SKU-8. */
async function open(t: TestContext, scripts: boolean) {
  const folder = makeFolder(t);
  const portal = await openPortal(t, { path: '/import', scripts });
  const { browser, url } = portal;
  const upload = async (name: string, text: string): Promise<void> => {
    const path = join(folder, name);
    writeFileSync(path, text);
    await browser.open(`${url}/import`);
    await (await browser.findByLabel('Product or stock file')).upload(path);
    await pressAndFinish(browser, 'Upload and preview');
  };
  await upload('products.csv', HEADER + makeRows(8));
  await pressAndFinish(browser, 'Import now');
  return { ...portal, upload };
}

test('previews a stocktake, and imports it, without scripts', async (t) => {
  const { browser, upload } = await open(t, false);
  await upload('zählung.csv',
    'Artikelnummer;Bestand;Lager\r\nSKU-1;5;A\r\nSKU-2;7;A\r\nNONE;1;A\r\nSKU-3;x;A\r\n');
  assert.match(await readMain(browser), /Read as a stock file/);
  await inspect(browser, 'stock-preview');
  await (await browser.findByLabel('This file is a complete stocktake: set them to 0')).click();
  await pressAndFinish(browser, 'Update preview');
  assert.match(await readMain(browser), /5 of 8 products in stock \(63 %\)/);
  await inspect(browser, 'stocktake-blocked');
  const limit = await browser.findByLabel(/^Limit on products set to 0/);
  await limit.fill('70');
  await pressAndFinish(browser, 'Update preview');
  await pressAndFinish(browser, 'Import now');
  assert.match(await readMain(browser), /2 of 4 rows imported; 2 rejected\./);
  await inspect(browser, 'stocktake-done');
});

test('asks whether a list of stock with names is a product file', async (t) => {
  const { browser, upload } = await open(t, false);
  await upload('liste.csv', 'Artikelnummer;Bezeichnung;Bestand\r\nSKU-1;Tasse;5\r\n');
  assert.match(await readMain(browser), /Is this a product file or a stock file\?/);
  await inspect(browser, 'kind-question');
  await pressAndFinish(browser, 'Read as a stock file');
  assert.match(await readMain(browser), /Columns that are not read: Bezeichnung\./);
});

test('previews the revert of an import, and reverts it', async (t) => {
  const { browser, server, shop, upload } = await open(t, true);
  await upload('wrong.csv', `${HEADER}Cup,Kitchen,SKU-1,1,90\nMug,Kitchen,SKU-2,3,70\n`
    + 'New,Kitchen,NEW,1,1\n');
  await pressAndFinish(browser, 'Import now');
  await shop.send({
    method: 'POST', path: '/api/v1/stock', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ changes: [{ sku: 'SKU-2', adjust: -1 }] }),
  });
  await follow(browser, 'View the record');
  await pressAndFinish(browser, 'Revert this import');
  assert.match(await browser.title(), /^Preview of the revert: Import wrong\.csv/);
  await inspect(browser, 'revert-preview');
  await (await browser.findByLabel(/^Also revert products that changed since/)).click();
  await pressAndFinish(browser, 'Update preview');
  await pressAndFinish(browser, 'Revert now');
  assert.match(await readMain(browser), /Revert complete: 3 products\./);
  await inspect(browser, 'revert-done');
  const found = await server.store.listProducts(shop.sellerId, { after: undefined, limit: 10 });
  assert.deepEqual(found.products.slice(0, 2).map(({ name, stock }) => [name, stock]),
    [['Product 1', 7], ['Product 2', 6]]);
  await pressAndFinish(browser, 'Undo this revert');
  assert.match(await browser.title(), /^Preview of the revert: Revert/);
});
