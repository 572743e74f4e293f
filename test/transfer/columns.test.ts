/** How columns are matched to members. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ColumnMap, findColumns, parseColumnMap, parseDefaults,
} from '../../src/transfer/columns.ts';
import { catchAppError } from '../domain/validation-errors.ts';

const NO_MAP: ColumnMap = new Map();
const OWN = ['name', 'category', 'sku', 'price', 'stock'];
const MISSING = { barcode: [], description: [], metadata: [], low_stock: [], archived: [] };

test('finds the members of our own files in any order, case and outer white space', () => {
  const { indexes, isShop, ignored } = findColumns(
    [' Stock', 'PRICE', 'sku', 'Currency', 'Category\t', 'Name'], NO_MAP,
  );
  assert.deepEqual(indexes, {
    name: [5], category: [4], sku: [2], price: [1], stock: [0], currency: [3], ...MISSING,
  });
  assert.equal(isShop, false);
  assert.deepEqual(ignored, []);
});

test('names the ignored columns, except those of our own export', () => {
  const header = ['id', ...OWN, 'Colour', 'position', '', ' ', 'created_at', 'updated_at', 'Size'];
  assert.deepEqual(findColumns(header, NO_MAP).ignored, ['Colour', 'Size']);
});

test('reads no price that may be the cost, and none below a merged heading', () => {
  for (const name of ['PU', 'PV', '単価', '单价', 'Preis %']) {
    assert.deepEqual(findColumns(['sku', 'name', name], NO_MAP, new Map(), true).indexes.price, []);
  }
  const error = catchAppError(() => findColumns(['sku', 'Price', '', 'stock'], NO_MAP, new Map(),
    true, [['A', '1', '2', '3']]));
  assert.match(error.publicDetail, /^Column 3 has cells .* or set map=price:Price\.$/);
});

test('names at most 100 ignored columns', () => {
  const many = Array.from({ length: 300 }, (_, n) => `column ${n}`);
  assert.deepEqual(findColumns([...OWN, ...many], NO_MAP).ignored, many.slice(0, 100));
});

test('rejects a file with a duplicate column, and names it', () => {
  const variant = ['Titel', 'titel', 'category', 'sku', 'price', 'stock'];
  for (const [header, map, detail] of [
    [[...OWN, 'name'], '', /column "name" twice \(columns 1 and 6\)/],
    [[...OWN, ' Name '], '', /columns "name" and "Name" \(1 and 6\).* the same/],
    [['Price', ...OWN], '', /columns "Price" and "price" \(1 and 5\)/],
    [[...OWN, 'Colour', 'name', 'Colour'], '', /column "name" twice \(columns 1 and 7\)/],
    [['Preis', 'Size', 'Preis ', ...OWN.slice(0, 3)], '', /"Preis" twice \(columns 1 and 3\)/],
    [[...OWN, 'currency', 'Currency'], '', /columns "currency" and "Currency"/],
    [variant, 'name:TITEL', /columns "Titel" and "titel" \(1 and 2\)/],
    [['Handle', 'handle', 'Title', 'Type', 'Variant SKU', 'Variant Price', 'Variant Inventory Qty'],
      '', /columns "Handle" and "handle" \(1 and 2\)/],
  ] as const) {
    const error = catchAppError(() =>
      findColumns(header, map === '' ? NO_MAP : parseColumnMap(map)));
    assert.equal(error.code, 'invalid_data');
    assert.match(error.publicDetail, detail);
    assert.match(error.publicDetail, /Rename or remove one of them\.$/);
  }
});

test('accepts unnamed columns, and ignored columns with the same name', () => {
  const header = [...OWN, '', '', ' ', 'Colour', 'COLOUR', 'Colour'];
  assert.deepEqual(findColumns(header, NO_MAP).ignored, ['Colour', 'COLOUR', 'Colour']);
  const replaced = ['Title', 'Name', 'NAME', 'category', 'sku', 'price', 'stock'];
  assert.deepEqual(findColumns(replaced, parseColumnMap('name:Title')).indexes.name, [0]);
});

test('shortens the name of a duplicate column in the error message', () => {
  const name = 'x'.repeat(10_000);
  const { publicDetail } = catchAppError(() =>
    findColumns([...OWN, name, name], new Map([['currency', name]])));
  assert.ok(publicDetail.length < 300);
});

test('lists the columns of a file that lacks members, and says how to map them', () => {
  const error = catchAppError(() => findColumns(['Artikel', 'Kosten', 'sku', 'name'], NO_MAP));
  assert.equal(error.code, 'invalid_data');
  assert.equal(error.publicDetail, 'The file has no column for category, price, stock. '
    + 'Its columns: Artikel, Kosten, sku, name.');
  assert.deepEqual(error.issues, [{
    parameter: 'map', code: 'required',
    detail: 'Name the columns: category:COLUMN,price:COLUMN,stock:COLUMN.',
  }]);
});

test('names default values if the file lacks nothing else', () => {
  const { issues } = catchAppError(() => findColumns(['sku', 'name', 'price'], NO_MAP));
  assert.deepEqual(issues.map(({ parameter, detail }) => [parameter, detail]), [
    ['map', 'Name the columns: category:COLUMN,stock:COLUMN.'],
    ['default', 'Or give new products a value: category:Uncategorized,stock:0.'],
  ]);
});

test('requires the SKU and one more member if rows may be partial', () => {
  for (const header of [['sku', 'stock'], ['name', 'SKU']]) {
    assert.deepEqual(findColumns(header, NO_MAP, new Map(), true).ignored, []);
  }
  for (const header of [['sku', 'id', 'currency'], OWN.filter((name) => name !== 'sku')]) {
    const error = catchAppError(() => findColumns(header, NO_MAP, new Map(), true));
    assert.deepEqual(error.issues.map(({ parameter, code }) => `${parameter} ${code}`),
      ['map required']);
  }
  const defaults = parseDefaults('name:N,category:C,price:1,stock:0');
  assert.deepEqual(findColumns(['sku'], NO_MAP, defaults, true).indexes.sku, [0]);
});

test('shortens a long header in error messages', () => {
  const header = Array.from({ length: 1_000 }, () => 'x'.repeat(200));
  assert.ok(catchAppError(() => findColumns(header, NO_MAP)).publicDetail.length < 12_000);
});

test('reads members from the columns that a map names', () => {
  const map = parseColumnMap('name:Bezeichnung,price:Preis, netto,stock:On hand,currency:W:1');
  assert.deepEqual([...map], [
    ['name', 'Bezeichnung'], ['price', 'Preis, netto'], ['stock', 'On hand'], ['currency', 'W:1'],
  ]);
  const header = ['Bezeichnung', 'category', 'sku', 'preis, netto ', 'On hand', 'w:1', 'name'];
  const { indexes, ignored } = findColumns(header, map);
  assert.deepEqual(indexes, {
    name: [0], category: [1], sku: [2], price: [3], stock: [4], currency: [5], ...MISSING,
  });
  assert.deepEqual(ignored, ['name']);
});

test('counts a column that a map replaces as ignored', () => {
  const header = ['Handle', 'Title', 'SEO Title', 'Type', 'Variant SKU', 'Variant Price',
    'Variant Inventory Qty'];
  const { indexes, ignored } = findColumns(header, parseColumnMap('name:SEO Title'));
  assert.deepEqual(indexes.name, [2]);
  assert.deepEqual(ignored, ['Title']);
});

test('rejects a malformed map, and one that names a member twice', () => {
  for (const text of ['', 'name', 'name:', 'name: ', ':Title', 'title:Title', 'name:A,name:B',
    'name:A,id:B', 'Name:Title']) {
    const { code, issues } = catchAppError(() => parseColumnMap(text));
    assert.equal(code, 'invalid_query', text);
    assert.deepEqual(issues.map(({ parameter, code: fault }) => `${parameter} ${fault}`),
      ['map format'], text);
  }
});

test('rejects a map that reads a number from the column of another member', () => {
  for (const map of ['price:VK,stock:VK', 'sku:Teil,stock:teil']) {
    const { code, issues } = catchAppError(() => parseColumnMap(map));
    assert.equal(code, 'invalid_query');
    const [{ detail } = { detail: '' }] = issues;
    assert.match(detail, /^One column cannot be both \w+ and \w+: choose another one\.$/);
  }
  // Texts may be the same: shops use barcodes as SKUs, or SKUs as names.
  assert.equal(parseColumnMap('sku:EAN,barcode:EAN,name:EAN').size, 3);
});

test('rejects a map to a missing column, and lists the existing ones', () => {
  const { code, issues: [issue] } =
    catchAppError(() => findColumns(OWN, parseColumnMap('name:Title')));
  assert.equal(code, 'invalid_query');
  assert.equal(issue?.parameter, 'map');
  assert.match(issue?.detail ?? '', /no column "Title".*name, category, sku, price, stock/);
});

test('accepts missing columns that have defaults, but no others', () => {
  const defaults = parseDefaults('stock:0,category:Misc, etc');
  assert.deepEqual([...defaults], [['stock', '0'], ['category', 'Misc, etc']]);
  const { indexes } = findColumns(['name', 'sku', 'price'], NO_MAP, defaults);
  assert.deepEqual([indexes.stock, indexes.category], [[], []]);
  const { publicDetail } = catchAppError(() => findColumns(['name', 'price'], NO_MAP, defaults));
  assert.match(publicDetail, /no column for sku\. Its columns: name, price\.$/);
});

test('rejects defaults that are malformed, duplicate or cannot be shared by rows', () => {
  for (const text of ['', 'stock', 'stock:', 'stock: ', 'stock:1,stock:2', 'sku:A', 'currency:EUR',
    'colour:red']) {
    const { code, issues } = catchAppError(() => parseDefaults(text));
    assert.equal(code, 'invalid_query', text);
    assert.deepEqual(issues.map(({ parameter, code: fault }) => `${parameter} ${fault}`),
      ['default format'], text);
  }
});

test('finds the columns of products in many languages', () => {
  for (const header of [
    ['Item number', 'Product name', 'Product category', 'Selling price', 'Quantity on hand'],
    ['Artikelnummer', 'Bezeichnung', 'Warengruppe', 'VK-Preis', 'Bestand'],
    ['RÉFÉRENCE', 'Désignation', 'Catégorie', 'Prix de vente', 'Quantité'],
    ['Referencia', 'Nombre', 'Categoría', 'PVP', 'Existencias'],
    ['Codice articolo', 'Titolo', 'Categoria', 'Prezzo', 'Giacenza'],
    ['Código do produto', 'Nome', 'Categoria', 'Preço de venda', 'Estoque'],
    ['Artikelcode', 'Naam', 'Productgroep', 'Verkoopprijs', 'Voorraad'],
    ['Symbol', 'Nazwa towaru', 'Kategoria', 'Cena brutto', 'Stan magazynowy'],
    ['Artikelnummer', 'Benämning', 'Varugrupp', 'Pris', 'Lagersaldo'],
    ['Kód zboží', 'Název', 'Kategorie', 'Cena s DPH', 'Počet kusů'],
    ['Артикул', 'Наименование', 'Категория', 'Цена', 'Остаток'],
    ['Stok kodu', 'Ürün adı', 'Kategori', 'Satış fiyatı', 'Stok miktarı'],
    ['商品番号', '商品名', 'カテゴリー', '販売価格', '在庫数'],
    ['货号', '商品名称', '分类', '售价', '库存'],
  ]) {
    const { indexes, ignored } = findColumns(header, NO_MAP);
    assert.deepEqual(['sku', 'name', 'category', 'price', 'stock'].map((member) =>
      indexes[member as 'sku']), [[0], [1], [2], [3], [4]], header.join());
    assert.deepEqual(ignored, []);
  }
});

test('reads currencies and barcodes by their other names', () => {
  const { indexes } = findColumns([...OWN, 'Currency_Code', 'UPC', 'EAN-13'], NO_MAP);
  assert.deepEqual([indexes.currency, indexes.barcode], [[5], [6, 7]]);
});

test('prefers the column that has the name of its member, if it is a text', () => {
  const header = ['Titel', 'Artikelnummer', ...OWN];
  const { indexes, ignored } = findColumns(header, NO_MAP);
  assert.deepEqual([indexes.name, indexes.sku], [[2], [4]]);
  assert.deepEqual(ignored, header.slice(0, 2));
  // One more column that is in exports of WooCommerce does not make it one.
  for (const [name, member] of [['Menge', 'stock'], ['Regular price', 'price']] as const) {
    const { publicDetail } = catchAppError(() => findColumns([...OWN, name], NO_MAP));
    assert.match(publicDetail, new RegExp(`^The file has two columns for ${member}: "${member}"`));
    findColumns([...OWN, name], parseColumnMap(`${member}:${member}`));
  }
});

test('rejects two columns for one member, and says how to select one', () => {
  const header = ['sku', 'Bezeichnung', 'category', 'Preis netto', 'Preis brutto', 'stock'];
  for (const isPartial of [false, true]) {
    const error = catchAppError(() => findColumns(header, NO_MAP, new Map(), isPartial));
    assert.equal(error.code, 'invalid_data');
    assert.equal(error.publicDetail, 'The file has two columns for price: "Preis netto" and "Preis '
      + 'brutto" (columns 4 and 5). Say which one to read, with map=price:Preis netto, or '
      + 'map=price:Preis brutto.');
    assert.deepEqual(error.issues.map(({ parameter, code }) => `${parameter} ${code}`),
      ['map required']);
  }
  const { indexes } = findColumns(header, parseColumnMap('price:Preis brutto'));
  assert.deepEqual(indexes.price, [4]);
});

test('reads no price for a unit beside another column that may have the prices', () => {
  const header = ['sku', 'name', 'category', 'stock', 'Unit price'];
  for (const other of ['Price tax excluded or Price tax included', 'Precio con impuestos']) {
    assert.match(catchAppError(() => findColumns([...header, other], NO_MAP)).publicDetail,
      new RegExp(`"Unit price" is not read as a price: it may be for a unit .* "${other}"\\.`));
  }
  for (const others of [[], ['Cost price'], ['Price unit']]) {
    assert.deepEqual(findColumns([...header, ...others], NO_MAP).indexes.price, [4]);
  }
});

test('reads no names from a column of numbers', () => {
  const header = ['sku', 'Nombre', 'category', 'price', 'stock'];
  const read = (cells: readonly string[], map = NO_MAP) => findColumns(header, map, new Map(),
    false, cells.map((cell) => ['A', cell, 'C', '1', '2'])).indexes.name;
  const { publicDetail } = catchAppError(() => read(['12', '1.400']));
  assert.match(publicDetail, /no column for name\. "Nombre" is not read as a name: it has only/);
  for (const cells of [['Taza', '12'], []]) assert.deepEqual(read(cells), [1]);
  assert.deepEqual(read(['12'], parseColumnMap('name:Nombre')), [1]);
});

test('reads no stock from questions, flags and amounts that are not pieces', () => {
  const header = ['sku', 'name', 'category', 'price'];
  const read = (names: readonly string[], cells: readonly string[], map = NO_MAP) => {
    const sample = [['A', 'B', 'C', '1', ...cells]];
    return findColumns([...header, ...names], map, new Map(), false, sample).indexes.stock;
  };
  for (const [names, cells, detail] of [
    [['In stock?'], ['5'], /no column for stock\. Its columns/],
    [['En stock'], ['1'], /"En stock" is not read as a quantity: it has no number above 1/],
    [['Menge', 'Einheit'], ['500', 'g'], /by "Einheit", it is not in pieces/],
  ] as const) {
    assert.match(catchAppError(() => read(names, cells)).publicDetail, detail);
    assert.deepEqual(read(names, cells, parseColumnMap(`stock:${names[0]}`)), [4]);
    assert.deepEqual(read([...names, 'Bestand'], [...cells, '3']), [4 + names.length]);
  }
});
