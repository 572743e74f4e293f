/** The list of import records, and the page of a record. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { NewImport } from '../../../../src/domain/catalogue/import.ts';
import {
  formatImportId, formatProductId, type ImportId, PORTAL_KEY_ID,
} from '../../../../src/domain/id.ts';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { makeNewProduct } from '../../../store/contract/fixture.ts';
import { makeSync } from '../../../store/contract/stock.ts';
import { makeClock } from '../../../support/clock.ts';
import { startServer } from '../../../support/server.ts';
import { openShop, readText } from '../page-client.ts';
import { assertRequiresSignIn, assertPage } from '../page-rules.ts';

async function start(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const shop = await openShop(server);
  const actor = { sellerId: shop.sellerId, keyId: PORTAL_KEY_ID };
  const write = async (record: NewImport, isLast = true): Promise<ImportId> => {
    const part = { id: undefined, record, counts: { failed: 2 }, isLast };
    const context = { ...actor, import: part };
    const { importId } = record.kind === 'products'
      ? await server.store.importProducts(context, [makeNewProduct({ sku: 'A' })], 'upsert')
      : await server.store.syncStock(context, makeSync([{ sku: 'A' as Sku, adjust: 1 }]), false);
    assert.ok(importId);
    return importId;
  };
  const pathOf = (id: ImportId) => `/imports/${formatImportId(shop.sellerId, id)}`;
  return { server, clock, shop, write, pathOf };
}

test('shows the counts, time and source of an import', async (t) => {
  const { shop, clock, write, pathOf } = await start(t);
  const id = await write({
    kind: 'products', fileName: 'shop <b>.csv', mode: 'upsert', address: '192.0.2.7',
  });
  clock.now += 60_000;
  const stock = await write({ kind: 'stock', source: 'till 2' }, false);
  const page = await shop.user.get(`/portal${pathOf(id)}`);
  assertPage(page);
  assert.match(page.text, /<h1[^>]*>Import shop &lt;b&gt;\.csv<\/h1>/);
  assert.match(readText(page.text), new RegExp('ID imp_\\w+ Status complete Started 1 minute ago '
    + '2 Jan 2026, 04:04:05 CET Finished 1 minute ago 2 Jan 2026, 04:04:05 CET By Portal '
    + 'Address 192\\.0\\.2\\.7 Mode upsert '
    + 'Created 1 Updated 0 Unchanged 0 Rejected 2 '
    + 'Details Positions 1 View changes'));
  const [, changes = ''] = /href="([^"]*)">View changes/.exec(page.text) ?? [];
  assert.match(readText((await shop.user.get(changes)).text), /Changes of Import shop <b>\.csv/);
  const running = await shop.user.get(`/portal${pathOf(stock)}`);
  assertPage(running);
  assert.match(readText(running.text), /Stock sync from till 2 .* still running, or it stopped/);
  assert.match(readText(running.text), /Source till 2 Stock changed 1 /);
});

test('lists imports newest first, by type and in pages', async (t) => {
  const { shop, write } = await start(t);
  const empty = await shop.user.get('/portal/imports');
  assertPage(empty);
  assert.match(readText(empty.text), /No imports\./);
  await write({ kind: 'products', fileName: 'a.csv' });
  for (let n = 0; n < 26; n += 1) await write({ kind: 'stock', source: `till ${n}` });
  const first = await shop.user.get('/portal/imports?kind=stock');
  assertPage(first);
  assert.match(readText(first.text), /Stock sync from till 25 complete 1 2 .* Portal Stock sync/);
  assert.ok(!first.text.includes('a.csv') && !first.text.includes('till 0<'));
  const [, next = ''] = /href="([^"]*)" rel="next"/.exec(first.text) ?? [];
  const second = await shop.user.get(next.replaceAll('&amp;', '&'));
  assertPage(second);
  assert.match(readText(second.text), /Stock sync from till 0 /);
  assert.ok(!second.text.includes('a.csv'));
  const wrong = await shop.user.get('/portal/imports?kind=all');
  assertPage(wrong, 400);
  assert.match(readText(wrong.text), /Choose one of the listed types\./);
  const upload = await shop.user.get('/portal/import');
  assertPage(upload);
  assert.match(readText(upload.text), new RegExp('Latest imports and stock syncs Imports, newest '
    + 'first Import Status Changes Rejected When By Stock sync from till 25 '));
  await assertRequiresSignIn({ port: shop.user.port }, ['/imports']);
});

test('answers 404 for an import whose record was removed', async (t) => {
  const { shop, pathOf } = await start(t);
  for (const path of [pathOf(5 as ImportId), '/imports/x']) { // no record has this id
    const page = await shop.user.get(`/portal${path}`);
    assertPage(page, 404);
    assert.match(readText(page.text), /There is no record of this import\. Records are removed/);
  }
});

test('is linked from the stock ledger of a product', async (t) => {
  const { server, shop, write } = await start(t);
  await write({ kind: 'products', fileName: 'a.csv' });
  await write({ kind: 'stocktake', source: 'till' });
  const product = await server.store.findProduct(shop.sellerId, { sku: 'A' as Sku });
  assert.ok(product);
  const id = formatProductId(shop.sellerId, product.id);
  const page = await shop.user.get(`/portal/products/${id}`);
  assertPage(page);
  assert.match(readText(page.text), /Portal Stocktake from till .* Portal Import a\.csv/);
});
