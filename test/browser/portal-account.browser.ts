/** The account: its settings, sessions and activity log; without scripts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../support/server.ts';
import { openShop } from '../features/portal/page-client.ts';
import { openBrowser } from './browser.ts';
import { fillIn, follow, inspect, openPortal, press, readMain, signIn } from './portal.ts';

test('rejects a wrong password, and opens the requested page after the right one', async (t) => {
  const server = await startServer(t, { portal: true });
  const shop = await openShop(server);
  const browser = await openBrowser(t);
  await browser.setScripts(false);
  await browser.open(`http://127.0.0.1:${server.port}/portal/account/sessions`);
  await signIn(browser, { ...shop, password: 'a guess' });
  assert.equal(await (await browser.findByLabel('E-mail')).value(), shop.email);
  await inspect(browser, 'sign-in-refused', { hasNavigation: false });
  await signIn(browser, shop);
  assert.match(await browser.title(), /^Sessions/);
});

test('rejects invalid settings at their fields, and saves valid ones', async (t) => {
  const { browser } = await openPortal(t, { path: '/account', scripts: false });
  await fillIn(browser, { 'Language and region': 'de-CH', 'Time zone': 'x' });
  await press(browser, 'Save settings');
  await inspect(browser, 'account-refused');
  await fillIn(browser, { 'Time zone': 'Europe/Zurich' });
  await press(browser, 'Save settings');
  assert.match(await readMain(browser), /Settings saved.*Example: EUR\s12.345\.67/s);
  await inspect(browser, 'account-saved');
});

test('changes the e-mail and the password, and signs out other browsers', async (t) => {
  const { browser, shop, url } = await openPortal(t, { path: '/account', scripts: false });
  await follow(browser, 'Change e-mail');
  await fillIn(browser, { 'New e-mail': 'me@shop.example', 'Current password': shop.password });
  await press(browser, 'Change e-mail');
  await follow(browser, 'Change password');
  const password = 'three grey boats and a heron';
  await fillIn(browser, { 'Current password': shop.password, 'New password': 'short' });
  await press(browser, 'Change password');
  await inspect(browser, 'account-password-refused');
  await fillIn(browser, { 'Current password': shop.password, 'New password': password });
  await press(browser, 'Change password');
  assert.match(await readMain(browser), /All other browsers are signed out.*1 browser\b/s);
  assert.equal((await shop.user.get('/portal')).status, 303);
  await press(browser, 'Sign out');
  await browser.open(`${url}/sign-in`);
  await signIn(browser, { email: 'me@shop.example', password });
  assert.match(await browser.title(), /^Overview/);
});

test('signs out another browser, and shows it in the activity log', async (t) => {
  const { browser, shop, url } = await openPortal(t, { path: '/account', scripts: false });
  await follow(browser, 'View sessions');
  await press(browser, 'Sign out all others');
  assert.match(await readMain(browser), /All other browsers signed out\./);
  assert.equal((await shop.user.get('/portal')).status, 303);
  await browser.open(`${url}/activity`);
  await (await browser.findByLabel('Event type'))
    .choose('Signed out from another browser');
  await press(browser, 'Show');
  assert.equal((await browser.findAll('tbody tr')).length, 2);
  await (await browser.findByLabel('Event type')).choose('API key rotated');
  await press(browser, 'Show');
  assert.match(await readMain(browser), /No activity of this type/);
  await inspect(browser, 'activity-none');
});
