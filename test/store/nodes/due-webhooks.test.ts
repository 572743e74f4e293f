/** The webhooks that a node follows, according to its leases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId } from '../../../src/domain/id.ts';
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
