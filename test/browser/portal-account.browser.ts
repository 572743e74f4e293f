/** Signing in and the account in a real browser: without scripts, on phones, and in the dark. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { showCode } from '../portal/authenticator.ts';
import { openShop } from '../portal/visitor.ts';
import { makeClock } from '../support/clock.ts';
import { startServer } from '../support/server.ts';
import { findFaultsInAllViews } from './accessibility.ts';
import { type Browser, openBrowser } from './browser.ts';

/** A browser without scripts, at the sign-in of a shop. */
async function open(t: TestContext, to: string) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const shop = await openShop(server);
  const browser = await openBrowser(t);
  await browser.setScripts(false);
  const url = `http://127.0.0.1:${server.port}/portal`;
  await browser.open(`${url}/sign-in?${new URLSearchParams({ to })}`);
  return { clock, server, shop, browser, url };
}

async function signIn(browser: Browser, email: string, password: string): Promise<void> {
  await (await browser.findByLabel('E-mail')).fill(email);
  await (await browser.findByLabel('Password')).fill(password);
  await (await browser.findByRole('button', 'Sign in')).follow();
}

async function assertSound(browser: Browser): Promise<void> {
  // On a phone the navigation is behind a button.
  assert.deepEqual(await findFaultsInAllViews(browser, { hasNavigation: false }), []);
  assert.deepEqual(await browser.consoleErrors(), []);
  assert.deepEqual(await browser.policyViolations(), []);
}

/** Pictures of a page as it is on a desk and, in the dark, on a phone. */
async function take(browser: Browser, name: string): Promise<void> {
  await browser.screenshot(name);
  await browser.setDark(true);
  await browser.setViewport(320, 800);
  await browser.screenshot(`${name}-phone`);
  await browser.setDark(false);
  await browser.setViewport(1280, 800);
}

test('one-time codes are switched on, asked for and switched off without scripts', async (t) => {
  const { clock, browser, shop: { email, password } } = await open(t, '/account/second-step');
  await assertSound(browser);
  await signIn(browser, email, 'a wrong password');
  await assertSound(browser);
  await take(browser, 'sign-in-refused');
  await signIn(browser, email, password);
  assert.match(await browser.title(), /^One-time codes/);
  await assertSound(browser);
  await take(browser, 'second-step');
  const secret = await browser.run(() =>
    document.getElementById('copy-secret')?.textContent ?? '');
  await (await browser.findByLabel('Code that the app shows')).fill('000000');
  await (await browser.findByLabel('Your password')).fill('wrong');
  await (await browser.findByRole('button', 'Switch on')).follow();
  await assertSound(browser);
  const code = showCode(secret, clock.now);
  await (await browser.findByLabel('Code that the app shows')).fill(code);
  await (await browser.findByLabel('Your password')).fill(password);
  await (await browser.findByRole('button', 'Switch on')).follow();
  assert.match(await browser.title(), /^Recovery codes/);
  await assertSound(browser);
  await take(browser, 'recovery-codes');
  await (await browser.findByRole('link', 'I have kept them')).follow();
  await (await browser.findByRole('button', 'Sign out')).follow();

  clock.now += 30_000;
  await signIn(browser, email, password);
  assert.match(await browser.title(), /^Your code/);
  await assertSound(browser);
  await take(browser, 'sign-in-code');
  await (await browser.findByLabel('Code')).fill(showCode(secret, clock.now));
  await (await browser.findByRole('button', 'Sign in')).follow();
  assert.match(await browser.title(), /^Overview/);
});

test('the account, its sessions and its activity are read and changed without scripts',
  async (t) => {
    const { browser, url, shop: { email, password } } = await open(t, '/account');
    await signIn(browser, email, password);
    await assertSound(browser);
    await take(browser, 'account');
    await (await browser.findByLabel('Low stock')).fill('x');
    await (await browser.findByRole('button', 'Save the settings')).follow();
    await assertSound(browser);
    await take(browser, 'account-refused');
    await (await browser.findByRole('link', 'Change the e-mail')).follow();
    await assertSound(browser);
    await browser.open(`${url}/account/password`);
    await assertSound(browser);
    await take(browser, 'password');
    await (await browser.findByRole('link', 'Leave it')).follow();
    await (await browser.findByRole('link', 'Show where')).follow();
    await assertSound(browser);
    await take(browser, 'sessions');
    await (await browser.findByRole('button', 'Sign out all others')).follow();
    await browser.findByText('All other browsers are signed out.');
    await browser.open(`${url}/activity`);
    await assertSound(browser);
    await take(browser, 'activity');
    await (await browser.findByLabel('Show')).choose('An API key was rotated');
    await (await browser.findByRole('button', 'Show')).follow();
    await browser.findByText(/Nothing of this kind happened/);
    await assertSound(browser);
  });
