/** Charts in a browser: legible labels at every width, and keyboard access to their tables. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ownerOf } from '../support/owner.ts';
import { openBrowser } from './browser.ts';
import { signIn } from './portal.ts';
import { openSampleShop } from './sample-shop.ts';

const { server, shop, ids } = await openSampleShop({ after });
const browser = await openBrowser({ after });
const url = `http://127.0.0.1:${server.port}/portal`;
await browser.open(`${url}/sign-in`);
await signIn(browser, shop);

/** Labels that are too small, overlap, or leave their card. */
function findViolations(): Promise<string[]> {
  return browser.run(() => [...document.querySelectorAll('.chart')].flatMap((chart) => {
    const frame = (chart.closest('.card') ?? chart).getBoundingClientRect();
    const labels = [...chart.querySelectorAll('span')].flatMap((label) => {
      const box = label.getBoundingClientRect();
      return box.width === 0 ? [] : [{
        name: label.textContent, box, size: parseFloat(getComputedStyle(label).fontSize),
      }];
    });
    return labels.flatMap(({ name, box, size }, index) => [
      ...(size < 11 ? [`${name} has ${size} px`] : []),
      ...(box.left < frame.left || box.right > frame.right ? [`${name} leaves it`] : []),
      ...labels.slice(index + 1).filter((other) => other.box.left < box.right
        && box.left < other.box.right && other.box.top < box.bottom - 2
        && box.top < other.box.bottom - 2).map((other) => `${name} and ${other.name}`),
    ]);
  }));
}

for (const width of [320, 360, 1280]) {
  test(`keeps labels legible and apart at ${width} px, in any locale`, async () => {
    await browser.setViewport(width, 800);
    for (const locale of ['en-GB', 'de-DE', 'ja-JP', 'pt-BR']) {
      await server.store.setAccountSettings(
        ownerOf(shop.sellerId), { locale, timeZone: 'UTC' }, {},
      );
      for (const path of ['', '/reports', '/reports?days=365', `/products/${ids.product}`]) {
        await browser.open(url + path);
        const count = await browser.run(() => document.querySelectorAll('.chart').length);
        assert.ok(count > 0, path);
        assert.deepEqual(await findViolations(), [], `${locale} ${path}`);
      }
    }
  });
}

test('makes the table and the CSV link of each chart focusable, in document order', async () => {
  await browser.open(`${url}/reports`);
  const reached = await browser.run(() => [...document.querySelectorAll<HTMLElement>(
    'main summary, main a[href*="/reports/"]',
  )].filter((element) => {
    element.focus();
    return document.activeElement === element;
  }).map(({ textContent }) => textContent));
  assert.deepEqual(reached, ['View as table', 'Download as CSV', 'Download as CSV']);
  const isOpen = await browser.run(() => {
    const summary = document.querySelector('main summary');
    if (summary instanceof HTMLElement) summary.click(); // as Enter does
    const table = document.querySelector('main details table');
    return (table?.getBoundingClientRect().height ?? 0) > 0;
  });
  assert.ok(isOpen);
});
