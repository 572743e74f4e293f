/**
 * The prepared statements of one connection, by text. Each is prepared and described once. Their
 * number is bounded: the one used longest ago is closed.
 */
import { randomBytes } from 'node:crypto';
import type { PostgresError } from './errors.ts';
import { POSTGRES_STATEMENTS_LIMIT } from './limits.ts';
import type { Column } from './values.ts';

export interface PreparedStatement {
  /** Empty: the unnamed statement. */
  readonly name: string;
  columns: readonly Column[];
  lastUse: number;
  /** Why it could not be prepared. */
  error?: PostgresError;
}

export class PreparedStatements {
  readonly #byText = new Map<string, PreparedStatement>();
  /** Random: behind a transaction pooler, a name must not find another client's statement. */
  readonly #prefix = `s${randomBytes(6).toString('hex')}_`;
  #uses = 0;

  /** Calls back to prepare a new statement, and with the name of one to close. */
  use(
    text: string, prepare: (statement: PreparedStatement, toClose: string | undefined) => void,
  ): PreparedStatement {
    this.#uses += 1;
    let statement = this.#byText.get(text);
    if (statement === undefined || statement.error !== undefined) {
      statement = { name: `${this.#prefix}${this.#uses}`, columns: [], lastUse: 0 };
      prepare(statement, this.#evict());
      this.#byText.set(text, statement);
    }
    statement.lastUse = this.#uses;
    return statement;
  }

  #evict(): string | undefined {
    if (this.#byText.size < POSTGRES_STATEMENTS_LIMIT) return undefined;
    const [oldest, { name }] = [...this.#byText]
      .reduce((a, b) => b[1].lastUse < a[1].lastUse ? b : a);
    this.#byText.delete(oldest);
    return name;
  }
}
