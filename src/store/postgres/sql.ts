/** Executes SQL: what all adapters share, with named parameters, and this adapter's own. */
import type { Parameters, Row, Sql } from '../sql/sql.ts';
import { toPositional } from '../sql/positional.ts';
import type { Result, RunOptions, Statement } from './wire/statement-run.ts';
import type { Parameter } from './wire/values.ts';

/** A pool or a connection: executes statements in one round trip. */
export interface Runner {
  run(statements: readonly Statement[], options?: RunOptions): Promise<readonly Result[]>;
}

/** Executes a statement with positional parameters; returns its rows. */
export type Query = (text: string, ...values: readonly Parameter[]) => Promise<readonly Row[]>;

const NO_RESULT: Result = { rows: [], count: 0 };

export function queryOf(runner: Runner): Query {
  return async (text, ...values) => ((await runner.run([{ text, values }]))[0] ?? NO_RESULT).rows;
}

/** Each statement is one round trip. */
export function sqlOf(runner: Runner): Sql {
  return {
    prepare(text) {
      const execute = async (parameters: Parameters = {}): Promise<Result> =>
        (await runner.run([toPositional(text, parameters)]))[0] ?? NO_RESULT;
      return {
        all: async (parameters) => (await execute(parameters)).rows,
        get: async (parameters) => (await execute(parameters)).rows[0],
        run: async (parameters) => (await execute(parameters)).count,
      };
    },
    isAmong: (column, parameter) => `${column} = ANY (${parameter})`,
    isPartOf: (column, parameter) => `strpos(${parameter}, ${column}) > 0`,
    indexedBy: () => '',
  };
}
