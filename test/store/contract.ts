/** The contract of the store port: a suite that every adapter passes. */
import { describe } from 'node:test';
import { testAccountResets } from './contract/account-resets.ts';
import { testAccounts } from './contract/accounts.ts';
import { testAudit } from './contract/audit.ts';
import { testBarcodes } from './contract/barcodes.ts';
import { testChanges } from './contract/changes.ts';
import { testClosing } from './contract/closing.ts';
import { testDisabledSellers } from './contract/disabled-sellers.ts';
import { testColumnMappings } from './contract/column-mappings.ts';
import type { PrepareStore } from './contract/fixture.ts';
import { testEdits } from './contract/edits.ts';
import { testGrants } from './contract/grants.ts';
import { testHistory } from './contract/history.ts';
import { testIdempotency } from './contract/idempotency.ts';
import { testImportJobs } from './contract/import-jobs.ts';
import { testImportRecords } from './contract/import-records.ts';
import { testImports } from './contract/imports.ts';
import { testLivedTime } from './contract/lived-time.ts';
import { testKeyUsage } from './contract/key-usage.ts';
import { testJoining } from './contract/joining.ts';
import { testLookups } from './contract/lookups.ts';
import { testKeys } from './contract/keys.ts';
import { testPasskeys } from './contract/passkeys.ts';
import { testPeople } from './contract/people.ts';
import { testOptionalFields } from './contract/optional-fields.ts';
import { testProducts } from './contract/products.ts';
import { testReverts } from './contract/reverts.ts';
import { testRotation } from './contract/rotation.ts';
import { testSavedFilters } from './contract/saved-filters.ts';
import { testSearch } from './contract/search.ts';
import { testSellers } from './contract/sellers.ts';
import { testSessions } from './contract/sessions.ts';
import { testStockDays } from './contract/stock-days.ts';
import { testStockSums } from './contract/stock-sums.ts';
import { testThrottles } from './contract/throttles.ts';
import { testTotals } from './contract/totals.ts';
import { testTwoSellers } from './contract/two-sellers.ts';
import { testWatching } from './contract/watching.ts';
import { testWebhookDeliveries } from './contract/webhook-deliveries.ts';
import { testWebhookLeases } from './contract/webhook-leases.ts';
import { testWebhooks } from './contract/webhooks.ts';
import { testStock } from './contract/stock.ts';
import { testStocktakes } from './contract/stocktakes.ts';
import { testWrites } from './contract/writes.ts';

type TestGroup = (prepare: PrepareStore) => void;

/**
 * A process keeps something between their calls: the position, the last ids and the stock levels of
 * a catalogue as its last write left them, the seller of a key, throttles that are empty, watched
 * positions, leases and due webhooks. What another process writes must take effect all the same.
 */
const CACHED: readonly TestGroup[] = [
  testDisabledSellers, testKeys, testGrants,
  testProducts, testOptionalFields, testBarcodes, testLookups, testChanges, testEdits, testStock,
  testStocktakes,
  testImports, testImportRecords, testReverts, testHistory, testIdempotency, testWrites,
  testWatching, testThrottles, testWebhooks, testWebhookDeliveries, testWebhookLeases, testClosing,
];

/** Each call reads from the database all that it needs. */
const UNCACHED: readonly TestGroup[] = [
  testSellers, testRotation, testKeyUsage,
  testStockDays, testStockSums, testTotals, testSearch, testSavedFilters, testColumnMappings,
  testImportJobs, testJoining, testSessions, testPasskeys, testAccounts, testAccountResets,
  testPeople, testAudit, testTwoSellers, testLivedTime,
];

/** The whole contract. */
export function describeStore(name: string, prepare: PrepareStore): void {
  describeGroups(name, prepare, [...CACHED, ...UNCACHED]);
}

/** What may differ if `prepare` opens several stores, as in several processes. */
export function describeCaching(name: string, prepare: PrepareStore): void {
  describeGroups(name, prepare, CACHED);
}

function describeGroups(
  name: string, prepare: PrepareStore, groups: readonly TestGroup[],
): void {
  describe(`the store on ${name}`, { concurrency: 2 }, () => {
    for (const testGroup of groups) testGroup(prepare);
  });
}
