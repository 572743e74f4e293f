/** Reverts of imports in the portal without scripts: preview, revert, and its own revert. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { act, open, readPage, startJob, upload } from './page-setup.ts';
import { HEADER, makeRows } from './setup.ts';

/** A shop whose second import changed MUG, created NEW, and left CUP as it was. */
async function openShop(t: TestContext) {
  const shop = await open(t);
  const { user, send } = shop;
  await upload(user, `${HEADER}Mug,Kitchen,MUG,5,10\nCup,Kitchen,CUP,3,4\n`);
  await act(user, 'commit');
  await upload(user, `${HEADER}Mug XL,Kitchen,MUG,7,20\nCup,Kitchen,CUP,3,4\nNew,Kitchen,NEW,1,1\n`,
    'wrong.csv');
  await act(user, 'commit');
  return {
    ...shop,
    async readProducts(): Promise<string[]> {
      const { products } = (await send({ path: '/api/v1/products' })).json();
      return products.map(({ sku, name, price, stock }: Record<string, unknown>) =>
        `${sku} ${name} ${price} ${stock}`);
    },
    /** Opens the record of a file's import, and the preview of its revert. */
    async preview(file = 'wrong.csv') {
      await user.get('/portal/imports');
      const links = [...(user.page?.text ?? '').matchAll(/href="([^"]*)"><bdi>([^<]*)</g)];
      const [, path = ''] = links.find(([, , name]) => name === `Import ${file}`) ?? [];
      await user.get(path);
      return act(user, 'revert');
    },
    sell: (sku: string, units: number) => send({
      method: 'POST', path: '/api/v1/stock',
      body: JSON.stringify({ changes: [{ sku, adjust: -units }] }),
      headers: { 'content-type': 'application/json' },
    }),
  };
}

test('previews and runs the revert of an import, and reverts the revert', async (t) => {
  const { user, preview, readProducts } = await openShop(t);
  const before = await readProducts();
  const page = await preview();
  assert.match(page.text, /Preview of the revert: Import wrong\.csv/);
  assert.match(page.text, /changed 2 products\. Nothing has been reverted yet\./);
  assert.match(page.text, /Will be restored 1 Will be deleted 1 Will be created again 0 Unch/);
  assert.match(page.text, /MUG name Mug XL Mug MUG price €7\.00 €5\.00 MUG stock 20 10/);
  assert.match(page.text, /NEW product exists deleted/);
  assert.deepEqual(await readProducts(), before);

  const done = await act(user, 'commit');
  assert.match(done.text, /Reverted: Import wrong\.csv .* Revert complete: 2 products\./);
  assert.match(done.text, /Restored 1 Deleted 1/);
  assert.deepEqual(await readProducts(), ['MUG Mug 5 10', 'CUP Cup 3 4']);

  const undo = await act(user, 'revert');
  assert.match(undo.text, /Preview of the revert: Revert/);
  assert.match(undo.text, /Will be restored 1 Will be deleted 0 Will be created again 1/);
  assert.match((await act(user, 'commit')).text, /Restored 1 Deleted 0 Created again 1/);
  assert.deepEqual((await readProducts()).sort(), before.sort());
});

test('leaves products alone that were sold since, unless the seller forces it', async (t) => {
  const { user, preview, readProducts, sell } = await openShop(t);
  await sell('MUG', 3);
  const page = await preview();
  assert.match(page.text, /Will be restored 0 Will be deleted 1 .* Will be left alone 1/);
  assert.match(page.text, /Left alone .* MUG Only its stock changed since, by /);
  const forced = await act(user, '', { force: 'true' });
  assert.match(forced.text, /Will be restored 1 Will be deleted 1 .* Will be left alone 0/);
  assert.match(forced.text, /MUG stock 17 7/);
  await act(user, 'commit');
  assert.deepEqual(await readProducts(), ['MUG Mug 5 7', 'CUP Cup 3 4']);
});

test('offers no second revert', async (t) => {
  const { user, preview } = await openShop(t);
  await preview();
  await act(user, 'commit');
  const again = await preview();
  assert.match(again.text, /Nothing to revert: no product would change\./);
  assert.doesNotMatch(again.text, /Revert now/);
});

test('shows the progress of a long revert', async (t) => {
  const { user, server, preview } = await openShop(t);
  await upload(user, HEADER + makeRows(1_500), 'long.csv');
  await act(user, 'commit');
  await preview('long.csv');
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  const { startRevert } = server.store;
  server.store.startRevert = async (...args) => {
    const revert = await startRevert.apply(server.store, args);
    const next = revert.next.bind(revert);
    revert.next = async () => {
      await held.promise;
      return next();
    };
    return revert;
  };
  const running = await startJob(user, 'commit');
  assert.match(running.text, /Reverting: 0 % .* 0 products so far\./);
  assert.match(running.text, /You can leave this page; the revert continues\./);
  held.resolve();
  const [, path = ''] = /href="([^"]*)">Refresh/.exec(user.page?.text ?? '') ?? [];
  for (let page = running; !/Revert complete: 1,500 products/.test(page.text);) {
    page = readPage(await user.get(path));
  }
});
