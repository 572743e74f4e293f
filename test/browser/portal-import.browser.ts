/** Import in a real browser: with scripts and without, on phone and desktop, light and dark. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { HEADER, makeRows } from '../features/portal/imports/setup.ts';
import { makeFolder } from '../support/folder.ts';
import { follow, inspect, openPortal, press, pressAndFinish } from './portal.ts';

/** A signed-in browser on the import page. */
async function open(t: TestContext, scripts = true) {
  const folder = makeFolder(t);
  return {
    ...await openPortal(t, { path: '/import', scripts }),
    makeFile(text: string): string {
      const path = join(folder, 'products.csv');
      writeFileSync(path, text);
      return path;
    },
  };
}

test('uploads, previews and imports a file without scripts', async (t) => {
  const { browser, makeFile } = await open(t, false);
  const path = makeFile(`${HEADER}${makeRows(2)}Bad,Kitchen,B-1,x,1\n`);
  await (await browser.findByLabel('Product or stock file')).upload(path);
  await pressAndFinish(browser, 'Upload and preview');
  assert.match(await browser.title(), /^Preview of products\.csv/);
  await inspect(browser, 'import-uploaded');
  await pressAndFinish(browser, 'Import now');
  assert.match(await browser.title(), /^Imported: products\.csv/);
  await inspect(browser, 'import-done');
  await (await browser.findByRole('link', /^Download rejected rows/)).click();
  assert.match(String(await browser.download('products.failed.csv')),
    /^\uFEFF"error",name,.*\r\n"price: .*",Bad,/);
  await follow(browser, 'Import and export');
  await inspect(browser, 'import-list');
});

test('uploads a dropped file immediately', async (t) => {
  const { browser } = await open(t);
  await browser.run((text) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], 'dropped.csv'));
    for (const type of ['dragenter', 'dragover', 'drop']) {
      document.getElementById('field-file')
        ?.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
  }, HEADER + makeRows(2));
  await browser.waitFor('the preview', async () =>
    (await browser.title()).startsWith('Preview of dropped.csv'));
  await inspect(browser, 'import-dropped');
});

test('shows why a file is rejected beside its field', async (t) => {
  const { browser, makeFile } = await open(t);
  const input = await browser.findByLabel('Product or stock file');
  await input.upload(makeFile('PK\x03\x04'));
  await (await browser.findByRole('button', 'Upload and preview')).click();
  assert.match(await (await browser.findByRole('alert')).text(), /^The workbook is damaged/);
  await browser.run(() => {
    const form = document.getElementById('upload');
    if (form) form.dataset['limit'] = '3';
  });
  await (await browser.findByRole('button', 'Upload and preview')).click();
  await browser.findByText('This file is too large. The maximum is 256 MiB.');
  await inspect(browser, 'import-refused');
  assert.match(await browser.url(), /\/portal\/import$/);
});

test('updates the progress of an import, and shows its result', async (t) => {
  const { browser, makeFile, server } = await open(t);
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  const first = Promise.withResolvers<void>();
  const { importProducts } = server.store;
  let units = 0;
  server.store.importProducts = async (...args) => {
    units += 1;
    await (units === 1 ? first : held).promise;
    return importProducts.apply(server.store, args);
  };
  const path = makeFile(HEADER + makeRows(3_000));
  await (await browser.findByLabel('Product or stock file')).upload(path);
  await pressAndFinish(browser, 'Upload and preview');
  await press(browser, 'Import now');
  assert.match(await browser.title(), /^Importing products\.csv/);
  await inspect(browser, 'import-progress');
  const openedAt = () => browser.run(() => performance.timeOrigin);
  const before = await openedAt();
  first.resolve();
  await browser.findByText(/1,000 rows so far/);
  assert.equal(await openedAt(), before); // the same page
  held.resolve();
  await browser.waitFor('the end', async () =>
    (await browser.title()).startsWith('Imported: products.csv'));
});

test('exports the result of a search', async (t) => {
  const { browser, url, makeFile } = await open(t);
  await (await browser.findByLabel('Product or stock file')).upload(makeFile(HEADER + makeRows(3)));
  await pressAndFinish(browser, 'Upload and preview');
  await pressAndFinish(browser, 'Import now');
  await browser.open(`${url}/products?q=product+2`);
  await (await browser.findByRole('button', 'CSV')).click();
  const day = new Date().toISOString().slice(0, 10);
  const lines = String(await browser.download(`products-${day}.csv`)).trimEnd().split('\r\n');
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? '', /,Product 2,/);
});
