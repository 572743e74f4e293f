/** The categories in the portal: the list with product counts, and renaming. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { act } from '../imports/page-setup.ts';
import { assertPage } from '../page-rules.ts';
import { readText } from '../page-client.ts';
import { openCatalogue, openOther, readFieldErrors, readRows } from '../products/catalogue.ts';

const LIST = '/portal/categories';

/** A shop with two products in the category Cups and one in Mugs. */
async function open(t: TestContext) {
  const catalogue = await openCatalogue(t);
  const { user, create, send } = catalogue;
  for (const category of ['Cups', 'Cups', 'Mugs']) await create({ category });
  return {
    ...catalogue,
    async rename(category: string, to: string) {
      assertPage(await user.get(`${LIST}/rename?category=${encodeURIComponent(category)}`));
      return user.submit({ to }, { action: `${LIST}/rename` });
    },
    readAll: async (): Promise<string[]> => {
      const { products } = (await send({ path: '/api/v1/products' })).json();
      return products.map(({ category }: Record<string, string>) => category);
    },
    readRecords: async () => (await send({ path: '/api/v1/imports' })).json().imports,
  };
}

test('lists the categories with their product counts, and links to the products', async (t) => {
  const { user } = await open(t);
  const answer = await user.get(LIST);
  assertPage(answer);
  assert.deepEqual(readRows(answer), [
    ['Cups', '2', 'Rename Cups'], ['Mugs', '1', 'Rename Mugs'],
  ]);
  assert.match(answer.text, /href="\/portal\/products\?category=Cups"/);
});

test('renames a category in one step, which can be reverted', async (t) => {
  const { user, rename, readAll, readRecords } = await open(t);
  const answer = await rename('Cups', ' Cups & saucers ');
  assert.equal(answer.status, 303);
  assert.match(readText((await user.follow()).text), /Bulk edit complete: 2 products\. Changed 2/);
  assert.deepEqual(await readAll(), ['Cups & saucers', 'Cups & saucers', 'Mugs']);
  const [record, ...others] = await readRecords();
  assert.deepEqual([record.kind, record.mode, others], ['bulk', 'category', []]);
  await act(user, 'revert');
  await act(user, 'commit');
  assert.deepEqual(await readAll(), ['Cups', 'Cups', 'Mugs']);
});

test('renames archived products, too', async (t) => {
  const { patch, rename, send, readAll } = await open(t);
  const { products: [first] } = (await send({ path: '/api/v1/products' })).json();
  await patch(first, { archived: true });
  await rename('Cups', 'Bowls');
  assert.deepEqual(await readAll(), ['Bowls', 'Mugs']);
  await patch(first, { archived: null });
  assert.deepEqual(await readAll(), ['Bowls', 'Bowls', 'Mugs']);
});

test('counts archived products, and previews a merge into a category of only those', async (t) => {
  const { user, patch, rename, send, readRecords } = await open(t);
  const { products } = (await send({ path: '/api/v1/products' })).json();
  await patch(products[0], { archived: true });
  await patch(products[2], { archived: true });
  const list = await user.get(LIST);
  assertPage(list);
  assert.deepEqual(readRows(list), [
    ['Cups', '1, 1 archived', 'Rename Cups'], ['Mugs', '0, 1 archived', 'Rename Mugs'],
  ]);
  await rename('Cups', 'Mugs');
  assert.match(readText((await user.follow()).text), /1 other product has this category already/);
  assert.deepEqual(await readRecords(), []);
  assert.match(readText((await user.get(`${LIST}/rename?category=Mugs`)).text), /has 1 product/);
});

test('previews which categories a rename merges', async (t) => {
  const { user, rename, readAll, readRecords } = await open(t);
  await rename('Cups', 'Mugs');
  const preview = readText((await user.follow()).text);
  assert.match(preview, /2 products will get the category Mugs/);
  assert.match(preview, /1 other product has this category already: \d will share it/);
  assert.deepEqual(await readRecords(), []);
  assert.match((await act(user, 'commit')).text, /Bulk edit complete: 2 products/);
  assert.deepEqual(await readAll(), ['Mugs', 'Mugs', 'Mugs']);
});

test('leaves products alone whose category changes concurrently', async (t) => {
  const { user, server, rename, readAll, send } = await open(t);
  const { products: [{ id }] } = (await send({ path: '/api/v1/products' })).json();
  const { editProducts } = server.store;
  server.store.editProducts = async (...args) => {
    await send({
      method: 'PATCH', path: `/api/v1/products/${id}`, body: '{"category":"Bowls"}',
      headers: { 'content-type': 'application/json' },
    });
    return editProducts.apply(server.store, args);
  };
  await rename('Cups', 'Pots');
  assert.match(readText((await user.follow()).text), /2 products; 1 of them left alone/);
  assert.deepEqual(await readAll(), ['Bowls', 'Pots', 'Mugs']);
});

test('rejects invalid and unchanged names, and unknown categories', async (t) => {
  const { user, server, rename, readRecords } = await open(t);
  for (const [to, error] of [
    ['', /Must/], ['Cups', /The category has this name/], ['x'.repeat(101), /Must/],
  ] as const) {
    const answer = await rename('Cups', to);
    assertPage(answer, 422);
    assert.match(readFieldErrors(answer)['to'] ?? '', error);
  }
  const other = await openOther(server);
  await other.create({ category: 'Theirs' });
  for (const name of ['Theirs', 'cups', '']) {
    assert.equal((await user.get(`${LIST}/rename?category=${name}`)).status, 404, name);
  }
  await user.get(`${LIST}/rename?category=Cups`);
  const gone = await user.submit({ from: 'Theirs', to: 'Mine' }, { action: `${LIST}/rename` });
  assert.equal(gone.headers.location, `${LIST}?done=gone`);
  assert.match(readText((await user.follow()).text), /has no products any more/);
  assert.deepEqual(await readRecords(), []);
});

test('pages through many categories, and stays within 50 KiB', async (t) => {
  const { user, create } = await openCatalogue(t);
  assert.match(readText((await user.get(LIST)).text), /No categories/);
  for (let n = 10; n < 61; n += 1) await create({ category: `Category ${n}` });
  const first = await user.get(LIST);
  assertPage(first);
  assert.equal(readRows(first).length, 50);
  const follow = (text: string): string => {
    const [, next = ''] = /href="([^"]*)" rel="next"/.exec(text) ?? [];
    return next;
  };
  assert.deepEqual(readRows(await user.get(follow(first.text))).map(([name]) => name),
    ['Category 60']);
  for (let n = 10; n < 61; n += 1) {
    await create({ category: `${'"'.repeat(98)}${n}` });
    await create({ category: `${'😀'.repeat(98)}${n}` });
  }
  let [rows, path] = [0, LIST];
  while (path !== '') {
    const answer = await user.get(path);
    assertPage(answer);
    rows += readRows(answer).length;
    path = follow(answer.text);
  }
  assert.equal(rows, 3 * 51);
});
