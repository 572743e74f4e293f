/** The contract of a store: imports and their dry runs. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { formatProductId } from '../../../src/domain/id.ts';
import type { ProductRow } from '../../../src/domain/catalogue/product.ts';
import type { NewProduct, Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { ImportMode } from '../../../src/store/catalogue-store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeRandom } from '../../domain/random.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, makeActor, makeNewProduct, plain, type PrepareStore, readAll,
} from './fixture.ts';

export function testImports(prepare: PrepareStore): void {
  for (const mode of ['upsert', 'update', 'create'] as const) testEffects(prepare, mode);
  testPartialRows(prepare);
  testIds(prepare);

  test("counts a product's second row as an update", async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const first = makeNewProduct({ sku: 'A', stock: 1 });
    const second = { ...first, stock: 2 };
    const { effects, position } = await store.importProducts(
      actor, [first, first, second, first], 'upsert',
    );
    assert.deepEqual(effects, ['created', 'unchanged', 'updated', 'updated']);
    assert.equal(position, 3);
    assert.deepEqual((await readAll(store, actor.sellerId)).map(({ stock }) => stock), [1]);
  });

  test('is a no-op for existing values', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const products = countTo(1_000).map(() => makeNewProduct());
    assert.equal((await store.importProducts(actor, products, 'upsert')).position, 1_000);
    const before = await readAll(store, actor.sellerId);
    const again = await store.importProducts(actor, products, 'upsert');
    assert.deepEqual(new Set(again.effects), new Set(['unchanged']));
    assert.equal(again.position, 1_000);
    assert.deepEqual(await readAll(store, actor.sellerId), before);
  });

  test('replays each part of an import under its number', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const run = (part: number, product: NewProduct) => store.importProducts(
      { ...actor, idempotency: { key: 'k', part } }, [product], 'upsert',
    );
    const [one, two] = [makeNewProduct(), makeNewProduct()];
    const first = await run(0, one);
    assert.deepEqual(await run(0, one), plain({ ...first, isReplay: true }));
    assert.deepEqual((await run(1, two)).effects, ['created']);
    await assert.rejects(run(1, one), { code: 'idempotency_mismatch' });
    assert.equal((await readAll(store, actor.sellerId)).length, 2);
  });
}

/** Rows that leave members out, with and without defaults. */
function testPartialRows(prepare: PrepareStore): void {
  test('keeps the members of an existing product that a row leaves out', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const kept = makeNewProduct({ sku: 'A', stock: 1 });
    await store.createProduct(actor, kept);
    const defaults = { name: 'Default', category: 'Default', priceMinor: 1 };
    const rows: ProductRow[] = [
      { sku: kept.sku, stock: 5, defaults: { ...defaults, stock: 0 } }, { sku: kept.sku, defaults },
      { sku: kept.sku },
    ];
    const { effects } = await store.importProducts(actor, rows, 'upsert');
    assert.deepEqual(effects, ['updated', 'unchanged', 'unchanged']);
    const found = await store.findProduct(actor.sellerId, { sku: kept.sku });
    const { name, category, sku, priceMinor, stock } = found ?? assert.fail();
    assert.deepEqual({ name, category, sku, priceMinor, stock }, { ...kept, stock: 5 });
    assert.equal(found?.position, 2);
  });

  test('completes only new products with defaults, and rejects the others', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { sku, stock, ...rest } = makeNewProduct({ sku: 'A', stock: 3 });
    const [other, third] = ['B', 'C'] as Sku[];
    const rows: ProductRow[] = [
      { sku: other ?? sku, stock }, { sku, stock, defaults: rest },
      { sku, stock: 9, defaults: { name: 'Not this one' } },
      { sku: third ?? sku, ...rest, defaults: { stock: 7, name: 'Nor this' } },
    ];
    for (const mode of ['update', 'upsert', 'create'] as const) {
      const dryRun = store.dryRunImport(actor, mode);
      const { effects: predicted } = await dryRun.try(rows);
      await dryRun.close();
      const { effects } = await store.importProducts(actor, rows, mode);
      assert.deepEqual(effects, {
        update: ['not_found', 'not_found', 'not_found', 'not_found'],
        upsert: ['incomplete', 'created', 'updated', 'created'],
        create: ['incomplete', 'taken', 'taken', 'taken'],
      }[mode]);
      assert.deepEqual(predicted, effects);
    }
    const found = await readAll(store, actor.sellerId);
    assert.deepEqual(found.map((one) => [one.sku, one.name, one.category, one.stock]),
      [['A', rest.name, rest.category, 9], ['C', rest.name, rest.category, 7]]);
  });
}

/** Rows with ids. */
function testIds(prepare: PrepareStore): void {
  for (const mode of ['upsert', 'update', 'create'] as const) {
    test(`rejects rows whose id is that of another product (${mode})`, async (t) => {
      const store = await prepare(t)(makeClock());
      const [actor, other] = [await makeActor(store), await makeActor(store)];
      const [one, two, gone] = ['0123', '123', 'GONE'].map((sku) => makeNewProduct({ sku }));
      const [foreign] = [makeNewProduct({ sku: '123' })];
      assert.ok(one && two && gone && foreign);
      const create = async (owner: Actor, product: NewProduct): Promise<string> =>
        formatProductId(owner.sellerId, (await store.createProduct(owner, product)).id);
      const [idOfOne, idOfTwo, idOfGone] =
        [await create(actor, one), await create(actor, two), await create(actor, gone)];
      const idOfForeign = await create(other, foreign);
      await store.deleteProduct(actor, { sku: gone.sku }, {});
      const fresh = (id: string): ProductRow => ({ ...makeNewProduct(), id });
      const rows: ProductRow[] = [
        { ...two, stock: 99, id: idOfOne }, { ...one, id: idOfOne }, fresh(idOfTwo),
        { ...two, stock: 8, id: idOfForeign }, fresh(idOfGone), { ...one, id: '17' },
        { ...gone, id: idOfGone },
      ];
      const dryRun = store.dryRunImport(actor, mode);
      const predicted = await dryRun.try(rows);
      await dryRun.close();
      const before = await readAll(store, actor.sellerId);
      const {
        effects, idOwners, unknownIds,
      } = await store.importProducts(actor, rows, mode);
      assert.deepEqual({ effects, idOwners, unknownIds }, predicted);
      const [changed, known, created] = {
        upsert: ['updated', 'unchanged', 'created'], update: ['updated', 'unchanged', 'not_found'],
        create: ['taken', 'taken', 'created'],
      }[mode];
      assert.deepEqual(effects, ['mismatch', known, 'mismatch', changed, created, known, created]);
      assert.deepEqual([idOwners, unknownIds], [['0123', '123'], 4]);
      const kept = (await readAll(store, actor.sellerId)).slice(0, 2);
      assert.deepEqual(kept.map(({ stock }) => stock), mode === 'create' ? [7, 7] : [7, 8]);
      assert.deepEqual(kept[0], before[0]);
    });
  }

  testRowConditions(prepare);
}

function testRowConditions(prepare: PrepareStore): void {
  test('replays the owners of ids, and rejects other ids under the same key', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { id } = await store.createProduct(actor, makeNewProduct({ sku: 'A' }));
    const row = { ...makeNewProduct(), id: formatProductId(actor.sellerId, id) };
    const write = { ...actor, idempotency: { key: 'k', part: 0 } };
    const first = await store.importProducts(write, [row], 'upsert');
    assert.deepEqual([first.effects, first.idOwners], [['mismatch'], ['A']]);
    assert.deepEqual(await store.importProducts(write, [row], 'upsert'),
      plain({ ...first, isReplay: true }));
    await assert.rejects(store.importProducts(write, [{ ...row, id: 'x' }], 'upsert'),
      { code: 'idempotency_mismatch' });
  });

  test('creates no product from a row that may only change one', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const row = { ...makeNewProduct({ sku: '4.00638E+12' }), createsNone: true };
    const run = async (): Promise<unknown> =>
      (await store.importProducts(actor, [row], 'upsert')).effects;
    assert.deepEqual(await run(), ['not_found']);
    await store.createProduct(actor, makeNewProduct({ sku: '4.00638E+12', stock: 1 }));
    assert.deepEqual(await run(), ['updated']);
  });
}

/** Random imports, each after a dry run that predicts its effects and changes nothing. */
function testEffects(prepare: PrepareStore, mode: ImportMode): void {
  test(`has the effects that a dry run predicted (${mode})`, async (t) => {
    const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 32));
    t.diagnostic(`TEST_SEED=${seed} repeats this`);
    const random = makeRandom(seed);
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    for (const round of countTo(6)) {
      const products = countTo(40).map(() => makeRow(random, 30 * round));
      await store.importProducts(actor, products.slice(0, 10), 'upsert');
      const before = await readAll(store, actor.sellerId);
      const dryRun = store.dryRunImport(actor, mode);
      const predicted = [
        ...(await dryRun.try(products.slice(0, 25))).effects,
        ...(await dryRun.try(products.slice(25))).effects,
      ];
      await dryRun.close();
      assert.deepEqual(await readAll(store, actor.sellerId), before);
      const { effects } = await store.importProducts(actor, products, mode);
      assert.deepEqual(effects, predicted);
      assert.equal(effects.includes('taken'), mode === 'create');
      assert.equal(effects.includes('not_found'), mode === 'update');
    }
  });
}

/** A row of one of the products: complete, or without a name, perhaps with a default name. */
function makeRow(random: ReturnType<typeof makeRandom>, products: number): ProductRow {
  const sku = `S-${random.below(products)}`;
  const { name, ...rest } = makeNewProduct({ sku, stock: random.below(2), name: 'Same' });
  const kind = random.below(4);
  if (kind === 0) return rest;
  return kind === 1 ? { ...rest, defaults: { name: 'Default' } } : { name, ...rest };
}
