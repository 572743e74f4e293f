/** Sellers of an embedded shop: their external ids, and their deletion. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createShop } from '../../src/embed/shop.ts';
import type { ShopOptions } from '../../src/embed/shop-options.ts';
import { makeDataFolder } from '../support/folder.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40 };

async function openShop(t: TestContext, options: ShopOptions = {}) {
  const shop = await createShop({ folder: makeDataFolder(t) }, options);
  t.after(() => shop.close());
  const { id } = await shop.sellers.create({ name: 'My shop' });
  return { shop, id };
}

test('names sellers by external ids wherever an id is accepted', async (t) => {
  const { shop } = await openShop(t, {
    authenticate: ({ headers }) => ({ seller: String(headers['x-user']) }),
  });
  const created = await shop.sellers.create({ name: 'Seven', externalId: 'user 7' });
  assert.equal(created.external_id, 'user 7');
  const mug = await shop.as('user 7').products.create(MUG);
  const { key } = await shop.keys.create('user 7', { name: 'till' });
  assert.match(key, /^spk_/);
  assert.equal((await Array.fromAsync(shop.keys.list('user 7'))).length, 1);
  assert.match((await shop.sellers.invite('user 7')).code, /-/);
  assert.ok((await shop.sellers.disable('user 7')).disabled_at);
  assert.deepEqual(await shop.sellers.enable('user 7'), await shop.sellers.get(created.id));
  const { done, stop } = shop.subscribe('user 7', { after: 0 }, ({ product_id }) => {
    assert.equal(product_id, mug.id);
    stop();
  });
  await done;
  const response = await shop.fetch(new Request(`http://host/api/v1/products/${mug.id}`, {
    headers: { 'x-user': 'user 7' },
  }));
  assert.equal(response.status, 200);
  assert.equal((await shop.sellers.update('user 7', { externalId: null })).external_id, null);
  for (const call of [
    () => shop.sellers.get('user 7'), () => shop.as('user 7').products.get(mug.id),
    () => Array.fromAsync(shop.keys.list('user 7')), () => shop.sellers.invite('user 7'),
  ]) await assert.rejects(call, { code: 'not_found' });
});

test('deletes a seller that is disabled', async (t) => {
  const { shop } = await openShop(t, { clock: () => Date.UTC(2026, 0, 2) });
  const { id } = await shop.sellers.create({ name: 'Seven', externalId: '7' });
  const { key } = await shop.keys.create(id, { name: 'till' });
  const api = shop.as('7');
  await api.products.create(MUG);
  await assert.rejects(shop.sellers.delete('7'), { code: 'seller_enabled' });
  const live = Array.fromAsync(api.changes({ after: 0, live: true }));
  live.catch(() => {});
  await shop.sellers.disable('7');
  const deleted = await shop.sellers.delete('7');
  assert.deepEqual([deleted.id, deleted.deleted_at], [id, '2026-01-02T00:00:00.000Z']);
  assert.match(deleted.note, /Backups/);
  assert.deepEqual(await shop.sellers.delete(id), deleted);
  const response = await shop.fetch(new Request('http://host/api/v1/products', {
    headers: { 'x-api-key': key },
  }));
  assert.equal(response.status, 401);
  await assert.rejects(api.products.create(MUG), { code: 'not_found' });
  await assert.rejects(shop.sellers.delete('7'), { code: 'not_found' });
  const again = await shop.sellers.create({ name: 'New', externalId: '7' });
  assert.equal(again.position, 0);
});

test('renames a seller, and gives no external id twice', async (t) => {
  const { shop, id } = await openShop(t);
  const other = await shop.sellers.create({ name: 'Other', externalId: '8' });
  const renamed = await shop.sellers.update(id, { name: 'New', externalId: '7' });
  assert.deepEqual([renamed.name, renamed.external_id, renamed.currency], ['New', '7', 'EUR']);
  await assert.rejects(shop.sellers.create({ name: 'x', externalId: '7' }),
    { code: 'external_id_taken' });
  await assert.rejects(shop.sellers.update('8', { externalId: '7' }),
    { code: 'external_id_taken' });
  assert.deepEqual(await shop.sellers.get('8'), other);
});
