/** Group commit on a connection of the test's own: the outcome of each mutation of a batch. */
import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type { KeyId, SellerId } from '../../../../src/domain/id.ts';
import { prepareCatalogueFile } from '../../../../src/store/sqlite/engine/database-file.ts';
import { openReader, openWriter } from '../../../../src/store/sqlite/engine/connection.ts';
import {
  acknowledgeUnlessLost, type Batch, type Outcome, prepareGroupCommit,
} from '../../../../src/store/sqlite/engine/group-commit.ts';
import { decodeResults } from '../../../../src/store/rules/stock-outcome.ts';
import { makeFolder } from '../../../support/folder.ts';
import { makeNewProduct } from '../../contract/fixture.ts';
import { AUDIT_KEY } from '../open.ts';

// The one seller that the tests insert.
const actor = { sellerId: 1 as SellerId, keyId: 1 as KeyId };
const at = Date.parse('2026-01-02T03:04:05.678Z');
const NOW = { at, lived: 0 };

test('runs the mutations of a batch in order, and commits them together', async (t) => {
  const { db, commits } = prepare(t);
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  const outcomes = await runBatch({ ...NOW, calls: [create('A'), create('B'), create('C')] });
  assert.deepEqual(outcomes.map(positionOf), [1, 2, 3]);
  assert.equal(commits(), 1);
  assert.equal(db.isTransaction, false);
});

test('lets each invalid mutation fail alone, with its own reason', async (t) => {
  const { db, commits } = prepare(t);
  const outcomes = await prepareGroupCommit(db, AUDIT_KEY)({
    ...NOW, calls: [create('A'), create('B', -1), create('C'), create('A'), create('D')],
  });
  assert.deepEqual(outcomes.map((one) => (one.isDone ? positionOf(one) : one.code)), [
    1, 'internal', 2, 'sku_taken', 3,
  ]);
  assert.equal(commits(), 1);
});

test('creates products in groups, and lets one whose SKU is taken fail alone', async (t) => {
  const { db, commits } = prepare(t);
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  const skus = Array.from({ length: 21 }, (_, index) => `SKU-${index}`);
  await runBatch({ ...NOW, calls: [create('SKU-17')] });
  const taken = (await runBatch({ ...NOW, calls: [create('SKU-17')] }))[0];
  assert.ok(taken && !taken.isDone);
  assert.match(taken.detail, /with the SKU "SKU-17"/);
  const outcomes = await runBatch({ ...NOW, calls: skus.map((sku) => create(sku)) });
  const positions = outcomes.map(positionOf);
  assert.deepEqual(positions.splice(17, 1), ['sku_taken']);
  assert.deepEqual(positions, skus.slice(1).map((_, index) => index + 2));
  assert.equal(commits(), 2);
  const rows = db.prepare(`
    SELECT sku, position, snapshot_position = position AS has_snapshot FROM product
    ORDER BY position`).all();
  const changes = db.prepare(`
    SELECT sku, position, product ->> 'position' = position AS has_snapshot FROM change
    ORDER BY position`).all();
  assert.equal(rows.length, 21);
  assert.deepEqual(changes, rows);
});

test('shows each mutation of a batch what earlier ones wrote', async (t) => {
  const { db } = prepare(t);
  const call = (name: Batch['calls'][number]['name'], input: object) =>
    ({ name, input: { actor, ...input } });
  const put = (sku: string, stock: number) =>
    call('putProduct', { product: { ...makeNewProduct({ sku }), stock }, precondition: {} });
  const sync = (sku: string) => call('syncStock', {
    isDryRun: false, sync: { changes: [{ sku, adjust: 1 }], isAtomic: false },
  });
  const outcomes = await prepareGroupCommit(db, AUDIT_KEY)({ ...NOW, calls: [
    create('A', 1), put('A', 2), sync('A'), create('B', 5), sync('B'), put('B', 7),
    call('importProducts', { mode: 'update', products: [{ sku: 'B', stock: 8 }, { sku: 'C' }] }),
    call('patchProduct', { target: { sku: 'B' }, patch: { sku: 'D' }, precondition: {} }),
    call('deleteProduct', { target: { sku: 'A' }, precondition: {} }), create('A', 3),
    call('importProducts', {
      mode: 'upsert',
      products: [{ ...makeNewProduct({ sku: 'E' }), stock: 1 }, { sku: 'E', stock: 4 }],
    }),
  ] });
  assert.deepEqual(outcomes.map(({ isDone }) => isDone), Array(11).fill(true));
  assert.deepEqual(
    db.prepare('SELECT position, type, sku, stock_before, stock_after, prior FROM change').all()
      .map((row) => Object.values(row)),
    [
      [1, 'created', 'A', 0, 1, null], [2, 'updated', 'A', 1, 2, 1], [3, 'stock', 'A', 2, 3, 2],
      [4, 'created', 'B', 0, 5, null], [5, 'stock', 'B', 5, 6, 4], [6, 'updated', 'B', 6, 7, 5],
      [7, 'stock', 'B', 7, 8, 6], [8, 'updated', 'D', 8, 8, 7], [9, 'deleted', 'A', 3, 0, 3],
      [10, 'created', 'A', 0, 3, null], [11, 'created', 'E', 0, 1, null],
      [12, 'stock', 'E', 1, 4, 11],
    ],
  );
});

test('lets a create take a SKU only if an earlier mutation of the batch freed it', async (t) => {
  const { db } = prepare(t);
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  const free: Readonly<Record<string, (id: unknown) => Batch['calls'][number]>> = {
    A: (id) => ({ name: 'deleteProduct', input: { actor, target: { id }, precondition: {} } }),
    B: (id) => ({
      name: 'patchProduct',
      input: { actor, target: { id }, patch: { sku: 'C' }, precondition: {} },
    }),
  };
  for (const [sku, makeCall] of Object.entries(free)) {
    const [first] = await runBatch({ ...NOW, calls: [create(sku)] });
    assert.ok(first?.isDone);
    const { id } = first.value as { readonly id: unknown };
    const outcomes = await runBatch({ ...NOW, calls: [create(sku), makeCall(id)] });
    assert.deepEqual(outcomes.map((one) => one.isDone || one.code), ['sku_taken', true]);
    assert.equal((await runBatch({ ...NOW, calls: [create(sku)] }))[0]?.isDone, true);
  }
});

test('rolls back a mutation that fails after its first statement', async (t) => {
  const { db } = prepare(t);
  // No key has this id: the product can be written, and its row of history cannot.
  const nobody = { ...actor, keyId: 0 as KeyId };
  const midway: Batch['calls'][number] = {
    name: 'createProduct', input: { actor: nobody, product: makeNewProduct({ sku: 'B' }) },
  };
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  const outcomes = await runBatch({ ...NOW, calls: [create('A'), midway, create('C')] });
  assert.deepEqual(outcomes.map(positionOf), [1, 'internal', 2]);
  assert.deepEqual((await runBatch({ ...NOW, calls: [midway] })).map(positionOf), ['internal']);
  const skus = db.prepare('SELECT sku FROM product ORDER BY id').all().map(({ sku }) => sku);
  assert.deepEqual(skus, ['A', 'C']);
});

test('keeps the error of the database for the log, and out of the response', async (t) => {
  const { db } = prepare(t);
  const [outcome] = await prepareGroupCommit(db, AUDIT_KEY)({ ...NOW, calls: [create('A', -1)] });
  assert.ok(outcome && !outcome.isDone);
  assert.match(outcome.cause ?? '', /CHECK constraint failed/);
  assert.doesNotMatch(outcome.detail, /constraint|stock/i);
});

test('continues after a batch that failed', async (t) => {
  const { db } = prepare(t);
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  await runBatch({ ...NOW, calls: [create('A', -1)] });
  await runBatch({ ...NOW, calls: [create('A', -1), create('B', -1)] });
  assert.deepEqual((await runBatch({ ...NOW, calls: [create('A')] })).map(positionOf), [1]);
});

test('reports that the database is busy while another connection writes', async (t) => {
  const { db, file } = prepare(t);
  db.exec('PRAGMA busy_timeout = 0');
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  const other = openWriter(file);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  for (const calls of [[create('A')], [create('A'), create('B')]]) {
    for (const outcome of await runBatch({ ...NOW, calls })) {
      assert.ok(!outcome.isDone);
      assert.equal(outcome.code, 'unavailable');
      assert.match(outcome.detail, /busy.*Nothing was changed/);
    }
  }
  other.exec('ROLLBACK');
  assert.deepEqual((await runBatch({ ...NOW, calls: [create('A')] })).map(positionOf), [1]);
});

test('reports a disk that cannot be written', async (t) => {
  const { file } = prepare(t);
  const db = openReader(file);
  t.after(() => db.close());
  const [outcome] = await prepareGroupCommit(db, AUDIT_KEY)({ ...NOW, calls: [create('A')] });
  assert.ok(outcome && !outcome.isDone);
  assert.equal(outcome.code, 'unavailable');
  assert.match(outcome.detail, /cannot write to its disk.*Nothing was changed/);
});

test('fails every mutation of a commit that fails, and changes nothing', async (t) => {
  const { db } = prepare(t);
  // A foreign key that is checked at the end of the transaction makes COMMIT itself fail.
  db.exec(`
    CREATE TABLE late (
      id INTEGER PRIMARY KEY, parent INTEGER REFERENCES late DEFERRABLE INITIALLY DEFERRED
    );
    CREATE TRIGGER break_commit AFTER INSERT ON product
      BEGIN INSERT INTO late (parent) VALUES (99); END;
  `);
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  const outcomes = await runBatch({ ...NOW, calls: [create('A'), create('B')] });
  assert.deepEqual(outcomes.map(({ isDone }) => isDone), [false, false]);
  assert.equal(db.isTransaction, false);
  assert.deepEqual({ ...db.prepare('SELECT position FROM seller').get() }, { position: 0 });
  assert.deepEqual({ ...db.prepare('SELECT count(*) AS rows FROM product').get() }, { rows: 0 });
});

test('overwrites what a failing disk may have kept, or reports it as unknown', async (t) => {
  const { db } = prepare(t);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const prepareStatement = db.prepare.bind(db);
  let isLasting = false;
  const broken = Object.assign(new Error('disk I/O error'), { errcode: 1034 });
  db.prepare = (sql: string) => {
    const statement = prepareStatement(sql);
    if (sql === 'COMMIT') {
      statement.run = () => {
        if (isLasting) db.exec('PRAGMA query_only = ON');
        throw broken;
      };
    }
    return statement;
  };
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  const reject = async () => {
    const [outcome] = await runBatch({ ...NOW, calls: [create('A'), create('B')] });
    assert.ok(outcome && !outcome.isDone);
    assert.equal(outcome.code, 'unavailable');
    assert.match(outcome.cause ?? '', /disk I\/O error/);
    return outcome.detail;
  };
  assert.match(await reject(), /Nothing was changed/);
  const frames = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  assert.equal(frames?.['log'], 1); // one page of a commit that changed nothing
  isLasting = true;
  assert.match(await reject(), /outcome is unknown/);
});

test('caches no stock level of a commit that failed', async (t) => {
  const { db } = prepare(t);
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  const run = async (name: Batch['calls'][number]['name'], input: object) =>
    (await runBatch({ ...NOW, calls: [{ name, input: { actor, ...input } }] }))[0] ?? assert.fail();
  const sync = (change: object) => run('syncStock', {
    isDryRun: false, sync: { changes: [{ sku: 'A', ...change }], isAtomic: false },
  });
  await runBatch({ ...NOW, calls: [create('A')] });
  db.exec(`
    CREATE TABLE late (
      id INTEGER PRIMARY KEY, parent INTEGER REFERENCES late DEFERRABLE INITIALLY DEFERRED
    );
    CREATE TRIGGER break_commit AFTER INSERT ON change
      BEGIN INSERT INTO late (parent) VALUES (99); END;
  `);
  assert.equal((await sync({ set: 5 })).isDone, false);
  db.exec('DROP TRIGGER break_commit');
  // It takes the position that the failed one would have had.
  const patched = await run('patchProduct', {
    target: { sku: 'A' }, patch: { stock: 7 }, precondition: {},
  });
  assert.equal(positionOf(patched), 2);
  const synced = await sync({ adjust: 1 });
  assert.ok(synced.isDone);
  // The cast: what syncStock returns has results.
  const { results: encoded } = synced.value as { results: Parameters<typeof decodeResults>[0] };
  const results = decodeResults(encoded, [{ adjust: 1 }]);
  assert.deepEqual(results.map(({ previous, stock }) => [previous, stock]), [[7, 8]]);
});

test('fails every mutation if an error makes the database roll back everything', async (t) => {
  const { db } = prepare(t);
  db.exec(`CREATE TRIGGER undo BEFORE INSERT ON product WHEN new.sku = 'B'
    BEGIN SELECT raise(ROLLBACK, 'all rolled back'); END`);
  const runBatch = prepareGroupCommit(db, AUDIT_KEY);
  const outcomes = await runBatch({ ...NOW, calls: [create('A'), create('B'), create('C')] });
  assert.deepEqual(outcomes.map(({ isDone }) => isDone), [false, false, false]);
  assert.deepEqual({ ...db.prepare('SELECT count(*) AS rows FROM product').get() }, { rows: 0 });
});

test('acknowledges no commit into a catalogue that is lost by then', async (t) => {
  const { db, commits } = prepare(t);
  const proven: number[] = [];
  let isLost = false;
  const run = acknowledgeUnlessLost(prepareGroupCommit(db, AUDIT_KEY), () => {
    proven.push(commits());
    return isLost;
  });
  assert.deepEqual((await run({ at, lived: 0, calls: [create('A')] })).map(positionOf), [1]);
  isLost = true;
  const lost = await run({ at, lived: 0, calls: [create('B'), create('C', -1)] });
  assert.deepEqual(lost.map((outcome) => (outcome.isDone ? outcome : outcome.code)), [
    'unavailable', 'internal',
  ]);
  const details = lost.map((outcome) => (outcome.isDone ? '' : outcome.detail));
  assert.match(details[0] ?? '', /replaced .* The outcome is unknown: after that, check/);
  assert.match(details[1] ?? '', /Nothing was changed/);
  assert.deepEqual(proven, [1, 2]); // each after its commit
});

/** A database with one seller, a connection to it, and a count of the commits since. */
function prepare(t: TestContext): { db: DatabaseSync; file: string; commits: () => number } {
  const file = prepareCatalogueFile(makeFolder(t)).file;
  const db = openWriter(file);
  t.after(() => db.close());
  db.exec(`INSERT INTO seller (id, name, currency, currency_decimals, created_at)
    VALUES (1, 'A shop', 'EUR', 2, 0)`);
  let commits = 0;
  const prepareStatement = db.prepare.bind(db);
  db.prepare = (sql: string) => {
    const statement = prepareStatement(sql);
    if (sql !== 'COMMIT') return statement;
    const runCommit = statement.run.bind(statement);
    statement.run = () => {
      commits += 1;
      return runCommit();
    };
    return statement;
  };
  return { db, file, commits: () => commits };
}

/** A call that creates a product; a negative stock is one that no parser lets through. */
function create(sku: string, stock = 1): Batch['calls'][number] {
  const product = { ...makeNewProduct({ sku }), stock };
  return { name: 'createProduct', input: { actor, product } };
}

function positionOf(outcome: Outcome): unknown {
  // What createProduct answers has a position.
  return outcome.isDone ? (outcome.value as { position: number }).position : outcome.code;
}
