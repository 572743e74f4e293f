/** The keyboard check, which walks through a page with the Tab key. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openPageChecker } from './rules/page-checker.ts';

const { browser, violationsOf } = await openPageChecker({ after });

const FIELDS = '<label>A <input id="a"></label> <label>B <input id="b"></label>';

test('reaches every kind of control', async () => {
  const scrolling = '<div style="overflow-y: auto; height: 40px"><p>Long</p><p>Text</p></div>';
  assert.deepEqual(await violationsOf(`${scrolling}${FIELDS}${scrolling}
    <label>Day <input type="date"></label> <label>Time <input type="datetime-local"></label>
    <fieldset><legend>Size</legend><label>S <input type="radio" name="s"></label>
      <label>M <input type="radio" name="s" checked></label></fieldset>
    <fieldset><legend>Ink</legend><label>R <input type="radio" name="i"></label>
      <label>G <input type="radio" name="i"></label></fieldset>
    <form><fieldset><legend>Ink</legend><label>N <input type="radio" name="i" checked></label>
      </fieldset></form>
    <details><summary>More</summary><button>Unseen</button></details>
    <button disabled>Off</button> <div inert><button>Off</button></div>
    <label>File <input type="file"></label> <textarea aria-label="Note"></textarea>`), []);
  assert.equal(await browser.run(() => 'walk' in window), false);
});

test('rejects a tab order other than the document order', async () => {
  const reversed = 'display: flex; flex-direction: row-reverse; reading-flow: flex-visual';
  assert.deepEqual(await violationsOf(`<div style="${reversed}">${FIELDS}</div>`), [
    'Tab goes back, from <input id="b"> to <input id="a">',
  ]);
});

test('rejects controls that Tab does not reach or does not leave', async () => {
  const keep = (keys: string) => `<script>document.querySelector('#a').onkeydown =
    (event) => { if (event.key === 'Tab') { event.preventDefault(); ${keys} } }</script>`;
  assert.deepEqual(await violationsOf(FIELDS + keep('')), [
    'Tab does not leave: <input id="a">', 'Tab does not reach: <input id="b">',
  ]);
  assert.equal(await browser.run(() => document.activeElement === document.body), true);
  assert.deepEqual(await violationsOf(FIELDS + keep('document.querySelector("a").focus()')), [
    'Tab does not reach: <input id="b">',
  ]);
});

test('goes from a button into the menu that it opened, and on', async () => {
  const menu = `<div id="menu" popover style="inset: 0; width: 100%; height: 100%">
    <label>C <input></label> <button popovertarget="menu">Close</button></div>`;
  const button = '<button id="show" popovertarget="menu">Menu</button>';
  const open = '<script>show.click()</script>';
  assert.deepEqual(await violationsOf(button + FIELDS + menu + open), []);
  assert.deepEqual(await violationsOf(menu + button + FIELDS + open), []);
  assert.equal(await browser.has('#menu:popover-open'), true);
});

test('rejects a tab stop that is not a control', async () => {
  assert.deepEqual(await violationsOf('<p contenteditable="true">A</p>'), [
    'Tab stops at: <p> "A"',
  ]);
});

test('requires a visible focus indicator', async () => {
  const check = (style: string) => violationsOf({ style, main: `<h1>Judged</h1>${FIELDS}` });
  const violationOfBoth = (violation: string) =>
    [`${violation}: <input id="a">`, `${violation}: <input id="b">`];
  assert.deepEqual(await check('input { outline: none }'),
    violationOfBoth('no visible focus indicator'));
  assert.deepEqual(await check('input { outline: 2px solid #000 }'),
    violationOfBoth('no visible focus indicator'));
  assert.deepEqual(await check('input:focus { outline: 2px solid #ccc }'),
    violationOfBoth('focus indicator of 1.60:1, not 3:1'));
  assert.deepEqual(await check('input:focus { outline: 2px solid #05c }'), []);
  // A white outline inside a background that is black while focused.
  assert.deepEqual(await check(`input:focus { outline: 2px solid #fff; outline-offset: -4px;
    background: #000; color: #fff }`), []);
  const both = 'outline: 2px solid #ccc; box-shadow: 0 0 0 4px #05c';
  assert.deepEqual(await check(`input:focus { ${both} }`), []);
  const focus = '<script>document.querySelector("#a").focus()</script>';
  assert.deepEqual(await violationsOf(FIELDS + focus), []);
  assert.deepEqual(await check('input:focus { outline: none; box-shadow: 0 0 0 2px #05c }'), []);
  assert.deepEqual(await check(`input { outline: 2px solid transparent; transition: outline 9s }
    input:focus { outline: 2px solid #05c }`), []);
});

test('rejects a hidden focused element', async () => {
  assert.deepEqual(await violationsOf({
    style: '.bar { position: fixed; inset: 0; background: #fff }',
    main: `<h1>Judged</h1>${FIELDS}<div class="bar">Bar</div>`,
  }), [
    'covered or out of view while focused: <a href="/"> "Home"',
    'covered or out of view while focused: <input id="a">',
    'covered or out of view while focused: <input id="b">',
  ]);
  const skip = `a.skip { position: absolute; top: -99px } a.skip:focus { top: 0 }`;
  const header = '<a class="skip" href="#top">Skip</a><header>A</header><nav>B</nav>';
  assert.deepEqual(await violationsOf({ style: skip, header }), []);
});
