/**
 * What is in a catalogue, and whether a copy of it is whole: its pages, indexes and references as
 * SQLite checks them, and the history of every seller without a gap. Takes any version of the
 * schema.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../domain/error.ts';
import { openReader } from './connection.ts';
import { readInteger, readText } from './row.ts';

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

/** The first version whose history may be pruned. */
const PRUNING_VERSION = 3;

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

/** Reads all of a copy. @throws AppError `unavailable` where it is not whole */
export function checkCopy(file: string): CatalogueFacts {
  const db = openReader(file);
  try {
    const fault = findFault(db);
    if (fault === undefined) return readFacts(db);
    throw new AppError('unavailable', `The copy is not whole: ${fault}. "doctor" tells more.`);
  } finally {
    db.close();
  }
}

function findFault(db: DatabaseSync): string | undefined {
  const integrity = readText(
    db.prepare('PRAGMA integrity_check(1)').get() ?? {}, 'integrity_check',
  );
  if (integrity !== 'ok') return integrity.replace(/\s+/g, ' ');
  const reference = db.prepare('SELECT "table" FROM pragma_foreign_key_check LIMIT 1').get();
  if (reference) return `${readText(reference, 'table')} names what is not there`;
  const { version } = readFacts(db);
  const gap = db.prepare(`
    SELECT s.id FROM seller AS s WHERE s.position - ${prunedTo(version)} <> (
      SELECT count(*) FROM change AS c
      WHERE c.seller_id = s.id AND c.position > ${prunedTo(version)})
    ORDER BY s.id LIMIT 1`).get();
  return gap && `the history of seller ${readInteger(gap, 'id')} has a gap`;
}

function prunedTo(version: number): string {
  return version < PRUNING_VERSION ? '0' : 's.pruned_to';
}
