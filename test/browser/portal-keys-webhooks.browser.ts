/** Keys, webhooks, changes and the pages of the API in a real browser, mostly without scripts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOCAL } from '../api/webhooks.ts';
import { makeProduct } from '../support/server.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { fillIn, follow, inspect, openPortal, press } from './portal.ts';

test('a key is made, rotated and revoked without scripts', async (t) => {
  const { browser } = await openPortal(t, { path: '/keys', scripts: false });
  await follow(browser, 'New key');
  await press(browser, 'Make the key');
  await inspect(browser, 'key-faults');
  await fillIn(browser, { Name: 'Cash desk' });
  await (await browser.findByLabel(/^Read products and stock/)).click();
  await fillIn(browser, { 'It may be used from': '192.0.2.0/24' });
  await press(browser, 'Make the key');
  await browser.findByText(/^spk_\w{36}$/);
  await inspect(browser, 'key-made');
  await follow(browser, 'All keys');
  await follow(browser, 'Cash desk');
  await press(browser, 'Rotate');
  await browser.findByText(/^spk_\w{36}$/);
  await follow(browser, 'All keys');
  const [newest] = await browser.findAllByRole('link', 'Cash desk');
  await newest?.follow();
  await follow(browser, 'Revoke …');
  await press(browser, 'Revoke this key');
  await browser.findByText(/^The key is revoked/);
});

test('the second click of a double click sends no form again', async (t) => {
  const { browser, server, shop } = await openPortal(t, { path: '/keys/new' });
  await fillIn(browser, { Name: 'Cash desk' });
  await (await browser.findByLabel(/^Read products and stock/)).click();
  await browser.run(() => {
    const button = document.querySelector<HTMLElement>('main form button');
    button?.click();
    button?.click();
  });
  await browser.findByText(/^spk_\w{36}$/);
  const keys = await server.store.listKeys(shop.sellerId, { after: undefined, limit: 9 });
  assert.equal(keys.length, 2);
});

test('a webhook is made, tested and looked at without scripts', async (t) => {
  const { browser } = await openPortal(t, { path: '/webhooks', scripts: false, webhooks: LOCAL });
  const receiver = await startReceiver(t);
  await inspect(browser, 'webhooks-none');
  await follow(browser, 'New webhook');
  await press(browser, 'Make the webhook');
  await inspect(browser, 'webhook-faults');
  await fillIn(browser, { Address: receiver.url });
  await press(browser, 'Make the webhook');
  await browser.findByText(/^whsec_\S{20}/);
  await inspect(browser, 'webhook-secret');
  await follow(browser, 'To the webhook');
  await press(browser, 'Send a test message');
  await browser.findByText(/^The test message has arrived/);
  await inspect(browser, 'webhook');
  await fillIn(browser, { 'Everything after position': 'x' });
  await press(browser, 'Send again');
  await inspect(browser, 'webhook-replay');
  await follow(browser, 'All webhooks');
  await inspect(browser, 'webhooks');
});

test('changes are read and filtered without scripts', async (t) => {
  const { browser, shop, url } = await openPortal(t, { path: '/changes', scripts: false });
  await inspect(browser, 'changes-none');
  for (let n = 0; n < 30; n += 1) {
    const { status, text } = await shop.send({
      method: 'POST', path: '/api/v1/products', headers: { 'content-type': 'application/json' },
      body: JSON.stringify(makeProduct()),
    });
    assert.equal(status, 201, text);
  }
  await browser.open(`${url}/changes`);
  await inspect(browser, 'changes');
  await follow(browser, 'Next page');
  await fillIn(browser, { Product: 'NO-SUCH' });
  await press(browser, 'Show');
  await browser.findByText(/^Nothing was found/);
});

test('the pages of the API can be read in every view', async (t) => {
  const { browser, url } = await openPortal(t, { path: '/api' });
  await inspect(browser, 'api');
  await (await browser.findByText('Change the stock of many products')).follow();
  await inspect(browser, 'api-operation');
  await browser.open(`${url}/api/problems`);
  await inspect(browser, 'api-problems');
});
