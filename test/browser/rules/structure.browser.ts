/** The structure rules: document, headings, landmarks, references and fields. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openPageChecker } from './page-checker.ts';

const { violationsOf } = await openPageChecker({ after });

test('accepts a page without violations', async () => {
  assert.deepEqual(await violationsOf({}), []);
});

test('requires a language, a title and zooming', async () => {
  assert.deepEqual(await violationsOf({ language: '', head: '' }), [
    'no language: lang=""', 'no title', 'no device-width viewport',
  ]);
  const viewport = '<meta name="viewport" content="width=device-width, maximum-scale=1">';
  const untitled = `<title> </title>${viewport}`;
  assert.deepEqual(await violationsOf({ language: 'english!', head: untitled }), [
    'no language: lang="english!"', 'no title', 'zooming is restricted',
  ]);
  const narrow = '<meta name="viewport" content="width=device-width, user-scalable=no">';
  assert.deepEqual(await violationsOf({ head: `<title>T</title>${narrow}` }), [
    'zooming is restricted',
  ]);
  assert.deepEqual(await violationsOf({ language: 'de-AT' }), []);
});

test('rejects a page that refreshes itself', async () => {
  const head = '<title>T</title><meta name="viewport" content="width=device-width">';
  const refresh = '<meta http-equiv="Refresh" content="999">';
  assert.deepEqual(await violationsOf({ head: head + refresh }), ['refreshes itself']);
});

test('requires one first-level heading, and no skipped levels', async () => {
  assert.deepEqual(await violationsOf({ main: '<h2>Early</h2><h1>One</h1><h1>Two</h1>' }), [
    '2 first-level headings', 'heading skips a level: <h2> "Early"',
  ]);
  assert.deepEqual(await violationsOf({ main: '<p>None</p>' }), ['0 first-level headings']);
  assert.deepEqual(await violationsOf('<h2>A</h2><h4>B</h4><h3></h3>'), [
    'heading skips a level: <h4> "B"', 'empty heading: <h3>',
  ]);
  assert.deepEqual(await violationsOf('<p role="heading" aria-level="3">A</p>'), [
    'heading skips a level: <p role="heading"> "A"',
  ]);
  assert.deepEqual(await violationsOf('<h2>A</h2><h3>B</h3><h2>C</h2><h5 hidden>D</h5>'), []);
});

test('requires a header, one main element and navigation', async () => {
  const twoMains = '<main><h1>A</h1></main><main>B</main>';
  assert.deepEqual(await violationsOf({ header: '', main: twoMains }), [
    '2 main landmarks', '0 header landmarks', 'no navigation landmark',
  ]);
  const header = '<header>A shop</header>';
  assert.deepEqual(await violationsOf({ header }), ['no navigation landmark']);
  assert.deepEqual(await violationsOf({ header }, { hasNavigation: false }), []);
  const menu = `${header}<nav id="menu" popover>Ways</nav>`;
  assert.deepEqual(await violationsOf({ header: menu }), ['no navigation landmark']);
  const button = '<button popovertarget="menu">Menu</button>';
  assert.deepEqual(await violationsOf({ header: menu + button }), []);
});

test('requires different names for several navigation landmarks', async () => {
  const navigate = (attributes: string) => `<nav ${attributes}>Ways</nav>`;
  const named = navigate('aria-label="Pages"');
  assert.deepEqual(await violationsOf(named), [
    'one of several navigations without a name: <nav> "Home"',
  ]);
  assert.deepEqual(await violationsOf({ footer: named, header: `<header></header>${named}` }), [
    'one of several navigations without a name: <nav> "Ways"',
    'one of several navigations without a name: <nav> "Ways"',
  ]);
  const header = `<header></header>${navigate('aria-label="Shop"')}`;
  assert.deepEqual(await violationsOf({ footer: named, header }), []);
});

test('requires different names for regions', async () => {
  const region = (name: string) => `<section aria-label="${name}">Text</section>`;
  assert.deepEqual(await violationsOf(region('Stock') + region('Stock')), [
    'one of several regions with this name: <section> "Text"',
    'one of several regions with this name: <section> "Text"',
  ]);
  assert.deepEqual(await violationsOf(region('Stock') + region('Prices')), []);
});

test('rejects duplicate ids and dangling references', async () => {
  assert.deepEqual(await violationsOf(`
    <p id="a">A</p><p id="a">B</p>
    <label for="gone">C</label><label>D <input aria-describedby="a hint"></label>
    <button popovertarget="menu">E</button> in <a href="#lost">a text</a> or <a href="#">b</a>`), [
    'duplicate id: <p id="a"> "B"',
    'for="gone" refers to no element: <label for="gone"> "C"',
    'popovertarget="menu" refers to no element: <button> "E"',
    'aria-describedby="hint" refers to no element: <input>',
    'link to a missing id: <a href="#lost"> "a text"',
    'link to a missing id: <a href="#"> "b"',
  ]);
  assert.deepEqual(await violationsOf(`
    <label for="b">C</label><input id="b" aria-describedby="hint more"><p id="hint">H</p>
    <p id="more">M</p><p>In <a href="#b">a text</a> and <a href="#top">up</a></p>`), []);
});

test('rejects a custom tab order', async () => {
  const violations = await violationsOf(
    '<p tabindex="1">A</p><p tabindex="0">B</p><p tabindex="-1">C</p>',
  );
  assert.equal(violations[0], 'tabindex above 0: <p> "A"');
  assert.deepEqual(await violationsOf('<p tabindex="0">B</p><p tabindex="-1">C</p>'), []);
});

test('requires autocomplete for e-mails, passwords and codes', async () => {
  assert.deepEqual(await violationsOf(`
    <label>E-mail <input type="email" name="email"></label>
    <label>Password <input type="password" name="p" autocomplete="off"></label>
    <label>Code <input name="totp" inputmode="numeric"></label>`), [
    'no autocomplete="email|username|off": <input name="email" type="email">',
    'no autocomplete="current-password|new-password": <input name="p" type="password">',
    'no autocomplete="one-time-code": <input name="totp">',
  ]);
  assert.deepEqual(await violationsOf(`
    <label>E-mail <input type="email" autocomplete="section-a username"></label>
    <label>Password <input type="password" autocomplete="current-password"></label>
    <label>Code <input name="code" autocomplete="one-time-code"></label>
    <label>Barcode <input name="barcode"></label>`), []);
});
