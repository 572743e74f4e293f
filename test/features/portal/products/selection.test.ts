/** Bulk edits of selected products in the portal without scripts: category, deletion, revert. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { act, readPage, startJob } from '../imports/page-setup.ts';
import type { Fields } from '../page-client.ts';
import { openCatalogue, openOther, readRows } from './catalogue.ts';

const LIST = '/portal/products';

/** A shop with products A and B in the category Cups, C in Mugs. */
async function open(t: TestContext) {
  const catalogue = await openCatalogue(t);
  const { user, create, send } = catalogue;
  for (const [sku, category] of [['A', 'Cups'], ['B', 'Cups'], ['C', 'Mugs']] as const) {
    await create({ sku, name: `Name ${sku}`, category, stock: 5 });
  }
  return {
    ...catalogue,
    /** Submits the list's form, and follows the redirect to the preview. */
    async select(query: string, fields: Fields) {
      await user.get(`${LIST}${query}`);
      const answer = await user.submit(fields, { action: `${LIST}/selection` });
      assert.equal(answer.status, 303, answer.text);
      return readPage(await user.follow());
    },
    readAll: async (): Promise<string[]> => {
      const { products } = (await send({ path: '/api/v1/products' })).json();
      return products.map(({ sku, category }: Record<string, string>) => `${sku} ${category}`);
    },
    readRecords: async () => (await send({ path: '/api/v1/imports' })).json().imports,
  };
}

describe('a bulk deletion', () => {
  test('deletes the selected products after confirmation, and can be reverted', async (t) => {
    const { user, select, readAll, readRecords } = await open(t);
    const preview = await select('', { row: ['0', '2'], action: 'delete' });
    assert.match(preview.text, /Preview: delete 2 products/);
    assert.match(preview.text, /2 products will be deleted\. To get them back, revert/);
    assert.match(preview.text, /A Name A Cups 5 C Name C Mugs 5/);
    for (const confirmation of ['', '3', 'delete']) {
      const unconfirmed = await act(user, 'commit', { confirmation });
      assert.equal(unconfirmed.status, 422);
      assert.match(unconfirmed.text, /Nothing was deleted\. Enter 2 or DELETE\./);
    }
    assert.equal((await readAll()).length, 3);
    const done = await act(user, 'commit', { confirmation: '2' });
    assert.match(done.text, /Bulk edit complete: 2 products\. Deleted 2 Left alone 0/);
    assert.deepEqual(await readAll(), ['B Cups']);
    const [record] = await readRecords();
    assert.deepEqual([record.kind, record.mode, record.counts.deleted], ['bulk', 'delete', 2]);
    assert.ok(record.finished_at !== null);

    await act(user, 'revert');
    assert.match((await act(user, 'commit')).text, /Created again 2/);
    assert.deepEqual((await readAll()).sort(), ['A Cups', 'B Cups', 'C Mugs']);
  });

  test('covers all products that match the filter, but none created since', async (t) => {
    const { user, select, readAll, create } = await open(t);
    await select('?category=Cups', { scope: 'all', action: 'delete' });
    await create({ sku: 'D', category: 'Cups' });
    assert.match((await act(user, 'commit', { confirmation: 'DELETE' })).text, /Deleted 2/);
    assert.deepEqual(await readAll(), ['C Mugs', 'D Cups']);
  });

  test('covers the page, and leaves products alone that no longer match', async (t) => {
    const { user, select, readAll, send } = await open(t);
    await select('?category=Cups', { scope: 'all', action: 'delete' });
    const { products: [{ id }] } = (await send({ path: '/api/v1/products' })).json();
    await send({
      method: 'PATCH', path: `/api/v1/products/${id}`, body: '{"category":"Kept"}',
      headers: { 'content-type': 'application/json' },
    });
    assert.match((await act(user, 'commit', { confirmation: '2' })).text, /Deleted 1/);
    assert.deepEqual(await readAll(), ['A Kept', 'C Mugs']);
    const preview = await select('?category=Mugs', { scope: 'page', action: 'delete' });
    assert.match(preview.text, /1 product will be deleted/);
    await act(user, 'commit', { confirmation: '1' });
    assert.deepEqual(await readAll(), ['A Kept']);
  });

  test('can be discarded without a trace', async (t) => {
    const { user, select, readAll, readRecords } = await open(t);
    await select('', { scope: 'all', action: 'delete' });
    await act(user, 'discard');
    assert.match(user.page?.text ?? '', /<h1>Products<\/h1>/);
    assert.deepEqual([(await readAll()).length, await readRecords()], [3, []]);
  });
});

describe('a bulk edit of the category', () => {
  test('asks for the category, previews the change, and applies it', async (t) => {
    const { user, select, readAll, readRecords } = await open(t);
    const page = await select('', { row: ['0'], action: 'category' });
    assert.match(page.text, /New category Category/);
    assert.match(user.page?.text ?? '', /<datalist id="list-category"><option value="Cups">/);
    assert.equal((await act(user, '', { category: ' ' })).status, 422);
    assert.equal((await act(user, '', { category: 'x'.repeat(101) })).status, 422);
    const preview = await act(user, '', { category: ' Mugs ' });
    assert.match(preview.text, /1 product will get the category Mugs/);
    assert.match(preview.text, /1 other product has this category already: \d will share it/);
    assert.deepEqual(await readRecords(), []);
    assert.match((await act(user, 'commit')).text, /complete: 1 product\. Changed 1 Unchanged 0/);
    assert.deepEqual(await readAll(), ['A Mugs', 'B Cups', 'C Mugs']);
    assert.equal((await readRecords())[0].mode, 'category');
  });

  test('counts products that already have the category, and does nothing if all do', async (t) => {
    const { user, select } = await open(t);
    await select('', { scope: 'all', action: 'category' });
    const some = await act(user, '', { category: 'Cups' });
    assert.match(some.text, /Will be changed 1 Unchanged 2/);
    await select('?category=Cups', { scope: 'all', action: 'category' });
    const none = await act(user, '', { category: 'Cups' });
    assert.match(none.text, /Nothing to change: all of these products have this category/);
    assert.doesNotMatch(user.page?.text ?? '', /\/commit"/);
  });

  test('shows its progress while it runs in the background', async (t) => {
    const { user, server, select, readAll, readRecords } = await open(t);
    await select('', { scope: 'all', action: 'category' });
    await act(user, '', { category: 'Pots' });
    const held = Promise.withResolvers<void>();
    t.after(() => held.resolve());
    const { editProducts } = server.store;
    server.store.editProducts = async (...args) => {
      await held.promise;
      return editProducts.apply(server.store, args);
    };
    const running = await startJob(user, 'commit');
    assert.match(running.text, /Running: .* 0 products so far\. .* the bulk edit continues/);
    held.resolve();
    const [, path = ''] = /href="([^"]*)">Refresh/.exec(user.page?.text ?? '') ?? [];
    for (let page = running; !/Bulk edit complete: 3 products/.test(page.text);) {
      page = readPage(await user.get(path));
    }
    assert.deepEqual(await readAll(), ['A Pots', 'B Pots', 'C Pots']);
    assert.equal((await readRecords()).length, 1);
  });
});

test('archives the selected products, and restores archived ones', async (t) => {
  const { user, select, readAll, readRecords } = await open(t);
  const preview = await select('', { row: ['0', '2'], action: 'archive' });
  assert.match(preview.text, /Preview: archive 2 products .* hidden from lists until you restore/);
  assert.match((await act(user, 'commit')).text, /complete: 2 products\. Changed 2 Unchanged 0/);
  assert.deepEqual(await readAll(), ['B Cups']);
  await select('?archived=any', { scope: 'all', action: 'restore' });
  assert.match((await act(user, 'commit')).text, /Changed 2 Unchanged 1/);
  assert.deepEqual(await readAll(), ['A Cups', 'B Cups', 'C Mugs']);
  assert.deepEqual((await readRecords()).map(({ mode }: Record<string, string>) => mode),
    ['restore', 'archive']);
  await user.get(`${LIST}?archived=true`);
  assert.doesNotMatch(user.page?.text ?? '', /value="archive"/);
});

describe('the selection', () => {
  test('must have a product, unless it is for the grid', async (t) => {
    const { select, user, readRecords } = await open(t);
    const none = await select('?q=Name&sort=-name', { action: 'delete' });
    assert.match(none.text, /No products were selected\./);
    assert.match(user.page?.text ?? '', /<input name="q" type="search" value="Name"/);
    const read = (): string[] => readRows(user.page ?? assert.fail()).map(([name = '']) => name);
    await select('?sort=-name', { action: 'edit' });
    assert.deepEqual(read(), ['Name C C', 'Name B B', 'Name A A']);
    await select('?sort=-name', { row: ['1'], action: 'edit' });
    assert.deepEqual(read(), ['Name B B']);
    await user.submit({ stock: ['6'] }, { action: `${LIST}/grid` });
    assert.match(user.page?.headers.location ?? '', /^\/portal\/products\?sort=-name&done=bulk/);
    await select('?category=Cups', { scope: 'all', action: 'edit' });
    assert.deepEqual(read(), ['Name A A', 'Name B B']);
    assert.equal((await readRecords()).length, 1);
  });

  test('is rejected with an invalid filter, which would match more', async (t) => {
    const { user } = await open(t);
    await user.get(`${LIST}?price_min=x`);
    const answer = await user.submit(
      { scope: 'all', action: 'delete' }, { action: `${LIST}/selection` },
    );
    assert.equal(answer.status, 400);
    assert.match(answer.text, /Nothing was changed\. Correct the filter first\./);
  });

  test('ignores products of another shop', async (t) => {
    const { user, server, readRecords } = await open(t);
    const other = await openOther(server);
    const theirs = await other.create();
    await user.get(LIST);
    for (const page of [theirs.id, '', '1z', 'x y']) {
      const fields = { page, row: ['0'], action: 'delete' };
      const answer = await user.submit(fields, { action: `${LIST}/selection` });
      assert.equal(answer.headers.location, '/portal/products?done=none');
      await user.get(LIST);
    }
    assert.ok(await other.read(theirs));
    assert.deepEqual(await readRecords(), []);
  });
});
