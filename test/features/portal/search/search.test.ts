/** The portal search: its results, its hints, and what it never shows. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { generateApiKey } from '../../../../src/domain/access/api-key.ts';
import {
  formatImportId, formatKeyId, formatProductId, formatWebhookId,
} from '../../../../src/domain/id.ts';
import { findPages } from '../../../../src/features/portal/search/page-index.ts';
import { routes } from '../../../../src/features/portal/routes.ts';
import { makeNewKey, makeNewProduct, makeSecret } from '../../../store/contract/fixture.ts';
import { startServer } from '../../../support/server.ts';
import { addColleague } from '../colleague.ts';
import { openShop, readText, type Shop } from '../page-client.ts';
import { assertRequiresSignIn, assertPage } from '../page-rules.ts';

async function start(t: TestContext) {
  const server = await startServer(t, {
    portal: true, webhooks: { allowPrivate: true, allowHttp: true },
  });
  const shop = await openShop(server);
  const [key] = await server.store.listKeys(shop.sellerId, { after: undefined, limit: 1 });
  assert.ok(key);
  return { server, shop, actor: { sellerId: shop.sellerId, keyId: key.id } };
}

/** The results by group, as `Products: Hoodie, Cap`. */
async function search({ user }: Shop, q: string, more = ''): Promise<string> {
  const page = await user.get(`/portal/search?q=${encodeURIComponent(q)}${more}`);
  assertPage(page);
  const sections = [...page.text.matchAll(/<section class="results".*?<\/section>/gs)];
  return sections.map(([section]) => {
    const [, title = ''] = /<h2[^>]*>([^<]*)</.exec(section) ?? [];
    const names = [...section.matchAll(/<li><a [^>]*>(.*?)<\/a>/gs)];
    return `${title}: ${names.map(([, name = '']) => readText(name)).join(', ')}`;
  }).join('; ');
}

describe('a search', () => {
  test('finds products by parts of words and by SKUs without punctuation', async (t) => {
    const { server, shop, actor } = await start(t);
    const make = (sku: string, name: string) => server.store.createProduct(
      actor, makeNewProduct({ sku, name, category: 'Wear' }),
    );
    const { id } = await make('HOOD-BLUE', 'Hoodie, blue');
    await make('CAP', 'Blue cap');
    assert.equal(await search(shop, 'blue ood'), 'Products: Hoodie, blue');
    assert.equal(await search(shop, 'hoodblue'), 'Products: Hoodie, blue');
    assert.equal(await search(shop, 'BLUE'), 'Products: Hoodie, blue, Blue cap');
    assert.equal(await search(shop, 'CAP'), 'Exact match: Blue cap; Products: Blue cap');
    assert.equal(
      await search(shop, formatProductId(shop.sellerId, id)), 'Exact match: Hoodie, blue',
    );
    assert.match(shop.user.page?.text ?? '', /<input id="search-box" [^>]*value="prd_\w+"/);
  });

  test('marks archived products, and links to a search among them', async (t) => {
    const { server, shop, actor } = await start(t);
    await server.store.createProduct(
      actor, makeNewProduct({ sku: 'OLD', name: 'Last winter', archived: true }),
    );
    assert.equal(await search(shop, 'OLD'), 'Exact match: Last winter');
    assert.match(readText(shop.user.page?.text ?? ''), /Last winter OLD · .* Archived/);
    assert.equal(await search(shop, 'winter'), '');
    const [, path = ''] = /<a href="([^"]*)">Search archived products</
      .exec(shop.user.page?.text ?? '') ?? [];
    assert.match((await shop.user.get(path.replaceAll('&amp;', '&'))).text, /Last winter/);
  });

  test('shows ten results of a kind, and links to the others', async (t) => {
    const { server, shop, actor } = await start(t);
    const { store } = server;
    await store.importProducts(
      actor, Array.from({ length: 11 }, (_, n) => makeNewProduct({ name: `Spoon ${n}` })), 'upsert',
    );
    for (let n = 0; n < 11; n += 1) {
      await store.createKey(shop.sellerId, makeSecret(), makeNewKey({ name: `Spoon ${n}` }));
    }
    const found = await search(shop, 'spoon');
    assert.equal(found.match(/Spoon \d/g)?.length, 20);
    const { text = '' } = shop.user.page ?? {};
    assert.match(text, /<a href="\/portal\/products\?q=spoon">Show all Products</);
    const [, all = ''] = /href="(\/portal\/search\?q=spoon&amp;in=keys)"/.exec(text) ?? [];
    assert.notEqual(all, '');
    assert.match(await search(shop, 'spoon', '&in=keys'), /^API keys: (?:Spoon \d+(?:, )?){11}$/);
  });

  test('finds keys by their names and last four characters, webhooks and imports', async (t) => {
    const { server: { store }, shop, actor } = await start(t);
    const { sellerId } = shop;
    const secret = { ...makeSecret(), lastFour: 'a1B2' };
    const key = await store.createKey(sellerId, secret, makeNewKey({ name: 'Cash desk' }));
    for (const q of ['desk cash', 'a1B2', 'A1b2', 'spk_a1B2', 'spk_…a1B2', 'spk_...a1B2']) {
      assert.equal(await search(shop, q), 'API keys: Cash desk', q);
    }
    assert.match(shop.user.page?.text ?? '', /spk_…a1B2/);
    assert.equal(await search(shop, 'spk_…zzzz'), '');
    const keyId = formatKeyId({ sellerId, keyId: key.id });
    assert.equal(await search(shop, keyId), 'Exact match: Cash desk');
    const { webhook } = await store.createWebhook(actor, {
      url: 'https://hooks.example/orders', description: 'Warehouse', types: null,
      status: 'active',
    } as never);
    assert.equal(await search(shop, 'example ware'), 'Webhooks: Warehouse');
    assert.equal(await search(shop, formatWebhookId(webhook)), 'Exact match: Warehouse');
    await store.createProduct(actor, makeNewProduct({ sku: 'one', name: 'Mug' }));
    await shop.send({
      method: 'POST', path: '/api/v1/stock', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ source: 'Till 2', changes: [{ sku: 'one', set: 1 }] }),
    });
    assert.equal(await search(shop, 'TILL'), 'Imports: Stock sync from Till 2');
    const [record] = await store.listImports(sellerId, { before: undefined, limit: 1 });
    assert.ok(record);
    const importId = formatImportId(sellerId, record.id);
    assert.equal(await search(shop, importId), 'Exact match: Stock sync from Till 2');
  });

  test('finds pages by their titles and by synonyms', async (t) => {
    const { shop } = await start(t);
    assert.equal(await search(shop, '2fa'), 'Pages: Two-factor authentication');
    assert.equal(await search(shop, 'passw'), 'Pages: Password, Password sign-in');
    assert.equal(await search(shop, 'key'), 'API keys: My first key; '
      + 'Pages: API keys, Create API key, Find an API key, Leaked API key');
    assert.equal(await search(shop, 'factor two'),
      'Pages: Two-factor authentication, Require two-factor authentication');
  });

  test('explains what can be searched for if it has no results', async (t) => {
    const { shop } = await start(t);
    assert.equal(await search(shop, ''), '');
    assert.match(readText(shop.user.page?.text ?? ''), /What you can search for/);
    assert.equal(await search(shop, 'no such thing'), '');
    assert.match(readText(shop.user.page?.text ?? ''), /Nothing matches “no such thing”.*What you/);
  });

  test('rejects overlong queries, and escapes hostile ones', async (t) => {
    const { shop: { user }, shop } = await start(t);
    for (const q of ['x'.repeat(201), 'a\u0007b']) {
      assertPage(await user.get(`/portal/search?q=${encodeURIComponent(q)}`), 400);
    }
    const hostile = ['"><script>alert(1)</script>', '%_!\\', '"', "' OR 1=1 --", 'NEAR(a b)', '😀'];
    for (const q of hostile) {
      assert.equal(await search(shop, q), '', q);
      assert.doesNotMatch(user.page?.text ?? '', /<script>/);
    }
    await search(shop, 'mug', '&in=constructor');
  });

  test('finds nothing of another shop', async (t) => {
    const { server, shop } = await start(t);
    const other = await openShop(server);
    const [key] = await server.store.listKeys(other.sellerId, { after: undefined, limit: 1 });
    assert.ok(key);
    const actor = { sellerId: other.sellerId, keyId: key.id };
    const { id } = await server.store.createProduct(
      actor, makeNewProduct({ sku: 'THEIRS', name: 'Theirs' }),
    );
    for (const q of [
      'theirs', formatProductId(other.sellerId, id),
      formatKeyId({ sellerId: other.sellerId, keyId: key.id }),
    ]) assert.equal(await search(shop, q), '', q);
    await assertRequiresSignIn(server, ['/search']);
  });

  test('redirects from a pasted key to its page, and never shows the key', async (t) => {
    const { server, shop, actor } = await start(t);
    const { user } = shop;
    const found = await user.get(`/portal/search?q=${shop.key}`);
    assert.equal(found.headers.location, `/portal/keys/${formatKeyId(actor)}?done=found`);
    const line = await user.get(`/portal/search?q=spk_live%3D${shop.key}`);
    assert.equal(line.headers.location, found.headers.location);
    for (const key of [generateApiKey(), (await openShop(server)).key]) {
      const unknown = await user.get(`/portal/search?q=x%20${key}`);
      assertPage(unknown);
      assert.ok(!unknown.text.includes(key));
      assert.match(readText(unknown.text), /does not belong to your shop.*Do not search for whole/);
    }
  });
});

test('a search finds only what the role may see', async (t) => {
  const { server, shop } = await start(t);
  await server.store.createKey(shop.sellerId, makeSecret(), makeNewKey({ name: 'Mug' }));
  assert.match(await search(shop, 'key'), /^API keys: My first key; Pages: API keys/);
  for (const role of ['editor', 'viewer'] as const) {
    const colleague = { ...shop, ...await addColleague(server, shop, role) };
    for (const q of ['key', 'first', 'webhook', 'leaked']) {
      assert.doesNotMatch(await search(colleague, q), /key|leak|webhook/i, q);
    }
    const pasted = await colleague.user.get(`/portal/search?q=${shop.key}`);
    assertPage(pasted);
    assert.match(readText(pasted.text), /Only owners see API keys/);
    assert.ok(!pasted.text.includes(shop.key));
    const create = role === 'editor' ? 'Pages: New product' : '';
    assert.equal(await search(colleague, 'new product'), create);
  }
});

test('a search finds each page once', async (t) => {
  const { shop: { user } } = await start(t);
  const sections = routes.flatMap((route) => 'section' in route && route.section !== undefined
    ? [{ path: route.path, name: route.section }] : []);
  const found = new Set<string>();
  for (const q of 'abcdefghijklmnopqrstuvwxyz') {
    const paths = findPages(sections, q).map(({ path }) => path);
    assert.deepEqual(paths, [...new Set(paths)], q);
    for (const path of paths) found.add(path);
  }
  for (const { method, access, path } of routes) {
    if (method !== 'GET' || access === 'public' || path.includes('{')) continue;
    if (['/live', '/search', ...found].includes(path)) continue;
    const { status, headers } = await user.get(`/portal${path}`);
    const isPage = status === 200 && headers['content-type']?.startsWith('text/html');
    assert.ok(!isPage, path);
  }
  for (const [q, expected] of [
    ['passkey', '/account/passkeys'], ['webauthn', '/account/passkeys'], ['chart', '/'],
    ['turn off password', '/account/password-sign-in'], ['top movers', '/reports'],
    ['theme', '/account'], ['export', '/import'], ['getting started', '/start'],
  ] as const) assert.equal(findPages(sections, q)[0]?.path, expected, q);
});

test('every page in the search exists', () => {
  const paths = new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const found = [...'abcdefghijklmnopqrstuvwxyz2'].flatMap((letter) => findPages([], letter));
  assert.ok(found.length > 20);
  for (const { path } of found) assert.ok(paths.has(path), path);
});
