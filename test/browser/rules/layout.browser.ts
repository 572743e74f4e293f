/** The rules on sizes. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { openJudge } from './judge.ts';

const { browser, faultsOf } = await openJudge({ after });

beforeEach(() => browser.setViewport(320, 640));

const judge = (style: string, html: string) =>
  faultsOf({ style, main: `<h1>Judged</h1>${html}` });

test('asks for targets of 24 x 24 pixels', async () => {
  const html = (size: string) => `<button ${size}>A</button> <button ${size} disabled>B</button>
    <ul><li><a href="/" ${size}>Alone</a></li></ul> <label ${size}><input type="checkbox"> C</label>
    <p>A text with <a href="/">a link</a> in it</p>
    <a href="#top" class="skip">Skip</a>`;
  const style = `button { min-height: 0; padding: 0 } ul a { display: inline-block }
    .skip { position: absolute; top: -99px } .skip:focus { top: 0 }`;
  assert.deepEqual(await judge(style, html('style="width: 50px; height: 23px"')), [
    'target of 50 x 23, not 24 x 24: <button> "A"',
    'target of 50 x 23, not 24 x 24: <a href="/"> "Alone"',
    'target of 50 x 23, not 24 x 24: <input type="checkbox">',
  ]);
  assert.deepEqual(await judge(style, html('style="width: 50px; height: 24px"')), []);
  assert.deepEqual(await judge(style, '<button style="width: 23px; height: 40px">A</button>'), [
    'target of 23 x 40, not 24 x 24: <button> "A"',
  ]);
});

test('refuses a page that scrolls sideways', async () => {
  assert.deepEqual(await judge('p { width: 400px }', '<div><p>Wide</p></div>'), [
    'page of 408 px in 320 px: <p> "Wide"',
  ]);
  assert.deepEqual(await judge('p { max-width: 400px }', '<div><p>Not so wide</p></div>'), []);
  await browser.setViewport(500, 640);
  assert.deepEqual(await judge('p { width: 400px }', '<div><p>Wide</p></div>'), []);
});

test('lets a table scroll, in a part that takes the focus and has a name', async () => {
  const style = 'div { overflow-x: auto } td { min-width: 500px }';
  const table = `<table><caption>Stock</caption><tr><th scope="row">A</th><td>1</td></tr></table>`;
  assert.deepEqual(await judge(style, `<div>${table}</div>`), [
    'scrolls, but takes no focus or has no name: <div> "StockA1"',
  ]);
  const named = 'tabindex="0" role="region" aria-label="Stock"';
  assert.deepEqual(await judge(`${style} p { width: 500px }`, `<div ${named}><p>Wide</p></div>`), [
    'scrolls sideways: <div role="region"> "Wide"',
  ]);
  assert.deepEqual(await judge(style, `<div ${named}>${table}</div>`), []);
});
