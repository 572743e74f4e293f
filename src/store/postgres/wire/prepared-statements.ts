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
  /** Why it could not be prepared. */
  error?: PostgresError;
}

export class PreparedStatements {
  /** In the order of their last use. */
  readonly #byText = new Map<string, PreparedStatement>();
  /** Random: behind a transaction pooler, a name must not find another client's statement. */
  readonly #prefix = `s${randomBytes(6).toString('hex')}_`;
  #prepared = 0;

  /** Calls back to prepare a new statement, and with the name of one to close. */
  use(
    text: string, prepare: (statement: PreparedStatement, toClose: string | undefined) => void,
  ): PreparedStatement {
    let statement = this.#byText.get(text);
    if (statement === undefined || statement.error !== undefined) {
      this.#prepared += 1;
      statement = { name: `${this.#prefix}${this.#prepared}`, columns: [] };
      prepare(statement, this.#evict());
    }
    this.#byText.delete(text); // and set again: a Map keeps insertion order
    this.#byText.set(text, statement);
    return statement;
  }

  #evict(): string | undefined {
    const [oldest] = this.#byText;
    if (!oldest || this.#byText.size < POSTGRES_STATEMENTS_LIMIT) return undefined;
    const [text, { name }] = oldest;
    this.#byText.delete(text);
    return name;
  }
}
