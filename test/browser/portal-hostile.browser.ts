/**
 * Hostile names on every page that shows them: they are displayed as text, and never run, load
 * anything or become elements.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formatKeyId } from '../../src/domain/id.ts';
import { LOCAL } from '../features/webhooks/routes.ts';
import { openOther } from '../features/portal/products/catalogue.ts';
import { startServer } from '../support/server.ts';
import { startReceiver } from '../features/webhooks/receiver.ts';
import { type Lifetime, openBrowser } from './browser.ts';
import { assertQuiet, fillIn, follow, press, pressAndFinish, signIn } from './portal.ts';

declare global {
  interface Window {
    /** The global that the names try to set. */
    canary?: unknown;
  }
}

const ESCAPING = '</title></textarea></style><script>canary=1</script>';
const NAMES = [
  '<script>canary=1</script>',
  '"><img src=x onerror=canary=1>',
  "' autofocus onfocus='canary=1",
  'javascript:canary=1',
  '{{7*7}} ${7*7} <%= 7*7 %>',
  '<svg onload=canary=1><a href="javascript:canary=1">x</a></svg>',
  '\u202Edekcah\u2066 &lt;b&gt; &#39;',
  '<base href="https://evil.example/"><link rel=stylesheet href="//evil.example/a.css">',
  ESCAPING,
] as const;

const lifetime: Lifetime = { after };
const receiver = await startReceiver(lifetime);
const server = await startServer(lifetime, { portal: true, webhooks: LOCAL });
const shop = await openOther(server, { name: ESCAPING });
const browser = await openBrowser(lifetime);
const url = `http://127.0.0.1:${server.port}/portal`;
await browser.open(`${url}/sign-in`);
await signIn(browser, shop);

const products = await Promise.all(NAMES.map(async (name, n) => {
  // A SKU has no invisible characters.
  const sku = `${n} ${name}`.replace(/\p{Cf}/gu, '').slice(0, 64).trim();
  const { id } = await shop.create({ name, category: name, sku, stock: 9 });
  await shop.sync([{ id, adjust: -7, reason: name }], { source: name.slice(0, 64) });
  await shop.patch({ id }, { category: `${name} ` });
  return { name, sku, path: `/products/${id}` };
}));
const deleted = await shop.create({ name: NAMES[0], sku: '<b>gone</b>' });
await shop.send({ method: 'DELETE', path: `/api/v1/products/${deleted.id}` });

/** Opens a page, and asserts that it shows these texts as text only. */
async function assertHarmless(path: string, texts: readonly string[]): Promise<void> {
  await browser.open(url + path);
  await assertShown(texts, path);
}

async function assertShown(texts: readonly string[], where: string): Promise<void> {
  const found = await browser.run(() => ({
    title: document.title,
    text: [document.body.innerText, ...[...document.querySelectorAll('input, textarea, option')]
      .map((field) => 'value' in field ? String(field.value) : '')].join('\n'),
    canary: typeof window.canary,
    foreign: [...document.querySelectorAll(
      'script:not([src^="/portal/assets/"]), img, base, iframe, svg:not(.plot), '
      + '[autofocus]:not([role="alert"]), link:not([href^="/portal/assets/"]), '
      + '[href^="javascript:"], [action*=":"]',
    )].map(({ outerHTML }) => outerHTML),
    handlers: [...document.querySelectorAll('*')].flatMap(({ attributes }) =>
      [...attributes].map(({ name }) => name).filter((name) => /^on|^style$/.test(name))),
  }));
  const plain = (text: string) => text.replace(/\s+/g, ' ').trim();
  for (const text of texts) {
    assert.ok(plain(found.text).includes(plain(text)), `${where} does not show ${text}`);
  }
  assert.ok(plain(found.title).endsWith(ESCAPING), `${where} is titled ${found.title}`);
  assert.equal(found.canary, 'undefined', where);
  assert.deepEqual(found.foreign, [], where);
  assert.deepEqual(found.handlers, [], where);
}

test('renders hostile product names as text in lists', async () => {
  await assertHarmless('/', [ESCAPING, ...NAMES]);
  await assertHarmless('/products', products.flatMap(({ name, sku }) => [name, sku.slice(0, 30)]));
  await assertHarmless('/changes', ['<b>gone</b>']); // the first of its pages
  for (const type of ['created', 'updated', 'stock']) {
    const shown = products.flatMap(({ name, sku }) => [name.slice(0, 40), sku.slice(0, 30)]);
    await assertHarmless(`/changes?type=${type}`, shown);
  }
});

for (const { name, sku, path } of products) {
  test(`the product ${JSON.stringify(name)} renders as text on its own pages`, async () => {
    await assertHarmless(path, [name, sku]);
    assert.equal(await (await browser.find('h1')).text(), name);
    assert.equal(await (await browser.findByLabel('Name')).value(), name);
    const movements = await (await browser.find('#movements')).text();
    assert.ok(movements.includes(name), movements);
    await fillIn(browser, { 'Price in EUR': name.replace(/\p{Cf}/gu, '') });
    await press(browser, 'Save');
    await assertShown([name, sku], 'a rejected edit');
    await assertHarmless(`${path}/delete`, [name, sku]);
    await assertHarmless(`/products?${new URLSearchParams({ q: name, price_min: name })}`, [name]);
    await assertHarmless(`/changes?${new URLSearchParams({ product: sku })}`, [sku]);
  });
}

test('renders hostile names of keys and webhooks as text', async () => {
  for (const name of NAMES) {
    await browser.open(`${url}/keys/new`);
    await fillIn(browser, { Name: name.slice(0, 60) });
    await (await browser.findByLabel(/^Read products/)).click();
    await press(browser, 'Create key');
    await assertShown([name.slice(0, 60)], 'a new key');
  }
  const names = NAMES.map((name) => name.slice(0, 60));
  await assertHarmless('/keys', names);
  await assertHarmless('/activity', names);
  const keys = await server.store.listKeys(shop.sellerId, { after: undefined, limit: 20 });
  for (const key of keys) {
    const path = `/keys/${formatKeyId({ sellerId: key.sellerId, keyId: key.id })}`;
    await assertHarmless(path, [key.name]);
    await assertHarmless(`${path}/revoke`, [key.name]);
  }
  for (const description of NAMES) {
    await browser.open(`${url}/webhooks/new`);
    await fillIn(browser, { URL: `${receiver.url}?<b>`, Description: description });
    await press(browser, 'Create webhook');
    await follow(browser, 'View webhook');
    await assertShown([description], 'a webhook');
    await follow(browser, 'Edit');
    await assertShown([description], 'the form of a webhook');
  }
  await assertHarmless('/webhooks', NAMES);
});

test('renders hostile names in a file as text, in the preview and after the import', async () => {
  const { user } = shop;
  await user.get('/portal/import');
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const rows = NAMES.flatMap((name, n) => [
    [name, name, `IMPORT-${n}`, '1', '1'], [name, name, `REFUSED-${n} ${name}`, name, '1'],
  ]);
  const table = [['name', 'category', 'sku', 'price', 'stock', ...NAMES],
    ...rows.map((row) => [...row, ...NAMES.map(() => '')])];
  const text = table.map((row) => row.map(quote).join(',')).join('\r\n');
  await user.submit({ file: new File([text], `${NAMES[1]}.csv`) });
  const path = String(user.page?.headers.location).replace('/portal', '');
  await assertHarmless(path, [`${NAMES[1]}.csv`, NAMES[0]]);
  await pressAndFinish(browser, 'Import now');
  await assertShown([`${NAMES[1]}.csv`], 'an import');
  await assertHarmless('/import', [`${NAMES[1]}.csv`]);
});

test('renders hostile query parameters as text', async () => {
  for (const name of NAMES) {
    const query = (...fields: string[]) =>
      `?${new URLSearchParams(fields.map((field) => [field, name]))}`;
    await assertHarmless(`/activity${query('type', 'before', 'done')}`, []);
    await assertHarmless(`/account${query('done')}`, []);
    await assertHarmless(`/products${query('category', 'stock', 'sort', 'cursor')}`, [name]);
    await assertHarmless(`/changes${query('type', 'up_to')}`, []);
    await browser.open(`${url}/${encodeURIComponent(name)}`);
    assert.equal(await browser.run(() => typeof window.canary), 'undefined');
  }
});

test('never redirects to another site after the sign-in', async () => {
  for (const to of ['javascript:canary=1', '//evil.example', 'https://evil.example', '/\\evil']) {
    await browser.open(`${url}/account`);
    await press(browser, 'Sign out');
    await browser.open(`${url}/sign-in?${new URLSearchParams({ to })}`);
    await signIn(browser, shop);
    assert.match(await browser.url(), new RegExp(`^${url}`), to);
  }
});

test('renders hostile names as text in live updates', async () => {
  await browser.open(`${url}/products?sort=-id`);
  const [{ path }] = [products[0] ?? assert.fail()];
  const id = path.replace('/products/', '');
  for (const [n, name] of NAMES.entries()) {
    await shop.patch({ id }, { name: `${name} ${n}`, category: `${name} ${n}` });
    await browser.waitFor(name, () => browser.run((selector, text) =>
      document.querySelector(selector)?.textContent === text,
    `[href$="/${id}"][data-live="name"]`, `${name} ${n}`));
  }
  await assertShown([NAMES.at(-1) ?? ''], 'a live page');
  await browser.screenshot('products-hostile');
});

test('had no policy violation and no request to another host', async () => {
  await assertQuiet(browser);
});
