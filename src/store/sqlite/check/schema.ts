/**
 * Whether the tables, indexes and triggers are exactly those that the migrations make: what an
 * empty database of the same version has is the measure.
 */
import type { DatabaseSync } from 'node:sqlite';
import { describeVersion, migrate } from '../engine/database-file.ts';
import { openTemporary } from '../engine/connection.ts';
import { readOptional, readText } from '../engine/row.ts';
import { fault, type Finding, isUnreadable, RESTORE, warning } from './finding.ts';

/** Whether it is a database of this server, and whether this version can work with it. */
export function* checkVersion(db: DatabaseSync): Generator<Finding, void, void> {
  const { isOurs, version, newest } = describeVersion(db);
  if (!isOurs) {
    const hint = 'Look for the right file: this one belongs to something else.';
    yield fault('It is not a database of this server.', hint);
  } else if (version > newest) {
    const hint = 'Run that version of the server, or a newer one, and its doctor.';
    yield fault(`It was written by a newer version: its schema is ${version}, and this one knows `
      + `${newest}.`, hint);
  } else if (version < newest) {
    yield warning(`Its schema is ${version}, and this version works with ${newest}: only what `
      + 'SQLite can tell was checked.', 'The next start of the server brings it up to date.');
  }
}

export function* checkSchema(db: DatabaseSync): Generator<Finding, void, void> {
  const { isOurs, version, newest } = describeVersion(db);
  if (!isOurs || version > newest) return; // nobody here knows what it should have
  const measure = openTemporary();
  try {
    migrate(measure, { to: version });
    const expected = readSchema(measure);
    for (const [name, sql] of readSchema(db)) {
      const should = expected.get(name);
      expected.delete(name);
      if (should === sql) continue;
      const what = should === undefined ? 'does not belong here' : 'is not as it should be';
      yield fault(`The ${name} ${what}.`, RESTORE);
    }
    for (const name of expected.keys()) yield fault(`The ${name} is missing.`, RESTORE);
  } finally {
    measure.close();
  }
}

/**
 * Whether all tables are there. What is no table may be a view in its place, which somebody else
 * has made, and which may never end: nothing is to be read from it.
 */
export function hasTables(db: DatabaseSync): boolean {
  const measure = openTemporary();
  try {
    migrate(measure, { to: describeVersion(db).version });
    const found = listTables(db);
    return listTables(measure).every((name) => found.includes(name));
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  } finally {
    measure.close();
  }
}

function listTables(db: DatabaseSync): string[] {
  return db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
    .map((row) => readText(row, 'name'));
}

/** The SQL of each table, index, trigger and view, by what it is; empty for those SQLite makes. */
function readSchema(db: DatabaseSync): Map<string, string> {
  const rows = db.prepare(`
    SELECT type || ' ' || name AS name, sql FROM sqlite_schema ORDER BY type, name`).all();
  return new Map(rows.map((row) =>
    [readText(row, 'name'), readOptional(row, 'sql', readText) ?? '']));
}
