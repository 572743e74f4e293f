/** Signing in with a second step: one-time codes by the clock, and the codes for a lost phone. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { showCode } from '../features/portal/sign-in/authenticator.ts';
import { makeClock } from '../support/clock.ts';
import { fillIn, follow, inspect, openPortal, press, readMain, signIn } from './portal.ts';

const STEP_MS = 30_000;

test('one-time codes are switched on, asked for, and each taken once', async (t) => {
  const { browser, shop, clock, secret } = await switchOn(t);
  await follow(browser, 'I have kept them');
  assert.match(await readMain(browser), /One-time codes\s+On/);

  const first = showCode(secret, clock.now += STEP_MS);
  await press(browser, 'Sign out');
  await signIn(browser, shop);
  await inspect(browser, 'sign-in-code', { hasNavigation: false });
  await sendCode('000000');
  assert.match(await browser.text(), /You are not signed in/);
  await sendCode(first);
  assert.match(await browser.title(), /^Overview/);

  await press(browser, 'Sign out');
  await signIn(browser, shop);
  await sendCode(first); // still the code that the app shows
  assert.match(await (await browser.findByRole('alert')).text(), /each is good once/);
  await inspect(browser, 'sign-in-code-refused', { hasNavigation: false });
  await sendCode(showCode(secret, clock.now += STEP_MS));
  assert.match(await browser.title(), /^Overview/);

  async function sendCode(code: string): Promise<void> {
    await fillIn(browser, { Code: code });
    await press(browser, 'Sign in');
  }
});

test('a recovery code signs in without the phone, once', async (t) => {
  const { browser, shop, codes } = await switchOn(t);
  const [code = ''] = codes;
  const tryCode = async (typed: string) => {
    await signIn(browser, shop);
    await fillIn(browser, { Code: typed });
    await press(browser, 'Sign in');
  };
  await press(browser, 'Sign out');
  await tryCode(code.toLowerCase());
  assert.match(await browser.title(), /^Overview/);
  await press(browser, 'Sign out');
  await tryCode(code);
  assert.match(await browser.text(), /You are not signed in/);
  await fillIn(browser, { Code: codes[1] ?? '' });
  await press(browser, 'Sign in');
  await follow(browser, 'Account');
  await follow(browser, 'Recovery codes, switch off');
  assert.match(await readMain(browser), /You have 8 recovery codes left/);
  await inspect(browser, 'account-second-step-on');
});

test('one-time codes are not switched on by a wrong code or a wrong password', async (t) => {
  const clock = makeClock();
  const { browser, shop } = await openPortal(t, { clock, path: '/account/second-step' });
  const secret = await (await browser.find('#copy-secret')).text();
  await fillIn(browser, { 'Code that the app shows': '123456', 'Your password': 'a guess' });
  await press(browser, 'Switch on');
  assert.match(await readMain(browser), /not what the app should show.*not your password/s);
  assert.equal(await (await browser.find('#copy-secret')).text(), secret); // as it is in the app
  await inspect(browser, 'account-second-step-refused');
  await press(browser, 'Sign out');
  await signIn(browser, shop);
  assert.match(await browser.title(), /^Overview/);
});

/** Leaves the page with the recovery codes. */
async function switchOn(t: TestContext) {
  const clock = makeClock();
  const { browser, shop } = await openPortal(t, { clock, path: '/account', scripts: false });
  await follow(browser, 'Switch on');
  const secret = await (await browser.find('#copy-secret')).text();
  await fillIn(browser, {
    'Code that the app shows': showCode(secret, clock.now), 'Your password': shop.password,
  });
  await press(browser, 'Switch on');
  await inspect(browser, 'recovery-codes');
  const codes = (await (await browser.find('#copy-codes')).text()).split('\n');
  assert.equal(codes.length, 10);
  return { browser, shop, clock, secret, codes };
}
