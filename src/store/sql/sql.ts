/**
 * SQL that every adapter executes: what is written in it exists once. It uses named parameters
 * (`:name`), standard SQL and the same tables everywhere. A statement may return its rows at once
 * (SQLite) or a promise (PostgreSQL), so its callers always `await` it; on SQLite nothing else can
 * run in between.
 */
import type { Row } from './row.ts';

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
