/** The grid of stocks and prices in the portal. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { assertPage } from '../page-rules.ts';
import { type Fields, readText } from '../page-client.ts';
import { type Created, HOSTILE_NAMES, openCatalogue, openOther, readRows } from './catalogue.ts';

const GRID = '/portal/products/grid';

/** A shop with products A, B and C, 5 in stock each, at 10.00; their grid is open. */
async function openGrid(t: TestContext) {
  const catalogue = await openCatalogue(t);
  const { user, create, read } = catalogue;
  const products: Created[] = [];
  for (const sku of ['A', 'B', 'C']) {
    products.push(await create({ sku, name: `Name ${sku}`, price: 10, stock: 5 }));
  }
  assertPage(await user.get(GRID));
  const [a, b, c] = products;
  assert.ok(a && b && c);
  return {
    ...catalogue, a, b, c,
    save: (stock: readonly string[], price: readonly string[], more: Fields = {}) =>
      user.submit({ stock, price, ...more }, { action: GRID }),
    readAll: async () => Promise.all(products.map(async (product) => {
      const { stock, price } = await read(product) ?? {};
      return `${stock} ${price}`;
    })),
  };
}

describe('the grid', () => {
  test('saves changed rows with one reason, as one bulk edit that can be reverted', async (t) => {
    const { user, save, readAll, send } = await openGrid(t);
    const saved = await save(['7', '5', ' 0 '], ['10.00', '12,50', '9'], { reason: ' recount ' });
    assert.equal(saved.status, 303);
    assert.match(saved.headers.location ?? '', /^\/portal\/products\?done=bulk&import=imp_\w+$/);
    const list = await user.follow();
    assert.match(readText(list.text), /3 products saved\. View the record/);
    assert.deepEqual(await readAll(), ['7 10', '5 12.5', '0 9']);
    const { changes } = (await send({ path: '/api/v1/changes?after=3' })).json();
    assert.deepEqual(changes.map((one: Record<string, unknown>) => one['type']),
      ['stock', 'updated', 'updated']);
    const { imports: [record] } = (await send({ path: '/api/v1/imports' })).json();
    assert.deepEqual([record.kind, record.mode, record.counts], [
      'bulk', 'edit', { updated: 3, deleted: 0, unchanged: 0, conflicts: 0 },
    ]);
    const { movements } = (await send({ path: '/api/v1/stock/movements?after=3' })).json();
    assert.deepEqual(movements.map((one: Record<string, unknown>) => one['reason']),
      ['recount', 'recount']);
    const changesPage = await user.get('/portal/changes');
    assert.match(readText(changesPage.text), /Bulk edit of stock and price : 3 changes/);

    await user.get(`/portal/imports/${record.id}`);
    await user.submit({}, { action: `/portal/imports/${record.id}/revert` });
    const preview = await user.follow();
    assert.match(readText(preview.text), /Will be restored 3/);
    const [, commit = ''] = /action="([^"]*\/commit)"/.exec(preview.text) ?? [];
    await user.submit({}, { action: commit });
    assert.match(readText((await user.follow()).text), /Revert complete: 3 products/);
    assert.deepEqual(await readAll(), ['5 10', '5 10', '5 10']);
  });

  test('shows rows again if someone else changed them, and saves the others', async (t) => {
    const { user, save, readAll, sync, patch, a, b, c } = await openGrid(t);
    await sync([{ id: a.id, adjust: -1 }, { id: c.id, adjust: -1 }]);
    await patch(b, { price: 11 });
    const answer = await save(['9', '5', '5'], ['10.00', '12', '8']);
    assertPage(answer);
    assert.match(answer.text, /<title>Error: /);
    const text = readText(answer.text);
    assert.match(text, /1 product was saved\. View the record/);
    assert.match(text, /Someone else changed it from 5 to 4\. Save again to overwrite it\./);
    assert.match(text, /Someone else changed it from 10\.00 to 11\.00\./);
    assert.deepEqual(await readAll(), ['4 10', '5 11', '4 8']);
    assert.deepEqual(readRows(answer).map(([name = '']) => name.slice(0, 16)),
      ['Name A A Stock: ', 'Name B B Price: ']);
    const form = user.formOf(GRID);
    assert.deepEqual(form.filter(([name]) => name === 'stock' || name === 'price'), [
      ['stock', '9'], ['price', '10.00'], ['stock', '5'], ['price', '12'],
    ]);
    assert.equal((await user.submit({}, { action: GRID })).status, 303);
    assert.deepEqual(await readAll(), ['9 10', '5 12', '4 8']);
  });

  test('names the products that were deleted since', async (t) => {
    const { user, save, readAll, send, a } = await openGrid(t);
    await send({ method: 'DELETE', path: `/api/v1/products/${a.id}` });
    const answer = await save(['9', '6', '5'], ['10', '10', '10']);
    assertPage(answer);
    assert.deepEqual(readRows(answer), [['A product that someone else deleted', '–', '–']]);
    assert.match(readText(answer.text), /1 product was saved/);
    assert.deepEqual(await readAll(), ['undefined undefined', '6 10', '5 10']);
    assertPage(await user.get(GRID));
  });

  test('saves nothing if a value is invalid, and keeps what was typed', async (t) => {
    const { save, readAll, user } = await openGrid(t);
    const answer = await save(['9', 'x', '-1'], ['10', '1.234', '10'], { reason: 'r'.repeat(201) });
    assertPage(answer, 422);
    const text = readText(answer.text);
    assert.match(text, /Stock of Name B: /);
    assert.match(text, /Price of Name B: Could mean 1234 or 1\.234/);
    assert.match(text, /Stock of Name C: /);
    assert.match(answer.text, /href="#field-price-1"/);
    assert.match(text, /Reason \(optional\): /);
    assert.deepEqual(await readAll(), ['5 10', '5 10', '5 10']);
    const none = user.formOf(GRID).filter(([name]) => name === 'stock').map(([, value]) => value);
    assert.deepEqual(none, ['9', 'x', '-1']);
  });

  test('takes effect once, and writes nothing without a change', async (t) => {
    const { user, save, readAll, sync, a, send } = await openGrid(t);
    const page = user.page;
    await save(['7', '5', '5'], ['10', '10', '10']);
    await sync([{ id: a.id, set: 3 }]);
    user.page = page;
    const again = await save(['7', '5', '5'], ['10', '10', '10']);
    assert.match(again.headers.location ?? '', /done=bulk/);
    assert.deepEqual(await readAll(), ['3 10', '5 10', '5 10']);
    user.page = page;
    assertPage(await save(['8', '5', '5'], ['10', '10', '10']), 409);
    await user.get(`${GRID}?q=Name&list_q=unused`);
    const same = await user.submit({}, { action: GRID });
    assert.equal(same.headers.location, '/portal/products?q=Name&done=same');
    assert.match(readText((await user.follow()).text), /You changed no values/);
    const { imports } = (await send({ path: '/api/v1/imports' })).json();
    assert.equal(imports.length, 2); // the first save and the stock sync
  });

  test('ignores products of another shop, and rejects malformed forms', async (t) => {
    const { user, server, a } = await openGrid(t);
    const other = await openOther(server);
    const theirs = await other.create({ stock: 5, price: 10 });
    assert.deepEqual(readRows(await user.get(`${GRID}?id=${theirs.id}&id=${a.id}`))
      .map(([name]) => name), ['Name A A']);
    const answer = await user.submit(
      { row: [`${theirs.id} 5 1000`], stock: ['1'], price: ['1'] }, { action: GRID },
    );
    assertPage(answer);
    assert.equal((await other.read(theirs))?.['stock'], 5);
    await user.get(GRID);
    const torn = await user.submit({ stock: ['1', '2'] }, { action: GRID });
    assert.equal(torn.status, 400);
    const many = Array.from({ length: 51 }, () => '1');
    await user.get(GRID);
    const long = await user.submit({ row: many, stock: many, price: many }, { action: GRID });
    assert.equal(long.status, 400);
  });

  test('shows a page of the filtered list, and stays within 50 KiB', async (t) => {
    const { user, create } = await openCatalogue(t);
    for (const name of HOSTILE_NAMES) await create({ name });
    for (let n = 0; n < 50; n += 1) {
      const sku = `${'"'.repeat(60)}${n}`;
      await create({ name: '"'.repeat(200), sku, price: 999_999_999_999.99 });
    }
    const first = await user.get(GRID);
    assertPage(first);
    assert.doesNotMatch(first.text, /<script>|<img|onmouseover='|<h1>&lt;/);
    assert.equal(readRows(first).length, 50);
    const [, next = ''] = /href="([^"]*)" rel="next"/.exec(first.text) ?? [];
    const second = await user.get(next.replaceAll('&amp;', '&'));
    assert.equal(readRows(second).length, HOSTILE_NAMES.length);
    const none = await user.get(`${GRID}?q=nothing+at+all`);
    assert.match(readText(none.text), /No products to edit/);
  });
});
