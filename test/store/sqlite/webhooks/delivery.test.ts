/** Delivery on a data folder: which process holds the lock file, and when. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tryLock } from '../../../../src/store/sqlite/files/atomic-file.ts';
import { WEBHOOK_LOCK_INTERVAL_MS } from '../../../../src/store/sqlite/limits.ts';
import { makeFolder } from '../../../support/folder.ts';
import { makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { makeNewWebhook } from '../../contract/webhooks.ts';
import { openStore } from '../open.ts';

const DUE = { at: Number.MAX_SAFE_INTEGER, isFailing: false, limit: 9 };

test('holds the lock only while there are webhooks', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = makeFolder(t);
  const file = join(folder, 'webhooks.lock');
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  const member = await store.joinDelivery(() => {});
  t.mock.timers.tick(WEBHOOK_LOCK_INTERVAL_MS);
  assert.equal(existsSync(file), false);
  const { webhook } = await store.createWebhook(actor, makeNewWebhook());
  assert.equal(tryLock(file), undefined);
  await store.createProduct(actor, makeNewProduct());
  const [due] = await member.listDueWebhooks(DUE);
  await store.deleteWebhook(actor, webhook.id);
  assert.equal(due?.lease.aborted, false);
  t.mock.timers.tick(WEBHOOK_LOCK_INTERVAL_MS);
  assert.equal(due.lease.aborted, true);
  const lock = tryLock(file);
  assert.ok(lock);
  lock[Symbol.dispose]();
});

test('gets the lock within its interval after the holder has released it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const actor = await makeActor(store);
  const holder = tryLock(join(folder, 'webhooks.lock'));
  let notified = 0;
  const member = await store.joinDelivery(() => { notified += 1; });
  await store.createWebhook(actor, makeNewWebhook());
  await store.createProduct(actor, makeNewProduct());
  assert.deepEqual(await member.listDueWebhooks(DUE), []);
  t.mock.timers.tick(WEBHOOK_LOCK_INTERVAL_MS);
  assert.equal(notified, 0);
  holder?.[Symbol.dispose]();
  t.mock.timers.tick(WEBHOOK_LOCK_INTERVAL_MS);
  assert.equal(notified, 1);
  assert.equal((await member.listDueWebhooks(DUE)).length, 1);
});
