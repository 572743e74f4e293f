/** The contrast rules; the expected ratios follow the WCAG formula. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openPageChecker } from './page-checker.ts';

const { browser, violationsOf } = await openPageChecker({ after });

const check = (style: string, html: string) =>
  violationsOf({ style, main: `<h1>Judged</h1>${html}` });

test('requires 4.5:1 for text', async () => {
  // The greys on both sides of the limit on white.
  assert.deepEqual(await check('p { color: #777 }', '<p>Grey <b>and bold</b></p>'), [
    'text of 4.47:1, not 4.5:1: <p> "Grey and bold"',
    'text of 4.47:1, not 4.5:1: <b> "and bold"',
  ]);
  assert.deepEqual(await check('p { color: #767676 }', '<p>Grey</p>'), []);
  assert.deepEqual(await check('p { color: #000; background: #757575 }', '<p>Black</p>'), []);
  assert.deepEqual(await check('p { color: oklch(0.9 0 0) }', '<p>Pale</p>'), [
    'text of 1.34:1, not 4.5:1: <p> "Pale"',
  ]);
});

test('requires 3:1 for large text', async () => {
  const large = '.a { font-size: 24px } .b { font-size: 18.7px; font-weight: 700 }';
  const html = '<p class="a">Large</p><p class="b">Bold</p>';
  assert.deepEqual(await check(`p { color: #959595 } ${large}`, html), [
    'text of 2.99:1, not 3:1: <p class="a"> "Large"',
    'text of 2.99:1, not 3:1: <p class="b"> "Bold"',
  ]);
  assert.deepEqual(await check(`p { color: #949494 } ${large}`, html), []);
  assert.deepEqual(await check('p { color: #949494; font-size: 23px }', '<p>Not large</p>'), [
    'text of 3.03:1, not 4.5:1: <p> "Not large"',
  ]);
});

test('blends the backgrounds and opacities of all ancestors', async () => {
  const html = '<div><section><p>Text</p></section></div>';
  const dark = 'div { background: #000 }';
  assert.deepEqual(await check(`${dark} p { color: #fff }`, html), []);
  // White on #999, which is white at 60 % opacity over black.
  const veil = 'section { background: rgb(255 255 255 / 0.6) }';
  assert.deepEqual(await check(`${dark} ${veil} p { color: #fff }`, html), [
    'text of 2.84:1, not 4.5:1: <p> "Text"',
  ]);
  // #999 on white.
  assert.deepEqual(await check('section { opacity: 0.4 } p { color: #000 }', html), [
    'text of 2.84:1, not 4.5:1: <p> "Text"',
  ]);
  assert.deepEqual(await check('section { opacity: 0.6 } p { color: #000 }', html), []);
  assert.deepEqual(await check('div { background: linear-gradient(red, blue) }', html), [
    'text on an image: <p> "Text"',
  ]);
  assert.deepEqual(await check(`div { background: linear-gradient(red, blue) }
    p { background: #fff }`, html), []);
  assert.deepEqual(await check('select { background: #fff linear-gradient(red, blue) }',
    '<label>A <select><option>B</option></select></label>'), []);
});

test('ignores disabled and invisible text', async () => {
  assert.deepEqual(await check('* { color: #ccc } h1, a, header { color: #000 }', `
    <button disabled>Off</button> <fieldset disabled><legend>Off</legend></fieldset>
    <label>Off <input disabled></label> <p aria-disabled="true">Off</p> <p hidden>Gone</p>
    <p style="visibility: hidden">Gone</p> <p style="opacity: 0">Gone</p>
    <p style="position: absolute; overflow: hidden; width: 1px; height: 1px">Heard</p>
    <p style="clip-path: inset(50%)">Heard</p>
    <p style="position: absolute; left: -9999px">Heard</p>`), []);
});

test('checks placeholders and field values', async () => {
  const html = '<label>A <input placeholder="Hint"></label> <label>B <input value="Held"></label>';
  assert.deepEqual(await check('::placeholder { color: #aaa } input { background: #fff }', html), [
    'placeholder of 2.32:1, not 4.5:1: <input>',
  ]);
  assert.deepEqual(await check('::placeholder { color: #000; opacity: 0.4 }', html), [
    'placeholder of 2.84:1, not 4.5:1: <input>',
  ]);
  assert.deepEqual(await check('input { color: #aaa; background: #fff }', html), [
    'text of 2.32:1, not 4.5:1: <input>',
  ]);
  assert.deepEqual(await check('input { background: #fff; color: #000 }', html), []);
});

test('requires 3:1 for the border of a field, or for its background', async () => {
  const html = `<label>A <input></label> <label>B <select><option>C</option></select></label>
    <label>D <textarea></textarea></label> <label>E <input type="checkbox"></label>
    <label>F <input disabled></label> <label hidden>G <input></label>`;
  const all = 'input, select, textarea';
  assert.deepEqual(await check(`${all} { border: 1px solid #ccc; background: #fff }`, html), [
    'field contrast of 1.60:1, not 3:1: <input>',
    'field contrast of 1.60:1, not 3:1: <select> "C"',
    'field contrast of 1.60:1, not 3:1: <textarea>',
  ]);
  assert.deepEqual(await check('textarea { border: 0; background: #fff }', html), [
    'field contrast of 1.00:1, not 3:1: <textarea>',
  ]);
  const drawn = `[type="checkbox"] { appearance: none; width: 24px; height: 24px;
    border: 1px solid #ccc }`;
  assert.deepEqual(await check(drawn, html), [
    'field contrast of 1.60:1, not 3:1: <input type="checkbox">',
  ]);
  assert.deepEqual(await check(`${all} { border: 0; border-bottom: 1px solid #777 }`, html), []);
  assert.deepEqual(await check(`${all} { border: 0; background: #555; color: #fff }`, html), []);
});

test('checks the colours of the current color scheme', async () => {
  const style = '@media (prefers-color-scheme: dark) { p { color: #555 } }';
  assert.deepEqual(await check(style, '<p>Text</p>'), []);
  await browser.setDark(true);
  const violations = await check(style, '<p>Text</p>');
  await browser.setDark(false);
  // On rgb(18 18 18), the canvas of Chromium below a dark page.
  assert.deepEqual(violations, ['text of 2.51:1, not 4.5:1: <p> "Text"']);
});
