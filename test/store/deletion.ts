/**
 * Deletes one of two sellers that have rows in every table: no table and no file keeps anything of
 * it but its id, its number of changes and the time, and the other seller keeps everything.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { parseSellerPatch } from '../../src/domain/access/seller.ts';
import type { SellerId } from '../../src/domain/id.ts';
import type { Store } from '../../src/store/store.ts';
import { makeClock } from '../support/clock.ts';
import { makeActor, makeNewKey, makeNewProduct, makeSecret } from './contract/fixture.ts';
import { makeInvitation } from './contract/portal-fixture.ts';
import type { Engine } from './engine.ts';
import { HEADER_HASH, prepareTwins, readAll, type Twin } from './twin-sellers.ts';

/** They have no rows of sellers. */
const WITHOUT_SELLERS = [
  'seller', 'deleted_seller', 'lived_time', 'server_secret', 'setting', 'node', 'webhook_lease',
  'throttle',
];

export function testDeletion(engine: Engine): void {
  testRaces(engine);
  test('deletes all rows of a seller and all its text in files, and none of others', async (t) => {
    const clock = makeClock();
    const data = await engine.prepare(t);
    const store = await data.open(clock);
    const [one, other] = await prepareTwins(store, clock);
    await fillMore(store, one);
    const before = await readAll(store, other);
    await readAll(store, one); // so that the projection has it
    const id = one.actor.sellerId;
    const filled = [...await data.readTables()].filter(([, rows]) => rows.some((row) =>
      row.includes(String(id)))).map(([name]) => name);
    const tables = [...await data.readTables()].map(([name]) => name);
    const isAlone = (name: string): boolean => WITHOUT_SELLERS.includes(name)
      || /^(?:import_job|rate_lease)/.test(name); // of other ports
    assert.deepEqual(tables.filter((name) => !isAlone(name) && !filled.includes(name)), []);
    if (data.folder !== undefined) assert.ok(findFiles(data.folder, one.name).length >= 2);
    await store.setSellerDisabled(id, true);
    const deletedAt = await store.deleteSeller(id);
    assert.equal(deletedAt, clock.now);
    for (const [name, rows] of await data.readTables()) {
      const left = rows.filter((row) => row.includes(String(id)) || row.includes(one.name));
      assert.equal(left.length, name === 'deleted_seller' ? 1 : 0, `${name}: ${left.join(' ')}`);
    }
    if (data.folder !== undefined) assert.deepEqual(findFiles(data.folder, one.name), []);
    assert.equal(await readAll(store, other), before);
    assert.equal(await store.findSeller(id), undefined);
    assert.equal(await store.findGrant(one.keyHash), undefined);
    assert.equal(await store.deleteSeller(id), deletedAt);
    data.assertHealthy();
  });

  test('deletes only a seller that is disabled, and no unknown one', async (t) => {
    const store = await (await engine.prepare(t)).open(makeClock());
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct());
    await assert.rejects(store.deleteSeller(actor.sellerId), { code: 'seller_enabled' });
    assert.equal((await store.findSeller(actor.sellerId))?.position, 1);
    await assert.rejects(store.deleteSeller(5 as SellerId), { code: 'not_found' });
  });

}

function testRaces(engine: Engine): void {
  test('continues an interrupted deletion, and never enables its seller', async (t) => {
    const clock = makeClock();
    const data = await engine.prepare(t);
    const [store, second] = [await data.open(clock), await data.open(clock)];
    const actor = await makeActor(store);
    const products = Array.from({ length: 1_200 }, () => makeNewProduct());
    await store.importProducts(actor, products, 'upsert');
    await second.readTotals(actor.sellerId, 1_200);
    await store.setSellerDisabled(actor.sellerId, true);
    const deletion = store.deleteSeller(actor.sellerId);
    deletion.catch(() => {});
    const countProducts = async (): Promise<number> =>
      (await data.readTables()).get('product')?.length ?? 0;
    while (await countProducts() === products.length) await setImmediate();
    await store.close();
    await assert.rejects(deletion, { code: 'unavailable' });
    assert.ok(await second.findSeller(actor.sellerId), 'it is still listed');
    const enabling = second.setSellerDisabled(actor.sellerId, false);
    await assert.rejects(enabling, { code: 'not_found', message: /being deleted/ });
    await second.deleteSeller(actor.sellerId);
    assert.equal(await countProducts(), 0);
    assert.equal(await second.findSeller(actor.sellerId), undefined);
  });

  test('writes nothing for a seller that was deleted while it was used', async (t) => {
    const clock = makeClock();
    const data = await engine.prepare(t);
    const store = await data.open(clock);
    const [actor, other] = [await makeActor(store), await makeActor(store)];
    const { sellerId } = actor;
    await store.setSellerDisabled(sellerId, true);
    await store.deleteSeller(sellerId);
    await store.noteUsage([actor, other].map((one) =>
      ({ ...one, hour: 490_900, requests: 2, refusals: 1 })));
    assert.equal((await store.readUsage(other.sellerId, { since: 0, limit: 9 })).length, 1);
    const missing = { code: 'not_found' };
    const event = { sellerId, type: 'sign_in_refused', subject: 'x' } as const;
    await assert.rejects(store.noteAuditEvent(event), missing);
    await assert.rejects(store.createProduct(actor, makeNewProduct()), missing);
    await assert.rejects(store.createKey(sellerId, makeSecret(), makeNewKey()), missing);
    const expiresAt = clock.now + 1_000;
    const invitation
      = store.createInvitation(HEADER_HASH, makeInvitation({ sellerId, expiresAt }));
    await assert.rejects(invitation, missing);
    const filter = { list: 'products', name: 'Mugs', query: 'q=mug' } as const;
    await assert.rejects(store.saveFilter(sellerId, filter), missing);
    const mapping = store.keepColumnMapping(sellerId, HEADER_HASH, { name: 'Titel' });
    await assert.rejects(mapping, missing);
    for (const [name, rows] of await data.readTables()) {
      if (name === 'deleted_seller') continue;
      assert.deepEqual(rows.filter((row) => row.includes(String(sellerId))), [], name);
    }
  });
}

/** What twins do not have. */
async function fillMore(store: Store, { actor }: Twin): Promise<void> {
  const { sellerId } = actor;
  await store.noteUsage([{ ...actor, hour: 490_900, requests: 2, refusals: 1 }]);
  const patch = parseSellerPatch({ name: 'Shop', externalId: 'alpha id' });
  await store.updateSeller(sellerId, patch);
}

/** The files below a folder that contain a text. */
function findFiles(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text));
}
