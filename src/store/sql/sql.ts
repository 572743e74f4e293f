/**
 * SQL that every adapter executes: what is written in it exists once. It uses named parameters
 * (`:name`), standard SQL and the same tables everywhere. A statement may return its rows at once
 * (SQLite) or a promise (PostgreSQL), so its callers always `await` it; on SQLite nothing else can
 * run in between. Columns are read as the types that the tables guarantee; anything else is our
 * bug.
 */
import type { Currency } from '../../domain/catalogue/currency.ts';

type Value = number | string | Uint8Array;
/** By name. Undefined is stored as NULL. Only `isAmong` takes a list. */
export type Parameters =
  Readonly<Record<string, Value | readonly number[] | null | undefined>>;

interface Statement {
  all(parameters?: Parameters): readonly Row[] | Promise<readonly Row[]>;
  /** The first row. */
  get(parameters?: Parameters): Row | undefined | Promise<Row | undefined>;
  /** Returns how many rows were inserted, updated or deleted. */
  run(parameters?: Parameters): number | Promise<number>;
}

/** A connection, or a transaction on one. */
export interface Sql {
  prepare(text: string): Statement;
  /** The condition that a column has one of the values of a list: `isAmong('id', ':ids')`. */
  isAmong(column: string, parameter: string): string;
  /** The condition that a text contains the value of a column: `isPartOf('type', ':types')`. */
  isPartOf(column: string, parameter: string): string;
  /**
   * What follows the name of a table whose rows must be found by this index: SQLite may choose
   * another one. Empty for engines that know better.
   */
  indexedBy(index: string): string;
}

/** A row, by the names of its columns. */
export type Row =
  Readonly<Record<string, number | bigint | string | Uint8Array<ArrayBuffer> | null>>;

export function readInteger(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`Column ${column} is not an integer.`);
  return value;
}

/** An id, or another branded number: `readId<SellerId>(row, 'seller_id')`. */
export function readId<Id extends number>(row: Row, column: string): Id {
  // The cast: an id column contains only values that the domain branded before writing.
  return readInteger(row, column) as Id;
}

export function readText(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`Column ${column} is not a text.`);
  return value;
}

/** One of these texts, by the schema. */
export function readOneOf<Value extends string>(
  row: Row, column: string, values: readonly Value[],
): Value {
  const value = values.find((candidate) => candidate === row[column]);
  if (value === undefined) throw new TypeError(`Column ${column} is none of ${values.join(', ')}.`);
  return value;
}

export function readBytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw new TypeError(`Column ${column} is not a blob.`);
  return value;
}

/** From the currency columns, which every table of sellers has. */
export function readCurrency(row: Row): Currency {
  return { code: readText(row, 'currency'), decimals: readInteger(row, 'currency_decimals') };
}

/** Prepares a query that returns one row, or none. */
export function prepareFind<Found>(sql: Sql, map: (row: Row) => Found, text: string) {
  const find = sql.prepare(text);
  return async (parameters?: Parameters): Promise<Found | undefined> => {
    const row = await find.get(parameters);
    return row && map(row);
  };
}

/** Prepares a query that returns any number of rows. */
export function prepareList<Listed>(sql: Sql, map: (row: Row) => Listed, text: string) {
  const list = sql.prepare(text);
  return async (parameters?: Parameters): Promise<readonly Listed[]> =>
    (await list.all(parameters)).map((row) => map(row));
}

/** Undefined for NULL. */
export function readOptional<Value>(
  row: Row, column: string, read: (row: Row, column: string) => Value,
): Value | undefined {
  return row[column] === null ? undefined : read(row, column);
}
