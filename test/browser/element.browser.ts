/** Finding, reading and using elements. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Browser, openBrowser } from './browser.ts';
import { servePages } from './page-server.ts';

const FORM = `<link rel="icon" href="data:,">
  <form method="post">
    <label>Name <input name="name" value="Old"></label>
    <label for="place">Place</label><select id="place" name="place">
      <option value="1">Shop</option><option value="2">Cellar</option></select>
    <label><input type="checkbox" name="live" value="yes"> Live</label>
    <label>Locked <input disabled></label>
    <button aria-label="Save it">Save</button>
  </form>
  <ul><li>One</li><li>Two   <b>bold</b></li><li hidden>Three</li></ul>`;

const browser = await openBrowser({ after });

async function openForm(): Promise<Browser> {
  await browser.open(await servePages({ after }, { 'GET /': FORM, 'POST /': (body) => body }));
  return browser;
}

test('finds one element by selector, label, role and text', async () => {
  const page = await openForm();
  assert.equal(await (await page.find('form select')).attribute('id'), 'place');
  assert.equal(await (await page.findByLabel('Place')).attribute('name'), 'place');
  assert.equal(await (await page.findByLabel(/^na/i)).value(), 'Old');
  assert.equal(await (await page.findByRole('button', 'Save it')).text(), 'Save');
  assert.equal(await (await page.findByRole('checkbox')).label(), 'Live');
  assert.equal(await (await page.findByText('bold')).attribute('class'), null);
  assert.equal(await (await page.findByText('Two bold')).text(), 'Two bold');
});

test('finds elements within an element', async () => {
  const page = await openForm();
  const list = await page.find('ul');
  assert.equal(await (await list.findByText(/^Tw/)).text(), 'Two bold');
  assert.equal((await list.findAll('input')).length, 0);
  assert.equal((await page.findAll('input')).length, 3);
});

test('counts elements without waiting', async () => {
  const page = await openForm();
  assert.equal((await page.findAll('li')).length, 3);
  assert.equal((await page.findAllByRole('listitem')).length, 2);
  assert.equal((await page.findAllByText(/^(One|Two|Three)/)).length, 2);
  assert.equal(await page.has('table'), false);
  assert.equal(await page.has('li'), true);
});

test('waits for an element that a script adds', async () => {
  const page = await openForm();
  const search = page.find('output');
  assert.equal(await page.has('output'), false);
  await page.run(() => document.body.append(document.createElement('output')));
  await search;
});

test('rejects an ambiguous query', async () => {
  const page = await openForm();
  await assert.rejects(page.find('li'), /3 elements match li/);
  await assert.rejects(page.findByRole('textbox'), /2 elements match the textbox named anything/);
});

test('fills in and sends a form', async () => {
  const page = await openForm();
  const name = await page.findByLabel('Name');
  await name.type(' and new');
  assert.equal(await name.value(), 'Old and new');
  await name.fill('Néw');
  await (await page.findByLabel('Place')).choose('Cellar');
  const live = await page.findByLabel('Live');
  assert.equal(await live.isChecked(), false);
  await live.click();
  assert.equal(await live.isChecked(), true);
  await (await page.findByText('Save')).follow();
  assert.equal(await page.text(), 'name=N%C3%A9w&place=2&live=yes');
});

test('rejects an unknown option', async () => {
  const place = await (await openForm()).findByLabel('Place');
  await assert.rejects(place.choose('Roof'), /No option Roof, only Shop, Cellar/);
});

test('reports whether elements are enabled and displayed, and their style', async () => {
  const page = await openForm();
  assert.equal(await (await page.findByLabel('Locked')).isEnabled(), false);
  assert.equal(await (await page.findByLabel('Name')).isEnabled(), true);
  assert.equal(await (await page.find('li[hidden]')).isDisplayed(), false);
  assert.equal(await (await page.findByText('One')).isDisplayed(), true);
  assert.equal(await (await page.find('b')).style('font-weight'), '700');
});

test('passes elements to functions in the page, and returns their results', async () => {
  const page = await openForm();
  const list = await page.find('ul');
  const count = (element: Element, more: number) => element.children.length + more;
  assert.equal(await page.run(count, list, 4), 7);
  assert.equal(await page.run(async () => Promise.resolve('later')), 'later');
  await assert.rejects(page.run(() => { throw new Error('Oops'); }), /Oops/);
});
