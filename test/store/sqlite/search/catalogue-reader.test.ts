/** What the search thread reads of the catalogue: one seller's rows, in their order. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCatalogue } from '../../../../src/store/sqlite/search/catalogue-reader.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeDataFolder } from '../../../support/folder.ts';
import { makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { FILE_NAME } from '../engine/read-file.ts';
import { openStore } from '../open.ts';

test('reads the changes and deletions of one seller, and the sellers one after the other',
  async (t) => {
    const folder = makeDataFolder(t);
    const clock = makeClock();
    const store = await openStore(t, { folder, clock });
    const [actor, other] = [await makeActor(store), await makeActor(store)];
    const { id } = await store.createProduct(actor, makeNewProduct());
    const first = await store.createProduct(other, makeNewProduct());
    const second = await store.createProduct(other, makeNewProduct());
    await store.deleteProduct(actor, { id }, {});
    for (const product of [second, first]) {
      await store.deleteProduct(other, { id: product.id }, {});
    }
    const catalogue = openCatalogue(join(folder, FILE_NAME));
    t.after(() => catalogue.close());
    assert.equal(catalogue.getMark(actor.sellerId, 1), `${id}@${clock.now}`);
    assert.equal(catalogue.getMark(other.sellerId, 1), `${first.id}@${clock.now}`);
    assert.throws(() => catalogue.getMark(actor.sellerId, 3), /There is no change 3\./);
    assert.deepEqual(catalogue.listDeleted(actor.sellerId, 0, 9), [id]);
    assert.deepEqual(catalogue.listDeleted(other.sellerId, 0, 9), [first.id, second.id]);
    assert.deepEqual(catalogue.listDeleted(other.sellerId, first.id, 9), [second.id]);
    // Ids of the same millisecond are in no order.
    const sellers = [actor.sellerId, other.sellerId].sort((one, another) => one - another);
    assert.deepEqual([undefined, ...sellers].map((after) => catalogue.findNextSeller(after)?.id),
      [...sellers, undefined]);
  });
