/** Products in CSV files: our own, and exports of shops. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Currency } from '../../src/domain/catalogue/currency.ts';
import { completeProduct } from '../../src/domain/catalogue/product.ts';
import { parseColumnMap, parseDefaults } from '../../src/transfer/columns.ts';
import { CsvRows } from '../../src/transfer/csv-rows.ts';
import type { ImportRow } from '../../src/transfer/import-row.ts';
import { assertSliced, chunksOf, readRows } from './read.ts';
import { MAGENTO, SHOPIFY, SHOPIFY_NEW, WOOCOMMERCE } from './shop-exports.ts';

const EUR = { code: 'EUR', decimals: 2 };
const HEADER = 'name,category,sku,price,stock';

const readCsv = async (text: string, map = '', defaults = ''): Promise<ImportRow[]> =>
  readRows(new CsvRows(EUR, {
    map: map === '' ? new Map() : parseColumnMap(map),
    defaults: defaults === '' ? new Map() : parseDefaults(defaults),
    isPartial: true,
  }), text);

const PLAIN = { map: new Map(), defaults: new Map(), isPartial: false };

/** A row as a tuple: its line, and the new product, its errors, or `skipped`. */
function summarise({ line, sku, content }: ImportRow) {
  if (!content) return [line, sku, 'skipped'];
  if (content.issues) {
    return [line, sku, content.issues.map(({ pointer, code }) => `${pointer} ${code}`)];
  }
  assert.equal(content.product.sku, sku);
  const product = completeProduct(content.product, content.product.defaults);
  if (!product) return [line, sku, content.missing?.map((one) => `${one.pointer} ${one.code}`)];
  return [line, sku, product.name, product.category, product.priceMinor, product.stock];
}

const summariseCsv = async (text: string, map?: string, defaults?: string) =>
  (await readCsv(text, map, defaults)).map(summarise);

test('reads products from our own columns', async () => {
  const rows = 'Mug,Kitchen,M-1,19.99,7\n" Pot ",Küche,P,5,0\n'
    + ' Pan ,Küche\t, Q ,5, 0';
  assert.deepEqual(await summariseCsv(`${HEADER}\n${rows}`), [
    [2, 'M-1', 'Mug', 'Kitchen', 1999, 7], [3, 'P', ' Pot ', 'Küche', 500, 0],
    [4, 'Q', 'Pan', 'Küche', 500, 0],
  ]);
});

test('reports every error in a row, and reads the other rows', async () => {
  const text = `${HEADER},currency\n,K,M-1,1.9999,x,EUR\nMug,K,M-2,-1,1.5,USD\nMug,K,,,,EUR\n`
    + 'Mug,K,M-3,1,1,\n';
  assert.deepEqual(await summariseCsv(text), [
    [2, 'M-1', ['/stock format', '/price precision']],
    [3, 'M-2', ['/stock precision', '/currency mismatch', '/price range']],
    [4, null, ['/sku blank']],
    [5, 'M-3', 'Mug', 'K', 100, 1],
  ]);
});

test('rejects numbers that a double cannot represent, also in defaults', async () => {
  const row = (price: string, stock: string): string => `${HEADER}\nA,B,C,${price},${stock}`;
  for (const [price, stock, faults] of [
    ['1', '0.9999999999999999999999', ['/stock precision']],
    ['19.990000000000000001', '1', ['/price precision']],
    ['9'.repeat(400), '1.00000000000000001', ['/stock precision', '/price range']],
  ] as const) {
    assert.deepEqual(await summariseCsv(row(price, stock)), [[2, 'C', faults]]);
  }
  const padded = row('19.9900000000000000000', '7.0000000000000000000');
  assert.deepEqual(await summariseCsv(padded), [[2, 'C', 'A', 'B', 1999, 7]]);
  const filled = await summariseCsv(row('1', ''), '', 'stock:0.9999999999999999999999');
  assert.deepEqual(filled, [[2, 'C', ['/stock precision']]]);
});

test('rejects a row with more cells than the header, unless they are blank', async () => {
  assert.deepEqual(await summariseCsv(`${HEADER}\nA,B,C,1,2,,\nMug, blue,K,M-1,1,2\n`), [
    [2, 'C', 'A', 'B', 100, 2],
    [3, 'K', ['/price format', ' format']],
  ]);
});

test('rejects rows with fewer cells than the header, unless short_rows says why', async () => {
  const text = `${HEADER}\nA,B,C,1\nMug,Kit\nchen,M-1,1,2\n\n \n`;
  assert.deepEqual(await summariseCsv(text), [
    [2, 'C', [' format']], [3, null, [' format', '/sku blank']], [4, '1', [' format']],
    [6, null, 'skipped'],
  ]);
  const reader = new CsvRows(EUR, {
    map: new Map(), defaults: new Map(), isPartial: false, shortRows: 'blank',
  });
  assert.deepEqual((await readRows(reader, `${HEADER}\nA,B,C,1\n`)).map(summarise),
    [[2, 'C', ['/stock blank']]]);
});

test('skips rows in which every cell is blank', async () => {
  assert.deepEqual(await summariseCsv(`${HEADER}\n,,,,\n  \nA,,,,\n`), [
    [2, null, 'skipped'], [3, null, 'skipped'],
    [4, null, ['/sku blank']],
  ]);
});

test('accepts decimal commas if cells are separated by semicolons or tabs', async () => {
  for (const delimiter of [';', '\t']) {
    const text = `${HEADER}\nMug,K,M-1,19:99,7\nMug,K,M-2,1:000,1.000\nMug,K,M-3,2.5,1`;
    assert.deepEqual(await summariseCsv(text.replaceAll(',', delimiter).replaceAll(':', ',')), [
      [2, 'M-1', 'Mug', 'K', 1999, 7],
      [3, 'M-2', ['/price format', '/stock format']],
      [4, 'M-3', 'Mug', 'K', 250, 1],
    ]);
  }
});

test('rejects a file without rows or a header', async () => {
  assert.deepEqual(await readCsv(`${HEADER}\n`), []);
  for (const text of ['', '\n\n', '\uFEFF']) {
    await assert.rejects(readCsv(text), { code: 'invalid_data', message: /file is empty/ });
  }
  await assert.rejects(readCsv('a,b\n1,2'), { code: 'invalid_data', message: /no column/ });
});

test('reads Shopify exports', async () => {
  assert.deepEqual(await summariseCsv(SHOPIFY), [
    [2, 'LS-S', 'Linen Shirt', 'Shirts', 5900, 12],
    [8, 'LS-M', 'Linen Shirt', 'Shirts', 5900, 0],
    [9, 'LS-L', 'Linen Shirt', 'Shirts', 6100, 3],
    [10, null, 'skipped'],
    [11, 'MUG-1', 'Clay Mug', 'Home & Garden > Kitchen & Dining > Mugs', 1850, 25],
    [12, null, ['/sku blank']],
  ]);
});

test('reads Shopify exports with the new column names', async () => {
  assert.deepEqual(await summariseCsv(SHOPIFY_NEW), [
    [2, 'WS-90', 'Walking Stick', 'Outdoor', 3490, 8],
    [4, 'WS-110', 'Walking Stick', 'Outdoor', 3690, 5],
  ]);
});

test('reads WooCommerce exports', async () => {
  assert.deepEqual(await summariseCsv(WOOCOMMERCE), [
    [2, 'TEA-100', 'Green Tea, loose', 'Food > Tea', 790, 140],
    [3, 'HOOD', 'skipped'],
    [5, 'HOOD-BLUE', 'Hoodie - Blue', 'Clothing > Hoodies', 4500, 4],
    [6, '-LESSON', '=Lesson', 'Art, Craft', 2500, 10],
    [7, 'SET', 'skipped'],
    [8, 'POT', ['/stock blank']],
  ]);
});

test('reads WooCommerce exports in other languages', async () => {
  const english = ['ID', 'Type', '"GTIN, UPC, EAN, or ISBN"', 'Name', 'Description', '"In stock?"',
    'Stock', '"Regular price"', 'Categories', 'Parent', 'SKU'];
  const [header = ''] = WOOCOMMERCE.split('\n');
  const rows = WOOCOMMERCE.slice(header.length);
  const expected = await summariseCsv(WOOCOMMERCE);
  for (const names of [
    ['ID', 'Type', '"GTIN, UPC, EAN ou ISBN"', 'Nom', 'Description', '"En stock ?"', 'Stock',
      '"Tarif régulier"', 'Catégories', 'Parent', 'UGS'],
    ['ID', 'Typ', '"GTIN, UPC, EAN oder ISBN"', 'Name', 'Beschreibung', 'Vorrätig?', 'Bestand',
      '"Regulärer Preis"', 'Kategorien', '"Übergeordnetes Produkt"', 'Artikelnummer'],
    ['ID', 'Typ', '"GTIN, UPC, EAN oder ISBN"', 'Name', 'Beschreibung', 'Vorrätig?', 'Lager',
      '"Regulärer Preis"', 'Kategorien', '"Übergeordnetes Produkt"', 'Artikelnummer'],
    ['ID', 'Tipo', '"GTIN, UPC, EAN o ISBN"', 'Nombre', 'Descripción', '¿Existencias?',
      'Inventario', '"Precio normal"', 'Categorías', 'Superior'],
    ['ID', 'Тип', '"GTIN, UPC, EAN или ISBN"', 'Имя', 'Описание', '"В наличии?"', 'Запасы',
      '"Базовая цена"', 'Категории', 'Родительский', 'Артикул'],
    ['Kimlik', 'Tür', '"GTIN, UPC, EAN veya ISBN"', 'İsim', 'Açıklama', 'Stokta?', 'Stok',
      '"Normal fiyat"', 'Kategoriler', 'Ebeveyn', '"Stok kodu (SKU)"'],
  ]) {
    const columns = header.replace('\uFEFF', '').match(/"[^"]*"|[^,]+/g) ?? [];
    const translated = columns.map((name) => names[english.indexOf(name)] ?? name);
    assert.deepEqual(await summariseCsv(translated.join() + rows), expected, names.join());
  }
});

test('reads Etsy listings, except those of several variants', async () => {
  const text = 'TITLE,PRICE,CURRENCY_CODE,CATEGORY,QUANTITY,"VARIATION 1 VALUES",SKU\n'
    + 'Mug,7.42,EUR,Mugs,5,,MUG-1\nShirt,9.50,EUR,Shirts,8,"S,M","TEE-S,TEE-M"\n';
  assert.deepEqual(await summariseCsv(text), [
    [2, 'MUG-1', 'Mug', 'Mugs', 742, 5], [3, 'TEE-S,TEE-M', ['/sku format']],
  ]);
  assert.deepEqual((await summariseCsv(text.replace('EUR', 'USD')))[0],
    [2, 'MUG-1', ['/currency mismatch']]);
});

test('reads no stock from flags and amounts in other units than pieces', async () => {
  for (const [header, cells, fault] of [
    ['En stock', '1', /"En stock" is not read as a quantity/],
    ['Menge,Einheit', '500,g', /"Menge" is not read as a quantity: by "Einheit"/],
    ['En stock ?', '5', /no column for stock\. Its columns/],
  ] as const) {
    const text = `sku,Nom,Prix,category,${header}\nA,Mug,5,K,${cells}\n`;
    const reader = new CsvRows(EUR, PLAIN);
    await assert.rejects(readRows(reader, text), { message: fault });
    const [row] = await summariseCsv(text, `stock:${header.split(',')[0]}`);
    assert.deepEqual(row, [2, 'A', 'Mug', 'K', 500, Number(cells.split(',')[0])]);
  }
});

test('reads Magento exports', async () => {
  assert.deepEqual(await summariseCsv(MAGENTO), [
    [2, '24-MB01', 'Duffle Bag', 'Default Category/Gear', 3400, 100],
    [6, '24-MB01', 'skipped'],
    [7, 'WT09-XS', 'Tank XS', 'Uncategorized', 2250, 7],
    [8, 'WT09', 'skipped'],
  ]);
});

test('says why a row of a shop export is no product', async () => {
  const header = 'sku,store_view_code,product_type,categories,name,price,qty\n';
  const magento = `${header},,,,,,\n,german,,,Tasse,,\n,,configurable,,,,\n,,simple,,Cup,,\n`;
  assert.deepEqual((await readCsv(magento)).map(({ skipReason }) => skipReason),
    ['blank', 'translation', 'container', 'image']);
  const woo = 'ID,Type,SKU,Name,Regular price,Stock\n1,variable,,Shirt,,\n2,grouped,G,Set,,1\n';
  assert.deepEqual((await readCsv(woo)).map(({ skipReason }) => skipReason),
    ['container', 'container']);
});

test('reads Magento rows for the store views default and admin as products', async () => {
  const header = 'sku,store_view_code,product_type,categories,name,price,qty\n';
  const rows = 'A,default,simple,C,Cup,1,2\nB,admin,simple,C,Jug,3,4\nB,default,simple,,Pot,,\n';
  assert.deepEqual(await summariseCsv(header + rows), [
    [2, 'A', 'Cup', 'C', 100, 2], [3, 'B', 'Jug', 'C', 300, 4], [4, 'B', 'skipped'],
  ]);
  // Also if the row of the product is rejected.
  assert.deepEqual((await summariseCsv(`${header}A,,simple\nA,default,simple,C,Cup,1,2\n`))[1],
    [3, 'A', 'skipped']);
});

test('names the ignored columns of a shop export', async () => {
  const reader = new CsvRows(EUR, PLAIN);
  await readRows(reader, MAGENTO);
  assert.deepEqual(reader.ignoredColumns.slice(0, 3), [
    'attribute_set_code', 'product_websites', 'short_description',
  ]);
});

test('reads the whole cell of a mapped column', async () => {
  const [row] = await summariseCsv(WOOCOMMERCE, 'category:GTIN, UPC, EAN, or ISBN,stock:ID');
  assert.deepEqual(row, [2, 'TEA-100', 'Green Tea, loose', '4006381333931', 790, 11]);
});

test('inherits only from the product of the preceding row', async () => {
  const text = 'Handle,Title,Type,Variant SKU,Variant Price,Variant Inventory Qty\n'
    + 'a,A,T,1,1,1\n,,,2,1,1\nb,,,3,1,1\na,,,4,1,1\na,,,5,1,1';
  assert.deepEqual((await summariseCsv(text)).slice(1), [
    [3, '2', ['/name blank']], [4, '3', ['/name blank']], [5, '4', ['/name blank']],
    [6, '5', ['/name blank']],
  ]);
});

test('fills blank cells and missing columns with defaults, parsed like cells', async () => {
  const text = 'Name;SKU;Price;Stock\nMug;M-1;;\nPot;P-1;5;x\n ;N-1;6;7\n;;;\n';
  assert.deepEqual(await summariseCsv(text, '', "name:'=N,category:Misc,price:1,50,stock:3"), [
    [2, 'M-1', 'Mug', 'Misc', 150, 3],
    [3, 'P-1', ['/stock format']],
    [4, 'N-1', '=N', 'Misc', 600, 7],
    [5, null, 'skipped'],
  ]);
  assert.deepEqual((await summariseCsv(text, '', 'category:K,stock:1.000'))[0],
    [2, 'M-1', ['/price blank', '/stock format']]);
});

test('omits blank members and those without a column, and keeps defaults separate', async () => {
  const rows = await readCsv('sku,stock,name\nA,5,\nB,,Bowl\nC,x,\n', '', 'name:N,price:1');
  assert.deepEqual(rows.map(({ content }) => content?.product), [
    { sku: 'A', stock: 5, defaults: { name: 'N', priceMinor: 100 } },
    { sku: 'B', name: 'Bowl', defaults: { priceMinor: 100 } },
    undefined,
  ]);
  assert.deepEqual(rows.slice(0, 2).map(({ content }) => content?.missing?.map(
    ({ pointer, code }) => `${pointer} ${code}`,
  )), [['/category required'], ['/category required', '/stock blank']]);
  const [shop] = await readCsv('Handle,Title,Type,Variant SKU,Variant Price\na,A,,S-1,1\n');
  assert.deepEqual(shop?.content?.product,
    { sku: 'S-1', name: 'A', priceMinor: 100, defaults: { category: 'Uncategorized' } });
});

test('imports members that shops leave blank if they have defaults', async () => {
  assert.deepEqual((await summariseCsv(WOOCOMMERCE, '', 'stock:0')).at(-1),
    [8, 'POT', 'Teapot', 'Food', 1990, 0]);
  const text = 'Handle,Title,Type,Variant SKU,Variant Price\n'
    + 'a,A,,1,1\na,,,2,1\na,,,,\nb,B,T,3,1\n';
  assert.deepEqual(await summariseCsv(text, '', 'stock:0,category:Misc'), [
    [2, '1', 'A', 'Misc', 100, 0], [3, '2', 'A', 'Misc', 100, 0], [4, null, 'skipped'],
    [5, '3', 'B', 'T', 100, 0],
  ]);
});

test('lets WooCommerce variations inherit the category of the parent they name', async () => {
  const text = 'ID,Type,SKU,Name,Regular price,Stock,Categories,Parent\n'
    + '7,variable,,Cap,,,"Hats, Summer",\n8,variable,\'-S,Shirt,,,Shirts,\n'
    + '9,variation,A,Cap A,1,1,,id:7\n10,variation,B,Shirt B,1,1,,\'-S\n'
    + '11,variation,C,Cap C,1,1,Own,id:7\n12,variation,D,Lost,1,1,,id:99\n';
  assert.deepEqual((await summariseCsv(text)).slice(2).map((row) => [row[1], row[3]]), [
    ['A', 'Hats'], ['B', 'Shirts'], ['C', 'Own'], ['D', 'Uncategorized'],
  ]);
  const last = (await summariseCsv(text, '', 'category:Misc')).at(-1);
  assert.deepEqual(last, [7, 'D', 'Lost', 'Misc', 100, 1]);
});

test('parses at most one slice of rows at a time', async () => {
  const text = `${HEADER}\n${'A,B,C,1,2\n'.repeat(250)}"x`;
  const makeReader = (currency: Currency) => new CsvRows(currency, PLAIN);
  await assertSliced(makeReader, chunksOf(text), /never closed/);
});

test('asks for a whole number if stock is not a number', async () => {
  for (const [cell, separator] of [['parent', ','], ['1.000', ';']] as const) {
    const text = `${HEADER}\nA,B,C,1,${cell}`.replaceAll(',', separator);
    const [row] = await readCsv(text);
    assert.match(row?.content?.issues?.[0]?.detail ?? '', /rite a whole number, such as 1234/);
  }
});

test('reports that a stock file is not a product file', async () => {
  const read = (text: string) =>
    readRows(new CsvRows(EUR, { map: new Map(), defaults: new Map(), isPartial: false }), text);
  await assert.rejects(read('Artikelnummer;Bestand\nA;1\n'), {
    message: /^The file has no column for .*It looks like a stock file: send it to POST \/api\/v1/,
  });
  await assert.rejects(read('Artikelnummer;Name;Bestand\nA;B;1\n'), {
    message: /Bestand\. Its cells are separated by ";", and column names are on .* 20 lines\.$/,
  });
});
