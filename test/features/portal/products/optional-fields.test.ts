/** The optional fields of products in the portal: forms, the page, archiving, and lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertPage } from '../page-rules.ts';
import { readText } from '../page-client.ts';
import { openCatalogue, readFieldErrors, readRows } from './catalogue.ts';

const TYPED = {
  name: 'Mug', category: 'Kitchen', sku: 'MUG', price: '12', stock: '4',
  barcode: ' 4006381333931 ', description: 'Line 1\r\nLine 2', low_stock: '9',
  metadata_name: ['erp', '', 'shop'], metadata_value: ['1', '', '2'],
};

test('creates a product with all fields, and shows them', async (t) => {
  const { user, read } = await openCatalogue(t);
  await user.get('/portal/products/new');
  const answer = await user.submit(TYPED);
  const path = (answer.headers.location ?? '').replace(/\?.*/, '');
  const page = await user.follow();
  assertPage(page);
  assert.match(readText(page.text), /Stock 4 low Barcode 4006381333931 Low-stock threshold 9 /);
  assert.match(readText(page.text), /Description Line 1 Line 2 Metadata erp : 1 shop : 2/);
  const saved = await read({ id: path.split('/').at(-1) ?? '' });
  assert.deepEqual([saved?.['metadata'], saved?.['description'], saved?.['low_stock']],
    [{ erp: '1', shop: '2' }, 'Line 1\nLine 2', 9]);
});

test('edits and removes pairs of metadata without scripts, and clears other fields', async (t) => {
  const { user, create, read } = await openCatalogue(t);
  const mug = await create({
    metadata: { a: '1', b: '2' }, description: 'Line 1\nLine 2', barcode: '96385074',
  });
  await user.get(mug.path);
  assert.equal((await user.submit({}, { action: mug.path })).status, 303);
  assert.equal((await read(mug))?.['position'], 1);
  await user.get(mug.path);
  await user.submit({
    metadata_name: ['', 'b', 'c'], metadata_value: ['', '3', '4'], barcode: '', low_stock: '0',
  }, { action: mug.path });
  const { metadata, barcode, low_stock: low, description } = await read(mug) ?? {};
  assert.deepEqual([metadata, barcode, low, description],
    [{ b: '3', c: '4' }, undefined, 0, 'Line 1\nLine 2']);
});

test('keeps a metadata pair removed after a rejected edit', async (t) => {
  const { user, create, read } = await openCatalogue(t);
  await create({ sku: 'TAKEN' });
  const mug = await create({ metadata: { old: '1', kept: '2' } });
  await user.get(mug.path);
  const rows = { metadata_name: ['', 'kept'], metadata_value: ['', '2'] };
  const rejected = await user.submit({ ...rows, sku: 'TAKEN' }, { action: mug.path });
  assertPage(rejected, 422);
  assert.doesNotMatch(rejected.text, /value="(null|old)"/);
  assert.equal((await user.submit({ sku: 'FREE' }, { action: mug.path })).status, 303);
  const { sku, metadata } = await read(mug) ?? {};
  assert.deepEqual([sku, metadata], ['FREE', { kept: '2' }]);
});

test('keeps white space around metadata unless the value is edited', async (t) => {
  const { user, create, read } = await openCatalogue(t);
  const mug = await create({ metadata: { a: ' 1 ', b: ' 2' } });
  await user.get(mug.path);
  await user.submit({ name: 'Cup' }, { action: mug.path });
  assert.deepEqual((await read(mug))?.['metadata'], { a: ' 1 ', b: ' 2' });
  await user.get(mug.path);
  await user.submit({ metadata_name: ['a', 'b'], metadata_value: [' 1 ', ' 3 '] },
    { action: mug.path });
  assert.deepEqual((await read(mug))?.['metadata'], { a: ' 1 ', b: '3' });
});

test('shows an error at each invalid field, and keeps what was typed', async (t) => {
  const { user, create, read } = await openCatalogue(t);
  const mug = await create();
  await user.get(mug.path);
  const answer = await user.submit({
    barcode: '4006381333932', low_stock: '-1', description: 'a\tb',
    metadata_name: ['erp', 'erp', ''], metadata_value: ['1', '2', ''],
  }, { action: mug.path });
  assertPage(answer, 422);
  const errors = readFieldErrors(answer);
  assert.deepEqual(Object.keys(errors).sort(), ['barcode', 'description', 'low_stock', 'metadata']);
  assert.match(errors['metadata'] ?? '', /"erp" is repeated/);
  assert.equal(answer.text.match(/name="metadata_name" value="erp"/g)?.length, 2);
  assert.equal((await read(mug))?.['position'], 1);
});

test('archives and restores a product, and lists archived ones on request', async (t) => {
  const { user, create, read } = await openCatalogue(t);
  const mug = await create({ name: 'Mug', stock: 1 });
  const page = await user.get(mug.path);
  assert.doesNotMatch(page.text, /class="tag">Archived/);
  const action = `${mug.path}/archive`;
  const forged = await user.post(action, new URLSearchParams({ to: 'archived', csrf: 'x' }));
  assert.equal(forged.status, 403);
  assert.equal((await read(mug))?.['archived'], undefined);
  await user.get(mug.path);
  assert.equal((await user.submit({ to: 'archived' }, { action })).status, 303);
  const archived = await user.follow();
  assertPage(archived);
  assert.match(archived.text, /class="tag">Archived/);
  assert.match(readText(archived.text), /Archived\. Undo/);
  assert.equal((await read(mug))?.['archived'], true);
  const empty = await user.get('/portal/products');
  assert.match(readText(empty.text), /View archived products/);
  const [row] = readRows(await user.get('/portal/products?archived=true'));
  assert.ok(row?.some((cell) => cell.includes('Mug Archived')), String(row));
  assert.deepEqual(readRows(await user.get('/portal/products?stock=low')), []);
  assert.equal(readRows(await user.get('/portal/products?stock=low&archived=any')).length, 1);
  await user.get(mug.path);
  assert.equal((await user.submit({ to: 'restored' }, { action })).status, 303);
  assert.equal((await read(mug))?.['archived'], undefined);
  assert.match(readText((await user.get('/portal/changes')).text), /Restored.*Archived/);
});

test('finds low stock by the threshold of each product', async (t) => {
  const { user, create } = await openCatalogue(t);
  for (const [name, stock, low] of [['Ten', 10, 12], ['Five', 5, null], ['Four', 4, 3]] as const) {
    await create({ name, stock, low_stock: low });
  }
  const names = readRows(await user.get('/portal/products?stock=low')).map((row) => row.join(' '));
  assert.equal(names.length, 2);
  assert.match(names.join(), /Ten.*low 10.*Five.*low 5/);
  assert.match(readText((await user.get('/portal')).text), /Low or sold out 2/);
});
