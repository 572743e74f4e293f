/** Saved filters of the product list and of the changes. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { routes } from '../../../../src/features/portal/routes.ts';
import { SAVED_FILTERS_PER_LIST_LIMIT } from '../../../../src/store/limits.ts';
import { countTo, makeNewProduct } from '../../../store/contract/fixture.ts';
import { startServer } from '../../../support/server.ts';
import { addColleague } from '../colleague.ts';
import { openShop, readText } from '../page-client.ts';
import { assertPage } from '../page-rules.ts';

/** The lists of this portal, each with a filter. */
const LISTS = ([
  ['products', 'q=mug+%26+co&stock=low&sort=-price'], ['changes', 'type=stock&product=MUG-1'],
] as const).filter(([list]) => routes.some(({ path }) => path === `/${list}`));

async function start(t: TestContext) {
  const server = await startServer(t, { portal: true });
  const shop = await openShop(server);
  const { sellerId } = shop;
  const [key] = await server.store.listKeys(sellerId, { after: undefined, limit: 1 });
  assert.ok(key);
  await server.store.createProduct({ sellerId, keyId: key.id }, makeNewProduct({ name: 'Mug' }));
  return { server, ...shop };
}

/** The links above the list. */
function readLinks(text: string): string[] {
  const [nav = ''] = /<nav class="saved".*?<\/nav>/s.exec(text) ?? [];
  return [...nav.matchAll(/<a href="([^"]*)"( aria-current="page")?><bdi>([^<]*)</g)]
    .map(([, href = '', current, name = '']) => `${name} ${href}${current ?? ''}`);
}

test('saves the filter of a list under a name, and deletes it again', async (t) => {
  const { user } = await start(t);
  for (const [list, query] of LISTS) {
    assert.doesNotMatch((await user.get(`/portal/${list}`)).text, /Save this filter/);
    const page = await user.get(`/portal/${list}?${query}&cursor=&unknown=1`);
    assertPage(page);
    assert.deepEqual(readLinks(page.text), []);
    const saved = await user.submit({ filter_name: ' <b>Low & "co" ' });
    assert.equal(saved.status, 303);
    assert.equal(saved.headers.location, `/portal/${list}?${query}&done=filter-saved`);
    const shown = await user.follow();
    assert.match(readText(shown.text), /Filter saved\. Everyone/);
    const escaped = `&lt;b&gt;Low &amp; &quot;co&quot; /portal/${list}?${
      query.replaceAll('&', '&amp;')}`;
    assert.deepEqual(readLinks(shown.text), [`${escaped} aria-current="page"`]);
    assert.deepEqual(readLinks((await user.get(`/portal/${list}`)).text), [escaped]);
    await user.get(`/portal/${list}?${query}`);
    const deleted = await user.submit({}, { action: '/portal/filters/delete' });
    assert.equal(deleted.headers.location, `/portal/${list}?${query}&done=filter-deleted`);
    const after = await user.follow();
    assert.deepEqual(readLinks(after.text), []);
    assert.match(readText(after.text), /Filter deleted.*Save this filter/);
  }
});

test('replaces a filter of the same name, in this shop only', async (t) => {
  const { server, user, sellerId } = await start(t);
  const other = await openShop(server);
  for (const query of ['stock=low', 'stock=out']) {
    await user.get(`/portal/products?${query}`);
    await user.submit({ filter_name: 'Stock' });
  }
  const filter = { list: 'products', name: 'Stock', query: 'stock=out' };
  assert.deepEqual(await server.store.listFilters(sellerId, 'products'), [filter]);
  assert.deepEqual(readLinks((await other.user.get('/portal/products')).text), []);
});

test('shows a viewer the links, and no forms', async (t) => {
  const { server, sellerId } = await start(t);
  await server.store.saveFilter(sellerId, { list: 'products', name: 'Low', query: 'stock=low' });
  const { user } = await addColleague(server, { sellerId }, 'viewer');
  for (const query of ['stock=low', 'stock=out']) {
    const { text } = await user.get(`/portal/products?${query}`);
    assert.equal(readLinks(text).length, 1);
    assert.doesNotMatch(text, /portal\/filters/);
  }
  const csrf = user.valueOf('csrf') ?? '';
  const fields = { csrf, list: 'products', filter_name: 'Mine', query: 'q=a' };
  assertPage(await user.post('/portal/filters', new URLSearchParams(fields)), 403);
  assertPage(await user.post('/portal/filters/delete', new URLSearchParams(fields)), 403);
  assert.equal((await server.store.listFilters(sellerId, 'products')).length, 1);
});

test('rejects blank and overlong names, and invalid filters', async (t) => {
  const { server, user, sellerId } = await start(t);
  const good = { list: 'products', filter_name: 'Low', query: 'stock=low' };
  for (const wrong of [
    { filter_name: ' ' }, { filter_name: 'x'.repeat(61) }, { filter_name: 'a\nb' },
    { list: 'keys' }, { list: '' }, { query: '' }, { query: 'unknown=1' },
    { query: `q=${'x'.repeat(199)}` }, { query: 'https://evil.example/' },
  ]) {
    await user.get('/portal/products?q=a');
    const csrf = user.valueOf('csrf') ?? '';
    const answer = await user.post(
      '/portal/filters', new URLSearchParams({ ...good, ...wrong, csrf }),
    );
    assertPage(answer, 400);
    assert.match(readText(answer.text), /Nothing was saved/);
  }
  assert.deepEqual(await server.store.listFilters(sellerId, 'products'), []);
  assert.doesNotMatch(
    (await user.get(`/portal/products?q=${'%F0%9F%98%80'.repeat(90)}`)).text, /Save this filter/,
  );
});

test('limits the number of filters, and says so', async (t) => {
  const { server, user, sellerId } = await start(t);
  for (const n of countTo(SAVED_FILTERS_PER_LIST_LIMIT)) {
    await server.store.saveFilter(sellerId, {
      list: 'products', name: `${'&'.repeat(58)}${n}`, query: `q=${'<'.repeat(60)}${n}`,
    });
  }
  const page = await user.get('/portal/products?q=x');
  assertPage(page);
  assert.equal(readLinks(page.text).length, 20);
  const answer = await user.submit({ filter_name: 'One more' });
  assertPage(answer, 409);
  assert.match(readText(answer.text), /has 20 saved filters\. Delete one first/);
});
