/** All accessibility rules, in every view, on pages with a policy as strict as the portal's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findViolations, findViolationsInAllViews } from './accessibility.ts';
import { openBrowser } from './browser.ts';
import { servePages } from './page-server.ts';

const PAGE = `<!doctype html><html lang="en"><head><title>Stock</title>
  <meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/style.css">
  <link rel="icon" href="data:,"></head>
  <body><header>A shop</header><nav><a href="/">Home</a></nav>
  <main><h1>Stock</h1><p>Text</p></main></body></html>`;

const STYLE = `:root { color-scheme: light dark } a { line-height: 24px; display: inline-block }
  @media (prefers-color-scheme: dark) { p { color: #555 } }
  @media (width < 400px) { h1 { width: 400px } }`;

function makePages(style: string) {
  const policy = "default-src 'none'; style-src 'self'; img-src data:";
  return {
    'GET /': { headers: { 'content-security-policy': policy }, body: PAGE },
    'GET /style.css': { headers: { 'content-type': 'text/css' }, body: style },
  };
}

test('finds violations in dark mode or on a phone, and restores the light desktop', async (t) => {
  const browser = await openBrowser(t);
  await browser.open(await servePages(t, makePages(STYLE)));
  assert.deepEqual(await findViolations(browser), []);
  assert.deepEqual(await findViolationsInAllViews(browser), [
    'dark, 320 px: text of 2.51:1, not 4.5:1: <p> "Text"',
    'dark, 320 px: page of 408 px in 320 px: <h1> "Stock"',
    'dark, 1280 px: text of 2.51:1, not 4.5:1: <p> "Text"',
    'light, 320 px: page of 408 px in 320 px: <h1> "Stock"',
  ]);
  assert.deepEqual(await findViolations(browser), []);
});

test('checks pages with a strict policy and without scripts, without side effects', async (t) => {
  const browser = await openBrowser(t);
  await browser.setScripts(false);
  const style = 'a { display: inline-block; width: 50px; height: 9px }';
  await browser.open(await servePages(t, makePages(style)));
  const before = await browser.run(() => document.documentElement.outerHTML);
  assert.deepEqual(await findViolations(browser), [
    'target of 50 x 9, not 24 x 24: <a href="/"> "Home"',
  ]);
  assert.equal(await browser.run(() => document.documentElement.outerHTML), before);
  assert.deepEqual(await browser.consoleErrors(), []);
});
