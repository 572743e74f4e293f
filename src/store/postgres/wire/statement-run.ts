/**
 * A pipeline of statements, answered by one result each. All of them are one transaction, unless
 * one was begun before. If a statement fails, the server skips the rest, or rejects it (25P02).
 *
 * A server that waits in the middle of a pipeline for the rest of it obeys no timeout and keeps its
 * locks, for as long as a client is paused. After Sync, `idle_in_transaction_session_timeout` ends
 * the wait: so one precedes whatever is large in a transaction.
 */
import { PostgresError, ProtocolError } from './errors.ts';
import { Exchange } from './exchange.ts';
import { POSTGRES_RESULT_LIMIT_BYTES, POSTGRES_SYNC_BYTES } from './limits.ts';
import type { MessageWriter } from './message-writer.ts';
import type { PreparedStatement, PreparedStatements } from './prepared-statements.ts';
import {
  decodeInteger, decodeRow, encodeParameter, type Parameter, parseColumns, type Row,
} from './values.ts';

/** A statement with positional parameters: `$1`, `$2`. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Parameter[];
  /** Not to be prepared by name: it is unlikely to be executed again on the same connection. */
  readonly isUnnamed?: boolean;
}

export interface Result {
  readonly rows: readonly Row[];
  /** Rows that the statement returned or changed. */
  readonly count: number;
}

export interface RunOptions {
  /** Puts BEGIN before and COMMIT after the statements, and rolls back if one fails. */
  readonly isTransaction?: boolean;
  /** Whose statements they are, where sellers take turns. */
  readonly owner?: unknown;
  /** How long the answer may take; then it is cancelled and the connection closed. */
  readonly timeoutMs?: number;
  /** Called when they are sent. */
  readonly onSend?: (() => void) | undefined;
}

export const BEGIN: Statement = { text: 'BEGIN', values: [] };
export const COMMIT: Statement = { text: 'COMMIT', values: [] };
export const ROLLBACK: Statement = { text: 'ROLLBACK', values: [] };
/** The server infers the types of all parameters. */
const NO_TYPES = Uint8Array.of(0, 0);
const POOLER_HINT = 'Behind a pooler in transaction mode, such as pgbouncer, add '
  + 'pool_mode=transaction to the database URL.';

/** A barrier if it is a transaction. */
export class StatementRun extends Exchange<readonly Result[]> {
  readonly #statements: readonly Statement[];
  readonly #prepared: PreparedStatement[] = [];
  /** What the server is about to describe; those with a name are prepared first. */
  readonly #described: PreparedStatement[] = [];
  readonly #results: Result[] = [];
  #rows: Row[] = [];
  #resultBytes = 0;
  readonly #onSend: RunOptions['onSend'];

  constructor(statements: readonly Statement[], { isTransaction = false, onSend }: RunOptions) {
    super(isTransaction);
    this.#statements = isTransaction ? [BEGIN, ...statements, COMMIT] : statements;
    this.#onSend = onSend;
  }

  override write(writer: MessageWriter, prepared: PreparedStatements | undefined): void {
    const parameters = this.#statements.map(encodeStatement);
    const isTransaction = this.#statements[0]?.text.startsWith('BEGIN') === true
      || this.#statements.at(-1) === COMMIT; // else Sync would end one
    const isSynchronized = isTransaction && parameters.flat()
      .reduce((sum, value) => sum + (value?.length ?? 0), 0) > POSTGRES_SYNC_BYTES;
    let expected = '';
    const sync = (): void => {
      writer.message('S');
      expected += 'Z';
    };
    for (const { text, isUnnamed } of this.#statements) {
      // In a part of its own, so that no failure of another statement prevents it.
      const statement = isUnnamed ? undefined : prepared?.use(text, (created, toClose) => {
        if (toClose !== undefined) writer.message('C', `S${toClose}`);
        writer.message('P', created.name, text, NO_TYPES).message('D', `S${created.name}`);
        this.#described.push(created);
        expected += toClose === undefined ? '1tT' : '31tT';
        sync();
      });
      this.#prepared.push(statement ?? { name: '', columns: [] });
    }
    this.#prepared.forEach((statement, index) => {
      const { name } = statement;
      if (name === '') {
        writer.message('P', '', this.#statements[index]?.text ?? '', NO_TYPES);
        this.#described.push(statement);
        expected += '1';
        if (isSynchronized) sync();
      }
      expected += name === '' ? '2TDC' : '2DC';
      writer.bind(name, parameters[index] ?? []);
      if (name === '') writer.message('D', 'P');
      writer.message('E', '', 0); // all rows
      if (isSynchronized && index < this.#prepared.length - 1) sync();
    });
    sync();
    this.expect(expected);
    this.#onSend?.();
  }

  protected override take(type: string, buffer: Buffer, start: number, end: number): void {
    if (type === 'D') this.#addRow(buffer, start, end);
    else if (type === 'C' || type === 'I') this.#endStatement(buffer, start, end);
    else if (type === 'T' || type === 'n') {
      const statement = this.#described.shift();
      if (statement && type === 'T') statement.columns = parseColumns(buffer.subarray(start, end));
    }
  }

  override fail(error: PostgresError): void {
    super.fail(undefined);
    const [next] = this.#described;
    if (next !== undefined && next.name !== '') {
      next.error = error; // its execution will fail, too
      this.#described.shift();
    } else this.error ??= addHint(this.#prepared[this.#results.length]?.error ?? error);
  }

  protected override readResult(): readonly Result[] {
    return this.isBarrier ? this.#results.slice(1, -1) : this.#results;
  }

  /** A row, or the error of one that cannot be read. */
  #addRow(buffer: Buffer, start: number, end: number): void {
    this.#resultBytes += end - start;
    if (this.#resultBytes > POSTGRES_RESULT_LIMIT_BYTES) {
      throw new ProtocolError('The result is too large: read it in parts.');
    }
    const columns = this.#prepared[this.#results.length]?.columns ?? [];
    try {
      this.#rows.push(decodeRow(columns, buffer, start, end));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.error ??= error;
    }
  }

  /** By CommandComplete's tag, such as `INSERT 0 5`, `SELECT 2`, `COMMIT`. */
  #endStatement(buffer: Buffer, start: number, end: number): void {
    // COMMIT of a transaction that failed is no error for the server.
    if (this.#statements[this.#results.length]?.text === 'COMMIT'
      && buffer.toString('latin1', start, end - 1) === 'ROLLBACK') {
      this.error ??= new PostgresError('The transaction had failed and was rolled back.', '25P02');
    }
    let digits = end - 1; // before the NUL
    while (digits > start && isDigit(buffer[digits - 1] ?? 0)) digits -= 1;
    this.#results.push({ rows: this.#rows, count: decodeInteger(buffer, digits, end - 1) });
    this.#rows = [];
  }
}

/** About a statement that is not prepared, or a name that is taken. */
function addHint(error: PostgresError): PostgresError {
  const { sqlstate, message } = error;
  const isPooled = sqlstate === '26000' || sqlstate === '42P05';
  return isPooled ? new PostgresError(`${message}. ${POOLER_HINT}`, sqlstate) : error;
}

/** @throws TypeError for what PostgreSQL does not have. */
function encodeStatement({ text, values }: Statement): readonly (string | Uint8Array | null)[] {
  if (text.includes('\0')) throw new TypeError('A statement for PostgreSQL contains NUL.');
  return values.map(encodeParameter);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
