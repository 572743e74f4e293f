/**
 * Checks the database itself: its version, pages, references, and whether its tables, indexes and
 * triggers are exactly those that schema.sql and the migrations create.
 */
import type { DatabaseSync } from 'node:sqlite';
import { DOCTOR_FINDINGS_LIMIT } from '../../limits.ts';
import { describeVersion, migrate } from '../schema/migrate.ts';
import { openTemporary } from '../../temporary/temporary-database.ts';
import { readOptional, readText } from '../../sql/sql.ts';
import { fault, type Findings, scanRows, warning } from '../../sql/check/finding.ts';
import { isUnreadable, runScan } from './finding.ts';

/** Whether it is a database of this server, and of a version that this program supports. */
export function* checkVersion(db: DatabaseSync): Findings {
  const { isOurs, version, newest } = describeVersion(db);
  if (!isOurs) {
    yield fault('It is not a database of this server.', 'Find the right file.');
  } else if (version > newest) {
    yield fault(`It was written by a newer version: its schema is ${version}, and this version `
      + `supports up to ${newest}.`, 'Run doctor of that version or a newer one.');
  } else if (version < newest) {
    yield warning(`Its schema is ${version}, and this version works with ${newest}: only its `
      + 'structure was checked.', 'The server updates it when it starts.');
  }
}

/**
 * SQLite's own check: https://www.sqlite.org/pragma.html#pragma_integrity_check
 * It skips CHECK constraints on a read-only connection; the other checks read those columns.
 */
export function* checkIntegrity(db: DatabaseSync): Findings {
  const rows = db.prepare(`PRAGMA integrity_check(${DOCTOR_FINDINGS_LIMIT + 1})`).iterate();
  for (const row of rows) {
    const text = readText(row, 'integrity_check');
    if (text !== 'ok') yield fault(`SQLite finds damage: ${text.replace(/\s+/g, ' ')}.`);
  }
}

/** Rows that reference a seller, an account or a webhook that does not exist. */
export function checkReferences(db: DatabaseSync): Findings {
  return runScan(db, scanRows(() => `
    SELECT "table" AS child, parent, count(*) AS rows FROM pragma_foreign_key_check
    GROUP BY 1, 2 ORDER BY 1, 2`, [
    ['rows > 0', 'Rows of {child} reference a {parent} that does not exist: {rows}.'],
  ]));
}

export function* checkSchema(db: DatabaseSync): Findings {
  const { isOurs, version, newest } = describeVersion(db);
  if (!isOurs || version > newest) return; // the expected schema is unknown
  const expected = readExpected(version);
  for (const [name, sql] of readSchema(db)) {
    const expectedSql = expected.get(name);
    expected.delete(name);
    if (expectedSql === undefined) yield fault(`The ${name} does not belong here.`);
    else if (expectedSql !== sql) yield fault(`The ${name} differs from the expected schema.`);
  }
  for (const name of expected.keys()) yield fault(`The ${name} is missing.`);
}

/**
 * Whether it has every table of this version, so that rows can be checked. A view in place of a
 * table is foreign and may run forever: nothing may be read from it.
 */
export function hasCurrentTables(db: DatabaseSync): boolean {
  try {
    const { isOurs, version, newest } = describeVersion(db);
    if (!isOurs || version !== newest) return false;
    const schema = readSchema(db);
    return readExpected(version).keys()
      .every((name) => !name.startsWith('table ') || schema.has(name));
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
}

/** The schema of an empty database of a given version. */
function readExpected(version: number): Map<string, string> {
  using db = openTemporary();
  migrate(db, { to: version });
  return readSchema(db);
}

/** The SQL of each table, index, trigger and view by type and name; empty for SQLite's own. */
function readSchema(db: DatabaseSync): Map<string, string> {
  const rows = db.prepare(`
    SELECT type || ' ' || name AS name, sql FROM sqlite_schema ORDER BY type, name`).all();
  return new Map(rows.map((row) =>
    [readText(row, 'name'), readOptional(row, 'sql', readText) ?? '']));
}
