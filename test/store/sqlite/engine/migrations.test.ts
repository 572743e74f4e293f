/** Databases of earlier versions: each is migrated with all its data. */
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { CHANGE_TYPES } from '../../../../src/domain/catalogue/change.ts';
import type { KeyId, SellerId } from '../../../../src/domain/id.ts';
import type { Sku } from '../../../../src/domain/catalogue/product-fields.ts';
import { migrate } from '../../../../src/store/sqlite/engine/migrate.ts';
import { runProcess } from '../../../support/command.ts';
import { makeFolder } from '../../../support/folder.ts';
import { assertHealthy } from '../../../support/health.ts';
import { countTo, makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { assertMigrated, dump, LATEST, makeToday, putBack } from './old-version.ts';
import { openStore } from '../open.ts';
import { FILE_NAME, readFolder, readRows } from './read-file.ts';

const SELLER = 5 as SellerId;
const KEY = 6 as KeyId;

/** What all versions can hold: a product that moved, one that was renamed, one that is gone. */
const CONTENT = `
  INSERT INTO seller (id, name, currency, currency_decimals, position, last_product_id, created_at)
  VALUES (${SELLER}, 'A shop', 'EUR', 2, 8, 3, 1000);
  INSERT INTO api_key (seller_id, id, hash, name, scopes, address_ranges, created_at)
  VALUES (${SELLER}, ${KEY}, '${'a'.repeat(64)}', 'key', 'products:read', '', 1000);
  INSERT INTO product
    (seller_id, id, sku, name, category, price_minor, stock, position, created_at, updated_at)
  VALUES (${SELLER}, 1, 'MUG', 'Mug', 'Kitchen', 100, 9, 6, 1000, 61000),
    (${SELLER}, 2, 'CUP', 'Cup', 'Kitchen', 100, 4, 8, 2000, 190000);
  INSERT INTO change (seller_id, position, type, product_id, key_id, at, stock_before, stock_after,
    product)
  VALUES (${SELLER}, 1, 'created', 1, ${KEY}, 1000, 0, 5, '{"sku":"MUG"}'),
    (${SELLER}, 2, 'created', 2, ${KEY}, 2000, 0, 3, '{"sku":"OLD"}'),
    (${SELLER}, 3, 'created', 3, ${KEY}, 3000, 0, 1, '{"sku":"GONE"}'),
    (${SELLER}, 4, 'stock', 2, ${KEY}, 4000, 3, 4, NULL),
    (${SELLER}, 5, 'deleted', 3, ${KEY}, 60000, 1, 0, '{"sku":"GONE"}'),
    (${SELLER}, 6, 'stock', 1, ${KEY}, 61000, 5, 9, NULL),
    (${SELLER}, 7, 'updated', 2, ${KEY}, 62000, 4, 4, '{"sku":"NEW"}'),
    (${SELLER}, 8, 'updated', 2, ${KEY}, 190000, 4, 4, '{"sku":"CUP"}');
  INSERT INTO server_secret (name, value) VALUES ('cursor', zeroblob(32));`;

/** A database of that version, migrated from the oldest content; then changed by `more`. */
function makeOld(t: TestContext, version: number, more = ''): string {
  const folder = makeFolder(t);
  const file = join(folder, FILE_NAME);
  const db = new DatabaseSync(file);
  migrate(db, { to: 2 });
  db.exec(CONTENT);
  migrate(db, { to: version });
  db.exec(`${more}
    PRAGMA journal_mode = WAL;`);
  db.close();
  chmodSync(file, 0o600);
  return folder;
}

for (const version of countTo(LATEST)) {
  test(`migrates a catalogue of version ${version} to what the current version creates`,
    async (t) => {
      const today = await makeToday(t, version);
      const folder = putBack(t, today, version);
      await (await openStore(t, { folder })).close();
      assertMigrated(folder, today, version);
      assertHealthy(folder);
      const store = await openStore(t, { folder });
      const [seller] = await store.listSellers({ after: undefined, limit: 1 });
      assert.ok(seller);
      const write = { sellerId: seller.id, keyId: KEY };
      const { position } = await store.createProduct(write, makeNewProduct());
      assert.equal(position, seller.position + 1);
    });
}

test('migrates a folder once that several processes open concurrently', async (t) => {
  const today = await makeToday(t, 1);
  const folder = putBack(t, today, 1);
  const finished = await Promise.all(countTo(4).map(() =>
    runProcess(['seller', 'list', '--data', folder])));
  for (const { status, notes } of finished) assert.equal(status, 0, notes);
  assertMigrated(folder, today, 1);
});

test('keeps the last version before a failed migration intact, and continues from it',
  async (t) => {
    const today = await makeToday(t, 4);
    const folder = putBack(t, today, 4);
    const runSql = (sql: string) => {
      const db = new DatabaseSync(join(folder, FILE_NAME));
      db.exec(sql);
      db.close();
    };
    runSql('CREATE TABLE stock_day (n INTEGER)'); // the sixth migration creates this table
    await assert.rejects(openStore(t, { folder }), /stock_day already exists/);
    assert.deepEqual(readRows(folder, 'PRAGMA user_version'), [{ user_version: 5 }]);
    const changes = dump(today).get('change')
      ?.map(({ actor: _, import_id: __, ...change }) => change);
    assert.deepEqual(dump(folder).get('change'), changes);
    runSql('DROP TABLE stock_day');
    await (await openStore(t, { folder })).close();
    assertMigrated(folder, today, 4);
  });

test('adds what later versions record to an old history', async (t) => {
  const folder = makeOld(t, 2);
  await (await openStore(t, { folder })).close();
  const changes = readRows(folder, 'SELECT sku, prior FROM change ORDER BY position');
  assert.deepEqual(changes.map(({ sku, prior }) => [sku, prior]), [
    ['MUG', null], ['OLD', null], ['GONE', null], ['OLD', 2], ['GONE', 3], ['MUG', 1], ['NEW', 4],
    ['CUP', 7],
  ]);
  const snapshots = readRows(folder, 'SELECT snapshot_position AS at FROM product ORDER BY id');
  assert.deepEqual(snapshots, [{ at: 1 }, { at: 8 }]);
  const minutes = readRows(folder, 'SELECT minute, position FROM change_minute ORDER BY minute');
  assert.deepEqual(minutes.map(({ minute, position }) => [minute, position]), [
    [0, 4], [1, 7], [3, 8],
  ]);
});

test('replays requests of an earlier version, and stores no idempotency key in cleartext',
  async (t) => {
    const made = join(makeFolder(t), 'data');
    const first = await openStore(t, { folder: made });
    const actor = await makeActor(first);
    const keys = countTo(300).map((n) => `canary-${n}`);
    const product = makeNewProduct();
    const create = (store: typeof first, n: number) => store.createProduct(
      { ...actor, idempotency: { key: `canary-${n}`, part: 0 } },
      { ...product, sku: `S${n}` as Sku }, // a legal one
    );
    const before = await Promise.all(countTo(300).map((n) => create(first, n)));
    await first.close();
    const folder = putBack(t, made, 8, keys);
    const findKeys = () => readFolder(folder).filter(([, bytes]) => bytes.includes('canary'))
      .map(([name]) => name);
    assert.deepEqual(findKeys(), [FILE_NAME]);

    const store = await openStore(t, { folder });
    for (const [index, n] of countTo(300).entries()) {
      const { isReplay, position } = await create(store, n);
      assert.deepEqual([isReplay, position], [true, before[index]?.position]);
    }
    const { isReplay } = await create(store, 301);
    assert.equal(isReplay, false);
    assert.deepEqual(findKeys(), []);
    await store.close();
    assert.deepEqual(findKeys(), []);
  });

const PRUNED = 'UPDATE seller SET pruned_to = 4; DELETE FROM change WHERE position = 3;';
const NIGHT = 'UPDATE change SET at = at + 86340000;'; // the last minute of the day

const FILLED: readonly [what: string, more: string, days: readonly number[][]][] = [
  ['a complete history', '', [[0, 14, 1]]],
  ['one that spans midnight', NIGHT, [[0, 10, 0], [1, 4, 1]]],
  ['a pruned one', PRUNED, [[0, 4, 1]]],
];

for (const [what, more, days] of FILLED) {
  test(`counts the stock that moved on each day from ${what}`, async (t) => {
    const folder = makeOld(t, 4, more);
    const store = await openStore(t, { folder });
    const listed = await store.listStockDays(SELLER, { since: 0, limit: 9 });
    assert.deepEqual(listed.map(({ day, unitsIn, unitsOut }) => [day, unitsIn, unitsOut]), days);
  });
}

test('accepts the same types of changes as before their check was reworded', (t) => {
  const file = join(makeOld(t, 13), FILE_NAME);
  const [db, other] = [new DatabaseSync(file), new DatabaseSync(file)];
  const add = (type: string, position: number) => other.exec(`
    INSERT INTO change
      (seller_id, position, type, product_id, key_id, at, stock_before, stock_after, product, sku)
    VALUES (${SELLER}, ${position}, '${type}', 1, ${KEY}, 1000, 0, 5, '{}', 'MUG')`);
  assert.throws(() => add('moved', 9), /CHECK constraint failed: type IN/);
  migrate(db);
  // Also on a connection that had read the schema before.
  assert.throws(() => add('moved', 9), /CHECK constraint failed: type = 'stock' OR/);
  for (const [index, type] of CHANGE_TYPES.entries()) add(type, index + 9);
  assert.throws(() => db.exec("UPDATE sqlite_schema SET sql = ''"), /may not be modified/);
  db.close();
  other.close();
});
