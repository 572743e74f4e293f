/** API keys: created, used, rotated and revoked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestServer } from '../support/server.ts';
import { assertQuiet, fillIn, follow, inspect, openPortal, press, readMain } from './portal.ts';

test('creates a key that works until it is revoked', async (t) => {
  const { browser, server } = await openPortal(t, { path: '/keys', scripts: false });
  await follow(browser, 'Create key');
  await press(browser, 'Create key');
  assert.equal((await (await browser.findByRole('alert')).findAll('a')).length, 2);
  await inspect(browser, 'key-refused');
  await fillIn(browser, { Name: 'Cash desk', 'Allowed addresses': '127.0.0.0/8' });
  await (await browser.findByLabel(/^Read products/)).click();
  await press(browser, 'Create key');
  await inspect(browser, 'key-made');
  const key = await (await browser.find('#copy-key')).text();
  assert.equal(await call(server, key), 200);

  await follow(browser, 'All API keys');
  assert.doesNotMatch(await browser.run(() => document.documentElement.outerHTML),
    new RegExp(key)); // shown once
  await follow(browser, 'Cash desk');
  await follow(browser, 'Revoke key');
  await follow(browser, 'Cancel');
  assert.equal(await call(server, key), 200);
  await follow(browser, 'Revoke key');
  await press(browser, 'Revoke key');
  assert.match(await readMain(browser), /Key revoked/);
  assert.equal(await call(server, key), 401);
  await inspect(browser, 'keys-revoked');
});

test('rotates a key, and expires the old one immediately if that was chosen', async (t) => {
  const { browser, server, shop } = await openPortal(t, { path: '/keys' });
  await follow(browser, 'My first key');
  await (await browser.findByLabel('Keep the old key valid for'))
    .choose('Expire immediately');
  await press(browser, 'Rotate key');
  const key = await (await browser.find('#copy-key')).text();
  assert.equal(await call(server, key), 200);
  assert.equal(await call(server, shop.key), 401);
  await assertQuiet(browser);
});

test('creates one key on a double click', async (t) => {
  const { browser, server, shop } = await openPortal(t, { path: '/keys/new' });
  await fillIn(browser, { Name: 'Twice' });
  await (await browser.findByLabel(/^Read products/)).click();
  const button = await browser.findByRole('button', 'Create key');
  await browser.run((element) => {
    if (element instanceof HTMLElement) for (let click = 0; click < 2; click += 1) element.click();
  }, button);
  await browser.find('#copy-key');
  const keys = await server.store.listKeys(shop.sellerId, { after: undefined, limit: 10 });
  assert.deepEqual(keys.map(({ name }) => name).sort(), ['My first key', 'Twice']);
});

/** The status of an API request with this key. */
async function call({ send }: TestServer, key: string): Promise<number> {
  return (await send({ path: '/api/v1/products', headers: { 'x-api-key': key } })).status;
}
