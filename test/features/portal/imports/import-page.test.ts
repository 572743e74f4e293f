/** Imports in the portal without scripts: upload, preview, import, result. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CONCURRENT_IMPORTS_PER_SELLER_LIMIT } from '../../../../src/api/limits.ts';
import { PORTAL_KEY_ID } from '../../../../src/domain/id.ts';
import { countTo } from '../../../store/contract/fixture.ts';
import { HEADER, makeRows } from './setup.ts';
import { act, open, readPage, startJob, upload } from './page-setup.ts';
import { assertHidden, assertRequiresSignIn } from '../page-rules.ts';
import { openShop, readText, type Shop } from '../page-client.ts';

function listSkus(shop: Shop): Promise<string[]> {
  return shop.send({ path: '/api/v1/products?limit=1000' })
    .then((answer) => answer.json().products.map(({ sku }: { sku: string }) => sku));
}

test('uploads, previews and imports a file, and offers its rejected rows', async (t) => {
  const shop = await open(t);
  const { user, server } = shop;
  await upload(user, `${HEADER}Mug,Kitchen,M-1,1250.5,1\nCup,Kitchen,C-1,3,4\n`);
  await act(user, 'commit');
  const preview = await upload(user,
    `${HEADER}Mug & Co,Kitchen,M-1,1300,1\nCup,Kitchen,C-1,3,4\n`
    + 'Pan,Kitchen,P-1,9,1\nBad,K,B-1,x,1\n',
    'C:\\shop\\größe <b>.csv');
  assert.match(preview.text, /Preview of größe <b>\.csv/);
  assert.match(preview.text, /Checked the whole file: 4 rows, 0\.2 KiB\. Nothing has been changed/);
  assert.match(preview.text, /Will be created 1 Will be updated 1 Unchanged 1 Will be rejected 1/);
  assert.match(preview.text, /M-1 2 name Mug Mug & Co M-1 2 price €1,250\.50 €1,300\.00/);
  assert.match(preview.text, /5 B-1 price: Write a plain number/);
  assert.match(preview.text, /category category Kitchen · Kitchen · Kitchen/);
  assert.deepEqual(await listSkus(shop), ['M-1', 'C-1']);

  const done = await act(user, 'commit');
  assert.match(done.text, /Imported: größe <b>\.csv/);
  assert.match(done.text, /3 of 4 rows imported; 1 rejected\./);
  assert.match(done.text, /Created 1 Updated 1 Unchanged 1 Rejected 1/);
  assert.deepEqual(await listSkus(shop), ['M-1', 'C-1', 'P-1']);
  const { changes } = await server.store.listChanges(shop.sellerId, { after: 2, limit: 10 });
  assert.deepEqual(changes.map(({ keyId }) => keyId), [PORTAL_KEY_ID, PORTAL_KEY_ID]);
  const href = /href="([^"]*\/rejected)"/.exec(user.page?.text ?? '')?.[1] ?? '';
  const rejected = await user.get(href);
  assert.match(rejected.headers['content-disposition'] ?? '',
    /^attachment; filename="gr__e _b_\.failed\.csv"; filename\*=UTF-8''gr%C3%B6/);
  assert.equal(rejected.headers['content-type'], 'text/csv; charset=utf-8');
  assert.match(rejected.text, /^\uFEFF"error",name,.*\r\n"price: .*",Bad,K,B-1,x/);

  const list = readPage(await user.get('/portal/import'));
  assert.match(list.text, /größe <b>\.csv Imported 4 1 .* products\.csv Imported 2 0/);
});

test('imports NDJSON, whose rejected rows have no error column', async (t) => {
  const shop = await open(t);
  const line = '{"name":"Mug","category":"Kitchen","sku":"M-1","price":1,"stock":1}';
  const preview = await upload(shop.user, `${line}\n{"sku":"B"}\n`, 'products.jsonl');
  assert.doesNotMatch(preview.text, /Column/);
  await act(shop.user, 'commit');
  const path = /href="([^"]*\/rejected)"/.exec(shop.user.page?.text ?? '')?.[1] ?? '';
  const rejected = await shop.user.get(path);
  assert.match(rejected.headers['content-disposition'] ?? '', /"products\.failed\.ndjson"/);
  assert.equal(rejected.text, '{"sku":"B"}\n');
});

test('names the rows that override an earlier row, before and after the import', async (t) => {
  const { user } = await open(t);
  const rows = 'Mug,Kitchen,M-1,5,1\nPot,Kitchen,P-1,5,1\nMug,Kitchen,M-1,6,1\n';
  const rejected = await upload(user, `${HEADER}${rows}`);
  assert.match(rejected.text, /another price .* set "Several rows for one product" to last/);
  const preview = await act(user, '', { duplicates: 'last' });
  const named = /Duplicate rows 1 .*Line SKU Overrides line 4 M-1 2/;
  assert.match(preview.text, named);
  assert.match((await act(user, 'commit')).text, named);
  assert.doesNotMatch((await upload(user, `${HEADER}A,K,A,1,1\n`)).text, /Duplicate/);
});

test('remembers the chosen columns for the next file with the same column names', async (t) => {
  const shop = await open(t);
  const { user } = shop;
  const chosen = {
    column_name: '0', column_category: '1', column_sku: '2', column_price: '3', column_stock: '4',
  };
  const note = /you chose for your last import of a file with the same column names/;
  const first = await upload(user, 'Titel,Sorte,Code,Preis,Lager\nMug,Kitchen,M-1,5,1\n');
  assert.doesNotMatch(first.text, note);
  await act(user, '', chosen);
  // Not yet: the choice is remembered only after an import.
  const again = await upload(user, 'Titel,Sorte,Code,Preis,Lager\nMug,Kitchen,M-1,5,1\n');
  assert.doesNotMatch(again.text, note);
  await act(user, '', chosen);
  await act(user, 'commit');
  const next = await upload(user, 'lager , CODE,Titel,Sorte,Preis\n9,M-1,Mug,Kitchen,5\n');
  assert.match(next.text, note);
  assert.match(next.text, /Will be created 0 Will be updated 1/);
  assert.deepEqual(['column_sku', 'column_stock'].map((name) => user.valueOf(name)), ['1', '0']);
  assert.doesNotMatch((await act(user, '', { column_price: '', column_stock: '4' })).text, note);
  const other = await openShop(shop.server);
  assert.doesNotMatch((await upload(other.user, 'Titel,Sorte,Code,Preis,Lager\n')).text, note);
  assert.doesNotMatch((await upload(user, 'Titel,Sorte,Code,Preis\n')).text, note);
});

test('updates only the columns in the file, and then has no fields for defaults', async (t) => {
  const { user, send } = await open(t);
  await upload(user, `${HEADER}Mug,Kitchen,M-1,5,1\n`);
  await act(user, 'commit');
  await upload(user, 'sku,price,stock\nM-1,5,9\nN-1,1,2\n');
  const preview = await act(user, '', { mode: 'update', default_stock: '0' });
  assert.match(preview.text, /Will be created 0 Will be updated 1 .* Will be rejected 1/);
  assert.match(preview.text, /Choose "Create new products and update existing ones" below/);
  assert.equal(user.valueOf('mode'), 'update');
  assert.doesNotMatch(preview.text, /Default stock/);
  const done = await act(user, 'commit');
  assert.match(done.text, /1 of 2 rows imported; 1 rejected/);
  const { products } = (await send({ path: '/api/v1/products' })).json();
  assert.deepEqual(products.map(({ name, stock }: Record<string, unknown>) => [name, stock]),
    [['Mug', 9]]);
});

test('rejects a row whose id is that of another product than its SKU', async (t) => {
  const { user, send } = await open(t);
  await upload(user, `${HEADER}Mug,Kitchen,0123,5,1\nCup,Kitchen,123,5,1\n`);
  await act(user, 'commit');
  const [mug] = (await send({ path: '/api/v1/products' })).json().products;
  const preview = await upload(user, `id,sku,name\n${mug.id},123,Mug\nprd_x,123,Jug\n`);
  assert.match(preview.text, /Will be updated 1 .* Will be rejected 1/);
  assert.match(preview.text, /2 123 id: Is the id of your product "0123"\. Correct the SKU, or /);
  assert.match(preview.text, /have changed SKUs, such as 0123 to 123\. To change a SKU, edit the /);
  assert.match(preview.text, /1 row has an id that none of your products has\. It was ignored\./);
  assert.match(preview.text, / id product ID prd_/);
  const done = await act(user, 'commit');
  assert.match(done.text, /1 of 2 rows imported; 1 rejected/);
  assert.match(done.text, /1 row has an id that none of your products has\./);
  const { products } = (await send({ path: '/api/v1/products' })).json();
  assert.deepEqual(products.map(({ name }: { name: string }) => name), ['Mug', 'Jug']);
});

test('says why rows are skipped, and that nothing is imported', async (t) => {
  const { user } = await open(t);
  const header = 'sku,store_view_code,product_type,categories,name,price,qty\n';
  const preview = await upload(user, `${header}A,german,simple,C,Tasse,1,1\n,,,,,,\n`);
  assert.match(preview.text, /Rows without a product 2/);
  assert.match(preview.text, /Skipped rows: 1 without any text, 1 for a store view\. To import /);
  assert.match(preview.text, /Nothing to import: every row was skipped\./);
  assert.doesNotMatch(preview.text, /Import now/);
  const products = await upload(user, `${header}A,default,simple,C,Tasse,1,1\n,,,,,,\n`);
  assert.match(products.text, /Will be created 1 .* Skipped rows: 1 without any text\./);
  const done = await act(user, 'commit');
  assert.match(done.text, /Import complete: 2 rows\..* Skipped rows: 1 without any text\./);
});

test('lets the seller map columns and fill in blank cells', async (t) => {
  const shop = await open(t);
  const { user } = shop;
  const first = await upload(user, 'Was,Sorte,Kennung,Betrag\nMug,Kitchen,M-1,5\nCup,,C-1,6\n');
  assert.match(first.text, /The file has no column named name, category, sku, price, stock/);
  assert.match(first.text, /Was not used Mug · Cup/);
  assert.doesNotMatch(first.text, /Import now/);
  const second = await act(user, '', {
    column_name: '0', column_category: '1', column_sku: '2', column_price: '3',
    default_category: 'Misc', default_stock: '7',
  });
  assert.match(second.text, /Will be created 2 .*Betrag price 5 · 6/);
  assert.deepEqual(['column_price', 'default_stock'].map((name) => user.valueOf(name)), ['3', '7']);
  const shared = await act(user, '', { column_stock: '3', column_currency: '99' });
  assert.match(shared.text, /One column cannot be both .* choose another one\./);
  const third = await act(user, '', { column_stock: '', default_stock: 'many' });
  assert.match(third.text, /Will be created 0 .* Will be rejected 2/);
  assert.match(third.text, /Nothing to import/);
  await act(user, '', { default_stock: '7' });
  await act(user, 'commit');
  const { products } = (await shop.send({ path: '/api/v1/products' })).json();
  assert.deepEqual(products.map((product: Record<string, unknown>) =>
    [product['name'], product['category'], product['stock']]),
  [['Mug', 'Kitchen', 7], ['Cup', 'Misc', 7]]);
});

test('lets the seller choose between several columns of a member', async (t) => {
  const { user } = await open(t);
  const preview = await upload(user,
    'sku,Titel,Kategorie,Preis netto,Preis brutto,Bestand\nM-1,Mug,Kitchen,5,6,1\n');
  assert.match(preview.text,
    /several columns for price: "Preis netto" and "Preis brutto"\. Choose one of them below\./);
  assert.match(preview.text, /Detected: Preis netto or Preis brutto/);
  assert.doesNotMatch(preview.text, /Import now/);
  const chosen = await act(user, '', { column_price: '4' });
  assert.match(chosen.text, /Will be created 1/);
  assert.match(chosen.text, /Preis netto not used 5 Preis brutto price 6/);
});

test('rejects a file with a duplicate column, by name', async (t) => {
  const shop = await open(t);
  const page = await upload(shop.user, 'sku,name,category,price,stock,Price\nM,Mug,K,1,1,2\n');
  assert.match(page.text, /columns "price" and "Price" \(4 and 6\), which count as the same/);
  assert.doesNotMatch(page.text, /Import now/);
  assert.deepEqual(await listSkus(shop), []);
});

test('keeps members that a partial file leaves out, and advises on new products', async (t) => {
  const shop = await open(t);
  const { user } = shop;
  await upload(user, `${HEADER}Mug,Kitchen,M-1,5,1\n`);
  await act(user, 'commit');
  await upload(user, 'sku,stock\nM-1,9\n');
  const preview = await act(user, '', { kind: 'products' });
  assert.match(preview.text, /no column for name, category, price\. Existing products keep/);
  assert.match(preview.text, /Will be created 0 Will be updated 1 Unchanged 0 Will be rejected 0/);
  assert.match(preview.text, /M-1 2 stock 1 9/);
  assert.doesNotMatch(preview.text, /M-1 2 (?:name|category|price)/);
  const defaults = { default_name: 'Product', default_category: 'Misc', default_price: '1' };
  const again = await act(user, '', defaults);
  assert.doesNotMatch(again.text, /M-1 2 (?:name|category|price)/);
  await act(user, 'commit');
  const { products: [mug] } = (await shop.send({ path: '/api/v1/products' })).json();
  assert.deepEqual([mug.name, mug.category, mug.price, mug.stock], ['Mug', 'Kitchen', 5, 9]);

  const lacking = await upload(user, `${HEADER}A,K,A,1,\nB,K,B,1,\n`);
  assert.match(lacking.text, /2 rejected rows are new products without a value for stock\. /);
  assert.match(lacking.text, /Enter 0 as "Default stock for new products" below\./);
  assert.match((await act(user, '', { default_stock: '0' })).text, /Will be created 2/);
});

test('rejects rows of existing products if the seller chose that', async (t) => {
  const { user } = await open(t);
  await upload(user, HEADER + makeRows(1));
  await act(user, 'commit');
  await upload(user, HEADER + makeRows(2, 1, '1'));
  const page = await act(user, '', { mode: 'create' });
  assert.match(page.text, /Will be created 1 Will be updated 0 Unchanged 0 Will be rejected 1/);
  assert.match(page.text, /You already have a product with this SKU\./);
});

test('imports only the revision that the page showed', async (t) => {
  const shop = await open(t);
  const { user } = shop;
  await upload(user, HEADER + makeRows(1));
  const shown = user.page;
  await act(user, '', { mode: 'create' });
  user.page = shown;
  const rejected = await act(user, 'commit');
  assert.equal(rejected.status, 409);
  assert.match(rejected.text, /settings have changed.*Nothing was imported/);
  for (const suffix of ['.0', '.00000000000000001', 'e0', ' ']) {
    const revision = `${user.valueOf('revision')}${suffix}`;
    assert.equal((await act(user, 'commit', { revision })).status, 409);
  }
  assert.deepEqual(await listSkus(shop), []);
  assert.match((await act(user, 'commit')).text, /Imported: products\.csv/);
  user.page = shown;
  assert.match((await act(user, 'commit')).text, /Imported: products\.csv/);
});

test('shows the progress of a long import, and cancels it', async (t) => {
  const shop = await open(t);
  const { user, server } = shop;
  const held = Promise.withResolvers<void>();
  const secondBatch = Promise.withResolvers<void>();
  const { importProducts } = server.store;
  let batches = 0;
  server.store.importProducts = async (...args) => {
    batches += 1;
    if (batches > 1) {
      secondBatch.resolve();
      await held.promise;
    }
    return importProducts.apply(server.store, args);
  };
  await upload(user, HEADER + makeRows(3_000));
  await startJob(user, 'commit');
  await secondBatch.promise;
  const [, refresh = ''] = /href="([^"]*)">Refresh/.exec(user.page?.text ?? '') ?? [];
  const page = readPage(await user.get(refresh));
  assert.match(page.text, /Importing: \d+ % .* KiB of .* KiB, 1,000 rows so far/);
  assert.match(page.text, /Created 1,000/);
  const markup = user.page?.text ?? '';
  assert.match(markup, /<section class="card" id="progress" data-phase="importing">/);
  assert.match(markup, /<progress id="progress-bar" max="100" value="\d+">/);
  const list = readPage(await user.get('/portal/import'));
  assert.match(list.text, /products\.csv Importing 1,000 0/);
  await user.get(/href="([^"]*\/import\/[^"]+)"/.exec(user.page?.text ?? '')?.[1] ?? '');
  const cancelling = act(user, 'cancel');
  held.resolve();
  const cancelled = await cancelling;
  assert.match(cancelled.text, /Import cancelled after 2,000 rows\. Imported rows are kept\./);
  assert.equal((await listSkus(shop)).length, 1_000); // the first page of 2,000
});

test('answers 404 for a discarded import', async (t) => {
  const { user } = await open(t);
  await upload(user, HEADER + makeRows(1));
  const path = user.page?.text.match(/action="([^"]*)\/discard"/)?.[1] ?? '';
  const list = await act(user, 'discard');
  assert.match(list.text, /No uploads in the last 24 hours/);
  const gone = readPage(await user.get(path));
  assert.equal(gone.status, 404);
  assert.match(gone.text, /no longer exists.*upload the file again/);
});

describe('an upload is rejected', () => {
  test('if it is not a product file, with the reason at the field', async (t) => {
    const { user } = await open(t);
    await user.get('/portal/import');
    for (const [file, detail] of [
      [new File([], ''), /Choose a file/],
      [new File([''], 'a.csv'), /The file is empty/],
      [new File(['PK\x03\x04'], 'a.xlsx'), /The workbook is damaged: it is incomplete/],
    ] as const) {
      const answer = await user.submit({ file });
      assert.equal(answer.status, 422);
      assert.match(readText(answer.text), detail);
      assert.match(answer.text, /<a href="#field-file">/);
      assert.match(answer.text, /id="field-file"[^>]*aria-invalid="true"/);
    }
  });

  test('without the form token before the file', async (t) => {
    const { user } = await open(t);
    await user.get('/portal/import');
    const csrf = user.valueOf('csrf') ?? '';
    const file = new File([HEADER + makeRows(1)], 'a.csv');
    for (const [fields, status] of [
      [{ other: 'x', file }, 403],
      [{ csrf: 'x', file }, 403],
      [{ file, csrf }, 403],
      [{ csrf, other: 'x' }, 422],
      [{ other: 'x', csrf, file }, 303],
    ] as const) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      assert.equal((await user.post('/portal/import', form)).status, status);
      const list = readText((await user.get('/portal/import')).text);
      assert.equal(/No uploads in the last 24 hours/.test(list), status !== 303);
    }
  });

  test('from another site, or without a session', async (t) => {
    const { user, server } = await open(t);
    await user.get('/portal/import');
    const form = new FormData();
    form.append('csrf', user.valueOf('csrf') ?? '');
    form.append('file', new File([HEADER], 'a.csv'));
    const foreign = await user.post('/portal/import', form, { 'sec-fetch-site': 'cross-site' });
    assert.equal(foreign.status, 403);
    user.cookies.clear();
    const unknown = await user.post('/portal/import', form);
    assert.equal(unknown.status, 303);
    assert.match(unknown.headers.location ?? '', /\/sign-in/);
    assert.deepEqual(server.reports, []);
  });
});

test('hides the imports of one seller from others', async (t) => {
  const { user, server } = await open(t);
  await upload(user, HEADER + makeRows(1));
  const path = user.page?.text.match(/action="([^"]*)\/discard"/)?.[1] ?? '';
  const other = await openShop(server);
  await assertHidden(other, {
    get: ['', '/rejected'], post: ['', '/commit', '/cancel', '/discard'], foreign: path,
    unknown: ['/portal/import/x', `/portal/import/${crypto.randomUUID()}`],
  });
  const below = path.slice('/portal'.length);
  await assertRequiresSignIn(server, ['/import', below, `${below}/rejected`]);
  const { text } = await other.user.get('/portal/import');
  assert.match(readText(text), /No uploads in the last 24 hours/);
  assert.equal((await user.get(path)).status, 200);
});

test('keeps a page with very many columns and changes small', async (t) => {
  const { user } = await open(t);
  const names = countTo(500).map((n) => `A column ${n} ${'of a long name '.repeat(20)}`).join(',');
  const fill = ',<some text> of & some length'.repeat(500);
  const header = `sku,name,category,price,stock,${names}\n`;
  const rows = (n: number) => header + countTo(60).map((row) => [
    `${'&'.repeat(60)}${row}`, '😀'.repeat(190) + n, '<'.repeat(90) + n,
    row % 2 ? n : 'x'.repeat(40), row % 2 ? n : 'y'.repeat(40),
  ].join(',') + fill).join('\n');
  await upload(user, rows(1));
  await act(user, 'commit');
  const page = await upload(user, rows(2));
  assert.match(page.text, /465 more columns are not shown/);
});

test('lets the seller retry an import that is rejected with 503', async (t) => {
  const { user, server } = await open(t);
  await upload(user, HEADER + makeRows(1));
  const held = Promise.withResolvers<void>();
  const { importProducts } = server.store;
  server.store.importProducts = async (...args) => {
    await held.promise;
    return importProducts.apply(server.store, args);
  };
  const shown = user.page;
  for (const _ of countTo(CONCURRENT_IMPORTS_PER_SELLER_LIMIT)) {
    await upload(user, HEADER + makeRows(1));
    await startJob(user, 'commit');
  }
  user.page = shown;
  const busy = await act(user, 'commit');
  assert.equal(busy.status, 503);
  assert.match(busy.text, /You already have 4 imports running.*Import now/s);
  held.resolve();
});
