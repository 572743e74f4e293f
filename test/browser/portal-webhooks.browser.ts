/** Webhooks: created for a local receiver, tested, and their deliveries. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { LOCAL } from '../features/webhooks/routes.ts';
import { answerWith, findSigners, startReceiver } from '../features/webhooks/receiver.ts';
import { assertQuiet, fillIn, follow, inspect, openPortal, press, readMain } from './portal.ts';

test('creates a webhook, and shows its secret once', async (t) => {
  const { browser, receiver, secret, shop } = await make(t);
  await inspect(browser, 'webhook-made');
  await follow(browser, 'View webhook');
  assert.match(await readMain(browser), /Nothing sent yet/);
  for (const path of ['', '/edit']) {
    if (path !== '') await follow(browser, 'Edit');
    const page = await browser.run(() => document.documentElement.outerHTML);
    assert.ok(!page.includes(secret));
  }
  await shop.create();
  await receiver.until((received) => received.length > 0);
  const [message] = receiver.received;
  assert.ok(message);
  assert.deepEqual(findSigners(message, [secret]), [secret]);
  await follow(browser, 'Back to webhook');
  await browser.waitFor('the change in the log', async () => {
    await browser.reload();
    return /1 change\s+delivered\s+204/.test(await readMain(browser));
  });
  await assertQuiet(browser);
});

test('shows the result of a test message, delivered or not', async (t) => {
  const { browser, receiver } = await make(t);
  await follow(browser, 'View webhook');
  await press(browser, 'Send test message');
  assert.match(await readMain(browser), /The test message was delivered: HTTP 204/);
  await inspect(browser, 'webhook-tested');
  receiver.answer = answerWith(500);
  await press(browser, 'Send test message');
  assert.match(await (await browser.findByRole('alert')).text(), /was not delivered/);
  const results = await Promise.all(
    (await browser.findAll('tbody tr')).map((row) => row.text()));
  assert.match(results[0] ?? '', /Test.*500/s);
  assert.match(results[1] ?? '', /Test.*delivered.*204/s);
  await inspect(browser, 'webhook-failed');
});

test('disables, enables and deletes a webhook', async (t) => {
  const { browser } = await make(t);
  await follow(browser, 'View webhook');
  await press(browser, 'Disable');
  assert.match(await readMain(browser), /Webhook disabled/);
  await browser.run(() => document.querySelector('#replay ~ details')?.setAttribute('open', ''));
  await fillIn(browser, { 'Send changes after position': 'x' });
  await press(browser, 'Resend');
  assert.match(await (await browser.findByRole('alert')).text(), /Send changes after position: /);
  await inspect(browser, 'webhook-disabled');
  await press(browser, 'Enable');
  assert.match(await readMain(browser), /Webhook enabled/);
  await follow(browser, 'Delete');
  await inspect(browser, 'webhook-delete');
  await press(browser, 'Delete webhook');
  assert.match(await readMain(browser), /Webhook deleted.*No webhooks yet/s);
});

test('shows why a webhook fails, and retries once that is fixed', async (t) => {
  const { browser, receiver, shop } = await make(t);
  receiver.answer = (response) => response.writeHead(422, { 'x-reason': 'schema' })
    .end('{"error":"The field price is missing."}');
  await shop.create();
  await receiver.until(({ length }) => length === 1);
  await browser.waitFor('the banner', async () => {
    await follow(browser, 'Overview');
    return /Webhook Stock on the web page is failing/.test(await readMain(browser));
  });
  await inspect(browser, 'overview-webhook-failing');
  await follow(browser, 'Stock on the web page');
  assert.match(await readMain(browser), /Last attempt: responded with 422/);
  await inspect(browser, 'webhook-failing');
  await follow(browser, 'View last attempt');
  assert.match(await readMain(browser), /x-reason: schema.*The field price is missing\./s);
  await inspect(browser, 'webhook-attempt');
  receiver.answer = answerWith(204);
  await press(browser, 'Retry now');
  assert.match(await readMain(browser), /The message was delivered: HTTP 204/);
  const [first, second] = receiver.received;
  assert.deepEqual([second?.id, second?.text], [first?.id, first?.text]);
  await follow(browser, 'Overview');
  assert.doesNotMatch(await readMain(browser), /is failing/);
});

test('shows an error at the field for an invalid URL', async (t) => {
  const { browser } = await openPortal(t, { webhooks: {}, path: '/webhooks/new' });
  await fillIn(browser, { URL: 'http://127.0.0.1/hook', Description: 'My own' });
  await press(browser, 'Create webhook');
  const field = await browser.findByLabel('URL');
  assert.equal(await field.attribute('aria-invalid'), 'true');
  assert.equal(await field.value(), 'http://127.0.0.1/hook');
  assert.equal(await (await browser.findByLabel('Description')).value(), 'My own');
  await inspect(browser, 'webhook-refused');
});

/** Creates a webhook, and leaves the page with its secret open. */
async function make(t: TestContext) {
  const receiver = await startReceiver(t);
  const { browser, shop } = await openPortal(t, {
    webhooks: LOCAL, path: '/webhooks', scripts: false,
  });
  await follow(browser, 'New webhook');
  await fillIn(browser, { URL: receiver.url, Description: 'Stock on the web page' });
  await press(browser, 'Create webhook');
  const secret = await (await browser.find('#copy-secret')).text();
  assert.match(secret, /^whsec_/);
  return { browser, shop, receiver, secret };
}
