/**
 * Every check of a catalogue database, on a connection that only reads. They read one snapshot, so
 * they agree with each other while a server goes on writing; and they keep little in memory,
 * however large the catalogue is: what has to be sorted goes to a temporary file.
 */
import type { DatabaseSync } from 'node:sqlite';
import { describeVersion } from '../catalogue-file.ts';
import { checkAuditChain } from './audit-chain.ts';
import { checkDescriptions } from './descriptions.ts';
import { type Check, type Finding, isUnreadable, limitFindings } from './finding.ts';
import { checkIntegrity, checkReferences } from './integrity.ts';
import { checkLedger } from './ledger.ts';
import { checkPositions } from './positions.ts';
import { checkSchema, checkVersion, hasTables } from './schema.ts';
import { checkStockDays } from './stock-days.ts';
import { checkWebhooks } from './webhooks.ts';

type Find = (db: DatabaseSync) => Iterable<Finding>;
type Entry = readonly [name: string, subject: string, find: Find];

/** What any database can be asked. */
const STRUCTURE: readonly Entry[] = [
  ['version', 'whose database it is, and of which version', checkVersion],
  ['integrity', 'pages, indexes and values of the database', checkIntegrity],
  ['references', 'rows that belong to other rows', checkReferences],
  ['schema', 'tables and indexes, as this version makes them', checkSchema],
];
/** What asks for the schema of this version. */
const CONTENT: readonly Entry[] = [
  ['positions', 'positions of the history, without a gap', checkPositions],
  ['ledger', 'stock of each product, as its movements come to', checkLedger],
  ['descriptions', 'products, as the history describes them', checkDescriptions],
  ['stock-days', 'units moved on each day, as in the ledger', checkStockDays],
  ['webhooks', 'positions of webhooks', checkWebhooks],
  ['audit-chain', 'the chain of the audit log', checkAuditChain],
];

/**
 * Checks a database of `openForChecks`. Each check comes before it is made: read its findings
 * before the next one is asked for.
 */
export function* checkCatalogue(db: DatabaseSync): Generator<Check, void, void> {
  for (const entry of STRUCTURE) yield prepareCheck(db, entry);
  if (!isCurrent(db) || !hasTables(db)) return;
  for (const entry of CONTENT) yield prepareCheck(db, entry);
}

function prepareCheck(db: DatabaseSync, [name, subject, find]: Entry): Check {
  return { name, subject, findings: limitFindings(() => find(db)) };
}

function isCurrent(db: DatabaseSync): boolean {
  try {
    const { isOurs, version, newest } = describeVersion(db);
    return isOurs && version === newest;
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
}
