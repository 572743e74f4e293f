/** Searches and reports: on connections of their own, and by indexes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPostgresStore } from '../../../../src/store/postgres/store.ts';
import { Connection } from '../../../../src/store/postgres/wire/connection.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { TEST_KEY } from '../../../support/postgres/server.ts';
import { borrowDatabase } from '../../../support/postgres/shared-server.ts';
import { countTo, makeActor, makeNewProduct } from '../../contract/fixture.ts';

describe('reads that may be slow', { skip: NO_POSTGRES }, () => {
  test('have connections of their own, one at a time', async (t) => {
    const store = await openPostgresStore({ connect: await borrowDatabase(t), key: TEST_KEY });
    t.after(() => store.close());
    const actor = await makeActor(store);
    const { sellerId } = actor;
    await store.createProduct(actor, makeNewProduct());
    const { run } = Connection.prototype;
    t.after(() => { Connection.prototype.run = run; });
    const slow = new Set<Connection>();
    const shared = new Set<Connection>();
    const queued: string[] = [];
    let isSlow = true;
    Connection.prototype.run = function note(this: Connection, ...args) {
      (isSlow ? slow : shared).add(this);
      const text = args[0][0]?.text ?? '';
      if (isSlow && this.load > 0) queued.push(text);
      return run.apply(this, args);
    };
    const sort = { by: 'name', isDescending: false } as const;
    const reads: readonly (() => Promise<unknown>)[] = [
      () => store.searchProducts(sellerId, {
        filter: { q: 'mug' }, sort, after: undefined, limit: 10,
      }, 1),
      () => store.countProducts(sellerId, { q: 'mug' }, 1),
      () => store.readTotals(sellerId, 1),
      () => store.countLowStock(sellerId, { stockMax: 5, limit: 10 }, 1),
      () => store.listCategories(sellerId, { from: undefined, limit: 10 }, 1),
      () => store.listChanges(sellerId, { after: 0, limit: 10, types: ['created'] }),
    ];
    for (const read of reads) {
      const all = countTo(5).map(read);
      await Promise.all(all);
    }
    isSlow = false;
    await Promise.all(countTo(50).flatMap(() => [
      store.findGrant('0'.repeat(64)), store.listProducts(sellerId, { after: undefined, limit: 1 }),
      store.listChanges(sellerId, { after: 0, limit: 10 }),
    ]));
    assert.deepEqual(queued, []);
    assert.ok(slow.size > 0 && shared.size > 0 && slow.isDisjointFrom(shared));
  });

  // Before the table has been analyzed, and while entries of the index are pending.
  test('look up pairs of metadata by their index right after an import', async (t) => {
    const store = await openPostgresStore({ connect: await borrowDatabase(t), key: TEST_KEY });
    t.after(() => store.close());
    const actor = await makeActor(store);
    const products = countTo(30_000).map((n) =>
      makeNewProduct({ metadata: { erp: `e${n}`, shop: 'main' } }));
    for (let start = 0; start < products.length; start += 1_000) {
      await store.importProducts(actor, products.slice(start, start + 1_000), 'upsert');
    }
    const { run } = Connection.prototype;
    t.after(() => { Connection.prototype.run = run; });
    const plans: Promise<string>[] = [];
    Connection.prototype.run = function explain(this: Connection, statements, ...args) {
      const [statement] = statements;
      if (statement?.text.includes('json_to_recordset')) {
        const { text, values } = statement;
        plans.push(run.call(this, [{ text: `EXPLAIN ${text}`, values }])
          .then((results) => JSON.stringify(results[0]?.rows)));
      }
      return run.call(this, statements, ...args);
    };
    const { results } = await store.lookUpProducts(actor.sellerId,
      countTo(100).map((n) => ({ metadata: { erp: `e${n}` } })), products.length);
    assert.ok(results.every(({ length }) => length === 1));
    const [plan = ''] = await Promise.all(plans);
    assert.match(plan, /Bitmap Index Scan on product_metadata/);
    assert.doesNotMatch(plan, /Seq Scan on product/);
  });
});
