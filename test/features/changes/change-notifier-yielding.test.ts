/** A change for which many clients wait: waking them in groups lets other requests run between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangeNotifier } from '../../../src/features/changes/change-notifier.ts';
import { openShop, sync } from '../../api/stock/stock.ts';

const WAITERS = 1_000;
const MOST = 100;
const WAIT_MS = 10_000;

test('wakes at most 100 waiting clients per event-loop iteration', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const live = new ChangeNotifier(server.store);
  let turn = 0;
  let isOver = false;
  const look = (): void => {
    turn += 1;
    if (!isOver) setImmediate(look);
  };
  const woken: { readonly isThere: boolean; readonly turn: number }[] = [];
  const waits = Array.from({ length: WAITERS }, async () => {
    const isThere = await live.wait(seller.sellerId, 1, WAIT_MS, new AbortController().signal);
    woken.push({ isThere, turn });
  });
  look();
  await sync(seller, [{ sku: 'A', set: 5 }]);
  await Promise.all(waits);
  isOver = true;
  assert.ok(woken.every(({ isThere }) => isThere));
  const groups = [...Map.groupBy(woken, (one) => one.turn).values()];
  assert.ok(groups.length >= WAITERS / MOST);
  for (const group of groups) assert.ok(group.length <= MOST);
});
