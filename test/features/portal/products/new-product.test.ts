/** Creating a product in the portal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PORTAL_KEY_ID } from '../../../../src/domain/id.ts';
import { assertPage } from '../page-rules.ts';
import { type Fields, readText } from '../page-client.ts';
import { HOSTILE_NAMES, openCatalogue, readFieldErrors } from './catalogue.ts';

const NEW = '/portal/products/new';
const GOOD = { name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: '12,50', stock: '40' };

test('creates the product as entered, and shows it', async (t) => {
  const { user, send, server, sellerId } = await openCatalogue(t);
  assertPage(await user.get(NEW));
  const made = await user.submit({ ...GOOD, name: ' Blue mug ', sku: ' MUG-1' });
  assert.equal(made.status, 303);
  const shown = await user.follow();
  assertPage(shown);
  assert.match(readText(shown.text), /Blue mug created\..*€12\.50/);
  const [product] = (await send({ path: '/api/v1/products' })).json().products;
  assert.ok(made.headers.location?.startsWith(`/portal/products/${product.id}?`));
  const { name, category, sku, price, stock } = product;
  assert.deepEqual([name, category, sku, price, stock], ['Blue mug', 'Kitchen', 'MUG-1', 12.5, 40]);
  const { changes } = await server.store.listChanges(sellerId, { after: 0, limit: 10 });
  assert.deepEqual(changes.map(({ type, keyId }) => [type, keyId]), [['created', PORTAL_KEY_ID]]);
});

test('accepts prices with a decimal point or comma, and no other separators', async (t) => {
  const { user, send } = await openCatalogue(t);
  for (const [price, read] of [
    ['12.50', 12.5], ['12,5', 12.5], ['0', 0], ['1234', 1234], [' 7 ', 7], ['999999999999.99',
      999_999_999_999.99],
  ] as const) {
    await user.get(NEW);
    const made = await user.submit({ ...GOOD, price, sku: `P${read}${price.trim()}` });
    assert.equal(made.status, 303, made.text);
    const [, id] = /(prd_\w+)/.exec(made.headers.location ?? '') ?? [];
    assert.equal((await send({ path: `/api/v1/products/${id}` })).json().price, read, price);
  }
  for (const [price, error] of [
    ['1.234', /Could mean 1234 or 1\.234\. .* EUR has 2 decimals/], ['1,234', /Could mean 1234 or/],
    ['1.234,50', /thousands separators/], ["1'234", /thousands separators/], ['1e3', /exponents/],
    ['12.5055', /at most 2 decimals in EUR\. It was read as 12\.5055\./], ['€5', /currency signs/],
    ['12.5000000000000000001', /cannot hold it exactly/],
    ['-1', /at least 0 .* It was read as -1\./], ['1000000000000', /below 1,000,000,000,000/],
    ['', /blank/], ['٣', /plain number/],
  ] as const) {
    await user.get(NEW);
    const answer = await user.submit({ ...GOOD, price });
    assertPage(answer, 422);
    assert.match(readFieldErrors(answer)['price'] ?? '', error, price);
    assert.equal(user.valueOf('price'), price);
  }
});

test('accepts three decimals for a currency that has them', async (t) => {
  const { user, send } = await openCatalogue(t, { currency: 'KWD' });
  await user.get(NEW);
  const rejected = await user.submit({ ...GOOD, price: '1,234' });
  assert.match(
    readFieldErrors(rejected)['price'] ?? '', /1234 or 1\.234\. Enter one of them/,
  );
  assert.equal((await user.submit({ price: '1.234' })).status, 303);
  assert.equal((await send({ path: '/api/v1/products' })).json().products[0].price, 1.234);
});

const invalid: readonly [what: string, fields: Fields, at: string, says: RegExp][] = [
  ['no name', { name: ' ' }, 'name', /blank/],
  ['a name that is too long', { name: 'x'.repeat(201) }, 'name', /at most 200/],
  ['a line break in a name', { name: 'a\u2028b' }, 'name', /control characters or line breaks/],
  ['no category', { category: '' }, 'category', /blank/],
  ['a SKU with something invisible in it', { sku: 'A\u200bB' }, 'sku', /invisible/],
  ['a SKU that is taken', { sku: 'TAKEN' }, 'sku', /already have a product/],
  ['half a thing in stock', { stock: '1.5' }, 'stock', /whole number/],
  ['less than nothing in stock', { stock: '-1' }, 'stock', /0 to 1,000,000,000/],
  ['too much in stock', { stock: '1000000001' }, 'stock', /0 to 1,000,000,000/],
  ['no stock', { stock: undefined }, 'stock', /blank/],
  ['words for numbers', { price: 'ten', stock: 'many' }, 'stock', /whole number/],
];

test('creates nothing from an invalid form', async (t) => {
  const { user, create, send } = await openCatalogue(t);
  await create({ sku: 'TAKEN' });
  for (const [what, fields, at, says] of invalid) {
    await t.test(`reports ${what} at the field, and keeps the entered values`, async () => {
      await user.get(NEW);
      const typed: Fields = { ...GOOD, ...fields };
      const answer = await user.submit(typed);
      assertPage(answer, 422);
      assert.match(readFieldErrors(answer)[at] ?? '', says);
      assert.ok(answer.text.includes(`href="#field-${at}"`));
      for (const [name, value] of Object.entries(typed)) {
        assert.equal(user.valueOf(name), String(value ?? '').trim(), name);
      }
    });
  }
  await t.test('reports all errors at once, in the order of the fields', async () => {
    await user.get(NEW);
    const answer = await user.submit({ name: '', category: '', sku: '', price: '', stock: '' });
    const errors = Object.keys(readFieldErrors(answer));
    assert.deepEqual(errors, ['name', 'category', 'sku', 'price', 'stock']);
    assert.match(readText(answer.text), /Name: Must not be blank\. Category: Must not be blank/);
  });
  await t.test('rejects a form that no page has shown', async () => {
    await user.get(NEW);
    assertPage(await user.submit({ ...GOOD, once: 'x' }), 400);
    await user.get(NEW);
    assertPage(await user.submit({ ...GOOD, csrf: 'x' }), 403);
  });
  assert.equal((await send({ path: '/api/v1/products' })).json().products.length, 1);
});

test('creates one product, however often its form is sent', async (t) => {
  const { user, send } = await openCatalogue(t);
  await user.get(NEW);
  const body = new URLSearchParams({
    csrf: user.valueOf('csrf') ?? '', once: user.valueOf('once') ?? '', ...GOOD,
  });
  const both = await Promise.all([user.post(NEW, body), user.post(NEW, body)]);
  both.push(await user.post(NEW, body));
  assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([303]));
  assert.equal(new Set(both.map(({ headers }) => headers.location)).size, 1);
  // The user went back, and entered something else.
  body.set('sku', 'MUG-2');
  const other = await user.post(NEW, body);
  assertPage(other, 409);
  assert.match(readText(other.text), /already submitted this form with different values/);
  assert.equal(user.valueOf('sku'), 'MUG-2');
  assert.equal((await send({ path: '/api/v1/products' })).json().products.length, 1);
  assert.equal((await user.submit({})).status, 303);
  assert.equal((await send({ path: '/api/v1/products' })).json().products.length, 2);
});

test('keeps hostile names as entered, and renders them as text', async (t) => {
  const { user, send } = await openCatalogue(t);
  for (const [n, name] of HOSTILE_NAMES.entries()) {
    const category = [...name].slice(0, 100).join('');
    await user.get(NEW);
    const rejected = await user.submit({ ...GOOD, name, category, sku: `S${n}`, price: name });
    assertPage(rejected, 422);
    assert.doesNotMatch(rejected.text, /<script>|<img|onmouseover='|<h1>&lt;/);
    assert.equal(user.valueOf('name'), name);
    assert.equal((await user.submit({ price: '1' })).status, 303);
    assertPage(await user.follow());
    const [product] = (await send({ path: `/api/v1/products?sku=S${n}` })).json().products;
    assert.deepEqual([product.name, product.category], [name, category]);
  }
});
