/** Import in a real browser: with scripts and without, on phones, desks and in the dark. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { HEADER, makeRows } from '../portal/import/setup.ts';
import { openShop } from '../portal/visitor.ts';
import { makeFolder } from '../support/folder.ts';
import { startServer } from '../support/server.ts';
import { findFaultsInAllViews } from './accessibility.ts';
import { type Browser, openBrowser } from './browser.ts';

/** A browser that is signed in and shows the page of imports. */
async function open(t: TestContext, hasScripts = true) {
  const server = await startServer(t, { portal: true });
  const { email, password, sellerId } = await openShop(server);
  const browser = await openBrowser(t);
  await browser.setScripts(hasScripts);
  const url = `http://127.0.0.1:${server.port}/portal`;
  await browser.open(`${url}/sign-in?to=/import`);
  await (await browser.findByLabel('E-mail')).fill(email);
  await (await browser.findByLabel('Password')).fill(password);
  await (await browser.findByRole('button', 'Sign in')).follow();
  const folder = makeFolder(t);
  const makeFile = (text: string): string => {
    const path = join(folder, 'products.csv');
    writeFileSync(path, text);
    return path;
  };
  return { server, browser, sellerId, url, makeFile };
}

async function assertSound(browser: Browser): Promise<void> {
  // On a phone the navigation is behind a button.
  assert.deepEqual(await findFaultsInAllViews(browser, { hasNavigation: false }), []);
  assert.deepEqual(await browser.consoleErrors(), []);
  assert.deepEqual(await browser.policyViolations(), []);
}

test('a file is uploaded, looked at and imported without scripts', async (t) => {
  const { browser, makeFile } = await open(t, false);
  await assertSound(browser);
  const path = makeFile(`${HEADER}${makeRows(2)}Bad,Kitchen,B-1,x,1\n`);
  await (await browser.findByLabel('File with products')).upload(path);
  await (await browser.findByRole('button', 'Upload and preview')).follow();
  assert.match(await browser.title(), /^Preview of products\.csv/);
  await assertSound(browser);
  await browser.screenshot('import-preview');
  await (await browser.findByRole('button', 'Import now')).follow();
  assert.match(await browser.title(), /^Imported: products\.csv/);
  await assertSound(browser);
  await browser.screenshot('import-done');
  await (await browser.findByRole('link', /^Download the refused rows/)).click();
  assert.match(String(await browser.download('products.failed.csv')), /^name,.*\r\nBad,/);
  await (await browser.findByRole('link', 'Import and export')).follow();
  await assertSound(browser);
  await browser.screenshot('import-list');
});

test('a file that is dropped is uploaded at once', async (t) => {
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
  await assertSound(browser);
});

test('a file that cannot be taken is refused where it was chosen', async (t) => {
  const { browser, makeFile } = await open(t);
  const input = await browser.findByLabel('File with products');
  await input.upload(makeFile('PK\x03\x04'));
  await (await browser.findByRole('button', 'Upload and preview')).click();
  assert.match(await (await browser.findByRole('alert')).text(), /^This is a workbook/);
  await browser.run(() => {
    const form = document.getElementById('upload');
    if (form) form.dataset['limit'] = '3';
  });
  await (await browser.findByRole('button', 'Upload and preview')).click();
  await browser.findByText('This file is too large: 256 MiB is the most.');
  await assertSound(browser);
  assert.match(await browser.url(), /\/portal\/import$/);
});

test('the progress of an import is kept fresh, and its end is shown', async (t) => {
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
  await (await browser.findByLabel('File with products')).upload(path);
  await (await browser.findByRole('button', 'Upload and preview')).follow();
  await (await browser.findByRole('button', 'Import now')).follow();
  assert.match(await browser.title(), /^Import of products\.csv/);
  await assertSound(browser);
  await browser.screenshot('import-progress');
  const openedAt = () => browser.run(() => performance.timeOrigin);
  const before = await openedAt();
  first.resolve();
  await browser.findByText(/1,000 rows so far/);
  assert.equal(await openedAt(), before); // the same page
  held.resolve();
  await browser.waitFor('the end', async () =>
    (await browser.title()).startsWith('Imported: products.csv'));
});

test('what a search has found is exported', async (t) => {
  const { browser, url, makeFile } = await open(t);
  await (await browser.findByLabel('File with products')).upload(makeFile(HEADER + makeRows(3)));
  await (await browser.findByRole('button', 'Upload and preview')).follow();
  await (await browser.findByRole('button', 'Import now')).follow();
  await browser.open(`${url}/products?q=product+2`);
  await (await browser.findByRole('button', 'CSV')).click();
  const day = new Date().toISOString().slice(0, 10);
  const lines = String(await browser.download(`products-${day}.csv`)).trimEnd().split('\r\n');
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? '', /,Product 2,/);
});
