/** The contract of the store port: a suite that every adapter passes. */
import { describe } from 'node:test';
import { testAccountResets } from './contract/account-resets.ts';
import { testAccounts } from './contract/accounts.ts';
import { testAudit } from './contract/audit.ts';
import { testChanges } from './contract/changes.ts';
import { testClosing } from './contract/closing.ts';
import { testDisabledSellers } from './contract/disabled-sellers.ts';
import { testColumnMappings } from './contract/column-mappings.ts';
import type { PrepareStore } from './contract/fixture.ts';
import { testGrants } from './contract/grants.ts';
import { testHistory } from './contract/history.ts';
import { testIdempotency } from './contract/idempotency.ts';
import { testImportRecords } from './contract/import-records.ts';
import { testImports } from './contract/imports.ts';
import { testKeyUsage } from './contract/key-usage.ts';
import { testJoining } from './contract/joining.ts';
import { testKeys } from './contract/keys.ts';
import { testProducts } from './contract/products.ts';
import { testRotation } from './contract/rotation.ts';
import { testSellers } from './contract/sellers.ts';
import { testSessions } from './contract/sessions.ts';
import { testStockDays } from './contract/stock-days.ts';
import { testTotals } from './contract/totals.ts';
import { testWebhookDeliveries } from './contract/webhook-deliveries.ts';
import { testWebhooks } from './contract/webhooks.ts';
import { testStock } from './contract/stock.ts';
import { testWrites } from './contract/writes.ts';

export function describeStore(name: string, prepare: PrepareStore): void {
  describe(`the store on ${name}`, () => {
    testSellers(prepare);
    testDisabledSellers(prepare);
    testKeys(prepare);
    testRotation(prepare);
    testGrants(prepare);
    testKeyUsage(prepare);
    testProducts(prepare);
    testChanges(prepare);
    testIdempotency(prepare);
    testImports(prepare);
    testImportRecords(prepare);
    testStock(prepare);
    testHistory(prepare);
    testStockDays(prepare);
    testTotals(prepare);
    testWrites(prepare);
    testWebhooks(prepare);
    testWebhookDeliveries(prepare);
    testJoining(prepare);
    testSessions(prepare);
    testAccounts(prepare);
    testAccountResets(prepare);
    testColumnMappings(prepare);
    testAudit(prepare);
    testClosing(prepare);
  });
}
