/** A server that runs while the schema is migrated: it is not ready, and writes nothing. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import { openPostgresStore } from '../../../../src/store/postgres/store.ts';
import { queryOf } from '../../../../src/store/postgres/sql.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { TEST_KEY } from '../../../support/postgres/server.ts';
import { borrowDatabase } from '../../../support/postgres/shared-server.ts';
import { eventually, makeActor, makeNewProduct } from '../../contract/fixture.ts';

describe('a server of another version than the schema', { skip: NO_POSTGRES }, () => {
  test('rejects writes and says so, until the schema is its own again', async (t) => {
    const connect = await borrowDatabase(t);
    const store = await openPostgresStore({
      connect, key: TEST_KEY, nodeIntervals: { renewMs: 20, expiryMs: 10_000 },
    });
    t.after(() => store.close());
    const actor = await makeActor(store);
    const connection = await openConnection(connect);
    t.after(() => connection.close());
    const setVersion = (change: number) => queryOf(connection)(`UPDATE setting
      SET value = (value::int + $1::int)::text WHERE name = 'schema_version'`, change);
    const findProblem = async () => (await store.readMetrics()).failure;
    store.rateLeases?.countNodes(); // as a server does at its start
    assert.equal(await findProblem(), undefined);
    await setVersion(1);
    try {
      await eventually(async () => assert.match(String(await findProblem()), /wrong schema/));
      for (const write of [
        () => store.createProduct(actor, makeNewProduct()),
        () => store.setSellerDisabled(actor.sellerId, true),
      ]) await assert.rejects(write, { code: 'unavailable', message: /wrong schema.*`migrate`/ });
    } finally {
      await setVersion(-1);
    }
    await eventually(async () => assert.equal(await findProblem(), undefined));
    assert.equal((await store.createProduct(actor, makeNewProduct())).position, 1);
  });
});
