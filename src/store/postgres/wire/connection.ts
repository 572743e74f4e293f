/**
 * A connection: a queue of exchanges, of which many are in flight at a time. What is sent in one
 * iteration of the event loop goes out in one write. After an error of the network or of the
 * protocol, or when an answer is late, the connection is closed, and everything in flight is
 * rejected with ConnectionLostError: nobody waits forever.
 */
import {
  ConnectionLostError, parseError, PoolExhaustedError, unexpectedMessage,
} from './errors.ts';
import type { Exchange } from './exchange.ts';
import {
  POSTGRES_ANSWER_TIMEOUT_MS, POSTGRES_CLOSE_TIMEOUT_MS, POSTGRES_PIPELINE_LIMIT,
  POSTGRES_QUEUE_LIMIT,
} from './limits.ts';
import { MessageReader } from './message-reader.ts';
import { MessageWriter } from './message-writer.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { describeServer, requestCancel } from './socket.ts';
import type { Session } from './startup.ts';
import {
  type Result, ROLLBACK, type RunOptions, type Statement, StatementRun,
} from './statement-run.ts';

const WRITE_BYTES = 64 * 1024;
/** SQLSTATE of a write on a standby. */
const READ_ONLY = '25006';

export class Connection {
  readonly session: Session;
  /** After the last answer: no transaction, in a transaction, in one that failed. */
  status: 'I' | 'T' | 'E' = 'I';
  /** Whether all that was in flight is rejected. */
  isLost = false;
  /** Called after answers, and once the connection is lost. */
  onChange: (() => void) | undefined;
  /** Called with the time between sending an exchange and its last answer, in milliseconds. */
  onRoundTrip: ((ms: number) => void) | undefined;
  readonly #writer = new MessageWriter();
  /** Undefined behind a transaction pooler. */
  readonly #prepared: PreparedStatements | undefined;
  readonly #waiting: Exchange[] = [];
  readonly #inFlight: Exchange[] = [];
  readonly #closed = Promise.withResolvers<void>();
  #isClosing = false;
  #isFlushScheduled = false;

  constructor(session: Session) {
    this.session = session;
    this.#prepared = session.poolMode === 'session' ? new PreparedStatements() : undefined;
    const reader = new MessageReader((type, buffer, start, end) =>
      this.#receive(type, buffer, start, end));
    session.socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
        this.#afterAnswers();
      } catch (error) {
        this.destroy(error as Error); // nothing else is thrown
      }
    }).on('drain', this.#flush).on('error', (error) => this.destroy(error))
      .on('close', () => this.destroy(new Error('server closed the connection unexpectedly')))
      .resume();
  }

  /** Whether it takes exchanges. */
  get isOpen(): boolean {
    return !this.isLost && !this.#isClosing;
  }

  /** Exchanges that wait or are in flight. */
  get load(): number {
    return this.#waiting.length + this.#inFlight.length;
  }

  /**
   * Executes statements in one round trip, as one transaction unless `BEGIN` was executed before.
   * Rejects with PostgresError or ConnectionLostError.
   */
  run(statements: readonly Statement[], options: RunOptions = {}): Promise<readonly Result[]> {
    return this.execute(new StatementRun(statements, options), options.timeoutMs);
  }

  /** Queues an exchange. */
  execute<Answer>(exchange: Exchange<Answer>, timeoutMs?: number): Promise<Answer> {
    if (!this.isOpen) {
      exchange.settle(new ConnectionLostError('The connection is closed.', false));
    } else if (this.#waiting.length >= POSTGRES_QUEUE_LIMIT) {
      exchange.settle(new PoolExhaustedError('Too many statements wait for a connection.'));
    } else {
      this.#waiting.push(exchange);
      this.extend(exchange, timeoutMs);
      if (!this.#isFlushScheduled) setImmediate(this.#flush);
      this.#isFlushScheduled = true;
    }
    return exchange.answer;
  }

  /** Gives the server time from now on to continue an exchange. */
  extend(exchange: Exchange, timeoutMs = POSTGRES_ANSWER_TIMEOUT_MS): void {
    clearTimeout(exchange.timer);
    if (exchange.isSettled) return;
    exchange.timer = setTimeout(() => {
      const error = new Error(`no answer from the server within ${timeoutMs} ms`);
      const index = this.#waiting.indexOf(exchange);
      if (index >= 0) {
        this.#waiting.splice(index, 1);
        exchange.settle(new ConnectionLostError(error.message, false));
      } else {
        // A statement that is late itself, and is nobody else's. The server may be gone.
        if (this.#inFlight.length === 1) this.cancel().catch(() => {});
        this.destroy(error);
      }
    }, timeoutMs);
  }

  /** Asks the server to cancel what it executes for this connection. */
  cancel(): Promise<void> {
    return requestCancel(this.session.server, this.session.backendKey);
  }

  /** Resolves once everything was answered and the connection is closed. */
  close(): Promise<void> {
    this.#isClosing = true;
    this.#afterAnswers();
    return this.#closed.promise;
  }

  /** Closes it at once. The outcome of what is in flight is unknown. */
  destroy(reason: Error): void {
    if (this.isLost) return;
    this.isLost = true;
    this.session.socket.destroy();
    const message = `${describeServer(this.session.server)} was lost: ${reason.message}`;
    const inFlight = this.#inFlight.splice(0);
    for (const exchange of [...inFlight, ...this.#waiting.splice(0)]) {
      exchange.settle(new ConnectionLostError(message, inFlight.includes(exchange), reason));
    }
    this.#closed.resolve();
    this.onChange?.();
  }

  readonly #flush = (): void => {
    this.#isFlushScheduled = false;
    while (!this.#isHeld()) {
      const exchange = this.#waiting.shift();
      if (exchange === undefined) break;
      this.#send(exchange);
    }
    this.#write();
  };

  #isHeld(): boolean {
    if (this.#writer.length > WRITE_BYTES) this.#write();
    const last = this.#inFlight.at(-1);
    return this.session.socket.writableNeedDrain
      || this.#inFlight.length >= POSTGRES_PIPELINE_LIMIT
      || (last !== undefined && (last.isBarrier || this.#prepared === undefined));
  }

  #send(exchange: Exchange): void {
    const { length } = this.#writer;
    try {
      exchange.write(this.#writer, this.#prepared);
      exchange.sentAt = performance.now();
      this.#inFlight.push(exchange);
    } catch (error) {
      exchange.settle(error as Error); // a TypeError for a parameter
      if (this.#writer.length > length) this.destroy(error as Error); // half a message
    }
  }

  #write(): void {
    if (!this.isLost && this.#writer.length > 0) this.session.socket.write(this.#writer.take());
  }

  #receive(type: string, buffer: Buffer, start: number, end: number): void {
    if (this.isLost || type === 'N' || type === 'A' || type === 'S') return; // of no use
    const exchange = this.#inFlight[0];
    if (type === 'E') {
      const error = parseError(buffer.subarray(start, end));
      if (error.isFatal || exchange === undefined) throw error;
      // A new connection finds the primary, and prepares its statements for the tables of now.
      if (error.sqlstate === READ_ONLY || error.isStale) this.#isClosing = true;
      exchange.fail(error);
    } else if (exchange === undefined) throw unexpectedMessage(type);
    else if (type === 'Z') this.#endPart(exchange, buffer.toString('latin1', start, end));
    else exchange.receive(type, buffer, start, end);
  }

  #endPart(exchange: Exchange, status: string): void {
    if (status !== 'I' && status !== 'T' && status !== 'E') throw unexpectedMessage('Z');
    this.status = status;
    if (!exchange.endPart()) return;
    this.#inFlight.shift();
    this.onRoundTrip?.(performance.now() - exchange.sentAt);
    exchange.settle();
    const isTransaction = exchange instanceof StatementRun && exchange.isBarrier;
    if (isTransaction && status === 'E') this.#rollBack();
  }

  /** Before anything else is sent. */
  #rollBack(): void {
    const rollback = new StatementRun([ROLLBACK], {});
    rollback.answer.catch(() => {}); // only if the connection is lost
    this.extend(rollback);
    this.#waiting.unshift(rollback);
    this.status = 'I';
  }

  #afterAnswers(): void {
    if (this.#waiting.length > 0) this.#flush();
    const { socket } = this.session;
    if (this.#isClosing && this.load === 0 && !socket.writableEnded) {
      socket.end(this.#writer.message('X').take());
      setTimeout(() => socket.destroy(), POSTGRES_CLOSE_TIMEOUT_MS).unref();
    }
    this.onChange?.();
  }
}
