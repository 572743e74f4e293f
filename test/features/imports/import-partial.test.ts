/** Imports that leave members out keep the existing values; new products need every member. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer, type TestSeller } from '../../support/server.ts';
import { counts, importFile } from './import.ts';

const PRODUCTS = '/api/v1/products';
const NDJSON = 'application/x-ndjson';
const MUG = { name: 'Mug', category: 'Kitchen', sku: 'M-1', price: 19.99, stock: 7 };
const DEFAULTS = 'default=name:Product,category:Misc,price:1,stock:0';

/** All products in the order of their creation, with the members that the tests send. */
async function list(seller: TestSeller): Promise<(typeof MUG)[]> {
  const { products } = (await seller.send({ path: PRODUCTS })).json();
  return products.map(({ name, category, sku, price, stock }: typeof MUG) =>
    ({ name, category, sku, price, stock }));
}

test('never overwrites an existing value with a default or a blank', async (t) => {
  const server = await startServer(t);
  for (const [body, query] of [
    ['sku,stock\nM-1,9\n', DEFAULTS],
    ['sku,stock\nM-1,9\n', ''],
    ['name,category,sku,price,stock\n, ,M-1,,9\n', DEFAULTS],
    ['name,category,sku,price,stock\n, ,M-1,,9\n', ''],
    // A shop export with a column for the category, which is blank here.
    ['Handle,Title,Type,Variant SKU,Variant Price,Variant Inventory Qty\nm,,,M-1,,9\n', ''],
  ] as const) {
    const seller = await server.makeSeller();
    await seller.create(MUG);
    const tried = await importFile(seller, { body, query: `${query}&dry_run=true&report=all` });
    const made = await importFile(seller, { body, query: `${query}&report=all` });
    assert.deepEqual(tried.rows, [{ line: 2, sku: 'M-1', status: 'updated' }], body);
    assert.deepEqual(made.rows, tried.rows, body);
    assert.deepEqual(made.summary, counts({ updated: 1, position: 2 }), body);
    assert.deepEqual(await list(seller), [{ ...MUG, stock: 9 }], body);
    const { summary } = await importFile(seller, { body, query });
    assert.deepEqual(summary, counts({ unchanged: 1, position: 2 }), body);
  }
});

test('updates the members of an NDJSON line, and keeps the rest', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create(MUG);
  const body = '{"sku":"M-1","price":5}\n{"sku":"M-1"}\n{"sku":"N-1","stock":1}\n';
  const { rows, summary } = await importFile(seller, { body, type: NDJSON });
  assert.deepEqual(rows.map(({ sku, errors }) => [sku, errors.map(
    ({ pointer, code }: Record<string, string>) => `${pointer} ${code}`,
  )]), [['N-1', ['/name required', '/category required', '/price required']]]);
  assert.equal(summary.advice, '1 rejected row is a new product without a value for name, category '
    + 'and price. If the SKUs are right, add name, category and price in the file to create these '
    + 'products.');
  assert.deepEqual(await list(seller), [{ ...MUG, price: 5 }]);
});

/** The column names of each layout; `header` and `row` add a column that the import ignores. */
const LAYOUTS: readonly (readonly [header: string, members: readonly string[], row: string])[] = [
  ['', ['name', 'category', 'sku', 'price', 'stock'], ''],
  ['Handle,', ['Title', 'Type', 'Variant SKU', 'Variant Price', 'Variant Inventory Qty'], 'h,'],
  ['URL handle,', ['Title', 'Product Category', 'SKU', 'Price', 'Inventory quantity'], 'h,'],
  ['Type,', ['Name', 'Categories', 'SKU', 'Regular price', 'Stock'], 'simple,'],
  ['product_type,', ['name', 'categories', 'sku', 'price', 'qty'], 'simple,'],
];

for (const mode of ['upsert', 'update'] as const) {
  test(`keeps the value of each blank cell in each layout with mode=${mode}`, async (t) => {
    const server = await startServer(t);
    const changed = { ...MUG, name: 'Jug', category: 'Bar', price: 5, stock: 9 };
    const names = ['name', 'category', 'sku', 'price', 'stock'] as const;
    const query = mode === 'upsert' ? DEFAULTS : 'mode=update';
    for (const [header, columns, row] of LAYOUTS) {
      for (const filled of ['name', 'category', 'price', 'stock'] as const) {
        for (const blank of ['', ' \u00a0']) {
          const seller = await server.makeSeller();
          await seller.create(MUG);
          const cells = names.map((name) =>
            (name === 'sku' || name === filled ? changed[name] : blank));
          const body = `${header}${columns.join()}\n${row}${cells.join()}\n`;
          const { summary } = await importFile(seller, { body, query });
          assert.deepEqual(summary, counts({ updated: 1, position: 2 }), body);
          assert.deepEqual(await list(seller), [{ ...MUG, [filled]: changed[filled] }], body);
        }
      }
    }
  });

  test(`rejects a null or blank member of an NDJSON line with mode=${mode}`, async (t) => {
    const server = await startServer(t);
    const seller = await server.makeSeller();
    await seller.create(MUG);
    const lines = ['name', 'category', 'price', 'stock'].flatMap((name) =>
      [null, '', ' '].map((value) => JSON.stringify({ sku: 'M-1', [name]: value })));
    const file = { body: lines.join('\n'), type: NDJSON, query: `mode=${mode}` };
    const { summary } = await importFile(seller, file);
    assert.deepEqual([summary.failed, summary.updated, summary.position], [lines.length, 0, 1]);
    assert.deepEqual(await list(seller), [MUG]);
  });
}

test('changes only what a file names with mode=update, and creates nothing', async (t) => {
  const server = await startServer(t);
  for (const [body, type] of [
    ['sku,price,stock,name\nM-1,5,,\nN-1,1,1,New\nP-1,, 9 ,\n', 'text/csv'],
    ['{"sku":"M-1","price":5}\n{"sku":"N-1","price":1,"stock":1,"name":"N","category":"K"}\n'
      + '{"sku":"P-1","stock":9}\n', NDJSON],
  ] as const) {
    const seller = await server.makeSeller();
    await seller.create(MUG);
    await seller.create({ ...MUG, sku: 'P-1' });
    const query = 'mode=update&report=all';
    const tried = await importFile(seller, { body, type, query: `${query}&dry_run=true` });
    const made = await importFile(seller, { body, type, query });
    assert.deepEqual(made.rows.map(({ sku, status }) => [sku, status]),
      [['M-1', 'updated'], ['N-1', 'failed'], ['P-1', 'updated']]);
    const [{ pointer, code, detail }] = made.rows[1].errors;
    assert.deepEqual([pointer, code], ['/sku', 'unknown']);
    assert.match(detail, /no product with this SKU\. .*mode=upsert/);
    assert.deepEqual(made.summary, counts({
      updated: 2, failed: 1, position: 4, advice: '1 rejected row has a SKU that no product has. '
        + 'To create these products, send the file again with mode=upsert.',
    }));
    assert.deepEqual([tried.rows, tried.summary], [made.rows, { ...made.summary, position: 2 }]);
    assert.deepEqual(await list(seller),
      [{ ...MUG, price: 5 }, { ...MUG, sku: 'P-1', stock: 9 }]);
  }
});

test('treats a product as existing after an earlier row has created it', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = 'name,category,sku,price,stock\n,,A,,1\nA,K,A,2,\n,,A,,5\nB,K,B,2,1\n,,B,3,\n';
  const query = 'default=stock:0&report=all&duplicates=last';
  const tried = await importFile(seller, { body, query: `${query}&dry_run=true` });
  const made = await importFile(seller, { body, query });
  assert.deepEqual(made.rows.map(({ status }) => status),
    ['failed', 'created', 'updated', 'created', 'updated']);
  assert.deepEqual(tried.rows, made.rows);
  assert.deepEqual(await list(seller), [
    { name: 'A', category: 'K', sku: 'A', price: 2, stock: 5 },
    { name: 'B', category: 'K', sku: 'B', price: 3, stock: 1 },
  ]);
});

test('repeats the report of a partial import under its Idempotency-Key', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create(MUG);
  const file = {
    body: 'sku,stock\nM-1,9\nN-1,1\n', query: DEFAULTS.replace('name:Product,', ''),
    headers: { 'idempotency-key': '"k"' },
  };
  const first = await importFile(seller, file);
  assert.deepEqual([first.summary.updated, first.summary.failed], [1, 1]);
  await seller.send({
    method: 'PATCH', path: `${PRODUCTS}/sku/M-1`, body: '{"stock":3}',
    headers: { 'content-type': 'application/json' },
  });
  assert.deepEqual(await importFile(seller, file), first);
  assert.deepEqual(await list(seller), [{ ...MUG, stock: 3 }]);
});

test('suggests a fix for rows with one cause, but never a default name or price', async (t) => {
  const server = await startServer(t);
  for (const [body, query, advice] of [
    ['name,category,sku,price,stock\nA,K,A,1,\nB,K,B,1,\nC,K,C,x,1\n', '',
      '2 rejected rows are new products without a value for stock. '
        + 'Send the file again with default=stock:0.'],
    ['sku,stock\nA,1\nB,2\n', '', '2 rejected rows are new products without a value for name, '
      + 'category and price. If the SKUs are right, add name, category and price in the file to '
      + 'create these products.'],
    ['Wort,category,sku,price,stock\nA,K,A,1,1\n', '', '1 rejected row is a new product without '
      + 'a value for name. Name their columns: map=name:COLUMN.'],
    ['name,category,sku,price,stock\nA,K,A,1 €,1\nA,K,A,2 €,1\n', '', '2 rejected rows have the '
      + 'same error: price: Write a plain number, such as 1234.5: no currency signs, units or '
      + 'exponents.'],
    ['name,category,sku,price,stock\nA,K,A,x,1\nB,K,B,1,\n', '', undefined],
  ] as const) {
    const seller = await server.makeSeller();
    const made = await importFile(seller, { body, query });
    assert.equal(made.summary.advice, advice);
    const tried = await importFile(seller, { body, query: `${query}&dry_run=true` });
    assert.equal(tried.summary.advice, advice);
  }
});
