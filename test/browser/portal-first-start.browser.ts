/** From an empty data folder to a product on the page, with the server and curl as processes. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Serving, startServing } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { openBrowser } from './browser.ts';
import { assertQuiet, fillIn, follow, inspect, press, readMain } from './portal.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;
const execute = promisify(execFile);

test('opens a shop on the first start, and shows the product that its key creates', {
  skip: hasCurl ? false : 'curl is not installed',
}, async (t) => {
  const serving = await startServing(t, ['--data', join(makeFolder(t), 'data')]);
  const { address, code } = await readInvitation(serving);
  const browser = await openBrowser(t);
  await browser.open(serving.url);
  assert.equal(await browser.url(), address); // the root redirects there
  await fillIn(browser, {
    'Invitation code': code.toLowerCase(), 'Shop name': 'Nordlicht Ceramics',
  });
  await (await browser.findByLabel('Currency')).choose('CHF – Swiss Franc');
  await fillIn(browser, { 'E-mail': 'anna@nordlicht.example', Password: 'nordlicht' });
  await press(browser, 'Create shop');
  assert.match(await (await browser.findByRole('alert')).text(), /Must have 12 to 256 characters/);
  await inspect(browser, 'join-refused', { hasNavigation: false });
  await fillIn(browser, { Password: 'seven boats on the lake' });
  await press(browser, 'Create shop');
  await inspect(browser, 'joined', { hasNavigation: false });
  const line = await (await browser.find('#copy-createProduct')).text();

  await follow(browser, 'Go to your shop');
  await follow(browser, 'Products');
  assert.match(await readMain(browser), /No products yet/);
  await inspect(browser, 'products-empty');
  const openedAt = () => browser.run(() => performance.timeOrigin);
  const before = await openedAt();
  const made = await type(line);
  assert.equal(made.price, 12);
  await browser.findByText(/^New products: 1\./);
  assert.equal(await openedAt(), before);

  await follow(browser, 'Show the newest');
  const row = await browser.find(`tr:has([href$="/${made.id}"])`);
  assert.match(await row.text(), /^Blue mug\s+40.*CHF.12\.00.*MUG-1.*Kitchen/s);
  const shownAt = await openedAt();
  const key = /x-api-key: (\S+)"/.exec(line)?.[1];
  await type(`curl '${serving.url}/api/v1/stock' -H 'x-api-key: ${key}' \\
    -H 'content-type: application/json' -d '{"changes":[{"sku":"MUG-1","adjust":-37}]}'`);
  const stock = await row.find('[data-live="stock"]');
  await browser.waitFor('the new stock', async () => await stock.text() === '3');
  assert.equal(await (await row.find('[data-live="level"]')).text(), 'low');
  assert.equal(await openedAt(), shownAt);
  await assertQuiet(browser);
  assert.equal(await serving.stop('SIGTERM'), 0); // even while a live page is open
});

test('accepts the invitation code of a first start once', async (t) => {
  const serving = await startServing(t, ['--data', makeFolder(t)]);
  const { address, code } = await readInvitation(serving);
  const browser = await openBrowser(t);
  const join = async (name: string) => {
    await browser.open(address);
    await fillIn(browser, {
      'Invitation code': code, 'Shop name': name, 'E-mail': `${name}@shop.example`,
      Password: 'seven boats on the lake',
    });
    await press(browser, 'Create shop');
  };
  await join('one');
  await browser.findByText('Your API key');
  await browser.deleteCookies();
  await join('two');
  assert.match(await (await browser.findByRole('alert')).text(), /This code is invalid/);
  assert.equal(await (await browser.findByLabel('Shop name')).value(), 'two');
});

/** The address and the code that the server prints on an empty database. */
async function readInvitation({ child, notes }: Serving) {
  const { stderr } = child;
  assert.ok(stderr);
  for (;;) {
    const [, address, code] = /^Address: (\S+)\nCode: (\S+)$/m.exec(notes()) ?? [];
    if (address !== undefined && code !== undefined) return { address, code };
    await once(stderr, 'data');
  }
}

/** Runs a shell command, and parses the JSON that it prints. */
async function type(line: string) {
  const { stdout } = await execute('sh', ['-e', '-c', line]);
  return JSON.parse(stdout);
}
