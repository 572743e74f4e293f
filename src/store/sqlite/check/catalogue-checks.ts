/**
 * Every check of a catalogue database, on a connection that only reads. They read one snapshot, so
 * they agree with each other while a server goes on writing; and they keep little in memory,
 * however large the catalogue is: what has to be sorted goes to a temporary file.
 */
import type { DatabaseSync } from 'node:sqlite';
import { describeVersion } from '../engine/database-file.ts';
import { checkAuditLog, type ReadKey } from './audit-chain.ts';
import { checkDescriptions } from './snapshots.ts';
import { type Check, type Finding, isUnreadable, limitFindings } from './finding.ts';
import { checkIntegrity, checkReferences } from './integrity.ts';
import { checkLedger } from './ledger.ts';
import { checkPositions } from './positions.ts';
import { checkSchema, checkVersion, hasTables } from './schema.ts';
import { checkStockDays } from './stock-days.ts';
import { checkWebhooks } from './webhooks.ts';

type Find = (db: DatabaseSync, readKey: ReadKey) => Iterable<Finding>;
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
  ['audit-chain', 'the audit log: its chain of hashes, and what authenticates it', checkAuditLog],
];

/**
 * Checks a database of `openForChecks`. Each check comes before it is made: read its findings
 * before the next one is asked for.
 */
export function* checkCatalogue(
  db: DatabaseSync, readKey?: ReadKey,
): Generator<Check, void, void> {
  const prepare = ([name, subject, find]: Entry): Check =>
    ({ name, subject, findings: limitFindings(() => find(db, readKey)) });
  for (const entry of STRUCTURE) yield prepare(entry);
  if (!hasContent(db)) return;
  for (const entry of CONTENT) yield prepare(entry);
}

/** Whether it has the tables of this version, so that what is in them can be checked. */
export function hasContent(db: DatabaseSync): boolean {
  return isCurrent(db) && hasTables(db);
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
