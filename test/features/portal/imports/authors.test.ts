/** The account that import, bulk edit and revert jobs record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateCode, hashCode } from '../../../../src/domain/access/human-code.ts';
import type { Importer } from '../../../../src/features/portal/imports/job-kind.ts';
import type { Store } from '../../../../src/store/store.ts';
import { IMPORT_BATCH_ROWS } from '../../../../src/transfer/limits.ts';
import { readAll } from '../../../store/contract/fixture.ts';
import { makeInvitation, makeJoining } from '../../../store/contract/portal-fixture.ts';
import { addColleague } from '../colleague.ts';
import { act, open, upload } from './page-setup.ts';
import { HEADER, makeRows, openBench, upload as receive } from './setup.ts';

test('record the account that started the job, not the one that opened the preview', async (t) => {
  const shop = await open(t);
  const { user: anna, server, send } = shop;
  const { user: ben } = await addColleague(server, shop, 'editor', 'Ben');
  /** Ben starts the job that Anna previews. */
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

for (const [what, lockOut] of [
  ['is removed', (store: Store, account: Importer) => store.removeAccount(account)],
  ['becomes a viewer', (store: Store, account: Importer) =>
    store.setRole(account, 'viewer', { actorName: 'Anna', address: '::1' })],
  ['has a shop that is disabled', (store: Store, { sellerId }: Importer) =>
    store.setSellerDisabled(sellerId, true)],
] as const) {
  test(`fails an import when the account that started it ${what}`, async (t) => {
    const checked = Promise.withResolvers<void>();
    let isLockedOut = false;
    const bench = await openBench(t, (store): Store => ({
      ...store,
      importProducts: async (...args) => {
        const outcome = await store.importProducts(...args);
        if (!isLockedOut) {
          await lockOut(store, ben);
          isLockedOut = true;
        }
        await checked.promise;
        return outcome;
      },
      findSeller: async (id) => {
        const seller = await store.findSeller(id);
        if (isLockedOut) setImmediate(checked.resolve);
        return seller;
      },
    }));
    const { store, importer: { sellerId } } = bench;
    const codeHash = hashCode(generateCode()) ?? assert.fail();
    await store.createInvitation(codeHash,
      makeInvitation({ sellerId, role: 'editor', expiresAt: Number.MAX_SAFE_INTEGER }));
    const joined = await store.register(makeJoining({ codeHash }));
    assert.ok(joined.rejection === undefined);
    const ben = { ...bench.importer, accountId: joined.accountId };
    const job = await receive(bench, HEADER + makeRows(3 * IMPORT_BATCH_ROWS));
    assert.ok(await job.commit(job.state.revision, ben));
    await job.waitUntilIdle(60_000);
    assert.deepEqual([job.state.phase, job.state.problem],
      ['failed', 'The account that started this may no longer change products.']);
    assert.equal((await readAll(store, sellerId)).length, IMPORT_BATCH_ROWS);
  });
}
