/** The checks of a catalogue that are the same on every engine. */
import {
  ACCOUNT_SCAN, IMPORT_SCAN, SNAPSHOT_SCAN, STOCK_DAY_SCAN, WEBHOOK_SCAN,
} from './derived-data.ts';
import type { CatalogueCheck } from './finding.ts';
import { LEDGER_SCANS, POSITION_SCANS } from './history.ts';

export const CATALOGUE_CHECKS: readonly CatalogueCheck[] = [
  {
    name: 'positions', subject: 'positions of the history, without a gap', scans: POSITION_SCANS,
  },
  {
    name: 'ledger', subject: 'stock of each product, as the sum of its movements',
    scans: LEDGER_SCANS,
  },
  {
    name: 'descriptions', subject: 'products, as in their newest snapshot',
    scans: [SNAPSHOT_SCAN],
  },
  {
    name: 'stock-days', subject: 'units moved on each day, as in the ledger',
    scans: [STOCK_DAY_SCAN],
  },
  { name: 'imports', subject: 'records of imports, as their changes', scans: [IMPORT_SCAN] },
  { name: 'webhooks', subject: 'positions of webhooks', scans: [WEBHOOK_SCAN] },
  { name: 'accounts', subject: 'accounts, by their e-mail addresses', scans: [ACCOUNT_SCAN] },
];

/** Its scans are those of `audit-chain.ts`, which need the key. */
export const AUDIT_CHECK: Omit<CatalogueCheck, 'scans'> = {
  name: 'audit-chain', subject: 'the audit log: its hash chain and authentication codes',
};
