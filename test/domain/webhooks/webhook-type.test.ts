/** The event types of webhooks, and their names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change, ChangeType } from '../../../src/domain/catalogue/change.ts';
import {
  EVENT_NAMES, findChangeTypes, findWebhookType, listEvents, WEBHOOK_TYPE_NAMES, WEBHOOK_TYPES,
} from '../../../src/domain/webhooks/webhook-type.ts';

function makeChange(type: ChangeType, before: number, after: number): Change {
  const movement = { before, after, reason: undefined, source: undefined, sequence: undefined };
  // The cast: only these members are read.
  return { type, movement } as Change;
}

test('finds each type by its name, and by its dotted name', () => {
  for (const type of WEBHOOK_TYPES) {
    assert.equal(findWebhookType(type), type);
    assert.equal(findWebhookType(EVENT_NAMES[type]), type);
  }
  assert.equal(WEBHOOK_TYPE_NAMES.length, 9);
  for (const name of ['', 'stock.', 'product.stock', 'toString', null, 5, ['stock']]) {
    assert.equal(findWebhookType(name), undefined);
  }
});

test('reads the changes that can lower stock for `stock.low`', () => {
  assert.equal(findChangeTypes(null), undefined);
  assert.deepEqual(findChangeTypes(['created']), ['created']);
  assert.deepEqual(findChangeTypes(['stock.low']), ['updated', 'stock']);
  assert.deepEqual(findChangeTypes(['deleted', 'stock.low']), ['updated', 'deleted', 'stock']);
});

test('sends `stock.low` only if the stock falls from above the threshold', () => {
  for (const [type, before, after, isLow] of [
    ['stock', 6, 5, true], ['updated', 100, 0, true], ['stock', 5, 4, false],
    ['stock', 7, 6, false], ['stock', 5, 6, false], ['stock', 5, 5, false],
    ['created', 0, 3, false], ['deleted', 9, 0, false],
  ] as const) {
    const change = makeChange(type, before, after);
    assert.deepEqual(listEvents(change, ['stock.low'], 5), isLow ? ['stock.low'] : []);
    assert.deepEqual(listEvents(change, [type, 'stock.low'], 5),
      isLow ? [type, 'stock.low'] : [type]);
    assert.deepEqual(listEvents(change, null, undefined), [type]);
  }
});
