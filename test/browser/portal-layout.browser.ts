/** The layout of rendered pages: sticky parts, wrapping, overlaps and visibility. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openBrowser } from './browser.ts';
import { fillIn, openPortal, press, signIn } from './portal.ts';
import { openSampleShop } from './sample-shop.ts';

const { server, shop } = await openSampleShop({ after });
const browser = await openBrowser({ after });
const url = `http://127.0.0.1:${server.port}/portal`;
await browser.open(`${url}/sign-in`);
await signIn(browser, shop);

test('keeps the navigation visible while a page scrolls', async () => {
  await browser.setViewport(1280, 400);
  await browser.open(`${url}/products`);
  const top = () => browser.run(() => document.querySelector('nav')?.getBoundingClientRect().top);
  const before = await top();
  await browser.run(() => scrollTo(0, document.body.scrollHeight));
  assert.ok(await browser.run(() => scrollY) > 100);
  assert.ok(Math.abs(Number(await top()) - Number(before)) < 1); // rows end between pixels
  const isWhole = await browser.run(() => {
    const menu = document.querySelector('nav');
    return menu !== null && (menu.getBoundingClientRect().bottom <= innerHeight);
  });
  assert.ok(isWhole);
});

test('keeps long numbers of the overview on one line within their cards', async (t) => {
  const { browser: page, shop: { create }, url: overview } = await openPortal(t);
  await create({ price: 999_999_999, stock: 1_000_000 });
  for (const width of [1280, 1000, 700, 360, 320]) {
    await page.setViewport(width, 800);
    await page.open(overview);
    const broken = await page.run(() => [...document.querySelectorAll('.figure')]
      .filter((figure) => {
        const range = document.createRange();
        range.selectNodeContents(figure);
        const box = range.getBoundingClientRect();
        const card = figure.closest('.card')?.getBoundingClientRect();
        const lineHeight = parseFloat(getComputedStyle(figure).lineHeight);
        return box.height > 1.5 * lineHeight || box.right > (card?.right ?? 0);
      }).map(({ textContent }) => textContent));
    assert.deepEqual(broken, [], `${width} px`);
  }
});

test('shades the edge of a scrolling table until its end is reached', async () => {
  await browser.setViewport(600, 800);
  await browser.open(`${url}/keys`);
  const readShade = () => browser.run(() => {
    const scroll = document.querySelector('.scroll');
    return scroll && getComputedStyle(scroll, '::after').content !== 'none';
  });
  await browser.waitFor('the shade', readShade);
  await browser.run(() => document.querySelector('.scroll')?.scrollTo(9_999, 0));
  await browser.waitFor('its end', async () => await readShade() === false);
});

test('keeps the navigation on a 404 page', async () => {
  await browser.setViewport(1280, 800);
  await browser.open(`${url}/nothing`);
  assert.match(await (await browser.findByRole('navigation', 'Portal')).text(), /Products/);
});

test('starts the title with the error and focuses its summary, without scripts', async (t) => {
  const { browser: page, shop: { create }, url: overview } = await openPortal(t, {
    scripts: false, path: '/products/new',
  });
  assert.match(await page.title(), /^New product/);
  const readFocus = () => page.run(() =>
    `${document.activeElement?.getAttribute('role')}: ${document.activeElement?.textContent}`);
  await fillIn(page, { Name: 'Mug' });
  await press(page, 'Create product');
  assert.match(await page.title(), /^Error: New product/);
  assert.match(await readFocus(), /^alert:\s+Nothing was saved\./);
  const { id } = await create();
  await page.open(`${overview}/products/${id}`);
  await fillIn(page, { Name: '' });
  await press(page, 'Save');
  assert.match(await page.title(), /^Error: /);
  assert.match(await readFocus(), /^alert:\s+Nothing was saved\./);
  await page.open(`${overview}/nothing`);
  assert.match(await page.title(), /^Error: Page not found/);
  assert.match(await readFocus(), /^alert:/);
});

test('keeps the colors of plot legends in forced-colors mode', async () => {
  await browser.setForcedColours(true);
  await browser.open(url);
  const colours = await browser.run(() => ['.key.in', '.key.out'].map((name) => {
    const key = document.querySelector(name);
    const bar = document.querySelector(`.plot ${name.replace('.key', 'rect')}`);
    return key && bar && [getComputedStyle(key).backgroundColor, getComputedStyle(bar).fill];
  }));
  await browser.setForcedColours(false);
  for (const pair of colours) assert.equal(pair?.[0], pair?.[1]);
  assert.notEqual(colours[0]?.[0], colours[1]?.[0]);
});
