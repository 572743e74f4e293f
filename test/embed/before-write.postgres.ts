/** The hook `beforeWrite` of shops on a PostgreSQL database, several of which share it. */
import assert from 'node:assert/strict';
import { before, describe, test, type TestContext } from 'node:test';
import { createShop } from '../../src/index.ts';
import { migrateDatabase } from '../../src/store/postgres/database.ts';
import { makeFolder } from '../support/folder.ts';
import { NO_POSTGRES } from '../support/postgres/install.ts';
import { type SharedServer, sharePostgres } from '../support/postgres/shared-server.ts';
import {
  importRows, makeHook, MUG, noCutAbove20, raceCuts, readReport,
} from './before-write-rules.ts';
import { prepareDatabase } from './shop-database.ts';

describe('a hook on a database', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  before(async () => { server = await sharePostgres(); });

  async function openShops(t: TestContext, count: number) {
    const location = await prepareDatabase(server, makeFolder(t));
    await migrateDatabase(location);
    const hook = makeHook(noCutAbove20);
    const { beforeWrite } = hook;
    const shops = [];
    for (let opened = 0; opened < count; opened += 1) {
      const shop = await createShop(location, { beforeWrite });
      t.after(() => shop.close());
      shops.push(shop);
    }
    const { id } = await (shops[0] ?? assert.fail()).sellers.create({ name: 'My shop' });
    return { hook, apis: shops.map((shop) => shop.as(id)) };
  }

  test('decides on the product that is replaced, whichever process writes', async (t) => {
    const { apis } = await openShops(t, 2);
    await raceCuts(apis);
  });

  test('sees each change, and rejects it', async (t) => {
    const { hook, apis: [api = assert.fail()] } = await openShops(t, 1);
    await api.products.create({ ...MUG, barcode: '96385074' });
    await api.products.create({ ...MUG, sku: 'CUP-1' });
    await assert.rejects(api.products.patch({ sku: 'MUG-1' }, { price: 79 }),
      { code: 'write_rejected' });
    hook.take();
    const { lines } = await importRows(api, [
      { ...MUG, sku: 'NEW' }, { sku: 'NEW', price: 70 }, { sku: 'NEW', price: 90 },
      // The cast: the type wants a SKU.
      { barcode: '96385074', stock: 7 } as never,
    ]);
    assert.equal(lines.length, 1);
    assert.deepEqual(hook.take(), [
      ['created', 'NEW', undefined, [100, 40]], ['updated', 'NEW', [100, 40], [70, 40]],
      ['updated', 'NEW', [100, 40], [90, 40]], ['stock', 'MUG-1', [100, 40], [100, 7]],
    ]);
    await api.stock.sync([{ barcode: '96385074', set: 8, sequence: 1 }], {
      source: 'till', complete: true, force: true,
    });
    assert.deepEqual(hook.take(), [
      ['stock', 'MUG-1', [100, 7], [100, 8]], ['stock', 'CUP-1', [100, 40], [100, 0]],
      ['stock', 'NEW', [90, 40], [90, 0]],
    ]);
    await readReport(api.imports.revert({ after: 2, up_to: 8 }));
    assert.equal(hook.take().length, 3);
    const sync = () => api.stock.sync([{ sku: 'MUG-1', adjust: -1 }], { idempotencyKey: 'k' });
    assert.deepEqual(await sync(), await sync());
  });
});
