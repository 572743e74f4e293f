/** How columns of a stock file are matched to members. */
import { recognizeContent } from '../../src/transfer/columns.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findStockColumns, parseStockColumnMap } from '../../src/transfer/stock-columns.ts';
import { catchAppError } from '../domain/validation-errors.ts';

/** The found columns, as `member index`. */
function find(header: readonly string[], map = ''): string[] {
  const { indexes } = findStockColumns(header, map === '' ? new Map() : parseStockColumnMap(map));
  return Object.entries(indexes)
    .flatMap(([member, columns]) => columns.map((index) => `${member} ${index}`));
}

test('finds the columns of POS systems and ERPs in many languages', () => {
  for (const header of [
    ['SKU', 'Qty'], ['Item number', 'Quantity on hand'], ['Product Code', 'IN STOCK'],
    ['Artikelnummer', 'Bestand'], ['Artikel-Nr.', 'Verfügbar'], ['Art.-Nr.', 'VERFUEGBAR'],
    ['artikelnr', 'Lagerbestand'], ['Référence', 'Quantité'], ['REF', 'Qté en stock'],
    ['reference', 'quantite'], ['Referencia', 'Existencias'], ['Código', 'Cantidad'],
    ['Codice articolo', 'Giacenza'], ['codice', 'Quantita'], ['Artikelcode', 'Voorraad'],
    ['Código do produto', 'Estoque'], ['Kod produktu', 'Stan magazynowy'],
    ['Varenummer', 'Lagerbeholdning'], ['Tuotekoodi', 'Varastosaldo'], ['Kód zboží', 'Skladem'],
    ['Cikkszám', 'Készlet'], ['Ürün kodu', 'Stok'], ['Артикул', 'Остаток'],
    ['商品コード', '在庫数'], ['货号', '库存'], [' product_code ', 'on_hand'],
  ]) {
    assert.deepEqual(find(header), ['sku 0', 'set 1'], header.join());
    assert.equal(recognizeContent(header), 'stock', header.join());
  }
});

test('finds the members of stock changes by their own names', () => {
  const header = ['reason', 'sequence', 'expect', 'adjust', 'set', 'id', 'sku'];
  assert.deepEqual(find(header),
    ['sku 6', 'id 5', 'set 4', 'adjust 3', 'expect 2', 'sequence 1', 'reason 0']);
});

test('reads our own exports of stock and products', () => {
  for (const header of [
    ['id', 'sku', 'stock', 'position'],
    ['id', 'sku', 'currency', 'stock', 'position', 'created_at', 'updated_at'],
  ]) {
    assert.deepEqual(findStockColumns(header).ignored, []);
    assert.deepEqual(find(header).slice(0, 2), ['sku 1', 'id 0']);
  }
  const { ignored } = findStockColumns(['sku', 'name', 'price', 'stock', 'Colour']);
  assert.deepEqual(ignored, ['name', 'price', 'Colour']);
});

test('reads no level from a share, a difference, or the number of an article', () => {
  for (const name of ['Bestand +/-', 'Stock (+ / -)', 'Stock ±', 'Stock %', 'Stock #', 'Stock?']) {
    const error = catchAppError(() => find(['SKU', name]));
    assert.match(error.publicDetail, /no column for set or adjust/, name);
    assert.deepEqual(find(['SKU', name], `set:${name}`), ['sku 0', 'set 1']);
  }
  assert.deepEqual(find(['SKU #', 'Stock (pcs.)', 'Stock']), ['sku 0', 'set 2']);
});

test('reads no sequence of updates from a list of Odoo', () => {
  const header = ['Internal Reference', 'Sequence', 'Quantity On Hand'];
  assert.deepEqual(find(header), ['sku 0', 'set 2']);
  assert.deepEqual(find(header, 'sequence:Sequence'), ['sku 0', 'set 2', 'sequence 1']);
});

test('reads pieces per package as no stock', () => {
  for (const [amount, unit] of [['Anzahl', 'Einheit'], ['Aantal', 'Eenheid'], ['Antal', 'Enhet']]) {
    const header = ['SKU', amount ?? '', unit ?? ''];
    assert.deepEqual(find(header), ['sku 0', 'set 1']);
    catchAppError(() => findStockColumns(header, new Map(), [['A', '6', 'Karton']]));
  }
});

test('rejects a heading over several columns, unless map names the first', () => {
  const header = ['SKU', 'Stock', '', 'Note'];
  const rows = [['A', '1', '', ''], ['B', '1', '2', '']];
  const error = catchAppError(() => findStockColumns(header, new Map(), rows));
  assert.match(error.publicDetail, /^Column 3 has cells and no name, so "Stock" may be the head/);
  assert.match(error.publicDetail, /Give it a name, or set map=set:Stock\.$/);
  for (const [map, sample] of [['set:Stock', rows], ['', rows.slice(0, 1)]] as const) {
    const columns = map === '' ? new Map() : parseStockColumnMap(map);
    assert.deepEqual(findStockColumns(header, columns, sample).indexes.set, [1]);
  }
  const indexed = ['', 'SKU', 'Stock', ''];
  assert.equal(findStockColumns(indexed, new Map(), [['0', 'A', '1', '']]).count, 3);
});

test('prefers the column that has the name of its member', () => {
  assert.deepEqual(find(['Code', 'SKU', 'Qty']), ['sku 1', 'set 2']);
  // Set may say whether a product is one.
  assert.match(catchAppError(() => find(['SKU', 'Set', 'Bestand'])).publicDetail, /two columns/);
});

test('rejects two columns for one member, and says how to select one', () => {
  for (const [header, member, example] of [
    [['SKU', 'Quantity', 'Available'], 'set', 'map=set:Quantity'],
    [['Code', 'Artikelnummer', 'Menge'], 'sku', 'map=sku:Code'],
    [['sku', 'Adjustment', 'Delta'], 'adjust', 'map=adjust:Adjustment'],
    [['sku', 'On hand', 'on-hand'], 'set', 'map=set:On hand'],
  ] as const) {
    const error = catchAppError(() => findStockColumns(header));
    assert.equal(error.code, 'invalid_data');
    const pattern = new RegExp(`two columns for ${member}: .*${example}, or map=${member}:`);
    assert.match(error.publicDetail, pattern);
    assert.deepEqual(error.issues.map(({ parameter, code }) => `${parameter} ${code}`),
      ['map required']);
  }
  assert.deepEqual(find(['SKU', 'Quantity', 'Available'], 'set:available'), ['sku 0', 'set 2']);
});

test('asks which stock of a Shopify inventory export to read', () => {
  const header = ['Handle', 'SKU', 'Location', 'Bin name', 'Committed (not editable)',
    'Available (not editable)', 'On hand (current)', 'On hand (new)'];
  assert.match(catchAppError(() => find(header)).publicDetail,
    /two columns for set: "Available \(not editable\)" and "On hand \(current\)"/);
  assert.deepEqual(find(header, 'set:Available (not editable)'), ['sku 1', 'set 5']);
});

test('rejects a duplicate column, which a map cannot disambiguate', () => {
  for (const [header, map] of [
    [['sku', 'Qty', 'qty '], ''], [['SKU', 'sku', 'qty'], ''], [['sku', 'X', 'x'], 'set:X'],
  ] as const) {
    const error = catchAppError(() => find(header, map));
    assert.match(error.publicDetail, /two columns for .* Rename or remove one of them\.$/);
    assert.deepEqual(error.issues, []);
  }
  assert.deepEqual(find(['sku', 'qty', 'Note', 'Note']), ['sku 0', 'set 1']);
});

test('lists the columns of a file without a product or a quantity', () => {
  const error = catchAppError(() => findStockColumns(['Foo', 'Bar']));
  assert.equal(error.publicDetail, 'The file has no column for sku, id or barcode, and none for '
    + 'set or adjust. Its columns: Foo, Bar.');
  assert.equal(error.issues[0]?.detail, 'Name the columns: sku:COLUMN,set:COLUMN.');
  assert.match(catchAppError(() => findStockColumns(['SKU', 'x'])).publicDetail,
    /^The file has no column for set or adjust\. Its columns: SKU, x\.$/);
  assert.match(catchAppError(() => findStockColumns(['', ''])).publicDetail, /no column for/);
});

test('reads the columns that a map names, and ignores the alternatives to them', () => {
  assert.deepEqual(find(['EAN', 'SKU', 'Frei'], 'sku:ean,stock:FREI'), ['sku 0', 'set 2']);
  assert.deepEqual(find(['sku', 'Stock', 'Verkauft'], 'adjust:Verkauft'), ['sku 0', 'adjust 2']);
  assert.deepEqual(find(['sku', 'Ext', 'Qty'], 'id:Ext'), ['id 1', 'set 2']);
  assert.deepEqual(find(['sku', 'Menge, frei', 'Qty'], 'set:Menge, frei,reason:Qty'),
    ['sku 0', 'set 1', 'reason 2']);
});

test('rejects a map that reads a number from the column of another member', () => {
  for (const map of ['sku:Teil,stock:teil', 'set:A,expect: a ', 'sku:SKU,reason:B,set:B']) {
    const { code, issues } = catchAppError(() => parseStockColumnMap(map));
    assert.equal(code, 'invalid_query');
    const [{ detail } = { detail: '' }] = issues;
    assert.match(detail, /^One column cannot be both \w+ and \w+: choose another one\.$/);
  }
  assert.equal(parseStockColumnMap('sku:EAN,reason:EAN').size, 2);
});

test('takes no number of the first row for the name of a column', () => {
  const { publicDetail } = catchAppError(() => find(['ART0815', '12']));
  assert.match(publicDetail, /Its columns: ART0815, 12\. If that is the first row, write column/);
  const { issues } = catchAppError(() => parseStockColumnMap('sku:ART0815,stock:12'));
  assert.match(issues[0]?.detail ?? '', /^"12" may be a number of the first row: if the file /);
  assert.deepEqual(find(['Artikelnummer', '1000'], 'stock:1000'), ['sku 0', 'set 1']); // a plant
});

test('rejects a map with unknown or duplicate members, or with a missing column', () => {
  for (const map of ['name:X', 'sku', 'sku:', 'set:A,stock:B', 'sku:A,sku:B', '']) {
    const { code, issues } = catchAppError(() => parseStockColumnMap(map));
    assert.equal(code, 'invalid_query');
    assert.deepEqual([issues[0]?.parameter, issues[0]?.code], ['map', 'format']);
  }
  const error = catchAppError(() => find(['sku', 'qty'], 'set:Menge'));
  assert.equal(error.code, 'invalid_query');
  assert.match(error.issues[0]?.detail ?? '', /no column "Menge"\. Its columns: sku, qty\./);
});

test('takes a file with names or prices for a stock file only if the seller says so', () => {
  for (const [content, headers] of [
    ['unclear', [
      ['sku', 'name', 'stock'], ['sku', 'price', 'stock'], ['sku', 'category', 'stock'],
      ['Artikelnummer', 'Bezeichnung', 'Preis', 'Bestand'], ['Référence', 'Désignation', 'Stock'],
      ['Código', 'Nombre', 'Existencias'], ['Codice', 'Titolo', 'Prezzo', 'Giacenza'],
      ['Referência', 'Preço', 'Estoque'], ['Artikelcode', 'Naam', 'Verkoopprijs', 'Voorraad'],
      ['Symbol', 'Nazwa', 'Cena', 'Stan magazynowy'], ['Artikelnummer', 'Benämning', 'Lagersaldo'],
      ['Kód', 'Název', 'Cena s DPH', 'Počet kusů'], ['Артикул', 'Наименование', 'Цена', 'Остаток'],
      ['Stok kodu', 'Ürün adı', 'SATIŞ FİYATI', 'Stok'], ['商品コード', '商品名', '価格', '在庫数'],
      ['商品编码', '商品名称', '售价', '库存'], ['Custom label (SKU)', 'Title', 'Available quantity'],
    ]],
    ['products', [
      ['Handle', 'Title', 'Variant SKU', 'Variant Price', 'Variant Inventory Qty'],
      ['Artikelnummer', 'Bezeichnung', 'Warengruppe', 'VK-Preis', 'Bestand'],
      ['sku', 'position'], ['stock', 'qty'], ['SKU', 'Title', 'In stock?'], [],
    ]],
    ['stock', [['id', 'sku', 'stock', 'position'], ['SKU', 'Quantity', 'Available']]],
  ] as const) {
    for (const header of headers) assert.equal(recognizeContent(header), content, header.join());
  }
});

test('reads no quantity from a column whose name asks a question', () => {
  for (const name of ['In stock?', 'En stock ?', 'Stock？', '¿Existencias?', 'В наличии?']) {
    assert.deepEqual(find(['SKU', 'Stock', name]), ['sku 0', 'set 1'], name);
    const { publicDetail, issues } = catchAppError(() => find(['SKU', name]));
    assert.match(publicDetail, /^The file has no column for set or adjust\./);
    assert.equal(issues[0]?.detail, 'Name the columns: set:COLUMN.');
    assert.deepEqual(find(['SKU', name], `set:${name}`), ['sku 0', 'set 1'], name);
  }
});

test('reads no quantity from flags that only say whether there is stock', () => {
  const read = (header: readonly string[], cells: readonly string[]) =>
    findStockColumns(header, undefined, cells.map((cell) => ['A', cell])).indexes.set;
  for (const name of ['In stock', 'En stock', 'Skladem', 'Available', 'В наличии', 'Disponible']) {
    for (const cells of [
      ['1', '0', '1'], ['yes', 'no'], ['да', 'нет', ''], ['TRUE', 'FALSE'], ['1,0', '0.00'], [''],
    ]) {
      const error = catchAppError(() => read(['SKU', name], cells));
      assert.match(error.publicDetail, new RegExp(`no column for set or adjust\\. "${name}" is not `
        + 'read as a quantity: it has no number above 1, so it may only say whether'));
      assert.deepEqual(error.issues.map(({ detail }) => detail), ['Name the columns: set:COLUMN.']);
    }
    for (const cells of [['0', '1', '12'], ['0', '-2'], ['1.200,00', '1'], []]) {
      assert.deepEqual(read(['SKU', name], cells), [1], `${name}: ${cells.join()}`);
    }
  }
  assert.deepEqual(read(['SKU', 'Quantity'], ['0', '1']), [1]);
  const flags = [['A', '1', '7']];
  const { indexes } = findStockColumns(['SKU', 'In stock', 'Stock'], undefined, flags);
  assert.deepEqual(indexes.set, [2]);
  const map = parseStockColumnMap('set:In stock');
  assert.deepEqual(findStockColumns(['SKU', 'In stock'], map, [['A', '1']]).indexes.set, [1]);
});

test('reads no quantity from amounts in units other than pieces', () => {
  const header = ['Artikelnummer', 'Menge', 'Mengeneinheit'];
  const read = (units: readonly string[]) =>
    findStockColumns(header, undefined, units.map((unit) => ['A', '500', unit])).indexes.set;
  assert.match(catchAppError(() => read(['Stk', 'G'])).publicDetail,
    /"Menge" is not read as a quantity: by "Mengeneinheit", it is not in pieces\./);
  for (const units of [['Stk', 'STK.', 'Stück'], ['pcs', ''], []]) {
    assert.deepEqual(read(units), [1]);
  }
  const levels = ['Artikelnummer', 'Bestand', 'Mengeneinheit'];
  assert.deepEqual(findStockColumns(levels, undefined, [['A', '500', 'm']]).indexes.set, [1]);
});

test('reads the SKU from a column that says SKU, but not of a parent or supplier', () => {
  assert.deepEqual(find(['Item number', 'Custom label (SKU)', 'Available quantity']),
    ['sku 1', 'set 2']);
  assert.deepEqual(find(['Product code', 'Seller-SKU', 'Qty']), ['sku 1', 'set 2']);
  for (const other of ['Parent SKU', 'Supplier SKU', 'SKU (parent)', 'Vendor SKU', 'Old SKU',
    'Manufacturer SKU', 'Previous SKU']) {
    assert.deepEqual(find([other, 'Item number', 'Qty']), ['sku 1', 'set 2'], other);
    assert.match(catchAppError(() => find([other, 'Qty'])).publicDetail, /for sku, id or barcode/);
  }
  assert.match(catchAppError(() => find(['Product SKU', 'Variant SKU', 'Qty'])).publicDetail,
    /two columns for sku: .*map=sku:Product SKU, or map=sku:Variant SKU\.$/);
});
