/** Signing in with two-factor authentication, and with recovery codes for a lost phone. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { showCode } from '../features/portal/sign-in/authenticator.ts';
import { makeClock } from '../support/clock.ts';
import { fillIn, follow, inspect, openPortal, press, readMain, signIn } from './portal.ts';

const STEP_MS = 30_000;

test('turns on two-factor authentication, and accepts each code once', async (t) => {
  const { browser, shop, clock, secret } = await turnOn(t);
  await follow(browser, "I've saved these codes");
  assert.match(await readMain(browser), /Two-factor authentication\s+On/);

  const first = showCode(secret, clock.now += STEP_MS);
  await press(browser, 'Sign out');
  await signIn(browser, shop);
  await inspect(browser, 'sign-in-code', { hasNavigation: false });
  await sendCode('000000');
  assert.match(await browser.text(), /You are not signed in yet/);
  await sendCode(first);
  assert.match(await browser.title(), /^Overview/);

  await press(browser, 'Sign out');
  await signIn(browser, shop);
  await sendCode(first); // still the code that the app shows
  assert.match(await (await browser.findByRole('alert')).text(), /Each code works once/);
  await inspect(browser, 'sign-in-code-refused', { hasNavigation: false });
  await sendCode(showCode(secret, clock.now += STEP_MS));
  assert.match(await browser.title(), /^Overview/);

  async function sendCode(code: string): Promise<void> {
    await fillIn(browser, { 'Authentication code': code });
    await press(browser, 'Verify');
  }
});

test('signs in with a recovery code, which works once', async (t) => {
  const { browser, shop, codes } = await turnOn(t);
  const [code = ''] = codes;
  const tryCode = async (typed: string) => {
    await signIn(browser, shop);
    await fillIn(browser, { 'Authentication code': typed });
    await press(browser, 'Verify');
  };
  await press(browser, 'Sign out');
  await tryCode(code.toLowerCase());
  assert.match(await browser.title(), /^Overview/);
  await press(browser, 'Sign out');
  await tryCode(code);
  assert.match(await browser.text(), /You are not signed in yet/);
  await fillIn(browser, { 'Authentication code': codes[1] ?? '' });
  await press(browser, 'Verify');
  await follow(browser, 'Account');
  await follow(browser, 'Manage two-factor authentication');
  assert.match(await readMain(browser), /You have 8\s+recovery codes left/);
  await inspect(browser, 'account-two-factor-on');
});

test('does not turn on two-factor authentication with a wrong code and password', async (t) => {
  const clock = makeClock();
  const { browser, shop } = await openPortal(t, { clock, path: '/account/two-factor' });
  const secret = await (await browser.find('#copy-secret')).text();
  await fillIn(browser, { 'Code from the app': '123456', 'Current password': 'a guess' });
  await press(browser, 'Turn on');
  assert.match(await readMain(browser), /Incorrect code.*Incorrect password/s);
  assert.equal(await (await browser.find('#copy-secret')).text(), secret); // the app keeps working
  await inspect(browser, 'account-two-factor-refused');
  await press(browser, 'Sign out');
  await signIn(browser, shop);
  assert.match(await browser.title(), /^Overview/);
});

/** Turns on two-factor authentication, and leaves the recovery codes open. */
async function turnOn(t: TestContext) {
  const clock = makeClock();
  const { browser, shop } = await openPortal(t, { clock, path: '/account', scripts: false });
  await follow(browser, 'Turn on two-factor authentication');
  const secret = await (await browser.find('#copy-secret')).text();
  await fillIn(browser, {
    'Code from the app': showCode(secret, clock.now), 'Current password': shop.password,
  });
  await press(browser, 'Turn on');
  await inspect(browser, 'recovery-codes');
  const codes = (await (await browser.find('#copy-codes')).text()).split('\n');
  assert.equal(codes.length, 10);
  return { browser, shop, clock, secret, codes };
}
