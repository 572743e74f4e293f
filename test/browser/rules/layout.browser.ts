/** The size rules. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { openPageChecker } from './page-checker.ts';

const { browser, violationsOf } = await openPageChecker({ after });

beforeEach(() => browser.setViewport(320, 640));

const check = (style: string, html: string) =>
  violationsOf({ style, main: `<h1>Judged</h1>${html}` });

test('requires targets of 24 x 24 pixels', async () => {
  const html = (size: string) => `<button ${size}>A</button> <button ${size} disabled>B</button>
    <ul><li><a href="/" ${size}>Alone</a></li></ul> <label ${size}><input type="checkbox"> C</label>
    <p>A text with <a href="/">a link</a> in it</p>
    <a href="#top" class="skip">Skip</a>`;
  const style = `button { min-height: 0; padding: 0 } ul a { display: inline-block }
    .skip { position: absolute; top: -99px } .skip:focus { top: 0 }`;
  assert.deepEqual(await check(style, html('style="width: 50px; height: 23px"')), [
    'target of 50 x 23, not 24 x 24: <button> "A"',
    'target of 50 x 23, not 24 x 24: <a href="/"> "Alone"',
    'target of 50 x 23, not 24 x 24: <input type="checkbox">',
  ]);
  assert.deepEqual(await check(style, html('style="width: 50px; height: 24px"')), []);
  assert.deepEqual(await check(style, '<button style="width: 23px; height: 40px">A</button>'), [
    'target of 23 x 40, not 24 x 24: <button> "A"',
  ]);
  const small = 'li, p { font-size: 10px } button { min-height: 0; height: 9px }';
  const violations = await check(small, `<ul><li><a href="/">Alone</a></li></ul>
    <p>In <a href="/">a text</a></p><button hidden>A</button> <div inert><button>B</button></div>`);
  assert.match(violations.join('\n'), /^target of \d+ x \d+, not 24 x 24: <a href="\/"> "Alone"$/);
});

test('rejects a page that scrolls horizontally', async () => {
  assert.deepEqual(await check('p { width: 400px }', '<div><p>Wide</p></div>'), [
    'page of 408 px in 320 px: <p> "Wide"',
  ]);
  assert.deepEqual(await check('body { overflow-x: hidden } p { width: 400px }', '<p>Wide</p>'), [
    'page of 408 px in 320 px: <p> "Wide"',
  ]);
  assert.deepEqual(await check('p { max-width: 400px }', '<div><p>Not so wide</p></div>'), []);
  await browser.setViewport(500, 640);
  assert.deepEqual(await check('p { width: 400px }', '<div><p>Wide</p></div>'), []);
});

test('allows a table to scroll in a named, focusable region', async () => {
  const style = 'div { overflow-x: auto } td { min-width: 500px }';
  const table = `<table><caption>Stock</caption><tr><th scope="row">A</th><td>1</td></tr></table>`;
  assert.deepEqual(await check(style, `<div>${table}</div>`), [
    'scrolls, but is not focusable or has no name: <div> "StockA1"',
  ]);
  const named = 'tabindex="0" role="region" aria-label="Stock"';
  assert.deepEqual(await check(`${style} p { width: 500px }`, `<div ${named}><p>Wide</p></div>`), [
    'scrolls horizontally: <div role="region"> "Wide"',
  ]);
  assert.deepEqual(await check(style, `<div ${named}>${table}</div>`), []);
  const scrolls = ['scrolls, but is not focusable or has no name: <div role="region"> "StockA1"'];
  assert.deepEqual(await check(style, `<div role="region" tabindex="0">${table}</div>`), scrolls);
  assert.deepEqual(await check(style, `<div role="region" aria-label="S">${table}</div>`), scrolls);
  const wide = `<div ${named}>${table}</div><p>Wide</p>`;
  assert.deepEqual(await check(`${style} p { width: 400px }`, wide), [
    'page of 408 px in 320 px: <p> "Wide"',
  ]);
});

test('allows code and notes to scroll', async () => {
  const named = (name: string) => `tabindex="0" role="region" aria-label="${name}"`;
  const code = 'curl '.repeat(100);
  assert.deepEqual(await check('pre, div { overflow: auto }', `<pre ${named('Code')}>${code}</pre>
    <div ${named('Answer')}><pre style="overflow: visible">${code}</pre></div>
    <label>Note <textarea wrap="off">${code}</textarea></label>`), []);
});
