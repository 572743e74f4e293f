/**
 * What SQLite itself can tell of the file: its pages, indexes, types and references. It does not
 * look at CHECK constraints on a connection that cannot write; the other checks see what they hold.
 */
import type { DatabaseSync } from 'node:sqlite';
import { DOCTOR_FINDINGS_LIMIT } from '../limits.ts';
import { readInteger, readText } from '../engine/row.ts';
import { fault, type Finding, RESTORE } from './finding.ts';

/** https://www.sqlite.org/pragma.html#pragma_integrity_check */
export function* checkIntegrity(db: DatabaseSync): Generator<Finding, void, void> {
  const rows = db.prepare(`PRAGMA integrity_check(${DOCTOR_FINDINGS_LIMIT + 1})`).iterate();
  for (const row of rows) {
    const text = readText(row, 'integrity_check');
    if (text !== 'ok') yield fault(`SQLite finds damage: ${text.replace(/\s+/g, ' ')}.`, RESTORE);
  }
}

/** Rows that name a seller, an account or a webhook that is not there. */
export function* checkReferences(db: DatabaseSync): Generator<Finding, void, void> {
  const rows = db.prepare(`
    SELECT "table" AS child, parent, count(*) AS rows FROM pragma_foreign_key_check
    GROUP BY 1, 2 ORDER BY 1, 2`).iterate();
  for (const row of rows) {
    const [child, parent] = [readText(row, 'child'), readText(row, 'parent')];
    const count = readInteger(row, 'rows');
    yield fault(`${count} of the rows of ${child} name no ${parent} that is there.`, RESTORE);
  }
}
