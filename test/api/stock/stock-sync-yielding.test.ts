/** POST /api/v1/stock: small calls run at once, large ones yield to the event loop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeInstances } from '../../../src/api/instances.ts';
import type { ApiRequest, Services } from '../../../src/api/route.ts';
import { syncStock } from '../../../src/api/stock/stock.ts';
import { AppError } from '../../../src/domain/error.ts';
import { STOCK_SLICE_CHANGES } from '../../../src/domain/limits.ts';
import type { SyncedStock } from '../../../src/store/catalogue-store.ts';
import { countTurns } from '../../support/turns.ts';

const CHANGES = 10_000;

/** The yields between ten slices of the request, and between ten slices of the results. */
const YIELDS = 18;

/** A call of the handler, with the parts of request and services that it uses, and a fast store. */
function prepare(
  change: object, synced: Pick<SyncedStock, 'results' | 'rejection'>, count = CHANGES,
) {
  const body = { changes: Array.from({ length: count }, () => change), atomic: true };
  const call: Partial<ApiRequest> = {
    caller: { sellerId: 1 } as ApiRequest['caller'], query: new Map(), headers: {},
    readMediaType: () => 'application/json', readJson: async () => body,
  };
  const store: Partial<Services['store']> = {
    syncStock: async () => ({ position: 0, zeroed: 0, isReplay: false, ...synced }),
  };
  // The casts: the handler uses nothing else of them.
  const services = { store, instances: makeInstances(() => services) } as Services;
  return () => syncStock(call as ApiRequest, services);
}

test('processes up to 1,000 changes without yielding to the event loop',
  async () => {
    const handle = (count: number) => {
      const results = Array.from({ length: count }, () => ({ status: 'not_found' as const }));
      return prepare({ sku: 'A', set: 1 }, { results, rejection: undefined }, count);
    };
    assert.equal(await countTurns(handle(STOCK_SLICE_CHANGES)), 0);
    assert.ok(await countTurns(handle(STOCK_SLICE_CHANGES + 1)) > 0);
  });

test('yields to other requests while it processes 10,000 changes', async () => {
  const results = Array.from({ length: CHANGES }, () => ({ status: 'not_found' as const }));
  const handle = prepare({ sku: 'A', set: 1 }, { results, rejection: undefined });
  assert.ok(await countTurns(handle) >= YIELDS);
  const { body } = await handle();
  assert.equal(JSON.parse(String(body)).results.length, CHANGES);
});

test('yields to the event loop while it rejects 10,000 invalid changes of an atomic call',
  async () => {
    const handle = prepare({ sku: '', a: 1, b: 2, c: 3 }, { results: [], rejection: 'failures' });
    let refusal: unknown;
    const turns = await countTurns(() => handle().catch((error: unknown) => { refusal = error; }));
    assert.ok(turns >= YIELDS);
    assert.ok(refusal instanceof AppError);
    const { results, applied, failed } = JSON.parse(`{${refusal.members}}`);
    assert.deepEqual([results.length, applied, failed], [CHANGES, 0, CHANGES]);
  });
