/** How often requests wait for PostgreSQL: each round trip adds the latency of the network. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { NO_POSTGRES } from '../../support/postgres/install.ts';
import { TEST_KEY } from '../../support/postgres/server.ts';
import { borrowDatabase } from '../../support/postgres/shared-server.ts';
import { recordStatements } from '../../support/postgres/statement-recorder.ts';
import {
  countTo, makeNewKey, makeNewProduct, makeSecret, makeSeller,
} from '../contract/fixture.ts';

describe('round trips to PostgreSQL', { skip: NO_POSTGRES }, () => {
  test('a read takes at most 2, including its key look-up; an uncontended write 1', async (t) => {
    const recorder = recordStatements();
    t.after(() => recorder.restore());
    const store = await openPostgresStore({ connect: await borrowDatabase(t), key: TEST_KEY });
    t.after(() => store.close());
    const countOf = async (work: () => Promise<unknown>): Promise<number> => {
      const first = recorder.countRoundTrips();
      await work();
      return recorder.countRoundTrips() - first;
    };
    const secret = makeSecret();
    const { id: sellerId } = await makeSeller(store);
    const { id: keyId } = await store.createKey(sellerId, secret, makeNewKey());
    const actor = { sellerId, keyId };
    const product = await store.createProduct(actor, makeNewProduct());
    const lookUp = async () => assert.ok(await store.findGrant(secret.hash));
    // A node looks up the seller of a key once.
    assert.equal(await countOf(lookUp), 2);
    const page = { after: undefined, limit: 10 };
    const reads: Readonly<Record<string, () => Promise<unknown>>> = {
      product: async () => assert.ok(await store.findProduct(sellerId, { id: product.id })),
      list: () => store.listProducts(sellerId, page),
      changes: () => store.listChanges(sellerId, { after: 0, limit: 10 }),
    };
    for (const [name, read] of Object.entries(reads)) {
      const count = await countOf(async () => {
        await lookUp();
        await read();
      });
      assert.equal(count, 2, name);
    }
    assert.equal(await countOf(() => store.createProduct(actor, makeNewProduct())), 1);
    assert.equal(await countOf(() => Promise.all(countTo(50).map(() =>
      store.createProduct(actor, makeNewProduct())))), 1, 'writes of one event-loop iteration');
  });
});
