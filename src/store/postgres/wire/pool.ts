/**
 * Connections that are opened when they are needed. Pipelines of many callers share a connection;
 * a transaction with several round trips has one to itself. While no server can be reached, callers
 * fail at once with the cause, and attempts to connect are spaced out.
 */
import { type Backoff, retryDelayMs } from '../../../runtime/backoff.ts';
import { makeHistogram } from '../../../runtime/histogram.ts';
import type { Connection } from './connection.ts';
import { ConnectionLostError, PoolExhaustedError } from './errors.ts';
import {
  POSTGRES_QUEUE_LIMIT, POSTGRES_QUEUE_TIMEOUT_MS, POSTGRES_RETRY_FIRST_MS,
  POSTGRES_RETRY_LIMIT_MS, POSTGRES_SHARED_LOAD,
} from './limits.ts';
import { type Result, ROLLBACK, type RunOptions, type Statement } from './statement-run.ts';

interface PoolOptions {
  readonly open: () => Promise<Connection>;
  /** Connections at a time; they are kept until they are lost. */
  readonly max: number;
  readonly queueLimit?: number;
  readonly queueTimeoutMs?: number;
  readonly backoff?: Backoff;
}

interface Waiter {
  readonly isExclusive: boolean;
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const ROUND_TRIP_BOUNDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5];

export class Pool {
  readonly #options: Required<PoolOptions>;
  readonly #connections = new Set<Connection>();
  /** Those that callers have to themselves. */
  readonly #exclusive = new Set<Connection>();
  readonly #waiting = new Set<Waiter>();
  readonly #roundTrips = makeHistogram(ROUND_TRIP_BOUNDS);
  readonly #closed = Promise.withResolvers<void>();
  #opening = 0;
  #failures = 0;
  #retryAt = 0;
  #lastError: Error | undefined;
  #isClosing = false;

  constructor(options: PoolOptions) {
    this.#options = {
      queueLimit: POSTGRES_QUEUE_LIMIT, queueTimeoutMs: POSTGRES_QUEUE_TIMEOUT_MS,
      backoff: { firstMs: POSTGRES_RETRY_FIRST_MS, limitMs: POSTGRES_RETRY_LIMIT_MS },
      ...options,
    };
  }

  /**
   * Executes statements in one round trip, on a connection that other callers share. They must not
   * begin a transaction, which others would be in: that is what `isTransaction` and `use` are for.
   */
  run(statements: readonly Statement[], options: RunOptions = {}): Promise<readonly Result[]> {
    if (statements.some(({ text }) => /^(?:BEGIN|START)/i.test(text))) {
      return Promise.reject(new TypeError('A shared connection cannot begin a transaction.'));
    }
    const connection = this.#findLeastBusy();
    // A transaction delays what is pipelined behind it.
    const limit = options.isTransaction === true ? 1 : POSTGRES_SHARED_LOAD;
    if ((connection === undefined || connection.load >= limit) && this.#opening === 0) this.#open();
    if (connection !== undefined) return connection.run(statements, options);
    return this.#wait(false).then((nextConnection) => nextConnection.run(statements, options));
  }

  /** Gives the caller a connection of its own, and rolls back a transaction that it leaves open. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#findLeastBusy()?.load !== 0) this.#open();
    const waiting = this.#wait(true);
    this.#serve();
    const connection = await waiting;
    try {
      const result = await work(connection);
      if (connection.status !== 'I' && !connection.isLost) {
        throw new Error('A transaction was left open.');
      }
      return result;
    } finally {
      if (connection.status !== 'I' || connection.load > 0) {
        await connection.run([ROLLBACK]).catch((error: Error) => connection.destroy(error));
      }
      this.#exclusive.delete(connection);
      if (this.#isClosing) void connection.close();
      this.#serve();
    }
  }

  /** Open and busy connections, callers without one, and round trips in seconds. */
  readMetrics() {
    const busy = [...this.#connections].filter((connection) =>
      connection.load > 0 || this.#exclusive.has(connection));
    return {
      open: this.#connections.size, busy: busy.length, waiting: this.#waiting.size,
      roundTrips: this.#roundTrips.read(),
    };
  }

  /** Rejects callers that wait; resolves once everything in flight was answered. */
  close(): Promise<void> {
    this.#isClosing = true;
    for (const connection of this.#connections) {
      if (!this.#exclusive.has(connection)) void connection.close();
    }
    this.#serve();
    return this.#closed.promise;
  }

  #findLeastBusy(): Connection | undefined {
    let leastBusy: Connection | undefined;
    for (const connection of this.#connections) {
      if (connection.isOpen && !this.#exclusive.has(connection)
        && connection.load < (leastBusy?.load ?? Infinity)) leastBusy = connection;
    }
    return leastBusy;
  }

  #wait(isExclusive: boolean): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const { queueLimit, queueTimeoutMs } = this.#options;
    const failure = this.#findFailure() ?? (this.#waiting.size < queueLimit ? undefined
      : new PoolExhaustedError(`${queueLimit} callers wait for a connection.`));
    if (failure) return Promise.reject(failure);
    const timer = setTimeout(() => {
      this.#waiting.delete(waiter);
      const message = `No connection was free within ${queueTimeoutMs} ms.`;
      reject(this.#connections.size > 0 ? new PoolExhaustedError(message)
        : new ConnectionLostError(message, false, this.#lastError));
    }, queueTimeoutMs);
    const waiter: Waiter = { isExclusive, resolve, reject, timer };
    this.#waiting.add(waiter);
    return promise;
  }

  /** Why nobody gets a connection. */
  #findFailure(): ConnectionLostError | undefined {
    if (this.#isClosing) return new ConnectionLostError('The pool is closed.', false);
    if (this.#connections.size + this.#opening > 0) return undefined;
    return new ConnectionLostError(String(this.#lastError?.message), false, this.#lastError);
  }

  /** Gives connections to those who wait for one, or rejects them. */
  #serve(): void {
    for (const waiter of this.#waiting) {
      const connection = this.#findLeastBusy();
      if (connection === undefined) break;
      if (waiter.isExclusive) {
        if (connection.load > 0 && this.#opening > 0) continue;
        this.#exclusive.add(connection);
      }
      this.#waiting.delete(waiter);
      clearTimeout(waiter.timer);
      waiter.resolve(connection);
    }
    if (this.#waiting.size > this.#opening) this.#open();
    const failure = this.#findFailure();
    for (const waiter of failure ? this.#waiting : []) {
      this.#waiting.delete(waiter);
      clearTimeout(waiter.timer);
      if (failure) waiter.reject(failure);
    }
    if (this.#isClosing && this.#connections.size + this.#opening === 0) this.#closed.resolve();
  }

  #open(): void {
    const { open, max, backoff } = this.#options;
    const isFull = this.#connections.size + this.#opening >= max;
    if (this.#isClosing || isFull || performance.now() < this.#retryAt) return;
    this.#opening += 1;
    open().then((connection) => {
      this.#failures = 0;
      if (!connection.isLost) this.#connections.add(connection);
      connection.onRoundTrip = (ms) => this.#roundTrips.add(ms / 1_000);
      connection.onChange = () => {
        if (connection.isLost) this.#connections.delete(connection);
        if (this.#waiting.size > 0 || this.#isClosing) this.#serve();
      };
      if (this.#isClosing) void connection.close();
    }, (error: Error) => {
      this.#lastError = error;
      this.#retryAt = performance.now()
        + retryDelayMs(backoff, this.#failures, { random: Math.random() });
      this.#failures += 1;
    }).finally(() => {
      this.#opening -= 1;
      this.#serve();
    });
  }
}
