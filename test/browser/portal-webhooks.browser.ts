/** Webhooks: one is made to a receiver of this machine, tried, and what was sent is looked at. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { LOCAL } from '../features/webhooks/routes.ts';
import { answerWith, findSigners, startReceiver } from '../features/webhooks/receiver.ts';
import { assertQuiet, fillIn, follow, inspect, openPortal, press, readMain } from './portal.ts';

test('a webhook is made, and shows its secret once', async (t) => {
  const { browser, receiver, secret, shop } = await make(t);
  await inspect(browser, 'webhook-made');
  await follow(browser, 'To the webhook');
  assert.match(await readMain(browser), /Nothing was sent yet/);
  for (const path of ['', '/edit']) {
    if (path !== '') await follow(browser, 'Change');
    const page = await browser.run(() => document.documentElement.outerHTML);
    assert.ok(!page.includes(secret));
  }
  await shop.create();
  await receiver.until((received) => received.length > 0);
  const [message] = receiver.received;
  assert.ok(message);
  assert.deepEqual(findSigners(message, [secret]), [secret]);
  await follow(browser, 'Back to the webhook');
  await browser.waitFor('the change in the log', async () => {
    await browser.reload();
    return /Change 1\s+arrived\s+204/.test(await readMain(browser));
  });
  await assertQuiet(browser);
});

test('a test message and its answer are seen, whether it arrives or not', async (t) => {
  const { browser, receiver } = await make(t);
  await follow(browser, 'To the webhook');
  await press(browser, 'Send a test message');
  assert.match(await readMain(browser), /The test message has arrived: the answer was 204/);
  await inspect(browser, 'webhook-tested');
  receiver.answer = answerWith(500);
  await press(browser, 'Send a test message');
  assert.match(await (await browser.findByRole('alert')).text(), /has not arrived/);
  const results = await Promise.all(
    (await browser.findAll('tbody tr')).map((row) => row.text()));
  assert.match(results[0] ?? '', /A test.*500/s);
  assert.match(results[1] ?? '', /A test.*arrived.*204/s);
  await inspect(browser, 'webhook-failed');
});

test('a webhook is disabled, enabled, and deleted once that was confirmed', async (t) => {
  const { browser } = await make(t);
  await follow(browser, 'To the webhook');
  await press(browser, 'Disable');
  assert.match(await readMain(browser), /The webhook is disabled/);
  await fillIn(browser, { 'Everything after position': 'x' });
  await press(browser, 'Send again');
  assert.match(await (await browser.findByRole('alert')).text(), /Everything after position: /);
  await inspect(browser, 'webhook-disabled');
  await press(browser, 'Enable');
  assert.match(await readMain(browser), /The webhook is active/);
  await follow(browser, 'Delete …');
  await inspect(browser, 'webhook-delete');
  await press(browser, 'Delete this webhook');
  assert.match(await readMain(browser), /The webhook is deleted.*no webhook yet/s);
});

test('an address that cannot be one is refused at its field', async (t) => {
  const { browser } = await openPortal(t, { webhooks: {}, path: '/webhooks/new' });
  await fillIn(browser, { Address: 'http://127.0.0.1/hook', Description: 'My own' });
  await press(browser, 'Make the webhook');
  const field = await browser.findByLabel('Address');
  assert.equal(await field.attribute('aria-invalid'), 'true');
  assert.equal(await field.value(), 'http://127.0.0.1/hook');
  assert.equal(await (await browser.findByLabel('Description')).value(), 'My own');
  await inspect(browser, 'webhook-refused');
});

/** Leaves the page with the secret. */
async function make(t: TestContext) {
  const receiver = await startReceiver(t);
  const { browser, shop } = await openPortal(t, {
    webhooks: LOCAL, path: '/webhooks', scripts: false,
  });
  await follow(browser, 'New webhook');
  await fillIn(browser, { Address: receiver.url, Description: 'Stock on the web page' });
  await press(browser, 'Make the webhook');
  const secret = await (await browser.find('#copy-secret')).text();
  assert.match(secret, /^whsec_/);
  return { browser, shop, receiver, secret };
}
