/** Inviting a colleague, who then works as a viewer; with scripts, as the link needs them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from './browser.ts';
import { fillIn, follow, inspect, openPortal, press, readMain } from './portal.ts';

test('invites a colleague, who joins by the link and cannot edit', async (t) => {
  const { browser, shop, url } = await openPortal(t, { path: '/people' });
  await shop.create();
  await inspect(browser, 'people');
  await follow(browser, 'Invite someone');
  await fillIn(browser, { Name: 'Ben' });
  await fillIn(browser, { 'Current password': shop.password });
  await (await browser.find('input[name="role"][value="viewer"]')).click();
  await inspect(browser, 'people-invite');
  await press(browser, 'Create invitation');
  const link = await (await browser.find('#copy-link')).text();
  await inspect(browser, 'people-invited');

  const ben = await openBrowser(t);
  await ben.open(link);
  assert.match(await (await ben.findByLabel('Invitation code')).value(), /^\w{4}(?:-\w{4}){3}$/);
  await fillIn(ben, { 'E-mail': 'ben@shop.example', Password: 'three slow trains go' });
  await press(ben, 'Join');
  assert.match(await ben.title(), /^Overview/);
  await ben.open(`${url}/products`);
  assert.match(await readMain(ben), /Product 1/);
  assert.doesNotMatch(await readMain(ben), /New product|Edit stock and price/);
  await inspect(ben, 'products-viewer');
  await ben.open(`${url}/keys`);
  assert.match(await readMain(ben), /needs the role Owner, and yours is Viewer/);

  await browser.open(`${url}/people`);
  assert.match(await readMain(browser), /Ben/);
  assert.doesNotMatch(await readMain(browser), /Invited/);
  await inspect(browser, 'people-two');
  await follow(browser, 'Require two-factor authentication');
  await fillIn(browser, { 'Current password': shop.password });
  await inspect(browser, 'people-two-factor');
  await press(browser, 'Require');
  assert.match(await readMain(browser), /Your shop requires two-factor authentication/);
  await inspect(browser, 'two-factor-required');
  await ben.open(`${url}/products`);
  assert.match(await readMain(ben), /Your shop requires two-factor authentication/);
});
