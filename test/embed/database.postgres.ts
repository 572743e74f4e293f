/** Embedded shops on a PostgreSQL database. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { createShop, openStore } from '../../src/index.ts';
import { migrateDatabase } from '../../src/store/postgres/database.ts';
import { makeFolder } from '../support/folder.ts';
import { NO_POSTGRES } from '../support/postgres/install.ts';
import { type SharedServer, sharePostgres } from '../support/postgres/shared-server.ts';
import { prepareDatabase } from './shop-database.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };

describe('a shop on a database', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  before(async () => { server = await sharePostgres(); });

  test('shares its catalogues with shops in other processes', async (t) => {
    const location = await prepareDatabase(server, makeFolder(t));
    await assert.rejects(createShop(location), /The database is empty\. Run `migrate` once/);
    await migrateDatabase(location);
    const one = await createShop(location);
    t.after(() => one.close());
    const store = await openStore(location);
    const two = await createShop({ store });
    t.after(async () => {
      await two.close();
      await store.close();
    });
    const { id } = await one.sellers.create({ name: 'My shop' });
    const { done, stop } = two.subscribe(id, { after: 0 }, ({ position }) => {
      assert.equal(position, 1);
      stop();
    });
    await one.as(id, { actor: 'test' }).products.create(MUG);
    await done;
    assert.equal((await two.as(id).products.get({ sku: MUG.sku })).stock, 40);
  });

  test('sets timeouts on the database server', async (t) => {
    const location = await prepareDatabase(server, makeFolder(t));
    await migrateDatabase(location);
    const { pathname } = new URL(location.database);
    const administrator = await server.openAdministrator();
    const text = `ALTER DATABASE ${pathname.slice(1)} SET log_statement = 'all'`;
    await administrator.run([{ text, values: [], isUnnamed: true }]);
    await administrator.close();
    await (await createShop(location)).close();
    const log = readFileSync(join(server.folder, 'log'), 'utf8');
    const names = 'tcp_user_timeout,tcp_keepalives_idle,tcp_keepalives_interval,statement_timeout,'
      + 'lock_timeout,idle_in_transaction_session_timeout';
    assert.ok(log.includes(`$1 = '{${names}}', $2 = '{15000,5,5,15000,5000,10000}'`));
  });
});
