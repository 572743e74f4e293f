/** Verdicts of a review: a mutation may make exactly the changes that were admitted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Product, Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { ProductId, SellerId } from '../../../src/domain/id.ts';
import type { WriteActor } from '../../../src/store/rules/mutations/import-records.ts';
import {
  isOutdated, RejectedChange, type Verdict, withChecks,
} from '../../../src/store/rules/review.ts';
import { makeNewProduct } from '../contract/fixture.ts';

// The casts: the checks compare texts and numbers.
const A = 'A' as Sku;
const B = 'B' as Sku;
const PRODUCT: Product = {
  ...makeNewProduct(), sku: A, sellerId: 1 as SellerId, id: 1 as ProductId, position: 8, stock: 5,
  currency: { code: 'EUR', decimals: 2 }, createdAt: 0, updatedAt: 0,
};

/** The checks of a mutation that makes its changes from position 10 on. */
function prepareChecks(verdicts: readonly Verdict[]) {
  // The cast: it has what the checks need.
  const { actor } = withChecks({ actor: { verdicts } as unknown as WriteActor });
  let position = 10;
  return (before: Partial<Product> | undefined, after: Partial<Product>): void => {
    position += 1;
    actor.checks?.checkProduct({
      type: 'updated', before: before && { ...PRODUCT, ...before },
      after: { ...PRODUCT, ...after, position }, previousPosition: before?.position,
    });
  };
}

test('admits the changes that were reviewed, in their order', () => {
  const check = prepareChecks([[A, 8, 4, null], [A, -1, 3, null], [B, 0, 9, null]]);
  check({ position: 8 }, { stock: 4 });
  check({ position: 11 }, { stock: 3 });
  check(undefined, { sku: B, stock: 9 });
  assert.throws(() => check({ position: 8 }, { stock: 4 }), isOutdated, 'one more');
});

test('admits no other change', () => {
  const verdict: Verdict = [A, 8, 4, null];
  assert.throws(() => prepareChecks([])({ position: 8 }, { stock: 4 }), isOutdated);
  for (const [before, after] of [
    [{ position: 9 }, { stock: 4 }], [{ position: 8 }, { stock: 3 }],
    [{ position: 8, sku: B }, { stock: 4 }], [undefined, { stock: 4 }],
  ] as const) {
    assert.throws(() => prepareChecks([verdict])(before, after), isOutdated);
  }
  const check = prepareChecks([verdict, [B, 7, 4, null]]);
  assert.throws(() => check({ position: 7, sku: B }, { stock: 4 }), isOutdated, 'another order');
});

test('rejects a change with its reason, if it is the one that was reviewed', () => {
  const verdicts: readonly Verdict[] = [[A, 8, 4, 'No.'], [A, 8, 6, null]];
  const check = prepareChecks(verdicts);
  assert.throws(() => check({ position: 8 }, { stock: 4 }), new RejectedChange('No.'));
  check({ position: 8 }, { stock: 6 });
  assert.throws(() => prepareChecks(verdicts)({ position: 9 }, { stock: 4 }), isOutdated);
});

test('leaves inputs without verdicts as they are', () => {
  for (const input of [{ actor: {} }, {}, ['seller']]) assert.equal(withChecks(input), input);
});
