/** The webhooks that a node follows, according to its leases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId, WebhookId } from '../../../src/domain/id.ts';
import type { Webhook } from '../../../src/domain/webhooks/webhook.ts';
import { DueWebhooks } from '../../../src/store/nodes/due-webhooks.ts';

test('reads no webhooks of sellers whose leases have ended', async (t) => {
  const read = t.mock.fn(async () => ({ versions: [], webhooks: [] }));
  const stored = { findVersions: async () => [], readWebhooks: read };
  const due = new DueWebhooks(stored, 60_000, () => {});
  t.after(() => due.close());
  const lease = new AbortController();
  due.follow(new Map([[1 as SellerId, lease.signal]]));
  lease.abort();
  assert.deepEqual(await due.list({ at: 0, isFailing: false, limit: 1 }), []);
  assert.equal(read.mock.callCount(), 0);
});

test('finds the oldest message without the store, which may not answer', async (t) => {
  const [sellerId, at] = [1 as SellerId, 5]; // the casts: any positive integer is an id
  const webhook: Webhook = {
    sellerId, id: 1 as WebhookId, url: 'https://shop.example/', description: '', types: null,
    delivery: 'batch', status: 'active', disabledReason: undefined, position: 0,
    message: { id: 'msg_1', first: 1, last: 1, at, types: null }, failures: 1, failingSince: at,
    failingLivedSince: at, nextAttemptAt: at, createdBy: undefined, createdAt: at, updatedAt: at,
  };
  const versions = [{ id: sellerId, position: 1, version: '1', isDisabled: false }];
  let reading = Promise.resolve({ versions, webhooks: [webhook] });
  const stored = { findVersions: async () => [], readWebhooks: () => reading };
  const due = new DueWebhooks(stored, 60_000, () => {});
  t.after(() => due.close());
  due.follow(new Map([[sellerId, new AbortController().signal]]));
  assert.equal((await due.list({ at, isFailing: true, limit: 1 })).length, 1);
  reading = Promise.withResolvers<never>().promise;
  due.noteChange(sellerId);
  void due.list({ at, isFailing: true, limit: 1 });
  assert.equal(due.findOldestMessageTime(), at);
});
