/** Passkeys with a virtual authenticator: added, and used to sign in and to confirm changes. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openOther } from '../features/portal/products/catalogue.ts';
import { startServer } from '../support/server.ts';
import { openBrowser } from './browser.ts';
import { fillIn, follow, inspect, press, readMain, signIn } from './portal.ts';

/** A signed-in browser at localhost, because an IP address cannot have passkeys. */
async function open(t: TestContext, isUserVerified = true) {
  const server = await startServer(t, { portal: true });
  const shop = await openOther(server);
  const browser = await openBrowser(t);
  const authenticator = await browser.addAuthenticator({ isUserVerified });
  const url = `http://localhost:${server.port}/portal`;
  await browser.open(`${url}/sign-in?to=/account/passkeys`);
  await signIn(browser, shop);
  return { browser, shop, url, authenticator };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function add({ browser, shop }: Opened, name: string): Promise<void> {
  await follow(browser, 'Add a passkey');
  await fillIn(browser, { 'Current password': shop.password });
  await press(browser, 'Continue');
  await fillIn(browser, { Name: name });
  await press(browser, 'Create passkey');
}

/** Without user verification, the authenticator does not answer the passkey autofill at once. */
async function signOut({ browser, authenticator }: Opened): Promise<void> {
  await browser.setUserVerified(authenticator, false);
  await press(browser, 'Sign out');
}

/** By the autofill, without a click. */
async function waitForSignIn({ browser }: Opened): Promise<void> {
  await browser.waitFor('the sign-in', async () => (await browser.title()).startsWith('Overview'));
}

test('adds a passkey, and signs in with it without a password', async (t) => {
  const opened = await open(t);
  const { browser } = opened;
  await inspect(browser, 'passkeys-none');
  await follow(browser, 'Add a passkey');
  await inspect(browser, 'passkey-confirm');
  await browser.back();
  await add(opened, 'Test laptop');
  assert.match(await readMain(browser), /Passkey added\..*Test laptop.*Never/s);
  await browser.open(`${opened.url}/account/passkeys`);
  await inspect(browser, 'passkeys');

  await signOut(opened);
  await inspect(browser, 'sign-in-passkey', { hasNavigation: false });
  await browser.setUserVerified(opened.authenticator, true);
  await press(browser, 'Sign in with a passkey');
  assert.match(await browser.title(), /^Overview/);
  await follow(browser, 'Activity');
  assert.match(await readMain(browser), /Signed in with a passkey.*Test laptop, Chrome on/s);
});

test('rejects a passkey that does not verify the user', async (t) => {
  const opened = await open(t);
  const { browser, authenticator, url } = opened;
  await add(opened, 'Test laptop');
  await signOut(opened);
  await (await browser.findByRole('button', 'Sign in with a passkey')).click();
  const message = await browser.waitFor('the error message', async () => {
    const text = await (await browser.find('[data-passkey-error]')).text();
    return text !== '' && text;
  });
  assert.match(message, /Cancelled, or no passkey was found/);
  await inspect(browser, 'sign-in-passkey-refused', { hasNavigation: false });
  await browser.setUserVerified(authenticator, true);
  await press(browser, 'Sign in with a passkey');
  assert.equal(await browser.url(), url);
});

test('rejects a password that is turned off, and still accepts the passkey', async (t) => {
  const opened = await open(t);
  const { browser, shop } = opened;
  await add(opened, 'Test laptop');
  await follow(browser, 'Turn off password sign-in');
  await inspect(browser, 'passkey-password-off');
  await press(browser, 'Turn off with a passkey');
  assert.match(await readMain(browser), /You can no longer sign in with your password\./);
  await follow(browser, 'Test laptop');
  await inspect(browser, 'passkey-rename');
  await follow(browser, 'Remove this passkey');
  await press(browser, 'Use a passkey instead');
  assert.match(await readMain(browser), /This is your only passkey/);
  await signOut(opened);
  await signIn(browser, shop);
  assert.match(await browser.text(), /Incorrect e-mail or password/);
  // A button could not be pressed: from now on the autofill may sign in at any time.
  await browser.setUserVerified(opened.authenticator, true);
  await browser.open(`${opened.url}/sign-in`);
  await waitForSignIn(opened);
});

test('offers a passkey as autofill, and signs in with it', async (t) => {
  const opened = await open(t);
  const { browser } = opened;
  await add(opened, 'Test laptop');
  await press(browser, 'Sign out');
  await waitForSignIn(opened);
});

test('signs in with a password without scripts, and says that passkeys need them', async (t) => {
  const { browser, url } = await open(t);
  await browser.setScripts(false);
  await browser.open(`${url}/account/passkeys`);
  assert.match(await readMain(browser), /Adding and using passkeys needs JavaScript/);
  await inspect(browser, 'passkeys-without-scripts');
});
