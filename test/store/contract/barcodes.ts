/** The contract of a store: products that are found by their barcodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseProductRow } from '../../../src/domain/catalogue/product.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { StockChange } from '../../../src/domain/catalogue/stock-change.ts';
import type { StockSync } from '../../../src/domain/catalogue/stock-sync.ts';
import type { EvaluatedRows } from '../../../src/store/catalogue-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import { makeActor, makeNewProduct, type PrepareStore, readAll } from './fixture.ts';
import { makeSync } from './stock.ts';

/** The same item as UPC-A, EAN-13 and GTIN-14; and a case of it. */
const [UPC, EAN, GTIN, CASE] = [
  '012345678905', '0012345678905', '00012345678905', '10012345678902',
] as const;

export function testBarcodes(prepare: PrepareStore): void {
  testFilter(prepare);
  testStock(prepare);
  testSequences(prepare);
  testStocktakes(prepare);
  testImports(prepare);
}

function testFilter(prepare: PrepareStore): void {
  test('finds a barcode with any number of leading zeros, and not that of a case', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const barcodes = [UPC, EAN, GTIN, CASE, '96385074', null];
    const products = barcodes.map((barcode, n) => makeNewProduct({ sku: `S${n}`, barcode }));
    await store.importProducts(actor, products, 'create');
    const find = async (filter: { barcode: string } | { q: string }): Promise<string> => {
      const query = { filter, sort: { by: 'id', isDescending: false }, after: undefined } as const;
      const page = await store.searchProducts(actor.sellerId, { ...query, limit: 9 }, 6);
      return page.products.map(({ sku, barcode }) => `${sku} ${barcode}`).join(', ');
    };
    const item = `S0 ${UPC}, S1 ${EAN}, S2 ${GTIN}`;
    for (const barcode of [UPC, EAN, GTIN]) {
      assert.equal(await find({ barcode }), item);
      assert.equal(await find({ q: barcode }), item);
    }
    assert.equal(await find({ barcode: CASE }), `S3 ${CASE}`);
    assert.equal(await find({ q: CASE }), `S3 ${CASE}`);
    assert.equal(await find({ barcode: '00000096385074' }), 'S4 96385074');
    assert.equal(await find({ q: '00000096385074' }), 'S4 96385074');
    assert.equal(await find({ barcode: '4006381333931' }), '');
    const otherActor = await makeActor(store);
    const { products: none } = await store.searchProducts(otherActor.sellerId, {
      filter: { barcode: UPC }, sort: { by: 'id', isDescending: false }, after: undefined, limit: 9,
    }, 0);
    assert.deepEqual(none, []);
  });
}

/** Products with 5 in stock: A and B, archived, share a barcode; C and D have one each. */
async function prepareFour(open: ReturnType<PrepareStore>) {
  const store = await open(makeClock());
  const actor = await makeActor(store);
  await store.importProducts(actor, [
    { sku: 'A', barcode: UPC }, { sku: 'B', barcode: GTIN, archived: true },
    { sku: 'C', barcode: CASE }, { sku: 'D', barcode: '96385074' },
  ].map((members) => makeNewProduct({ ...members, stock: 5 })), 'create');
  return { store, actor };
}

/** Each result as `status SKU stock`. */
async function sync(
  store: Store, actor: Actor, changes: readonly StockChange[], members?: Partial<StockSync>,
) {
  const { results } = await store.syncStock(actor, makeSync(changes, members), false);
  return results.map(({ status, sku, skus, stock }) =>
    [status, sku ?? skus?.join('+'), stock].filter((part) => part !== undefined).join(' '));
}

async function stocksOf(store: Store, { sellerId }: Actor): Promise<string> {
  return (await readAll(store, sellerId)).map(({ sku, stock }) => `${sku} ${stock}`).join(', ');
}

function testStock(prepare: PrepareStore): void {
  test('changes the stock of the one product with a barcode, and never guesses', async (t) => {
    const { store, actor } = await prepareFour(prepare(t));
    const changes = [
      { barcode: CASE, set: 8 }, { barcode: EAN, set: 9 }, { barcode: '4006381333931', set: 1 },
      { sku: 'C' as Sku, adjust: 1 }, { barcode: '00000096385074', adjust: -6 },
    ];
    const results = ['ok C 8', 'ambiguous A+B', 'not_found', 'ok C 9', 'insufficient D 5'];
    const dryRun = store.dryRunStock(actor, 4, undefined);
    assert.deepEqual((await dryRun.try(changes)).results.map(({ status }) => status),
      results.map((text) => text.split(' ')[0]));
    await dryRun.close();
    assert.deepEqual(await sync(store, actor, changes), results);
    assert.equal(await stocksOf(store, actor), 'A 5, B 5, C 9, D 5');
    const atomic = await store.syncStock(actor, makeSync([
      { sku: 'C' as Sku, set: 1 }, { barcode: UPC, set: 1 },
    ], { isAtomic: true }), false);
    assert.equal(atomic.rejection, 'failures');
    const otherActor = await makeActor(store);
    assert.deepEqual(await sync(store, otherActor, [{ barcode: CASE, set: 0 }]), ['not_found']);
  });

  test('follows a barcode that moves to another product', async (t) => {
    const { store, actor } = await prepareFour(prepare(t));
    const change = [{ barcode: CASE, adjust: 1 }];
    assert.deepEqual(await sync(store, actor, change), ['ok C 6']);
    await store.patchProduct(actor, { sku: 'C' as Sku }, { barcode: null }, {});
    await store.patchProduct(actor, { sku: 'D' as Sku }, { barcode: CASE }, {});
    assert.deepEqual(await sync(store, actor, change), ['ok D 6']);
    await store.createProduct(actor, makeNewProduct({ sku: 'E', barcode: CASE }));
    assert.deepEqual(await sync(store, actor, change), ['ambiguous D+E']);
  });

  test('replays a sync under its key after the barcode has moved', async (t) => {
    const { store, actor } = await prepareFour(prepare(t));
    const write = { ...actor, idempotency: { key: 'till', part: 1 } };
    const changes = makeSync([{ barcode: CASE, adjust: 1 }, { barcode: UPC, set: 1 }]);
    const first = await store.syncStock(write, changes, false);
    await store.patchProduct(actor, { sku: 'C' as Sku }, { barcode: null }, {});
    await store.patchProduct(actor, { sku: 'D' as Sku }, { barcode: CASE }, {});
    const retried = await store.syncStock(write, changes, false);
    assert.deepEqual([retried.results, retried.isReplay], [first.results, true]);
    assert.equal(await stocksOf(store, actor), 'A 5, B 5, C 6, D 5');
    const padded = makeSync([{ barcode: CASE, adjust: 1 }, { barcode: EAN, set: 1 }]);
    await assert.rejects(store.syncStock(write, padded, false), { code: 'idempotency_mismatch' });
  });

}

function testSequences(prepare: PrepareStore): void {
  test('applies sequence numbers to a product that is named by barcode', async (t) => {
    const { store, actor } = await prepareFour(prepare(t));
    const till = { source: 'till' };
    const first = [{ barcode: CASE, set: 3, sequence: 7 }];
    assert.deepEqual(await sync(store, actor, first, till), ['ok C 3']);
    const later = [
      { barcode: CASE, set: 9, sequence: 7 }, { sku: 'C' as Sku, set: 4, sequence: 8 },
      { barcode: CASE, set: 5, sequence: 9 },
    ];
    assert.deepEqual(await sync(store, actor, later, till), ['stale C 3', 'ok C 4', 'ok C 5']);
  });

  test('names the first of many products with one barcode', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const products = Array.from({ length: 9 }, (_, n) =>
      makeNewProduct({ sku: `S${n}`, barcode: UPC }));
    await store.importProducts(actor, products, 'create');
    const owners = await store.listBarcodeOwners(actor.sellerId, [Number(UPC), 5]);
    assert.deepEqual(owners.map(({ sku }) => sku), ['S0', 'S1', 'S2', 'S3', 'S4', 'S5']);
    assert.deepEqual(await sync(store, actor, [{ barcode: UPC, set: 1 }]),
      ['ambiguous S0+S1+S2+S3+S4+S5']);
  });
}

function testStocktakes(prepare: PrepareStore): void {
  test('zeroes nothing if a barcode of a stocktake is not that of one product', async (t) => {
    const { store, actor } = await prepareFour(prepare(t));
    const completion = { zeroLimitPercent: 100 };
    for (const barcode of [UPC, '4006381333931']) {
      await assert.rejects(
        sync(store, actor, [{ sku: 'C' as Sku, set: 1 }, { barcode, set: 1 }], { completion }),
        { code: 'sync_refused', publicDetail: new RegExp(`"${barcode}" does not identify`) },
      );
    }
    assert.equal(await stocksOf(store, actor), 'A 5, B 5, C 5, D 5');
    const named = [
      { sku: 'A' as Sku, set: 1 }, { sku: 'B' as Sku, set: 1 }, { barcode: CASE, set: 2 },
    ];
    assert.deepEqual(await sync(store, actor, named, { completion }),
      ['ok A 1', 'ok B 1', 'ok C 2']);
    assert.equal(await stocksOf(store, actor), 'A 1, B 1, C 2, D 0');
    const unknown = [...named, { barcode: '00000096385074', set: 0 }, { barcode: UPC, set: 1 }];
    assert.deepEqual((await sync(store, actor, unknown, { completion })).at(-1), 'ambiguous A+B');
  });
}

const EUR = { code: 'EUR', decimals: 2 };
/** Rows, and the effect of each, with the SKUs of the products that its barcode names. */
const IMPORTED: readonly [row: object, effect: string][] = [
  [{ barcode: EAN, price: 1 }, 'ambiguous A+B'],
  [{ barcode: CASE, price: 2 }, 'updated C'],
  [{ barcode: CASE, price: 2 }, 'unchanged C'],
  [{ barcode: '4006381333931', price: 3 }, 'not_found'],
  [{ sku: 'B', barcode: '4006381333931' }, 'updated'],
  [{ barcode: '4006381333931', price: 4 }, 'updated B'],
  [{ barcode: EAN, name: 'Item' }, 'updated A'],
  [{ sku: 'N', name: 'New', category: 'C', price: 5, stock: 1, barcode: CASE }, 'created'],
  [{ barcode: CASE, price: 6 }, 'ambiguous C+N'],
  [{ sku: 'C', barcode: null }, 'updated'],
  [{ barcode: CASE, price: 7 }, 'updated N'],
  [{ sku: 'D', barcode: CASE }, 'updated'],
  [{ barcode: '00000096385074', price: 8 }, 'not_found'],
];

function testImports(prepare: PrepareStore): void {
  test('imports rows by the barcodes that products have after the earlier rows', async (t) => {
    const { store, actor } = await prepareFour(prepare(t));
    const rows = IMPORTED.map(([row]) => parseProductRow(row, EUR));
    const describe = ({ effects, barcodeSkus = [] }: EvaluatedRows, first = 0): string[] => {
      const skus = barcodeSkus.values();
      return effects.map((effect, n) => (rows[first + n]?.sku === undefined
        ? `${effect} ${skus.next().value?.join('+')}`.trim() : effect));
    };
    const expected = IMPORTED.map(([, effect]) => effect);
    for (const batch of [1, 5, rows.length]) { // the batches of a dry run do not matter
      const dryRun = store.dryRunImport(actor, 'upsert');
      const effects: string[] = [];
      for (let n = 0; n < rows.length; n += batch) {
        effects.push(...describe(await dryRun.try(rows.slice(n, n + batch)), n));
      }
      assert.deepEqual(effects, expected);
      await dryRun.close();
    }
    const write = { ...actor, idempotency: { key: 'file', part: 1 } };
    const imported = await store.importProducts(write, rows, 'upsert');
    assert.deepEqual(describe(imported), expected);
    const replayed = await store.importProducts(write, rows, 'upsert');
    assert.deepEqual([replayed.effects, replayed.barcodeSkus, replayed.isReplay],
      [imported.effects, imported.barcodeSkus, true]);
    assert.deepEqual((await readAll(store, actor.sellerId)).map(({ sku, priceMinor, barcode }) =>
      `${sku} ${priceMinor} ${barcode}`), [
      `A 2000 ${UPC}`, 'B 400 4006381333931', 'C 200 undefined', `D 2000 ${CASE}`, `N 700 ${CASE}`,
    ]);
  });

  test('rejects a row whose barcode more products have than are loaded', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const products = Array.from({ length: 9 }, (_, n) =>
      makeNewProduct({ sku: `S${n}`, barcode: UPC }));
    await store.importProducts(actor, products, 'create');
    const rows = [...products.slice(1, 6).map(({ sku }) => ({ sku, barcode: null })),
      { barcode: UPC, stock: 1 }].map((row) => parseProductRow(row, EUR));
    assert.equal((await store.importProducts(actor, rows, 'update')).effects.at(-1), 'ambiguous');
    const otherActor = await makeActor(store);
    const { effects } = await store.importProducts(otherActor, rows.slice(-1), 'upsert');
    assert.deepEqual(effects, ['not_found']);
  });
}
