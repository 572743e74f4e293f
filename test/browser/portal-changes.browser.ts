/** The changes of a catalogue, and the pages of the API. */
import { test } from 'node:test';
import { fillIn, follow, inspect, openPortal, press } from './portal.ts';

test('changes are read and filtered without scripts', async (t) => {
  const { browser, shop, url } = await openPortal(t, { path: '/changes', scripts: false });
  await inspect(browser, 'changes-none');
  for (let n = 0; n < 30; n += 1) await shop.create();
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
