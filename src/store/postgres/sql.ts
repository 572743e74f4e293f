/** Executes SQL: what all adapters share, with named parameters, and this adapter's own. */
import type { Parameters, Row, Sql } from '../sql/sql.ts';
import { toPositional } from '../sql/positional.ts';
import type { Result, RunOptions, Statement } from './wire/statement-run.ts';
import type { Parameter } from './wire/values.ts';
import { POSTGRES_CURSOR_ROWS } from './limits.ts';

/** A pool or a connection: executes statements in one round trip. */
export interface Runner {
  run(statements: readonly Statement[], options?: RunOptions): Promise<readonly Result[]>;
}

/** Executes a statement with positional parameters, the seller first; returns its rows. */
export type Query = (text: string, ...values: readonly Parameter[]) => Promise<readonly Row[]>;

const NO_RESULT: Result = { rows: [], count: 0 };

export function queryOf(runner: Runner, onSend?: RunOptions['onSend']): Query {
  return async (text, ...values) => {
    const [result = NO_RESULT] = await runner.run([{ text, values }], { owner: values[0], onSend });
    return result.rows;
  };
}

/** Reads the rows of a statement by a cursor of the transaction, which may only have one. */
export async function* readByCursor(
  runner: Runner, { text, values }: Statement,
): AsyncGenerator<readonly Row[]> {
  const unnamed = { values: [], isUnnamed: true };
  const fetch = { ...unnamed, text: `FETCH ${POSTGRES_CURSOR_ROWS} FROM cursor_rows` };
  const declare = { ...unnamed, text: `DECLARE cursor_rows NO SCROLL CURSOR FOR ${text}`, values };
  for (let results = await runner.run([declare, fetch]); ; results = await runner.run([fetch])) {
    const { rows } = results.at(-1) ?? NO_RESULT;
    yield rows;
    if (rows.length < POSTGRES_CURSOR_ROWS) break;
  }
  await runner.run([{ ...unnamed, text: 'CLOSE cursor_rows' }]);
}

/** Each statement is one round trip. */
export function sqlOf(runner: Runner): Sql {
  return {
    prepare(text) {
      const execute = async (parameters: Parameters = {}): Promise<Result> => {
        const owner = parameters['sellerId'];
        return (await runner.run([toPositional(text, parameters)], { owner }))[0] ?? NO_RESULT;
      };
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
