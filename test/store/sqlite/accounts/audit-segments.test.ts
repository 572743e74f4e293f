/** Authentication of the audit log: what doctor finds, before and after the next event. */
import assert from 'node:assert/strict';
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import { makeFolder } from '../../../support/folder.ts';
import { assertHealthy, listFindings } from '../../../support/health.ts';
import { countTo } from '../../contract/fixture.ts';
import { readChain } from './audit-chain.ts';
import { damage } from '../check/sample-folder.ts';
import { makeToday, putBack } from '../engine/old-version.ts';
import { openStore } from '../open.ts';
import { FILE_NAME, readRows } from '../engine/read-file.ts';

/** Adds events, and closes the store again. */
async function note(folder: string, ...subjects: string[]): Promise<void> {
  const store = await openSqliteStore({ folder });
  for (const subject of subjects) {
    await store.noteAuditEvent({
      sellerId: undefined, type: 'sign_in_refused', address: '192.0.2.7', subject,
    });
  }
  await store.close();
}

async function prepare(t: TestContext): Promise<string> {
  const folder = join(makeFolder(t), 'data');
  await note(folder, 'one', 'two', 'three', 'four');
  assert.deepEqual(listFindings(folder), []);
  return folder;
}

/** Changes the log, and recomputes all hashes of the chain, as anybody can. */
function rewrite(folder: string, sql: string): void {
  damage(folder, sql);
  const { rows, expected } = readChain(folder);
  const db = new DatabaseSync(join(folder, FILE_NAME));
  for (const [index, { n }] of rows.entries()) {
    db.prepare('UPDATE audit_event SET hash = ? WHERE n = ?').run(expected[index] ?? null, n);
  }
  db.close();
}

function findAuditFindings(folder: string): string[] {
  return listFindings(folder).filter((text) => text.startsWith('audit-chain '));
}

test('authenticates the newest hash with a key that is derived from the key of the server',
  async (t) => {
    const folder = await prepare(t);
    const [row] = readRows(folder, 'SELECT * FROM audit_segment');
    const serverKey = readFileSync(join(folder, 'server.key'));
    // Persisted: a change of any literal would invalidate every log there is.
    const [key, keyId] = ([['hmac-sha-256 v1', 32], ['key id v1', 16]] as const)
      .map(([name, length]) => Buffer.from(hkdfSync(
        'sha256', serverKey, '', `seller-product-api audit chain ${name}`, length,
      )));
    const head = readChain(folder).expected.at(-1)?.toString('hex');
    const text = JSON.stringify(
      ['audit segment v1', 1, 1, 4, 'start', keyId?.toString('hex'), head],
    );
    assert.deepEqual({ ...row }, {
      id: 1, first: 1, last: 4, origin: 'start', key_id: new Uint8Array(keyId ?? []),
      mac: new Uint8Array(createHmac('sha256', key ?? '').update(text).digest()),
    });
  });

const attacks: readonly [what: string, attack: (folder: string) => void, says: RegExp][] = [
  ['an event that was rewritten with all hashes after it',
    (folder) => rewrite(folder, "UPDATE audit_event SET subject = 'forged' WHERE n = 2"),
    /does not match its authentication code/],
  ['an event that was added with its hash',
    (folder) => rewrite(folder, `INSERT INTO audit_event
      SELECT 5, seller_id, at, type, address, subject, hash FROM audit_event WHERE n = 4`),
    /is authenticated up to event 4, but ends at 5/],
  ['the last event removed', (folder) => damage(folder, 'DELETE FROM audit_event WHERE n = 4'),
    /ends at event 3, but had 4/],
  ['the last event removed, and the segment cut', (folder) =>
    damage(folder, 'DELETE FROM audit_event WHERE n = 4; UPDATE audit_segment SET last = 3'),
  /does not match its authentication code/],
  ['all events removed', (folder) =>
    damage(folder, 'DELETE FROM audit_event; UPDATE audit_segment SET last = 0'),
  /does not match its authentication code/],
  ['an emptied log', (folder) =>
    damage(folder, 'DELETE FROM audit_event; DELETE FROM audit_segment'),
  /its segments are missing/],
  ['the keyed part shown as an older one', (folder) =>
    rewrite(folder, `UPDATE audit_event SET subject = 'forged' WHERE n = 2;
      UPDATE audit_segment SET first = 5`),
  /does not match its authentication code/],
  ['the keyed part without its segment', (folder) =>
    rewrite(folder, `UPDATE audit_event SET subject = 'forged' WHERE n = 2;
      DELETE FROM audit_segment`),
  /its segments are missing/],
  ['a code of somebody else', (folder) =>
    damage(folder, 'UPDATE audit_segment SET mac = randomblob(32)'),
  /does not match its authentication code/],
  ['another origin', (folder) => damage(folder, "UPDATE audit_segment SET origin = 'key'"),
    /has the origin "key"/],
];

for (const [what, attack, says] of attacks) {
  test(`names ${what}, also after the server has added to it`, async (t) => {
    const folder = await prepare(t);
    attack(folder);
    assert.match(findAuditFindings(folder).join('\n'), says);
    assert.throws(() => assertHealthy(folder));
    await note(folder, 'five', 'six');
    assert.match(findAuditFindings(folder).join('\n'), /^audit-chain fault: /m);
    assert.throws(() => assertHealthy(folder));
  });
}

test('names a segment that was removed after a mismatch was found', async (t) => {
  const folder = await prepare(t);
  rewrite(folder, "UPDATE audit_event SET subject = 'forged' WHERE n = 2");
  await note(folder, 'five');
  assert.match(findAuditFindings(folder).join('\n'),
    /^audit-chain fault: .* already did not match its authentication code when event 5/m);
  damage(folder, 'DELETE FROM audit_segment WHERE id = 1');
  assert.match(findAuditFindings(folder).join('\n'), /Segment 1 of the audit log is missing/);
});

test('never reuses the number of a removed event', async (t) => {
  const folder = await prepare(t);
  damage(folder, 'DELETE FROM audit_event WHERE n > 2');
  await note(folder, 'five');
  assert.deepEqual(readRows(folder, 'SELECT n FROM audit_event ORDER BY n').map(({ n }) => n),
    [1, 2, 5]);
  assert.match(findAuditFindings(folder).join('\n'), /Audit events 3 to 4 are missing/);
});

test('reports a lost key as such, and continues with a new one', async (t) => {
  const folder = await prepare(t);
  rmSync(join(folder, 'server.key'));
  const lost = 'audit-chain fault: The audit log from event 1 on cannot be authenticated: '
    + 'server.key is missing, or belongs to another database.';
  assert.deepEqual(findAuditFindings(folder), [lost]);
  writeFileSync(join(folder, 'server.key'), randomBytes(32), { mode: 0o600 });
  assert.deepEqual(findAuditFindings(folder), [lost]);
  await note(folder, 'five', 'six');
  assert.deepEqual(findAuditFindings(folder), ['audit-chain warning: The audit log from event 1 on'
    + ' was authenticated with another server.key, until event 5.']);
  assertHealthy(folder);
  rewrite(folder, "UPDATE audit_event SET subject = 'forged' WHERE n = 2");
  assert.throws(() => assertHealthy(folder), 'the new key covers what came before it, too');
});

test('reports which part of a log is older than its key, and covers it from then on', async (t) => {
  const folder = putBack(t, await makeToday(t, 8), 8);
  const last = readRows(folder, 'SELECT n FROM audit_event').length;
  assert.ok(last > 0);
  await (await openStore(t, { folder })).close();
  const [found = ''] = findAuditFindings(folder);
  const older = `audit-chain note: Events 1 to ${last} of the audit log, until 2026-`;
  assert.ok(found.startsWith(older), found);
  assertHealthy(folder);
  await note(folder, 'newer');
  assert.deepEqual(findAuditFindings(folder), [found]);
  rewrite(folder, "UPDATE audit_event SET subject = 'forged' WHERE n = 1");
  assert.throws(() => assertHealthy(folder));
});

test('keeps one segment for all processes, and across a restart', async (t) => {
  const folder = await prepare(t);
  const stores = [await openStore(t, { folder }), await openStore(t, { folder })];
  await Promise.all(countTo(20).map((n) => stores[n % 2]?.noteAuditEvent({
    sellerId: undefined, type: 'signed_out', address: '', subject: String(n),
  })));
  assert.deepEqual(readRows(folder, 'SELECT id, first, last FROM audit_segment')
    .map((row) => ({ ...row })), [{ id: 1, first: 1, last: 24 }]);
  assert.deepEqual(findAuditFindings(folder), []);
});

test('continues from a backup of the same key, which looks like the log of that time',
  async (t) => {
    const folder = await prepare(t);
    const file = join(folder, FILE_NAME);
    copyFileSync(file, `${folder}.backup`);
    await note(folder, 'five');
    copyFileSync(`${folder}.backup`, file);
    assert.deepEqual(findAuditFindings(folder), []);
    await note(folder, 'another five');
    assert.deepEqual(findAuditFindings(folder), []);
  });
