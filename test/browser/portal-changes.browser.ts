/** The changes page: filters and pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillIn, follow, inspect, openPortal, press } from './portal.ts';

test('filters and pages through changes without scripts', async (t) => {
  const { browser, shop, url } = await openPortal(t, { path: '/changes', scripts: false });
  await inspect(browser, 'changes-none');
  for (let n = 0; n < 30; n += 1) await shop.create();
  await browser.open(`${url}/changes`);
  assert.equal((await browser.findAll('tbody tr')).length, 25);
  await follow(browser, 'Next page');
  assert.equal((await browser.findAll('tbody tr')).length, 5);
  await (await browser.findByLabel('Type')).choose('Products deleted');
  await press(browser, 'Show');
  await browser.findByText(/^No changes match/);
  await follow(browser, 'Show all changes');
  await fillIn(browser, { Product: 'NO-SUCH' });
  await press(browser, 'Show');
  await browser.findByText(/^No changes match/);
});
