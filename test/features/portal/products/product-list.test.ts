/** The product list of the portal: content, search, sorting and pages. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../../../src/domain/error.ts';
import type { Answer } from '../../../support/http.ts';
import { assertRequiresSignIn, assertPage } from '../page-rules.ts';
import { readText, PageClient } from '../page-client.ts';
import {
  type Catalogue, HOSTILE_NAMES, openCatalogue, openOther, readFieldErrors, readRows,
} from './catalogue.ts';

const LIST = '/portal/products';

/** The product names on the page, in order. */
async function list({ user }: Pick<Catalogue, 'user'>, query = ''): Promise<string[]> {
  const answer = await user.get(`${LIST}${query}`);
  assertPage(answer);
  return readRows(answer).map(([name = '']) => name);
}

test('formats numbers in the locale of the seller', async (t) => {
  const catalogue = await openCatalogue(t, { currency: 'CHF' });
  const { user, create } = catalogue;
  const mug = await create({ name: 'Mug', category: 'Kitchen', sku: 'M', price: 1234.5, stock: 6 });
  await create({ name: 'Lamp', sku: 'L', stock: 5, price: 0 });
  await create({ name: 'Jar', sku: 'J', stock: 0 });
  const answer = await user.get(LIST);
  assertPage(answer);
  assert.match(answer.text, new RegExp(`<a href="${mug.path}"[^>]*>Mug</a>`));
  assert.match(answer.text, new RegExp(`href="${LIST}/new"[^>]*>New product`));
  const rows = readRows(answer);
  const changed = 'now';
  assert.deepEqual(rows[0], ['Mug', '6', 'CHF 1,234.50', 'M', 'Kitchen', changed]);
  assert.deepEqual(rows[1]?.slice(0, 3), ['Lamp', 'low 5', 'CHF 0.00']);
  assert.deepEqual(rows[2]?.slice(0, 2), ['Jar', 'sold out 0']);
});

test('keeps its filters and says so while the search catches up with a large change', async (t) => {
  const { server, user, create } = await openCatalogue(t);
  await create({ name: 'Mug' });
  const busy = async (): Promise<never> => {
    throw new AppError('unavailable', 'The search has reached 1 of 2 changes.');
  };
  t.mock.method(server.store, 'searchProducts', busy);
  t.mock.method(server.store, 'listCategories', busy);
  for (const path of [`${LIST}?q=mug&sort=name`, '/portal/categories?from=a']) {
    const answer = await user.get(path);
    assertPage(answer);
    assert.match(readText(answer.text), /being indexed after a large change\. Try again/);
    assert.ok(answer.text.includes(`<a href="${path.replace('&', '&amp;')}">Try again</a>`));
  }
  assert.match((await user.get(`${LIST}?q=mug`)).text, /name="q"[^>]* value="mug"/);
  t.mock.restoreAll();
  assert.deepEqual(await list({ user }, '?q=mug'), ['Mug']);
});

test('finds products by a pair of metadata, and by a barcode with leading zeros', async (t) => {
  const { user, create } = await openCatalogue(t);
  await create({ name: 'Mug', metadata: { erp_id: '1=2' }, barcode: '012345678905' });
  await create({ name: 'Cup', metadata: { erp_id: '3' } });
  assert.deepEqual(await list({ user }, '?metadata=erp_id+%3D+1%3D2'), ['Mug']);
  assert.deepEqual(await list({ user }, '?metadata=erp_id%3D3&sort=name'), ['Cup']);
  assert.deepEqual(await list({ user }, '?q=00012345678905'), ['Mug']);
  const invalid = await user.get(`${LIST}?metadata=erp_id`);
  assert.ok(readFieldErrors(invalid)['metadata']);
  assert.equal(invalid.status, 400);
});

test('redirects without a session, and hides other shops',
  async (t) => {
    const { server, create, user } = await openCatalogue(t);
    const { path } = await create({ name: 'Secret' });
    const one = path.slice('/portal'.length);
    await assertRequiresSignIn(server,
      ['/products', '/products/new', one, `${one}/delete`, '/live?after=0']);
    const stranger = new PageClient(server.port);
    await stranger.get('/portal/sign-in');
    const form = new URLSearchParams({ csrf: stranger.valueOf('csrf') ?? '', amount: '1' });
    for (const end of ['stock', 'adjust']) {
      const answer = await stranger.post(`${path}/${end}`, form);
      assert.equal(answer.headers.location, '/portal/sign-in');
    }
    const other = await openOther(server);
    assert.match(readText((await other.user.get(LIST)).text), /No products yet/);
    const found = await other.user.get(`${LIST}?q=Secret`);
    assert.match(readText(found.text), /No products match/);
    assert.doesNotMatch(found.text, /value="0"|prd_/);
    // A cursor is only valid in its own shop.
    for (let n = 0; n < 51; n += 1) await create();
    const next = /href="([^"]*cursor=[^"]*)"/.exec((await user.get(LIST)).text)?.[1] ?? '';
    const answer = await other.user.get(next);
    assertPage(answer, 400);
    assert.deepEqual(readRows(answer), []);
  });

describe('an empty list', () => {
  test('explains how to start without products', async (t) => {
    const { user, server } = await openCatalogue(t);
    const { text } = await user.get(LIST);
    const curl = `curl 'http://127.0.0.1:${server.port}/api/v1/products'`;
    assert.ok(readText(text).includes(curl));
    for (const path of ['/portal/products/new', '/portal/import', '/portal/keys']) {
      assert.ok(text.includes(`href="${path}"`), path);
    }
    assert.doesNotMatch(text, /<form [^>]*id="search"/);
  });

  test('links to all products if none match', async (t) => {
    const { user, create } = await openCatalogue(t);
    await create();
    const { text } = await user.get(`${LIST}?q=nothing`);
    assert.match(readText(text), /No products match/);
    assert.match(text, /<a href="\/portal\/products">Show all products<\/a>/);
    assert.match(text, /value="nothing"/);
  });
});

describe('filters', () => {
  test('combine, and are kept in the form', async (t) => {
    const catalogue = await openCatalogue(t);
    const { create, user } = catalogue;
    await create({ name: 'Blue mug', category: 'Kitchen', price: 12.5, stock: 9 });
    await create({ name: 'Red mug', category: 'Kitchen', price: 8, stock: 3 });
    await create({ name: 'Crème brûlée', category: 'Sweets', price: 20, stock: 0 });
    for (const [query, names] of [
      ['?q=MUG', ['Blue mug', 'Red mug']], ['?q=creme', ['Crème brûlée']],
      ['?q=+mug+', ['Blue mug', 'Red mug']],
      ['?category=Sweets', ['Crème brûlée']], ['?stock=low', ['Red mug', 'Crème brûlée']],
      ['?stock=out', ['Crème brûlée']], ['?price_min=8.01', ['Blue mug', 'Crème brûlée']],
      ['?price_max=12,50', ['Blue mug', 'Red mug']], ['?price_min=9&price_max=12.5', ['Blue mug']],
      ['?q=mug&stock=low&category=Kitchen', ['Red mug']], ['?q=&category=&price_min=&sort=',
        ['Blue mug', 'Red mug', 'Crème brûlée']],
    ] as const) {
      assert.deepEqual(await list(catalogue, query), names, query);
    }
    const { text } = await user.get(`${LIST}?q=mug&category=Kitchen&stock=low&price_max=12,50`);
    for (const field of ['value="mug"', 'value="Kitchen"', 'value="12,50"',
      '<option value="low" selected>']) {
      assert.ok(text.includes(field), field);
    }
  });

  test('sort by every column in both directions, by form and by column header', async (t) => {
    const catalogue = await openCatalogue(t);
    const { create, clock, user } = catalogue;
    await create({ name: 'b', sku: 'S1', price: 3, stock: 1 });
    clock.now += 1_000;
    await create({ name: 'A', sku: 'S3', price: 1, stock: 3 });
    clock.now += 1_000;
    await create({ name: 'c', sku: 'S2', price: 2, stock: 2 });
    for (const [sort, names] of [
      ['id', 'bAc'], ['name', 'Abc'], ['sku', 'bcA'], ['price', 'Acb'], ['stock', 'bcA'],
      ['updated_at', 'bAc'],
    ] as const) {
      const sorted = [...names];
      assert.deepEqual(await list(catalogue, `?sort=${sort}`), sorted, sort);
      assert.deepEqual(await list(catalogue, `?sort=-${sort}`), sorted.toReversed(), `-${sort}`);
    }
    // A browser sends a column header's button after the form's own field.
    assert.deepEqual(await list(catalogue, '?sort=id&sort=price'), ['A', 'c', 'b']);
    const { text } = await user.get(`${LIST}?sort=price`);
    assert.match(text, /aria-sort="ascending"><button form="search" name="sort" value="-price"/);
    assert.match(text, /<option value="price" selected>/);
    assert.match((await user.get(`${LIST}?sort=-price`)).text, /aria-sort="descending"/);
  });

  test('that are invalid are ignored, with an error at their fields', async (t) => {
    const catalogue = await openCatalogue(t);
    const { create, user } = catalogue;
    await create({ name: 'Mug' });
    await create({ name: 'Jar' });
    for (const [query, field, error] of [
      ['price_min=abc', 'price_min', /plain number/], ['price_max=-1', 'price_max', /at least 0/],
      ['price_min=1.000', 'price_min', /1000 or 1\.000/],
      ['price_min=1,005', 'price_min', /1005 or 1\.005/],
      ['price_max=9.9999', 'price_max', /at most 2 decimals/],
      [`category=${'x'.repeat(101)}`, 'category', /100/], ['sort=colour', 'sort', /one of/],
      [`q=${'x'.repeat(201)}`, 'q', /200/], ['q=%00', 'q', /control/],
    ] as const) {
      const answer = await user.get(`${LIST}?${query}`);
      assertPage(answer, 400);
      assert.match(readFieldErrors(answer)[field] ?? '', error, query);
      assert.match(answer.text, new RegExp(`href="#field-${field}"`));
      assert.equal(readRows(answer).length, 2, query);
      if (field === 'q') continue;
      const others = await user.get(`${LIST}?q=Mug&${query}`);
      assert.deepEqual(readRows(others).map(([name]) => name), ['Mug'], query);
    }
    for (const query of ['stock=x', 'unknown=1', '%', '&&=', 'fields=x&limit=9', 'page=-1']) {
      assert.deepEqual(await list(catalogue, `?${query}`), ['Mug', 'Jar'], query);
    }
    for (const query of ['cursor', 'q=%', 'q=%FF', `sort=${'-id'.repeat(5_000)}`]) {
      assert.ok((await user.get(`${LIST}?${query}`)).status < 500, query);
    }
  });
});

describe('pages', () => {
  test('keep their position and filters', async (t) => {
    const catalogue = await openCatalogue(t);
    const { user, create } = catalogue;
    for (let n = 0; n < 110; n += 1) {
      await create({ name: `${n % 11 === 0 ? 'Jar' : 'Mug'} ${n}`, price: n % 7 });
    }
    for (const query of ['', '?q=mug&sort=-price', '?price_min=0&sort=name']) {
      const names: string[] = [];
      let page = await user.get(`${LIST}${query}`);
      for (;;) {
        assertPage(page);
        names.push(...readRows(page).map(([name = '']) => name));
        const next = findNext(page);
        if (next === '') break;
        page = await user.get(next);
      }
      const count = query.startsWith('?q') ? 100 : 110;
      assert.deepEqual([names.length, new Set(names).size], [count, count], query);
      assert.match(page.text, /rel="first">First page/);
    }
    // Products created or deleted before the position do not shift the page.
    const first = await user.get(LIST);
    const [name = ''] = readRows(await user.get(findNext(first)))[0] ?? [];
    const [one = ''] = /prd_\w+/.exec(first.text) ?? [];
    await catalogue.send({ method: 'DELETE', path: `/api/v1/products/${one}` });
    assert.equal(readRows(await user.get(findNext(first)))[0]?.[0], name);
  });

  test('start again with a cursor of another list', async (t) => {
    const { user, create } = await openCatalogue(t);
    for (let n = 0; n < 51; n += 1) await create();
    const { text } = await user.get(LIST);
    const cursor = /cursor=([\w-]+)/.exec(text)?.[1] ?? '';
    for (const query of [`cursor=${cursor}x`, 'cursor=x', `q=Product&cursor=${cursor}`]) {
      const answer = await user.get(`${LIST}?${query}`);
      assertPage(answer, 400);
      assert.match(readText(answer.text), /no longer valid\. This is the first page/);
      assert.equal(readRows(answer).length, 50);
    }
  });

  test('stay within 50 KiB and escape hostile names', async (t) => {
    const { user, create } = await openCatalogue(t, { name: '"'.repeat(200) });
    for (const name of HOSTILE_NAMES) {
      const category = [...name].slice(0, 100).join('');
      for (let n = 0; n < 2; n += 1) await create({ name, category, price: 999_999_999_999.99 });
    }
    for (let n = 0; n < 101; n += 1) {
      const sku = `${'"'.repeat(60)}${n}`;
      await create({ name: '"'.repeat(200), category: "'".repeat(100), sku, stock: 1e9 });
      await create({ name: '😀'.repeat(200), category: '😀'.repeat(100), sku: `é${n}` });
      await create({ name: 'x'.repeat(200), category: 'y'.repeat(100), sku: `X${n}` });
    }
    for (const query of [
      '', '?sort=-name', `?q=${encodeURIComponent('"'.repeat(200))}&sort=name`,
      `?q=${encodeURIComponent('😀'.repeat(200))}&category=${encodeURIComponent('😀'.repeat(100))}`
        + '&sort=-name',
      `?q=${'x'.repeat(200)}&category=${'y'.repeat(100)}`,
    ]) {
      let answer = await user.get(`${LIST}${query}`);
      for (let page = 1; page <= 3; page += 1) {
        assertPage(answer);
        assert.doesNotMatch(answer.text, /<script>|<img|onmouseover='|<h1>&lt;/);
        assert.ok(readRows(answer).length >= (page === 3 ? 1 : 50), query);
        answer = await user.get(findNext(answer));
      }
    }
    const [whole] = await list({ user }, `?q=${'x'.repeat(100)}`);
    assert.match(whole ?? '', /^x{75,117}…$/);
  });
});

/** The URL of the next page; empty on the last page. */
function findNext({ text }: Answer): string {
  const next = /<a class="button" href="([^"]*)" rel="next"/.exec(text)?.[1] ?? '';
  return next.replaceAll('&amp;', '&');
}
