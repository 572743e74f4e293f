/** The contract of a store: the optional fields of products, archived products and low stock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { ProductFilter } from '../../../src/domain/catalogue/product-query.ts';
import { formatProduct, parseProductPatch, parseProductRow } from
  '../../../src/domain/catalogue/product.ts';
import type { ProductId, SellerId } from '../../../src/domain/id.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, makeActor, makeNewProduct, type PrepareStore } from './fixture.ts';
import { makeSync } from './stock.ts';

const EUR = { code: 'EUR', decimals: 2 };
const MUG = 'MUG' as Sku; // a legal one
const VALUES = {
  barcode: '4006381333931', description: 'Line 1\nLine 2', metadata: { erp: '1', shop: '2' },
  low_stock: 3, archived: true,
};

export function testOptionalFields(prepare: PrepareStore): void {
  testValues(prepare);
  testImports(prepare);
  testLists(prepare);
  testLowStock(prepare);
}

async function readJson(store: Store, sellerId: SellerId, sku = MUG) {
  const product = await store.findProduct(sellerId, { sku });
  // The cast: it is a product as JSON.
  return product && JSON.parse(formatProduct(product)) as Record<string, unknown>;
}

const patchOf = (body: object) => parseProductPatch(body, EUR);

function testValues(prepare: PrepareStore): void {
  test('stores the optional members of a product, and deletes removed ones', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { sellerId } = actor;
    const { json } = await store.createProduct(actor, makeNewProduct({ sku: MUG, ...VALUES }));
    assert.deepEqual(await readJson(store, sellerId), JSON.parse(json));
    assert.partialDeepStrictEqual(await readJson(store, sellerId), VALUES);
    const patch = patchOf({ metadata: { erp: null, till: '3' }, archived: false, barcode: null });
    await store.patchProduct(actor, { sku: MUG }, patch, {});
    const { metadata, archived, barcode, description } = await readJson(store, sellerId) ?? {};
    assert.deepEqual([metadata, archived, barcode, description],
      [{ shop: '2', till: '3' }, undefined, undefined, VALUES.description]);
    const same = await store.patchProduct(actor, { sku: MUG }, patch, {});
    assert.equal(same.effect, 'unchanged');
    const put = await store.putProduct(actor, makeNewProduct({ sku: MUG }), {});
    assert.deepEqual(Object.keys(JSON.parse(put.json) as object).slice(10), []);
  });

  test('records their changes, and reverts them', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { sellerId } = actor;
    await store.createProduct(actor, makeNewProduct({ sku: MUG, stock: 5 }));
    const before = await readJson(store, sellerId);
    await store.patchProduct(actor, { sku: MUG }, patchOf(VALUES), {});
    await store.syncStock(actor, makeSync([{ sku: MUG, adjust: -1 }]), false);
    const { changes } = await store.listChanges(sellerId, { after: 1, limit: 9 });
    assert.deepEqual(changes.map(({ type }) => type), ['updated', 'stock']);
    assert.partialDeepStrictEqual(JSON.parse(changes[0]?.product ?? ''), VALUES);
    const selection = { after: 1, upTo: 2 };
    using started = await store.startRevert(actor, { selection, isForced: true, isDryRun: false });
    assert.deepEqual((await started.next()).map(({ status }) => status), ['restored']);
    await started.finish();
    assert.deepEqual({ ...await readJson(store, sellerId), position: 0, updated_at: 0 },
      { ...before, stock: 4, position: 0, updated_at: 0 });
    const past = await store.findProductAt(sellerId, { sku: MUG }, 2);
    assert.partialDeepStrictEqual(JSON.parse(past ? formatProduct(past) : '{}'), VALUES);
  });
}

function testImports(prepare: PrepareStore): void {
  test('merges metadata of imported rows, and rejects a row with too many pairs', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct({ sku: MUG, ...VALUES }));
    const rows = [
      { sku: MUG, metadata: { shop: null, till: '3' } }, { sku: MUG, archived: false },
      { sku: MUG, metadata: Object.fromEntries(countTo(19).map((n) => [`n${n}`, 'x'])) },
    ].map((row) => parseProductRow(row, EUR));
    const dryRun = store.dryRunImport(actor, 'update');
    assert.deepEqual(await dryRun.try(rows), { effects: ['updated', 'updated', 'overfull'] });
    await dryRun.close();
    const { effects } = await store.importProducts(actor, rows, 'update');
    assert.deepEqual(effects, ['updated', 'updated', 'overfull']);
    const { metadata, archived, barcode } = await readJson(store, actor.sellerId) ?? {};
    assert.deepEqual([metadata, archived, barcode],
      [{ erp: '1', till: '3' }, undefined, VALUES.barcode]);
  });
}

function testLists(prepare: PrepareStore): void {
  test('lists archived products only on request, page by page, and finds barcodes', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { sellerId } = actor;
    const products = countTo(9).map((n) => makeNewProduct({
      sku: `S${n}`, name: 'Same', ...(n % 3 === 0 && { archived: true }),
      ...(n % 2 === 0 && { barcode: VALUES.barcode }),
    }));
    await store.importProducts(actor, products, 'create');
    const readPages = async (archived: ProductFilter['archived']) => {
      const found: string[] = [];
      for (let after: ProductId | undefined; ;) {
        const page = await store.listProducts(sellerId, { after, limit: 2, archived });
        found.push(...page.products.map(({ sku }) => sku));
        after = page.products.at(-1)?.id;
        if (!page.hasMore) return found.join(' ');
      }
    };
    const search = async (filter: ProductFilter) => {
      const found: string[] = [];
      const sort = { by: 'name', isDescending: true } as const;
      for (let after; ;) {
        const page = await store.searchProducts(sellerId, { filter, sort, after, limit: 2 }, 9);
        found.push(...page.products.map(({ sku }) => sku));
        const last = page.products.at(-1);
        after = last && { key: 'same', id: last.id };
        const { count } = await store.countProducts(sellerId, filter, 9) ?? {};
        if (!page.hasMore) return [found.join(' '), count];
      }
    };
    assert.equal(await readPages(undefined), 'S1 S2 S4 S5 S7 S8');
    assert.equal(await readPages(true), 'S3 S6 S9');
    assert.equal(await readPages('any'), 'S1 S2 S3 S4 S5 S6 S7 S8 S9');
    assert.deepEqual(await search({}), ['S8 S7 S5 S4 S2 S1', 6]);
    assert.deepEqual(await search({ archived: true }), ['S9 S6 S3', 3]);
    assert.deepEqual(await search({ archived: 'any' }), ['S9 S8 S7 S6 S5 S4 S3 S2 S1', 9]);
    const { barcode } = VALUES;
    assert.deepEqual(await search({ barcode }), ['S8 S4 S2', 3]);
    assert.deepEqual(await search({ barcode, archived: 'any' }), ['S8 S6 S4 S2', 4]);
    assert.deepEqual((await search({ q: '63813339' }))[0], 'S8 S4 S2');
    const totals = await store.readTotals(sellerId, 9);
    assert.deepEqual([totals.products, totals.units], [6, 42n]);
    assert.equal((await store.readTotals(sellerId, 9, 'any')).units, 63n);
    await store.patchProduct(actor, { sku: 'S3' as Sku }, { archived: null }, {});
    await store.patchProduct(actor, { sku: 'S1' as Sku }, { archived: true }, {});
    assert.equal(await readPages(true), 'S1 S6 S9');
    assert.equal((await store.readTotals(sellerId, 11)).products, 6);
  });

  test('changes the stock of an archived product, and keeps its SKU taken', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct({ sku: MUG, stock: 5, archived: true }));
    await store.syncStock(actor, makeSync([{ sku: MUG, set: 9 }]), false);
    assert.equal((await readJson(store, actor.sellerId))?.['stock'], 9);
    await assert.rejects(store.createProduct(actor, makeNewProduct({ sku: MUG })),
      { code: 'sku_taken' });
  });
}

function testLowStock(prepare: PrepareStore): void {
  test('finds low stock by the threshold of the product, or else of the shop', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { sellerId } = actor;
    const products = ([
      ['A', 5, undefined], ['B', 6, undefined], ['C', 6, 6], ['D', 5, 4], ['E', 0, 0],
      ['F', 90, 99], ['G', 1, undefined],
    ] as const).map(([sku, stock, low]) => makeNewProduct({
      sku, stock, low_stock: low ?? null, archived: sku === 'G',
    }));
    await store.importProducts(actor, products, 'create');
    for (const isDescending of [false, true]) {
      const { products: low } = await store.searchProducts(sellerId, {
        filter: { lowStock: 5 }, sort: { by: 'stock', isDescending }, after: undefined, limit: 9,
      }, 7);
      const skus = low.map(({ sku }) => sku);
      assert.deepEqual(isDescending ? skus.reverse() : skus, ['E', 'A', 'C', 'F']);
    }
    assert.equal(await store.countLowStock(sellerId, { stockMax: 5, limit: 9 }, 7), 4);
    assert.equal(await store.countLowStock(sellerId, { stockMax: 5, limit: 2 }, 7), 2);
    assert.equal((await store.countProducts(sellerId, { lowStock: 5 }, 7))?.count, 4);
    await store.syncStock(actor, makeSync([{ sku: 'D' as Sku, set: 4 }]), false);
    assert.equal(await store.countLowStock(sellerId, { stockMax: 5, limit: 9 }, 8), 5);
  });
}
