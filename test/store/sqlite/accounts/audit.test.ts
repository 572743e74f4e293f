/** The hash chains of the audit log. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Store } from '../../../../src/store/store.ts';
import { makeFolder } from '../../../support/folder.ts';
import { countTo, makeActor } from '../../contract/fixture.ts';
import { join as joinPortal } from '../../contract/portal-fixture.ts';
import { readChain } from './audit-chain.ts';
import { openStore } from '../open.ts';

function note(store: Store, subject: string): Promise<void> {
  return store.noteAuditEvent({
    sellerId: undefined, type: 'sign_in_refused', address: '192.0.2.7', subject,
  });
}

test('hashes each event with the hash of the one before it', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  const { sellerId: one } = await joinPortal(store);
  const actor = await makeActor(store);
  const other = actor.sellerId;
  await store.revokeKey(actor);
  await note(store, 'Zoë 🧾 "x"\\');
  await note(store, '\ud800');
  const { rows, expected } = readChain(folder);
  const first = Math.min(one, other);
  const last = Math.max(one, other);
  const types = (seller: number) => (seller === one ? ['account_created', 'key_created']
    : ['key_created', 'key_revoked']).map((type, index) => [seller, index + 1, type]);
  assert.deepEqual(rows.map(({ seller_id: chain, n, type }) => [chain, n, type]), [
    [0, 1, 'sign_in_refused'], [0, 2, 'sign_in_refused'], ...types(first), ...types(last),
  ]);
  assert.deepEqual(rows.map(({ hash }) => Buffer.from(hash)), expected);
});

test('keeps one chain for all processes, and across a restart', async (t) => {
  const folder = makeFolder(t);
  const first = await openStore(t, { folder });
  await note(first, 'first');
  await first.close();
  const [one, other] = [await openStore(t, { folder }), await openStore(t, { folder })];
  await Promise.all(countTo(20).map((n) => note(n % 2 === 0 ? one : other, String(n))));
  const { rows, expected } = readChain(folder);
  assert.equal(rows.length, 21);
  assert.deepEqual(rows.map(({ hash }) => Buffer.from(hash)), expected);
});

test('reveals where an event was changed or removed', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  for (const n of countTo(4)) await note(store, String(n));
  await store.close();
  const db = new DatabaseSync(join(folder, 'catalogue.db'), { timeout: 5_000 });
  db.exec("UPDATE audit_event SET subject = 'forged' WHERE n = 2");
  db.exec('DELETE FROM audit_event WHERE n = 4');
  db.close();
  const { rows, expected } = readChain(folder);
  const broken = rows.map(({ hash }, index) => !expected[index]?.equals(hash));
  assert.deepEqual(broken, [false, true, true]);
});
