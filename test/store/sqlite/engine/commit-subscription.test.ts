/** Commit subscriptions: an earlier read in the same iteration must not hide a commit. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeFolder } from '../../../support/folder.ts';
import { makeSeller } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { FILE_NAME } from './read-file.ts';

test('sees what another process wrote before the subscription, or is notified', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const { id } = await makeSeller(store);
  const other = new DatabaseSync(join(folder, FILE_NAME), { timeout: 5_000 });
  t.after(() => other.close());
  const rename = other.prepare('UPDATE seller SET name = ? WHERE id = ?');
  void store.findSeller(id); // the read snapshot of this event-loop iteration begins
  rename.run('Second', id);
  const { promise: notified, resolve } = Promise.withResolvers<string | undefined>();
  const end = store.watchAll(() => {
    void store.findSeller(id).then((seller) => resolve(seller?.name));
  });
  const seller = store.findSeller(id);
  assert.equal((await seller)?.name, 'Second');
  rename.run('Third', id);
  assert.equal(await notified, 'Third');
  end();
});

test('rejects a subscription to a store that is closed', async (t) => {
  const store = await openStore(t, { folder: makeFolder(t) });
  await store.close();
  assert.throws(() => store.watchAll(() => {}), {
    code: 'unavailable', message: 'This server is stopping.',
  });
});
