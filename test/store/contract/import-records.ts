/** The contract of a store: the records of imports, and the changes that carry their ids. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImportKind, NewImport } from '../../../src/domain/catalogue/import.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import { CHANGE_TYPES } from '../../../src/domain/catalogue/change.ts';
import type { ImportId, KeyId } from '../../../src/domain/id.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor, ImportPart } from '../../../src/store/write.ts';
import { makeImportParts } from '../../../src/api/ingest.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, DAY_MS, makeActor, makeNewKey, makeNewProduct, makeSecret, type PrepareStore,
} from './fixture.ts';
import { makeSync } from './stock.ts';

const FILE: NewImport = {
  kind: 'products', mode: 'upsert', fileName: 'shop.csv', address: '192.0.2.7',
};
const ALL = { before: undefined, limit: 100 };
const skuOf = (n: number) => `SKU-${n}` as Sku; // legal ones

export function testImportRecords(prepare: PrepareStore): void {
  testParts(prepare);
  testRetries(prepare);
  testLists(prepare);
  testFilters(prepare);
  testKeyFilter(prepare);
  testCollapsed(prepare);
  testPruning(prepare);
}

/** Creates products of these numbers, as one import of one part for each list. */
async function importParts(
  store: Store, actor: Actor, parts: readonly (readonly number[])[], record = FILE,
): Promise<ImportId> {
  const written = makeImportParts(record);
  for (const numbers of parts) {
    await written.write({ failed: 1 }, false, (part) => importNumbers(store, actor, numbers, part));
  }
  await written.write({}, true, (part) => importNumbers(store, actor, [], part));
  assert.ok(written.id);
  return written.id;
}

function importNumbers(store: Store, actor: Actor, numbers: readonly number[], part: ImportPart) {
  const rows = numbers.map((n) => makeNewProduct({ sku: skuOf(n), name: `P${n}`, stock: 1 }));
  return store.importProducts({ ...actor, import: part }, rows, 'upsert');
}

/** A stock sync with a record, in one part. */
async function syncWithRecord(
  store: Store, actor: Actor, changes: Parameters<typeof makeSync>[0], kind: ImportKind = 'stock',
): Promise<ImportId> {
  const part = { id: undefined, record: { kind }, counts: {}, isLast: true };
  const synced = await store.syncStock({ ...actor, import: part }, makeSync(changes), false);
  assert.ok(synced.importId);
  return synced.importId;
}

function testParts(prepare: PrepareStore): void {
  test('records an import with exact counts and positions after every part', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct({ sku: skuOf(1), name: 'old' }));
    const parts = makeImportParts(FILE);
    const write = (numbers: readonly number[], failed: number, isLast = false) => parts.write(
      { failed }, isLast, (part) => importNumbers(store, actor, numbers, part),
    );
    const find = async () => {
      assert.ok(parts.id);
      return store.findImport(actor.sellerId, parts.id);
    };
    const startedAt = clock.now;
    await write([], 2);
    const first = {
      ...FILE, sellerId: actor.sellerId, id: parts.id, keyId: actor.keyId, actor: undefined,
      source: undefined, reverts: undefined, startedAt, finishedAt: undefined,
      counts: { created: 0, updated: 0, unchanged: 0, failed: 2 },
      firstPosition: undefined, lastPosition: undefined,
    };
    assert.deepEqual(await find(), first);
    await write([1, 2], 0);
    const second = {
      ...first, counts: { ...first.counts, created: 1, updated: 1 },
      firstPosition: 2, lastPosition: 3,
    };
    assert.deepEqual(await find(), second);
    await store.createProduct(actor, makeNewProduct());
    await write([3, 3], 1);
    const third = {
      ...second, counts: { created: 2, updated: 1, unchanged: 1, failed: 3 }, lastPosition: 5,
    };
    assert.deepEqual(await find(), third);
    clock.now += 5_000;
    await write([], 0, true);
    assert.deepEqual(await find(), { ...third, finishedAt: clock.now });
    const { changes } = await store.listChanges(actor.sellerId, { after: 0, limit: 10 });
    assert.deepEqual(changes.map(({ importId }) => importId),
      [undefined, parts.id, parts.id, undefined, parts.id]);
  });

  test('has no record of a dry run, or of a rejected stock sync', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    await importParts(store, actor, [[1]]);
    const part = { id: undefined, record: { kind: 'stock' as const }, counts: {}, isLast: true };
    const context = { ...actor, import: part };
    await store.syncStock(context, makeSync([{ sku: skuOf(1), set: 5 }]), true);
    const unknown = makeSync([{ sku: skuOf(9), set: 5 }], { isAtomic: true });
    const rejected = await store.syncStock(context, unknown, false);
    assert.deepEqual([rejected.rejection === undefined, rejected.importId], [false, undefined]);
    assert.equal((await store.listImports(actor.sellerId, ALL)).length, 1);
  });
}

function testRetries(prepare: PrepareStore): void {
  test('finds the same record again under the same idempotency key', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const run = async (): Promise<ImportId | undefined> => {
      const parts = makeImportParts(FILE);
      for (const [part, numbers] of [[1, 2], [3], []].entries()) {
        const rows = numbers.map((n) => makeNewProduct({ sku: skuOf(n), name: `P${n}` }));
        await parts.write({}, numbers.length === 0, (imported) => store.importProducts(
          { ...actor, import: imported, idempotency: { key: 'k', part } }, rows, 'upsert',
        ));
      }
      return parts.id;
    };
    const id = await run();
    const [record, ...others] = await store.listImports(actor.sellerId, ALL);
    assert.deepEqual([record?.id, others], [id, []]);
    assert.equal(await run(), id);
    assert.deepEqual(await store.listImports(actor.sellerId, ALL), [record]);
    assert.deepEqual(record?.counts, { created: 3, updated: 0, unchanged: 0, failed: 0 });
  });

  test('continues an import that was interrupted in its own record', async (t) => {
    const open = prepare(t);
    const store = await open(makeClock());
    const actor = await makeActor(store);
    type Parts = ReturnType<typeof makeImportParts>;
    const write = (writer: Store, parts: Parts, numbers: readonly number[], part: number) =>
      parts.write({}, numbers.length === 0, (imported) => writer.importProducts(
        { ...actor, import: imported, idempotency: { key: 'k', part } },
        numbers.map((n) => makeNewProduct({ sku: skuOf(n), name: `P${n}` })), 'upsert',
      ));
    const before = makeImportParts(FILE);
    await write(store, before, [1, 2], 0);
    const again = await open(makeClock());
    const [unfinished] = await again.listImports(actor.sellerId, ALL);
    assert.equal(unfinished?.finishedAt, undefined);
    assert.equal(unfinished?.counts['created'], 2);
    const after = makeImportParts(FILE);
    for (const [part, numbers] of [[1, 2], [3], []].entries()) {
      await write(again, after, numbers, part);
    }
    assert.equal(after.id, before.id);
    const [finished, ...others] = await again.listImports(actor.sellerId, ALL);
    assert.deepEqual(others, []);
    assert.notEqual(finished?.finishedAt, undefined);
    assert.deepEqual([finished?.counts['created'], finished?.lastPosition], [3, 3]);
  });
}

function testLists(prepare: PrepareStore): void {
  test('lists imports newest first, by kind and in pages', async (t) => {
    const store = await prepare(t)(makeClock()); // all in the same millisecond
    const actor = await makeActor(store);
    const ids: ImportId[] = [];
    for (const n of countTo(5)) {
      ids.unshift(await importParts(store, actor, [[n]]));
      ids.unshift(await syncWithRecord(store, actor, [{ sku: skuOf(n), set: 9 }]));
    }
    const list = async (query: Partial<Parameters<Store['listImports']>[1]>) =>
      (await store.listImports(actor.sellerId, { ...ALL, ...query })).map(({ id }) => id);
    assert.deepEqual(await list({}), ids);
    assert.deepEqual(await list({ limit: 3 }), ids.slice(0, 3));
    assert.deepEqual(await list({ before: ids[2], limit: 3 }), ids.slice(3, 6));
    const stock = ids.filter((_, index) => index % 2 === 0);
    assert.deepEqual(await list({ kind: 'stock' }), stock);
    assert.deepEqual(await list({ kind: 'stock', before: stock[1], limit: 2 }), stock.slice(2, 4));
    assert.deepEqual(await list({ kind: 'revert' }), []);
    assert.deepEqual(await list({ after: ids[7], limit: 2 }), [ids[6], ids[5]]);
    const later = stock.slice(0, 3).toReversed();
    assert.deepEqual(await list({ kind: 'stock', after: stock[3] }), later);
    const counts = [[undefined, 10], ['stock', 5], ['revert', 0]] as const;
    for (const [kind, count] of counts) {
      assert.deepEqual(await store.countImports(actor.sellerId, kind), { count, isExact: true });
    }
  });

  test('finds imports by parts of their file names and sources, in any case', async (t) => {
    const store = await prepare(t)(makeClock());
    const [actor, other] = [await makeActor(store), await makeActor(store)];
    const file = (fileName: string) => ({ ...FILE, fileName });
    const march = await importParts(store, actor, [[1]], file('Products March.csv'));
    const odd = await importParts(store, actor, [[2]], file('100%_a!b.csv'));
    await importParts(store, other, [[3]], file('March.csv'));
    const found = async (text: string, limit = 9) =>
      (await store.searchImports(actor.sellerId, text, limit)).map(({ id }) => id);
    assert.deepEqual(await found('march'), [march]);
    assert.deepEqual(await found('.CSV'), [odd, march]);
    assert.deepEqual(await found('.csv', 1), [odd]);
    for (const text of ['%_', '!', 'a!b']) assert.deepEqual(await found(text), [odd], text);
    for (const text of ['_arch', 'p%m', "'"]) assert.deepEqual(await found(text), [], text);
  });

  test("keeps each seller's imports apart", async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, two] = [await makeActor(store), await makeActor(store)];
    const id = await importParts(store, one, [[1]]);
    assert.equal(await store.findImport(two.sellerId, id), undefined);
    assert.deepEqual(await store.listImports(two.sellerId, ALL), []);
    await store.createProduct(two, makeNewProduct());
    const { changes } = await store.listChanges(
      two.sellerId, { after: 0, limit: 10, importId: id },
    );
    assert.deepEqual(changes, []);
  });
}

/** Positions 1..3 and 6..8 are of one import, 4 and 5 of another write each, 9 of a stock sync. */
async function prepareMixed(store: Store, actor: Actor) {
  const parts = makeImportParts(FILE);
  await parts.write({}, false, (part) => importNumbers(store, actor, [1, 2, 3], part));
  await store.createProduct(actor, makeNewProduct());
  await store.patchProduct(actor, { sku: skuOf(1) }, { stock: 8 }, {});
  await parts.write({}, true, (part) => importNumbers(store, actor, [4, 1, 5], part));
  const stock = await syncWithRecord(store, actor, [{ sku: skuOf(2), set: 0 }]);
  assert.ok(parts.id);
  return { id: parts.id, stock };
}

function testKeyFilter(prepare: PrepareStore): void {
  test('lists and counts the changes of one key in the ledger', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { sellerId } = actor;
    const { id: keyId } = await store.createKey(sellerId, makeSecret(), makeNewKey());
    await store.createProduct(actor, makeNewProduct({ sku: 'A' }));
    await store.createProduct({ sellerId, keyId }, makeNewProduct({ sku: 'B' }));
    await store.patchProduct({ sellerId, keyId }, { sku: 'A' as Sku }, { stock: 77 }, {});
    const range = { after: 0, upTo: 3 };
    for (const [key, more, found] of [
      [keyId, {}, [2, 3]], [keyId, { sku: 'A' as Sku }, [3]], [actor.keyId, {}, [1]],
      [5 as KeyId, {}, []],
    ] as const) {
      const filter = { types: CHANGE_TYPES, keyId: key, ...more };
      const { movements } = await store.listMovements(sellerId, {
        ...range, filter, isDescending: false, limit: 9,
      });
      assert.deepEqual(movements.map(({ position }) => position), found);
      const counted = await store.countMovements(sellerId, { ...range, filter });
      if (counted) assert.equal(counted.count, found.length);
    }
  });
}

function testFilters(prepare: PrepareStore): void {
  test('lists the changes of one import in the feed', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { id, stock } = await prepareMixed(store, actor);
    const list = async (query: Partial<Parameters<Store['listChanges']>[1]>) => {
      const page = await store.listChanges(actor.sellerId, { after: 0, limit: 100, ...query });
      return [page.changes.map(({ position }) => position), page.next];
    };
    assert.deepEqual(await list({ importId: id }), [[1, 2, 3, 6, 7, 8], 9]);
    assert.deepEqual(await list({ importId: id, limit: 4 }), [[1, 2, 3, 6], 6]);
    assert.deepEqual(await list({ importId: id, after: 6 }), [[7, 8], 9]);
    assert.deepEqual(await list({ importId: id, after: 8 }), [[], 9]);
    assert.deepEqual(await list({ importId: id, types: ['stock'] }), [[7], 9]);
    assert.deepEqual(await list({ importId: stock }), [[9], 9]);
    // No record has this id.
    assert.deepEqual(await list({ importId: 5 as ImportId }), [[], 9]);
    await assert.rejects(list({ importId: id, after: 10 }), { code: 'invalid_query' });
  });

  test('lists the movements of one import in the ledger', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { id, stock } = await prepareMixed(store, actor);
    const list = async (importId: ImportId, filter = {}, isDescending = false) => {
      const page = await store.listMovements(actor.sellerId, {
        filter: { ...filter, importId }, after: 0, upTo: Infinity, isDescending, limit: 100,
      });
      assert.equal(page.next, undefined);
      return page.movements.map(({ position }) => position);
    };
    assert.deepEqual(await list(id), [1, 2, 3, 6, 7, 8]);
    assert.deepEqual(await list(id, {}, true), [8, 7, 6, 3, 2, 1]);
    assert.deepEqual(await list(id, { sku: skuOf(1) }), [1, 7]);
    assert.deepEqual(await list(id, { sku: skuOf(2) }, true), [2]);
    assert.deepEqual(await list(stock, { types: CHANGE_TYPES }), [9]);
    assert.deepEqual(await list(5 as ImportId), []); // no record has this id
  });
}

const NEWEST = {
  after: 0, upTo: Infinity, isDescending: true, isContinued: false, limit: 10,
} as const;

function testCollapsed(prepare: PrepareStore): void {
  test('lists each import as one entry, in pages', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct({ sku: skuOf(1) }));
    await importParts(store, actor, [[10, 11, 12], [13, 14]]); // 2..6
    await store.createProduct(actor, makeNewProduct({ sku: skuOf(2) })); // 7
    const parts = makeImportParts(FILE);
    await parts.write({}, false, (part) => importNumbers(store, actor, [20, 21], part));
    await store.patchProduct(actor, { sku: skuOf(1) }, { stock: 8 }, {}); // 10
    await parts.write({}, true, (part) => importNumbers(store, actor, [22], part));
    await importParts(store, actor, [[30, 31]]); // 12, 13
    const list = async (upTo: number, limit: number, others = {}) => {
      const page = await store.listCollapsedChanges(actor.sellerId, {
        ...NEWEST, upTo, limit, ...others,
      });
      return [page.movements.map(({ position }) => position), page.next];
    };
    assert.deepEqual(await list(Infinity, 100), [[13, 11, 10, 7, 6, 1], undefined]);
    assert.deepEqual(await list(Infinity, 1), [[13], 11]);
    assert.deepEqual(await list(11, 2), [[11, 10], 9]);
    // The page begins within an import, with its change there.
    assert.deepEqual(await list(9, 2), [[9, 7], 6]);
    assert.deepEqual(await list(6, 1), [[6], 1]);
    assert.deepEqual(await list(4, 2), [[4, 1], undefined]);
    assert.deepEqual(await list(1, 1), [[1], undefined]);
    // A continued page has shown that import.
    assert.deepEqual(await list(9, 2, { isContinued: true }), [[7, 6], 1]);
    const oldest = { isDescending: false };
    assert.deepEqual(await list(Infinity, 100, oldest), [[1, 6, 7, 10, 11, 13], undefined]);
    assert.deepEqual(await list(Infinity, 2, { ...oldest, after: 1 }), [[6, 7], 7]);
    assert.deepEqual(await list(Infinity, 2, { ...oldest, after: 3 }), [[6, 7], 7]);
    assert.deepEqual(await list(12, 2, { ...oldest, after: 7 }), [[10, 11], undefined]);
    assert.deepEqual(await list(Infinity, 2, { ...oldest, after: 13 }), [[], undefined]);
  });

  test('skips the changes of an import, and shows one that is still running', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct());
    const parts = makeImportParts(FILE);
    for (const start of [0, 5_000, 10_000]) {
      const numbers = countTo(5_000).map((n) => start + n);
      await parts.write({}, false, (part) => importNumbers(store, actor, numbers, part));
    }
    const page = await store.listCollapsedChanges(actor.sellerId, NEWEST);
    assert.deepEqual(page.movements.map(({ position }) => position), [15_001, 1]);
    assert.equal(page.next, undefined);
    clock.now += 10 * DAY_MS;
    await store.createProduct(actor, makeNewProduct());
    await store.pruneHistory(clock.now - DAY_MS);
    const rest = await store.listCollapsedChanges(actor.sellerId, NEWEST);
    assert.deepEqual(rest.movements.map(({ position }) => position), [15_002]);
    assert.deepEqual([rest.next, rest.prunedTo], [undefined, 15_001]);
  });
}

function testPruning(prepare: PrepareStore): void {
  test('removes records with the history, except the newest one', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    const first = await importParts(store, actor, [[1]]);
    const empty = await importParts(store, actor, [[]]);
    clock.now += 10 * DAY_MS;
    const late = await importParts(store, actor, [[2, 3]]);
    const ids = async () =>
      (await store.listImports(actor.sellerId, ALL)).map(({ id }) => id);
    await store.pruneHistory(clock.now - DAY_MS);
    assert.deepEqual(await ids(), [late]);
    assert.equal(await store.findImport(actor.sellerId, first), undefined);
    assert.equal(await store.findImport(actor.sellerId, empty), undefined);
    const list = (importId: ImportId, after = 0) =>
      store.listChanges(actor.sellerId, { after, limit: 10, importId });
    // All changes of the second import are kept, so nothing is missing.
    assert.deepEqual((await list(late)).changes.map(({ position }) => position), [2, 3]);
    await assert.rejects(list(first), { code: 'history_pruned' });
    assert.deepEqual((await list(first, 1)).changes, []);
    clock.now += 10 * DAY_MS;
    await store.pruneHistory(clock.now - DAY_MS);
    assert.deepEqual(await ids(), [late]);
    const next = await importParts(store, actor, [[4]]);
    assert.ok(next > late);
    await store.createProduct(actor, makeNewProduct());
    clock.now += 10 * DAY_MS;
    await store.createProduct(actor, makeNewProduct());
    await store.pruneHistory(clock.now - DAY_MS);
    assert.deepEqual(await ids(), [next]);
  });
}
