/** The contract of a store: metadata as a filter, and lookups of many products. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseProductPatch } from '../../../src/domain/catalogue/product.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { ProductFilter, ProductSort } from '../../../src/domain/catalogue/product-query.ts';
import type { ProductId } from '../../../src/domain/id.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, makeActor, makeNewProduct, type PrepareStore, readAll } from './fixture.ts';

const EUR = { code: 'EUR', decimals: 2 };
/** Of the products S1 to S6, the fourth of which is archived. */
const METADATA: readonly Record<string, string>[] = [
  { erp: '1' }, { erp: '1', shop: 'a' }, { erp: '2', shop: 'a' }, { erp: '1' },
  { 'é"{}\\\'%': '1" OR "', erp: '1 ' }, { ERP: '1', __proto__2: '$.erp' },
];

async function prepareShop(open: ReturnType<PrepareStore>) {
  const store = await open(makeClock());
  const actor = await makeActor(store);
  await store.importProducts(actor, METADATA.map((metadata, n) => makeNewProduct({
    sku: `S${n + 1}`, metadata, archived: n === 3, barcode: n < 2 ? '96385074' : null, price: 9 - n,
  })), 'create');
  return { store, actor };
}

async function find(
  store: Store, { sellerId }: Actor, filter: ProductFilter, position: number,
  sort: ProductSort = { by: 'id', isDescending: false },
): Promise<string> {
  const search = { filter, sort, after: undefined, limit: 9 };
  const { products } = await store.searchProducts(sellerId, search, position);
  return products.map(({ sku }) => sku).join(' ');
}

export function testLookups(prepare: PrepareStore): void {
  testMetadata(prepare);
  testBulk(prepare);
}

function testMetadata(prepare: PrepareStore): void {
  test('finds products by pairs of their metadata, exactly', async (t) => {
    const { store, actor } = await prepareShop(prepare(t));
    const expected: readonly [ProductFilter, string][] = [
      [{ metadata: { erp: '1' } }, 'S1 S2'], [{ metadata: { erp: '1', shop: 'a' } }, 'S2'],
      [{ metadata: { shop: 'a' } }, 'S2 S3'], [{ metadata: { erp: '1' }, archived: true }, 'S4'],
      [{ metadata: { erp: '1' }, archived: 'any' }, 'S1 S2 S4'],
      [{ metadata: { ERP: '1' } }, 'S6'], [{ metadata: { erp: '1 ' } }, 'S5'],
      [{ metadata: { 'é"{}\\\'%': '1" OR "' } }, 'S5'], [{ metadata: { shop: '1' } }, ''],
      [{ metadata: { __proto__2: '$.erp' } }, 'S6'],
      [{ metadata: { shop: 'a' }, priceMax: 700 }, 'S3'],
      [{ metadata: { erp: '1' }, q: 's2' }, 'S2'],
    ];
    for (const [filter, skus] of expected) {
      assert.equal(await find(store, actor, filter, 6), skus, JSON.stringify(filter));
      const { count } = await store.countProducts(actor.sellerId, filter, 6) ?? {};
      assert.equal(count, skus.split(' ').filter((sku) => sku).length, JSON.stringify(filter));
    }
    const byPrice = { by: 'price', isDescending: false } as const;
    assert.equal(await find(store, actor, { metadata: { erp: '1' } }, 6, byPrice), 'S2 S1');
    const otherActor = await makeActor(store);
    assert.equal(await find(store, otherActor, { metadata: { erp: '1' } }, 0), '');
  });

  test('follows changes of metadata, deletions and pages', async (t) => {
    const { store, actor } = await prepareShop(prepare(t));
    const { sellerId } = actor;
    const patch = parseProductPatch({ metadata: { erp: '2', till: '7' } }, EUR);
    await store.patchProduct(actor, { sku: 'S1' as Sku }, patch, {});
    await store.deleteProduct(actor, { sku: 'S3' as Sku }, {});
    assert.equal(await find(store, actor, { metadata: { erp: '1' } }, 8), 'S2');
    assert.equal(await find(store, actor, { metadata: { erp: '2' } }, 8), 'S1');
    assert.equal(await find(store, actor, { metadata: { shop: 'a' } }, 8), 'S2');
    const found: string[] = [];
    const sort = { by: 'sku', isDescending: true } as const;
    const filter = { metadata: { erp: '1' }, archived: 'any' } as const;
    for (let after; ;) {
      const page = await store.searchProducts(sellerId, { filter, sort, after, limit: 1 }, 8);
      const last = page.products.at(-1);
      found.push(last?.sku ?? '');
      after = last && { key: last.sku, id: last.id };
      if (!page.hasMore) break;
    }
    assert.deepEqual(found, ['S4', 'S2']);
    await store.patchProduct(actor, { sku: 'S2' as Sku }, { metadata: null }, {});
    assert.equal(await find(store, actor, { metadata: { erp: '1' } }, 9), '');
  });
}

function testBulk(prepare: PrepareStore): void {
  test('looks up products by id, SKU, barcode and metadata at one position', async (t) => {
    const { store, actor } = await prepareShop(prepare(t));
    const { sellerId } = actor;
    const [first] = await readAll(store, sellerId);
    const filters: readonly ProductFilter[] = [
      { sku: 'S2' as Sku }, { id: first?.id ?? 0 as ProductId }, { barcode: '00000096385074' },
      { metadata: { erp: '1' } }, { sku: 'none' as Sku }, { sku: 'S2' as Sku },
      { id: 1 as ProductId },
      { metadata: { erp: '2', shop: 'a' } }, { sku: 'S4' as Sku },
    ];
    const { results, position } = await store.lookUpProducts(sellerId, filters, 6);
    assert.deepEqual(results.map((products) => products.map(({ sku }) => sku).join(' ')),
      ['S2', 'S1', 'S1 S2', 'S1 S2 S4', '', 'S2', '', 'S3', 'S4']);
    assert.equal(position, 6);
    assert.deepEqual(results[1]?.[0], first);
    const otherActor = await makeActor(store);
    const others = await store.lookUpProducts(otherActor.sellerId, filters, 0);
    assert.deepEqual(others, { results: filters.map(() => []), position: 0 });
  });

  test('looks up one product more than a query may find', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    await store.importProducts(actor, countTo(102).map((n) =>
      makeNewProduct({ sku: `S${n}`, barcode: '96385074' })), 'create');
    const filters = [{ barcode: '96385074' }, { sku: 'S7' as Sku }];
    const { results } = await store.lookUpProducts(actor.sellerId, filters, 102);
    assert.deepEqual(results.map(({ length }) => length), [101, 1]);
    const many = await store.lookUpProducts(actor.sellerId, Array(25).fill(filters[0]), 102);
    assert.ok(many.results.flat().length > 2_000);
  });
}
