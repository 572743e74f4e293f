/** The name rules. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openPageChecker } from './page-checker.ts';

const { violationsOf } = await openPageChecker({ after });

test('requires a label for every control', async () => {
  assert.deepEqual(await violationsOf(`
    <input name="placeholder" placeholder="Name">
    <input name="title" title="Name">
    <label><select name="empty"><option>Only an option</option></select></label>
    <textarea name="broken" aria-labelledby="blank"></textarea><p id="blank"></p>
    <div role="checkbox" tabindex="0">Looks named</div>`), [
    'control without a label: <input name="placeholder">',
    'control without a label: <input name="title">',
    'control without a label: <select name="empty"> "Only an option"',
    'control without a label: <textarea name="broken">',
    'control without a label: <div role="checkbox"> "Looks named"',
  ]);
  assert.deepEqual(await violationsOf(`
    <label>Name <input></label>
    <label for="b">Place</label> <select id="b"><option>Shop</option></select>
    <input aria-label="Search" type="search">
    <p id="note">Note</p><textarea aria-labelledby="note"></textarea>
    <input type="hidden" name="token"><label hidden><input name="unseen"></label>
    <button>Save</button> <input type="submit" value="Send">`), []);
});

test('requires a legend for a group of choices', async () => {
  assert.deepEqual(await violationsOf(`
    <fieldset><label>One <input name="one"></label></fieldset>
    <label>Two <input type="radio" name="two"></label>`), [
    'group without a legend or a name: <fieldset> "One"',
    'radio button outside a group: <input name="two" type="radio">',
  ]);
  assert.deepEqual(await violationsOf(`
    <fieldset><legend>Size</legend><label>Small <input type="radio" name="size"></label></fieldset>
    <div role="radiogroup" aria-label="Colour"><label>Red <input type="radio" name="c"></label>
    </div>`), []);
});

test('requires alternative text for meaningful images', async () => {
  const svg = (attributes: string) =>
    `<svg ${attributes} width="9" height="9"><circle r="9"/></svg>`;
  assert.deepEqual(await violationsOf(`
    <img src="data:," id="bare">${svg('id="drawn"')}<span role="img" id="played">*</span>`), [
    'image without alternative text: <img id="bare" src="data:,">',
    'image without alternative text: <svg id="drawn">',
    'image without alternative text: <span id="played" role="img"> "*"',
  ]);
  assert.deepEqual(await violationsOf(`
    <img src="data:," alt="A mug"><img src="data:," alt="">
    ${svg('aria-hidden="true"')}${svg('role="img" aria-label="Stock"')}
    <button>${svg('aria-hidden="true"')} Save</button>`), []);
});

test('requires text for every button and link', async () => {
  const size = 'style="display: inline-block; width: 30px; height: 30px"';
  assert.deepEqual(await violationsOf(`
    <button id="a" ${size}></button> <a href="/" id="b" ${size}><img src="data:," alt=""></a>
    <details open><summary id="c" ${size}></summary></details>
    <input type="submit" id="d" value="" ${size}>`), [
    'button or link without a name: <button id="a">',
    'button or link without a name: <a id="b" href="/">',
    'button or link without a name: <summary id="c">',
    'button or link without a name: <input id="d" type="submit">',
  ]);
  assert.deepEqual(await violationsOf(`
    <button aria-label="Close" ${size}>x</button>
    <a href="/" ${size}><img src="data:," alt="Home"></a>
    <details><summary ${size}>More</summary></details>`), []);
});

test('requires a caption and scoped headers for every table', async () => {
  assert.deepEqual(await violationsOf(`
    <table id="bare"><tr><td>1</td></tr></table>
    <table><caption>Stock</caption><tr><th>SKU</th></tr><tr><td>1</td></tr></table>`), [
    'table without a caption or a name: <table id="bare"> "1"',
    'table without headers: <table id="bare"> "1"',
    'table header without a scope: <th> "SKU"',
  ]);
  assert.deepEqual(await violationsOf(`
    <table><caption>Stock</caption><tr><th scope="col">SKU</th></tr><tr><td>1</td></tr></table>
    <table aria-label="Sales"><tr><th scope="row">May</th><td>1</td></tr></table>
    <table role="presentation"><tr><td>1</td></tr></table>`), []);
});
