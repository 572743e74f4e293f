/** Server metrics: a metric that the store does not provide is left out. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { RunningServer } from '../../../src/feature.ts';
import type { Log } from '../../../src/features/telemetry/log.ts';
import { ServerMetrics } from '../../../src/features/telemetry/server-metrics.ts';
import type { StoreMetrics } from '../../../src/store/maintenance-store.ts';

const EMPTY = { buckets: [], count: 0, sum: 0 };

async function listNames(t: TestContext, of: Partial<StoreMetrics>): Promise<string[]> {
  const storeMetrics: StoreMetrics = {
    lastFailure: undefined, failedCommits: 0, waitingChanges: 0, commits: EMPTY,
    ...of,
  };
  // The casts: only these members of a log and of a server are used.
  const log = { readMetrics: () => ({ written: 0, dropped: 0 }) } as Log;
  const server = {
    store: { readMetrics: async () => storeMetrics },
    readLoad: () => ({ requests: 0, streams: 0, imports: 0 }),
    readConnections: () => ({ open: 0, receivedBytes: 0, sentBytes: 0, unreadable: 0 }),
    listMetrics: () => [],
  } as unknown as RunningServer;
  const metrics = new ServerMetrics(log);
  t.after(() => metrics.close());
  return (await metrics.list(server)).map(({ name }) => name);
}

const DISK = ['store_wal_bytes', 'store_disk_free_bytes', 'store_disk_free_inodes'];
const POOL = ['store_pool_connections', 'store_pool_waiting', 'store_round_trip_duration_seconds'];

test('lists disk and connection-pool metrics only if the store has them', async (t) => {
  const none = await listNames(t, {});
  for (const name of [...DISK, ...POOL]) assert.ok(!none.includes(name), name);
  assert.ok(!none.includes('store_search_lag_changes'));
  const disk = await listNames(t, { disk: { walBytes: 1, freeBytes: 2, freeInodes: 3 } });
  assert.deepEqual(disk.filter((name) => [...DISK, ...POOL].includes(name)), DISK);
  assert.ok((await listNames(t, { readSearchLag: () => 0 })).includes('store_search_lag_changes'));
  const pool = await listNames(t, { pool: { connections: 8, waiting: 0, roundTrips: EMPTY } });
  assert.deepEqual(pool.filter((name) => [...DISK, ...POOL].includes(name)), POOL);
});
