/**
 * A catalogue as an older version would have left it: created by the current store, and copied into
 * the schema of that version, which its migrations create. Later migrations only add to it, except
 * that they hash the idempotency keys.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { migrate } from '../../../../src/store/sqlite/engine/migrate.ts';
import { makeRandom } from '../../../domain/random.ts';
import { makeAccount } from '../../../features/portal/page-client.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeFolder } from '../../../support/folder.ts';
import { countTo, DAY_MS, makeNewKey, makeHash, makeNewProduct } from '../../contract/fixture.ts';
import { makeNewWebhook } from '../../contract/webhooks.ts';
import { openStore } from '../open.ts';
import { forgetActors, putOldEvents } from './old-audit.ts';
import { FILE_NAME, readRows } from './read-file.ts';

const SCHEMAS = join(import.meta.dirname, '../../../../src/store/sqlite/migrations');
/** The version that added stock syncs, with reasons and sequence numbers. */
const STOCK = 3;
/** The version that stores idempotency keys as hashes. */
const KEY_HASHES = 9;

/** The version that added the audit log. */
const PORTAL = 5;
/** The version that authenticates the audit log. */
const AUTHENTICATED = 10;
/** The version that gives each seller a chain of audit events. */
const AUDIT_CHAINS = 15;
/** The version that records actors. */
const PEOPLE = 19;

/** The newest version of the schema. */
export const LATEST = globSync('*.sql', { cwd: SCHEMAS }).length;

/** Columns of earlier versions, with their values in the current schema. */
const MOVED: Readonly<Record<string, string>> = {
  'account.low_stock': '(SELECT low_stock FROM today.seller WHERE id = seller_id)',
};

/** The tables of a database, each with its columns. */
function listTables(db: DatabaseSync): Map<string, string[]> {
  const tables = db.prepare(`SELECT name FROM sqlite_schema
    WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`).all();
  return new Map(tables.map(({ name }) => [
    String(name),
    db.prepare(`SELECT name FROM pragma_table_info('${String(name)}')`).all()
      .map((column) => String(column['name'])),
  ]));
}

/** All rows of a catalogue, by table. */
export function dump(folder: string): Map<string, Record<string, unknown>[]> {
  const db = new DatabaseSync(join(folder, FILE_NAME), { readOnly: true });
  const tables = [...listTables(db).keys()];
  db.close();
  return new Map(tables.map((name) => [name, readRows(folder, `SELECT * FROM ${name}`)]));
}

/** A catalogue in the current schema, with all data that a version could have. */
export async function makeToday(t: TestContext, version: number, changes = 150): Promise<string> {
  const folder = join(makeFolder(t), 'data');
  const clock = makeClock();
  const random = makeRandom(version);
  const store = await openStore(t, { folder, clock });
  const { sellerId } = await makeAccount(store);
  const { id: keyId } = await store.createKey(sellerId, makeHash(), makeNewKey());
  const actor = { sellerId, keyId };
  await store.createWebhook(actor, makeNewWebhook());
  if (version >= PORTAL) await store.setShopSettings(sellerId, { lowStock: 7 }, {});
  const there = new Set<Sku>();
  for (const n of countTo(changes)) {
    clock.now += random.below(DAY_MS / 40);
    const sku = `S${random.below(changes / 4)}` as Sku; // a legal one
    const write = { ...actor, idempotency: { key: `k${n}`, part: 0 } };
    const made = makeNewProduct({ sku, stock: random.below(100) });
    if (!there.has(sku)) await store.createProduct(write, made);
    else if (random.below(5) === 0) await store.deleteProduct(write, { sku }, {});
    else if (random.below(3) === 0) await store.putProduct(write, made, {});
    else if (version < STOCK || random.below(2) === 0) {
      await store.patchProduct(write, { sku }, { stock: random.below(100) }, {});
    } else {
      const change = { sku, set: random.below(100), reason: 'counted', sequence: n };
      await store.syncStock(write, {
        changes: [change], isAtomic: false, source: 'till', reason: undefined,
        completion: undefined,
      }, false);
    }
    if (await store.findProduct(sellerId, { sku })) there.add(sku);
    else there.delete(sku);
  }
  await store.noteUsage([{ sellerId, keyId, hour: 1, requests: 3, refusals: 1 }]);
  await store.close();
  if (version < PEOPLE) forgetActors(folder);
  return folder;
}

/**
 * Copies it into the schema of the version, without what that cannot store. `keys` are the
 * idempotency keys, of which the current catalogue has only hashes.
 */
export function putBack(
  t: TestContext, today: string, version: number, keys = countTo(400).map((n) => `k${n}`),
): string {
  const folder = join(makeFolder(t), 'data');
  mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, FILE_NAME);
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  migrate(db, { to: version });
  db.prepare('ATTACH ? AS today').run(join(today, FILE_NAME));
  for (const [table, columns] of listTables(db)) {
    if (table === 'idempotency' && version < KEY_HASHES) {
      copyIdempotency(db, keys);
      continue;
    }
    if (table.startsWith('audit_') && version < AUDIT_CHAINS) continue;
    const values = columns.map((name) => MOVED[`${table}.${name}`] ?? name);
    db.exec(`INSERT INTO main.${table} (${columns.join(', ')})
      SELECT ${values.join(', ')} FROM today.${table}`);
  }
  const key = join(today, 'server.key');
  copyFileSync(key, join(folder, 'server.key'));
  if (version >= PORTAL && version < AUDIT_CHAINS) {
    putOldEvents(db, version < AUTHENTICATED ? undefined : readFileSync(key));
  }
  db.exec('DETACH today; PRAGMA journal_mode = WAL;');
  db.close();
  chmodSync(file, 0o600);
  return folder;
}

/** Copies the current idempotency records, with their keys in cleartext. */
function copyIdempotency(db: DatabaseSync, keys: readonly string[]): void {
  const copy = db.prepare(`
    INSERT INTO main.idempotency (seller_id, key, part, fingerprint, at, outcome)
    SELECT seller_id, ?, part, fingerprint, at, outcome FROM today.idempotency
    WHERE seller_id = ? AND key_hash = ?`);
  for (const { id } of db.prepare('SELECT id FROM today.seller').all()) {
    for (const key of keys) {
      copy.run(key, Number(id), createHash('sha256').update(`${Number(id)}:${key}`).digest());
    }
  }
}

/** Tables that migrations create empty, without backfilling them, by the version that adds them. */
const ADDED_EMPTY: Readonly<Record<string, number>> = {
  idempotency: 2, stock_sequence: 3, webhook: 4, webhook_attempt: 4, account: 5, account_email: 5,
  recovery_code: 5, session: 5, invitation: 5, audit_event: 5, key_usage: 7,
};

/** Asserts that all data is as the current version creates it, including what is backfilled. */
export function assertMigrated(folder: string, today: string, version: number): void {
  const [found, made] = [dump(folder), dump(today)];
  assert.deepEqual([...found.keys()].toSorted(), [...made.keys()].toSorted());
  for (const [table, rows] of made) {
    if (table === 'audit_segment' && version < AUDIT_CHAINS) {
      assertSegments(found, version);
      continue;
    }
    const expected = (ADDED_EMPTY[table] ?? 0) > version ? [] : rows;
    if (table === 'seller' && version < PORTAL) {
      for (const row of expected) row['last_account_id'] = 0;
    }
    assert.deepEqual(found.get(table), expected, table);
  }
  assert.deepEqual(readRows(folder, 'PRAGMA user_version'), [{ user_version: LATEST }]);
  assert.deepEqual(readRows(folder, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  assert.deepEqual(readRows(folder, 'PRAGMA foreign_key_check'), []);
}

/** Asserts that the chains of all sellers exist, and cover the events from before. */
function assertSegments(found: ReturnType<typeof dump>, version: number): void {
  const events = found.get('audit_event') ?? [];
  const chains = [0, ...(found.get('seller') ?? []).map(({ id }) => Number(id))];
  const expected = chains.flatMap((chain) => {
    const last = events.filter((event) => event['seller_id'] === chain).length;
    if (last === 0) return [[chain, 1, 1, 0, 'start']];
    const first = version < AUTHENTICATED ? last + 1 : 1;
    return [[chain, 1, first, last, 'upgrade'], [chain, 2, last + 1, last, 'start']];
  });
  const segments = (found.get('audit_segment') ?? []).map((row) =>
    [row['seller_id'], row['id'], row['first'], row['last'], row['origin']]);
  assert.deepEqual(segments, expected);
}
