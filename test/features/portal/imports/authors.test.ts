/** Who imports, bulk edits and reverts belong to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addColleague } from '../colleague.ts';
import { act, open, upload } from './page-setup.ts';
import { HEADER, makeRows } from './setup.ts';

test('have the name of whoever starts them, not of whoever opened the preview', async (t) => {
  const shop = await open(t);
  const { user: anna, server, send } = shop;
  const { user: ben } = await addColleague(server, shop, 'editor', 'Ben');
  /** Ben starts what Anna previews. */
  const startAsBen = async (fields = {}): Promise<void> => {
    const [path = ''] = /\/portal\/import\/[\w-]{36}/.exec(anna.page?.text ?? '') ?? [];
    while (!/\/commit"/.test((await ben.get(path)).text)); // the preview may take a moment
    await act(ben, 'commit', fields);
    while (!/omplete/.test((await ben.get(path)).text));
  };
  const readActors = async () => {
    const { imports: [record] } = (await send({ path: '/api/v1/imports' })).json();
    const { changes } = (await send({ path: '/api/v1/changes?after=0' })).json();
    return [record.kind, record.actor, changes.at(-1).actor];
  };
  await upload(anna, HEADER + makeRows(2));
  await startAsBen();
  assert.deepEqual(await readActors(), ['products', 'Ben', 'Ben']);

  await upload(anna, 'sku,stock\nSKU-1,9\n', 'stock.csv');
  await startAsBen();
  assert.deepEqual(await readActors(), ['stock', 'Ben', 'Ben']);

  await anna.get('/portal/products');
  await anna.submit({ scope: 'all', action: 'delete' }, { action: '/portal/products/selection' });
  await anna.follow();
  await startAsBen({ confirmation: '2' });
  assert.deepEqual(await readActors(), ['bulk', 'Ben', 'Ben']);

  const records = await anna.get('/portal/imports');
  await anna.get(/href="(\/portal\/imports\/imp_[^"]+)"/.exec(records.text)?.[1] ?? '');
  await act(anna, 'revert');
  await startAsBen();
  assert.deepEqual(await readActors(), ['revert', 'Ben', 'Ben']);
});
