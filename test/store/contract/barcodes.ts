/** The contract of a store: products that are found by their barcodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import { makeActor, makeNewProduct, type PrepareStore } from './fixture.ts';

/** The same item as UPC-A, EAN-13 and GTIN-14; and a case of it. */
const [UPC, EAN, GTIN, CASE] = [
  '012345678905', '0012345678905', '00012345678905', '10012345678902',
] as const;

export function testBarcodes(prepare: PrepareStore): void {
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
