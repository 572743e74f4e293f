/** Shared SQL on a connection of SQLite. Statements return their rows at once. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { type Parameters, readInteger, type Sql } from '../sql/sql.ts';

export function sqlOf(db: DatabaseSync): Sql {
  return {
    prepare(text) {
      const statement = db.prepare(text);
      return {
        all: (parameters) => statement.all(bind(parameters)),
        get: (parameters) => statement.get(bind(parameters)),
        run: (parameters) => Number(statement.run(bind(parameters)).changes),
      };
    },
    isAmong: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
    isPartOf: (column, parameter) => `instr(${parameter}, ${column}) > 0`,
    indexedBy: (index) => `INDEXED BY ${index}`,
  };
}

function bind(parameters: Parameters = {}): Record<string, SQLInputValue> {
  const values: Record<string, SQLInputValue> = {};
  for (const name in parameters) { // quicker than entries
    const value = parameters[name];
    values[name] = isList(value) ? JSON.stringify(value) : value ?? null;
  }
  return values;
}

function isList(value: Parameters[string]): value is readonly number[] {
  return Array.isArray(value);
}

/** The value of a pragma that is an integer, such as `user_version`. */
export function readPragma(db: DatabaseSync, name: string): number {
  return readInteger(db.prepare(`PRAGMA ${name}`).get() ?? {}, name);
}
