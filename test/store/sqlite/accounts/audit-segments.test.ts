/** Authentication of the audit log: what doctor finds, before and after the next event. */
import assert from 'node:assert/strict';
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { formatSellerId, type SellerId } from '../../../../src/domain/id.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts';
import { makeFolder } from '../../../support/folder.ts';
import { assertHealthy, listFindings } from '../../../support/health.ts';
import { processEnd } from '../../../support/process-end.ts';
import { countTo, makeSeller } from '../../contract/fixture.ts';
import { readChain } from './audit-chain.ts';
import { copyFolder, damage } from '../check/sample-folder.ts';
import { openStore } from '../open.ts';
import { FILE_NAME, readRows } from '../engine/read-file.ts';

/** 0 for the server's own events. */
type Chain = SellerId | 0;

/** Adds events, and closes the store again. */
async function note(folder: string, chain: Chain, ...subjects: string[]): Promise<void> {
  const store = await openSqliteStore({ folder });
  for (const subject of subjects) {
    await store.noteAuditEvent({
      sellerId: chain === 0 ? undefined : chain, type: 'sign_in_refused', address: '192.0.2.7',
      subject,
    });
  }
  await store.close();
}

interface Sample {
  readonly folder: string;
  readonly chains: readonly [0, SellerId, SellerId];
}

/** Four events of the server, and as many of each of two sellers: a copy for each test. */
async function prepare(t: TestContext): Promise<Sample> {
  sample ??= makeSample();
  const { folder, chains } = await sample;
  return { folder: copyFolder(t, folder), chains };
}

let sample: Promise<Sample> | undefined;

async function makeSample(): Promise<Sample> {
  const folder = join(makeFolder(processEnd), 'data');
  const store = await openSqliteStore({ folder });
  const [one, other] = [await makeSeller(store), await makeSeller(store)];
  await store.close();
  const chains = [0, one.id, other.id] as const;
  for (const chain of chains) await note(folder, chain, 'one', 'two', 'three', 'four');
  assert.deepEqual(listFindings(folder), []);
  return { folder, chains };
}

/** Changes the log, and recomputes all hashes of the chain, which needs no key. */
function rewrite(folder: string, sql: string): void {
  damage(folder, sql);
  const { rows, expected } = readChain(folder);
  const db = new DatabaseSync(join(folder, FILE_NAME), { timeout: 5_000 });
  for (const [index, { seller_id: chain, n }] of rows.entries()) {
    db.prepare('UPDATE audit_event SET hash = ? WHERE seller_id = ? AND n = ?')
      .run(expected[index] ?? null, chain, n);
  }
  db.close();
}

function findAuditFindings(folder: string): string[] {
  return listFindings(folder).filter((text) => text.startsWith('audit-chain '));
}

test('authenticates the newest hash with a key that is derived from the key of the server',
  async (t) => {
    const { folder, chains: [, , chain] } = await prepare(t);
    const [row] = readRows(folder, `SELECT * FROM audit_segment WHERE seller_id = ${chain}`);
    const serverKey = readFileSync(join(folder, 'server.key'));
    // Persisted: a change of any literal would invalidate every log there is.
    const [key, keyId] = ([['hmac-sha-256 v1', 32], ['key id v1', 16]] as const)
      .map(([name, length]) => Buffer.from(hkdfSync(
        'sha256', serverKey, '', `seller-product-api audit chain ${name}`, length,
      )));
    const head = readChain(folder).expected.at(-1)?.toString('hex');
    const text = JSON.stringify(
      ['audit segment v2', chain, 1, 1, 4, 'start', keyId?.toString('hex'), head],
    );
    assert.deepEqual({ ...row }, {
      seller_id: chain, id: 1, first: 1, last: 4, origin: 'start',
      key_id: new Uint8Array(keyId ?? []),
      mac: new Uint8Array(createHmac('sha256', key ?? '').update(text).digest()),
    });
  });

/** An attack on one chain, which its SQL names with `seller_id = ?`. */
type Attack = readonly [what: string, change: typeof damage, sql: string, says: RegExp];

const attacks: readonly Attack[] = [
  ['an event that was changed', damage,
    "UPDATE audit_event SET subject = 'forged' WHERE seller_id = ? AND n = 2",
    /is broken at event 2/],
  ['an event that was rewritten with all hashes after it', rewrite,
    "UPDATE audit_event SET subject = 'forged' WHERE seller_id = ? AND n = 2",
    /does not match its authentication code/],
  ['an event that was removed', damage, 'DELETE FROM audit_event WHERE seller_id = ? AND n = 2',
    /Event 2 of the audit log of .* is missing/],
  ['an event that was added with its hash', rewrite, `INSERT INTO audit_event
    SELECT seller_id, 5, at, type, address, subject, hash, actor FROM audit_event
    WHERE seller_id = ? AND n = 4`,
  /is authenticated up to event 4, but ends at 5/],
  ['the last event removed', damage, 'DELETE FROM audit_event WHERE seller_id = ? AND n = 4',
    /ends at event 3, but had 4/],
  ['the last event removed, and the segment cut', damage,
    `DELETE FROM audit_event WHERE seller_id = ? AND n = 4;
    UPDATE audit_segment SET last = 3 WHERE seller_id = ?`,
    /does not match its authentication code/],
  ['all events removed', damage, `DELETE FROM audit_event WHERE seller_id = ?;
    UPDATE audit_segment SET last = 0 WHERE seller_id = ?`,
  /does not match its authentication code/],
  ['an emptied log', damage, `DELETE FROM audit_event WHERE seller_id = ?;
    DELETE FROM audit_segment WHERE seller_id = ?`,
  /its segments are missing/],
  ['the keyed part shown as an older one', rewrite,
    `UPDATE audit_event SET subject = 'forged' WHERE seller_id = ? AND n = 2;
    UPDATE audit_segment SET first = 5 WHERE seller_id = ?`,
    /does not match its authentication code/],
  ['the keyed part without its segment', rewrite,
    `UPDATE audit_event SET subject = 'forged' WHERE seller_id = ? AND n = 2;
    DELETE FROM audit_segment WHERE seller_id = ?`,
    /its segments are missing/],
  ['a forged authentication code', damage,
    'UPDATE audit_segment SET mac = randomblob(32) WHERE seller_id = ?',
    /does not match its authentication code/],
  ['another origin', damage, "UPDATE audit_segment SET origin = 'key' WHERE seller_id = ?",
    /has the origin "key"/],
];

for (const [what, change, sql, says] of attacks) {
  test(`names ${what}, also after the server has added to it`, async (t) => {
    const { folder: sound, chains: [server, , seller] } = await prepare(t);
    for (const chain of [server, seller]) {
      const folder = copyFolder(t, sound);
      change(folder, sql.replaceAll('?', String(chain)));
      assert.match(findAuditFindings(folder).join('\n'), says);
      assertOnlyAbout(folder, chain);
      assert.throws(() => assertHealthy(folder));
      await note(folder, chain, 'five', 'six');
      assert.match(findAuditFindings(folder).join('\n'), /^audit-chain fault: /m);
      assertOnlyAbout(folder, chain);
      assert.throws(() => assertHealthy(folder));
    }
  });
}

function assertOnlyAbout(folder: string, chain: Chain): void {
  const name = chain === 0 ? 'the server' : formatSellerId(chain);
  for (const finding of findAuditFindings(folder)) {
    assert.ok(finding.includes(`the audit log of ${name}`) || finding.includes(
      `The audit log of ${name}`), finding);
  }
}

test('names the chain of one seller shown as that of another', async (t) => {
  const { folder, chains: [, one, other] } = await prepare(t);
  rewrite(folder, ['audit_event', 'audit_segment'].map((table) => `
    DELETE FROM ${table} WHERE seller_id = ${other};
    INSERT INTO ${table} SELECT ${other}, ${table === 'audit_event'
      ? 'n, at, type, address, subject, hash, actor' : 'id, first, last, origin, key_id, mac'}
    FROM ${table} WHERE seller_id = ${one};`).join(''));
  const found = `The audit log of ${formatSellerId(other)} from event 1 on does not match`;
  assert.ok(findAuditFindings(folder).join('\n').includes(found));
  assertOnlyAbout(folder, other);
});

test('names events of a seller who does not exist', async (t) => {
  const { folder, chains: [, one] } = await prepare(t);
  damage(folder, `INSERT INTO audit_event SELECT 7, n, at, type, address, subject, hash, actor
    FROM audit_event WHERE seller_id = ${one}`);
  assert.match(findAuditFindings(folder).join('\n'),
    /has events of sel_00000000007, and there is no such seller/);
});

test('names a segment that was removed after a mismatch was found', async (t) => {
  const { folder, chains: [, chain] } = await prepare(t);
  rewrite(folder, `UPDATE audit_event SET subject = 'forged' WHERE seller_id = ${chain} AND n = 2`);
  await note(folder, chain, 'five');
  assert.match(findAuditFindings(folder).join('\n'),
    /^audit-chain fault: .* already did not match its authentication code when event 5/m);
  damage(folder, `DELETE FROM audit_segment WHERE seller_id = ${chain} AND id = 1`);
  assert.match(findAuditFindings(folder).join('\n'),
    /Segment 1 of the audit log of sel_\w+ is missing/);
});

test('never reuses the number of a removed event', async (t) => {
  const { folder, chains: [, chain] } = await prepare(t);
  damage(folder, `DELETE FROM audit_event WHERE seller_id = ${chain} AND n > 2`);
  await note(folder, chain, 'five');
  const rows = readRows(folder, `SELECT n FROM audit_event WHERE seller_id = ${chain} ORDER BY n`);
  assert.deepEqual(rows.map(({ n }) => n), [1, 2, 5]);
  assert.match(findAuditFindings(folder).join('\n'),
    /Events 3 to 4 of the audit log of sel_\w+ are missing/);
});

test('reports a lost key, and continues with a new one', async (t) => {
  const { folder, chains: [, chain, other] } = await prepare(t);
  const names = ['the server', formatSellerId(chain), formatSellerId(other)];
  rmSync(join(folder, 'server.key'));
  const lost = names.map((name) => `audit-chain fault: The audit log of ${name} from event 1 on `
    + 'cannot be authenticated: server.key is missing, or belongs to another database.');
  assert.deepEqual(findAuditFindings(folder), lost);
  writeFileSync(join(folder, 'server.key'), randomBytes(32), { mode: 0o600 });
  assert.deepEqual(findAuditFindings(folder), lost);
  await note(folder, chain, 'five', 'six');
  const replaced = names.map((name) => `audit-chain warning: The audit log of ${name} from event 1 `
    + `on was authenticated with another server.key, ${name === names[1] ? 'until event 5.'
      : 'and has no event since it was replaced.'}`);
  assert.deepEqual(findAuditFindings(folder), replaced);
  assertHealthy(folder);
  rewrite(folder, `UPDATE audit_event SET subject = 'forged' WHERE seller_id = ${chain} AND n = 2`);
  assert.throws(() => assertHealthy(folder), 'the new key covers what came before it, too');
});

test('does not report a lost key as replaced if no newer segment exists', async (t) => {
  const { folder, chains: [, chain, other] } = await prepare(t);
  writeFileSync(join(folder, 'server.key'), randomBytes(32));
  await note(folder, chain, 'five');
  damage(folder, `UPDATE audit_segment SET key_id = randomblob(16) WHERE seller_id = ${other}`);
  const name = formatSellerId(other);
  const lost = `audit-chain fault: The audit log of ${name} from event 1 on cannot`;
  assert.ok(findAuditFindings(folder)[0]?.startsWith(lost));
});

test('keeps one segment for all processes, and across a restart', async (t) => {
  const { folder } = await prepare(t);
  const stores = [await openStore(t, { folder }), await openStore(t, { folder })];
  await Promise.all(countTo(20).map((n) => stores[n % 2]?.noteAuditEvent({
    sellerId: undefined, type: 'signed_out', address: '', subject: String(n),
  })));
  const ofServer = 'SELECT id, first, last FROM audit_segment WHERE seller_id = 0';
  assert.deepEqual(readRows(folder, ofServer)
    .map((row) => ({ ...row })), [{ id: 1, first: 1, last: 24 }]);
  assert.deepEqual(findAuditFindings(folder), []);
});

test('continues from a backup with the same key, without a finding',
  async (t) => {
    const { folder, chains: [, chain] } = await prepare(t);
    const file = join(folder, FILE_NAME);
    copyFileSync(file, `${folder}.backup`);
    await note(folder, chain, 'five');
    copyFileSync(`${folder}.backup`, file);
    assert.deepEqual(findAuditFindings(folder), []);
    await note(folder, chain, 'another five');
    assert.deepEqual(findAuditFindings(folder), []);
  });
