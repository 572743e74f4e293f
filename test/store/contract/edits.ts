/** The contract of a store: bulk edits of products. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomUUID } from 'node:crypto';
import type { Product } from '../../../src/domain/catalogue/product-fields.ts';
import type { ProductId } from '../../../src/domain/id.ts';
import type { ProductEdit } from '../../../src/store/catalogue-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor, ImportPart } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import { makeActor, makeNewProduct, type PrepareStore, readAll } from './fixture.ts';
import { A, B, revert, sell } from './revert-fixture.ts';

const ALL = { before: undefined, limit: 9 };

export function testEdits(prepare: PrepareStore): void {
  testEffects(prepare);
  testRecords(prepare);
  testIsolation(prepare);
}

/** A bulk edit of a single part. */
function partOf(mode: string, isLast = true): ImportPart {
  return { id: undefined, record: { kind: 'bulk', mode }, counts: {}, isLast };
}

/** Products with the SKUs A and B, 5 in stock each, at a price of 20.00. */
async function makeTwo(store: Store, actor: Actor): Promise<readonly [Product, Product]> {
  for (const sku of [A, B]) await store.createProduct(actor, makeNewProduct({ sku, stock: 5 }));
  const [one, other] = await readAll(store, actor.sellerId);
  assert.ok(one && other);
  return [one, other];
}

const remove = ({ id, position }: Product): ProductEdit =>
  ({ id, expected: { position }, patch: undefined });

function testEffects(prepare: PrepareStore): void {
  test('edits products that have the expected values, and leaves the others alone', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const [{ id: a }, { id: b }] = await makeTwo(store, actor);
    await sell(store, actor, A, 1);
    const { effects, position } = await store.editProducts(actor, [
      { id: a, expected: { stock: 5 }, patch: { stock: 8 } },
      { id: a, expected: { priceMinor: 2000 }, patch: { priceMinor: 2500 } },
      { id: b, expected: { stock: 5 }, patch: { stock: 9 } },
      { id: b, expected: { stock: 9, priceMinor: 2000 }, patch: { stock: 7, priceMinor: 1 } },
      { id: b, expected: { stock: 5 }, patch: { stock: 7 } },
      { id: 7 as ProductId, expected: {}, patch: { stock: 7 } },
    ], 'counted');
    assert.deepEqual(effects,
      ['conflict', 'updated', 'updated', 'updated', 'unchanged', 'not_found']);
    assert.equal(position, 6);
    const products = await readAll(store, actor.sellerId);
    assert.deepEqual(products.map(({ stock, priceMinor }) => [stock, priceMinor]),
      [[4, 2500], [7, 1]]);
    const { changes } = await store.listChanges(actor.sellerId, { after: 3, limit: 9 });
    assert.deepEqual(changes.map(({ type, movement: { before, after, reason } }) =>
      [type, before, after, reason]), [
      ['updated', 4, 4, undefined], ['stock', 5, 9, 'counted'], ['updated', 9, 7, 'counted'],
    ]);
  });

  test('deletes products at the expected position only', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const [one, other] = await makeTwo(store, actor);
    await sell(store, actor, B, 1);
    const edits = [one, other].map(remove);
    assert.deepEqual((await store.editProducts(actor, edits, undefined)).effects,
      ['deleted', 'conflict']);
    assert.deepEqual((await store.editProducts(actor, edits, undefined)).effects,
      ['not_found', 'conflict']);
    assert.deepEqual((await readAll(store, actor.sellerId)).map(({ sku }) => sku), [B]);
  });
}

function testRecords(prepare: PrepareStore): void {
  test('records a bulk edit in parts, which one revert undoes', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const [one, other] = await makeTwo(store, actor);
    const first = await store.editProducts(
      { ...actor, import: partOf('delete', false) }, [remove(one)], undefined,
    );
    const { importId } = first;
    assert.ok(importId);
    assert.equal((await store.findImport(actor.sellerId, importId))?.finishedAt, undefined);
    const part = { ...partOf('delete'), id: importId };
    await store.editProducts(
      { ...actor, import: part }, [remove(one), remove(other)], undefined,
    );
    const record = await store.findImport(actor.sellerId, importId);
    assert.deepEqual(record?.counts, { updated: 0, deleted: 2, unchanged: 0, conflicts: 1 });
    assert.deepEqual([record?.kind, record?.mode, record?.firstPosition, record?.lastPosition],
      ['bulk', 'delete', 3, 4]);
    assert.ok(record?.finishedAt !== undefined);
    assert.deepEqual(await readAll(store, actor.sellerId), []);
    const { statuses } = await revert(store, actor, { importId });
    assert.deepEqual(statuses, ['A recreated', 'B recreated']);
    const restored = await readAll(store, actor.sellerId);
    assert.deepEqual(restored.map(({ id, sku, stock }) => [id, sku, stock]),
      [[one.id, A, 5], [other.id, B, 5]]);
  });

  test('has no record of a bulk edit that changes nothing', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const [{ id }] = await makeTwo(store, actor);
    const edits = [{ id, expected: {}, patch: { category: 'Kitchen' } }];
    const write = { ...actor, import: partOf('category') };
    const { effects, importId } = await store.editProducts(write, edits, undefined);
    assert.deepEqual([effects, importId], [['unchanged'], undefined]);
    assert.deepEqual(await store.listImports(actor.sellerId, ALL), []);
  });

  test('takes effect once under an idempotency key', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const [{ id }] = await makeTwo(store, actor);
    const idempotency = { key: randomUUID(), part: 0 };
    const run = (category: string) => store.editProducts(
      { ...actor, idempotency, import: partOf('category') },
      [{ id, expected: {}, patch: { category } }], undefined,
    );
    const first = await run('Cups');
    assert.deepEqual(await run('Cups'), { ...first, isReplay: true });
    await assert.rejects(run('Mugs'), { code: 'idempotency_mismatch' });
    assert.equal((await store.listImports(actor.sellerId, ALL)).length, 1);
  });
}

function testIsolation(prepare: PrepareStore): void {
  test('does not find the products of another seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const [actor, other] = [await makeActor(store), await makeActor(store)];
    const [theirs] = await makeTwo(store, other);
    const edits: ProductEdit[] = [
      { id: theirs.id, expected: {}, patch: { stock: 0 } },
      { id: theirs.id, expected: {}, patch: undefined },
    ];
    assert.deepEqual((await store.editProducts(actor, edits, undefined)).effects,
      ['not_found', 'not_found']);
    assert.deepEqual((await readAll(store, other.sellerId))[0], theirs);
  });
}
