/**
 * What is in a catalogue, and whether a copy of it is whole: its pages, indexes and references as
 * SQLite checks them, and the history of every seller without a gap.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { checkPositions } from '../check/history.ts';
import { checkIntegrity, checkReferences } from '../check/schema.ts';
import { openReader } from '../engine/connection.ts';
import { readInteger } from '../engine/row.ts';

export interface CatalogueFacts {
  /** Of the schema. */
  readonly version: number;
  readonly sellers: number;
  readonly products: number;
  /** The positions of all sellers together. */
  readonly changes: number;
  /** The same where all sellers are at the same positions. */
  readonly mark: string;
}

/** The first version whose history is as it is now. */
const HISTORY_VERSION = 3;

/** Of one snapshot, where the connection is in a transaction. */
export function readFacts(db: DatabaseSync): CatalogueFacts {
  const mark = createHash('sha256');
  let [sellers, changes] = [0, 0];
  for (const row of db.prepare('SELECT id, position FROM seller ORDER BY id').iterate()) {
    const position = readInteger(row, 'position');
    mark.update(`${readInteger(row, 'id')} ${position}\n`);
    sellers += 1;
    changes += position;
  }
  const products = db.prepare('SELECT count(*) AS products FROM product').get() ?? {};
  const version = db.prepare('PRAGMA user_version').get() ?? {};
  return {
    version: readInteger(version, 'user_version'),
    sellers,
    products: readInteger(products, 'products'),
    changes,
    mark: mark.digest('hex'),
  };
}

/**
 * Reads all of a copy; errors call it by `name`.
 * @throws AppError `unavailable` if it is not whole
 */
export function checkCopy(file: string, name: string): CatalogueFacts {
  const db = openReader(file);
  try {
    const fault = findFault(db);
    if (fault === undefined) return readFacts(db);
    throw new AppError('unavailable', `${name} is not whole: ${fault}`);
  } finally {
    db.close();
  }
}

/** What "doctor" would find first; of what products and stock add up to, it alone tells. */
function findFault(db: DatabaseSync): string | undefined {
  for (const find of [checkIntegrity, checkReferences]) {
    for (const { what } of find(db)) return what;
  }
  if (readFacts(db).version < HISTORY_VERSION) return undefined;
  for (const { what } of checkPositions(db)) return what;
  return undefined;
}
