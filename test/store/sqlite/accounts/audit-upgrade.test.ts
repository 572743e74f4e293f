/** The upgrade from one audit chain for all sellers to one for each. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { formatSellerId, type SellerId } from '../../../../src/domain/id.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeFolder } from '../../../support/folder.ts';
import { assertHealthy, listFindings } from '../../../support/health.ts';
import { countTo, makeSeller } from '../../contract/fixture.ts';
import { copyFolder, damage } from '../check/sample-folder.ts';
import { hashOldEvents } from '../engine/old-audit.ts';
import { putBack } from '../engine/old-version.ts';
import { FILE_NAME, readRows } from '../engine/read-file.ts';
import { openStore } from '../open.ts';
import { readChain } from './audit-chain.ts';

/** Events of two sellers and of the server, in turn, as version 14 kept them. */
async function makeOld(
  t: TestContext,
): Promise<{ readonly folder: string; readonly one: SellerId; readonly other: SellerId }> {
  const today = join(makeFolder(t), 'data');
  const clock = makeClock();
  const store = await openStore(t, { folder: today, clock });
  const [{ id: one }, { id: other }] = [await makeSeller(store), await makeSeller(store)];
  await makeSeller(store); // who has no events
  for (const n of countTo(4)) {
    for (const sellerId of [one, other, undefined]) {
      clock.now += 1_000;
      await store.noteAuditEvent({
        sellerId, type: 'sign_in_refused', address: '192.0.2.7', subject: `event ${n}`,
      });
    }
  }
  await store.close();
  return { folder: putBack(t, today, 14), one, other };
}

/** Opens it, which upgrades it, and adds an event of the seller. */
async function upgrade(t: TestContext, folder: string, sellerId?: SellerId): Promise<void> {
  const store = await openStore(t, { folder });
  if (sellerId !== undefined) {
    await store.noteAuditEvent({ sellerId, type: 'signed_in', address: '', subject: 'new' });
  }
  await store.close();
}

function findAuditFindings(folder: string): string {
  return listFindings(folder).filter((text) => text.startsWith('audit-chain ')).join('\n');
}

function rehash(folder: string): void {
  const db = new DatabaseSync(join(folder, FILE_NAME));
  hashOldEvents(db);
  db.close();
}

test('splits one chain into one for each seller, whose events keep their numbers', async (t) => {
  const { folder, one, other } = await makeOld(t);
  await upgrade(t, folder, one);
  assert.equal(findAuditFindings(folder), '');
  const { rows, expected } = readChain(folder);
  assert.deepEqual(rows.map(({ hash }) => Buffer.from(hash)), expected);
  const numbers = Map.groupBy(rows, ({ seller_id: chain }) => chain);
  assert.deepEqual([0, one, other].map((chain) => numbers.get(chain)?.map(({ n }) => n)),
    [[3, 6, 9, 12], [1, 4, 7, 10, 11], [2, 5, 8, 11]]);
  const store = await openStore(t, { folder });
  const page = await store.listAuditEvents(one, { type: undefined, before: 7, limit: 9 });
  assert.deepEqual(page.map(({ n, subject }) => [n, subject]), [[4, 'event 2'], [1, 'event 1']]);
});

const AFTER: readonly [what: string, sql: string, says: RegExp][] = [
  ['changed', "UPDATE audit_event SET subject = 'forged' WHERE seller_id = ? AND n = 4",
    /The audit log of sel_\w+ is broken at event 4\./],
  ['removed', 'DELETE FROM audit_event WHERE seller_id = ? AND n = 4',
    /The audit log of sel_\w+ is broken at event 7\./],
  ['inserted', `INSERT INTO audit_event SELECT seller_id, 5, at, type, address, subject, hash, actor
    FROM audit_event WHERE seller_id = ? AND n = 4`,
  /The audit log of sel_\w+ is broken at event 5\./],
  ['removed from the end', 'DELETE FROM audit_event WHERE seller_id = ? AND n >= 10',
    /The audit log of sel_\w+ ends at event 7, but had 11/],
  ['the last one before the upgrade', 'DELETE FROM audit_event WHERE seller_id = ? AND n = 10',
    /does not match its authentication code/],
];

test('names events that were tampered with after the upgrade', async (t) => {
  const { folder, one } = await makeOld(t);
  await upgrade(t, folder, one);
  for (const [what, sql, says] of AFTER) {
    const copy = copyFolder(t, folder);
    damage(copy, sql.replaceAll('?', String(one)));
    assert.match(findAuditFindings(copy), says, what);
    await upgrade(t, copy, one);
    assert.throws(() => assertHealthy(copy), what);
  }
});

const BEFORE: readonly [what: string, forge: (folder: string) => void][] = [
  ['changed', (folder) => damage(folder, "UPDATE audit_event SET subject = 'x' WHERE n = 4")],
  ['changed with all hashes', (folder) => {
    damage(folder, "UPDATE audit_event SET subject = 'x' WHERE n = 4");
    rehash(folder);
  }],
  ['removed', (folder) => damage(folder, 'DELETE FROM audit_event WHERE n = 4')],
  ['removed from the end', (folder) => damage(folder, 'DELETE FROM audit_event WHERE n > 9')],
  ['added', (folder) => {
    damage(folder, `INSERT INTO audit_event
      SELECT 13, seller_id, at, type, address, subject, hash FROM audit_event WHERE n = 12`);
    rehash(folder);
  }],
  ['without segments', (folder) => damage(folder, 'DELETE FROM audit_segment')],
  ['with a segment of a mismatch', (folder) =>
    damage(folder, "UPDATE audit_segment SET origin = 'mismatch'")],
];

test('keeps reporting a log that was tampered with before the upgrade', async (t) => {
  const { folder, one } = await makeOld(t);
  for (const [what, forge] of BEFORE) {
    const copy = copyFolder(t, folder);
    forge(copy);
    for (let n = 0; n < 2; n += 1) {
      await upgrade(t, copy, one);
      const found = new RegExp('^audit-chain fault: The audit log did not match its authentication '
        + `codes when it was split .* of ${formatSellerId(one)} may be forged`, 'm');
      assert.match(findAuditFindings(copy), found, what);
      assert.throws(() => assertHealthy(copy));
    }
  }
});

test('warns of a log that was authenticated with another key before the upgrade', async (t) => {
  const { folder, one } = await makeOld(t);
  writeFileSync(join(folder, 'server.key'), randomBytes(32));
  await upgrade(t, folder, one);
  const findings = findAuditFindings(folder);
  assert.equal(findings.match(/^audit-chain warning: .* another server\.key before/gm)?.length, 3);
  assert.doesNotMatch(findings, /fault/);
  assertHealthy(folder);
});

test('drops the old tables, and begins the chains of sellers without events', async (t) => {
  const { folder } = await makeOld(t);
  await upgrade(t, folder);
  const origins = readRows(folder, `SELECT origin, count(*) AS segments FROM audit_segment
    GROUP BY origin ORDER BY origin`);
  assert.deepEqual(origins.map(({ origin, segments }) => [origin, segments]),
    [['start', 4], ['upgrade', 3]]);
  assert.deepEqual(readRows(folder, "SELECT name FROM sqlite_schema WHERE name LIKE 'old%'"), []);
});
