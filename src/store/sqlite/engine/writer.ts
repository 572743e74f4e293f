/**
 * The main thread's side of all writing: it gathers the units of one turn of the event loop, hands
 * them to the writer's thread as one batch, and settles each unit's promise after its commit.
 * While a batch is under way, the next one gathers. Batches and outcomes cross as JSON, which costs
 * half of what copying their objects from thread to thread does.
 */
import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { WRITE_BATCH_LIMIT, WRITE_BATCH_ROWS_LIMIT, WRITE_QUEUE_LIMIT } from '../../limits.ts';
import { FAILURE_LOG_INTERVAL_MS } from '../limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { StoreMetrics } from '../../maintenance-store.ts';
import { CommitMetrics } from './commit-metrics.ts';
import type { Batch, Outcome } from './group-commit.ts';
import type { IdempotencyScope } from '../../rules/idempotency.ts';
import type { MutationInput, MutationName, MutationOutput } from './mutations.ts';
import type { WriterThreadData } from './writer-thread.ts';

const UNKNOWN = {
  isDone: false,
  code: 'unavailable',
  detail: 'It is not known whether the change was made: look before you try again.',
} as const;

const UNSENT = {
  isDone: false,
  code: 'unavailable',
  detail: 'This server cannot write until it is started again. Nothing was changed.',
} as const;

interface Pending {
  /** Rows that the unit is about. */
  readonly rows: number;
  readonly call: Batch['calls'][number];
  settle(outcome: Outcome): void;
}

export class Writer {
  readonly #thread: Worker;
  readonly #clock: () => number;
  #waiting: Pending[] = [];
  #inFlight: Pending[] = [];
  #isScheduled = false;
  /** When what is under way was sent (`performance.now`). */
  #sentAt = 0;
  readonly #metrics = new CommitMetrics();
  #closed: Promise<void> | undefined;
  #failure: Error | undefined;
  #explainedAt = -Infinity;
  #onIdle: () => void = () => {};
  #onCommit: () => void = () => {};

  private constructor(thread: Worker, clock: () => number) {
    this.#thread = thread;
    this.#clock = clock;
    thread.on('message', (text: string) => this.#settle(text));
    thread.on('error', (error: Error) => this.#fail(error));
    thread.on('exit', () => this.#fail(new Error('The thread of the writer has ended.')));
  }

  /** Starts the thread and waits until its connection is open. */
  static async start(data: WriterThreadData, clock: () => number): Promise<Writer> {
    const entry = new URL(`writer-thread${extname(import.meta.filename)}`, import.meta.url);
    const thread = new Worker(entry, { workerData: data, name: 'writer' });
    await once(thread, 'message'); // rejects where the thread fails to start
    return new Writer(thread, clock);
  }

  /** `listener` is called after each commit, before any of its units is answered. */
  onCommit(listener: () => void): void {
    this.#onCommit = listener;
  }

  /**
   * Runs a unit of work, about so many rows, or finds what it did `once`; resolves once it is
   * durable.
   */
  run<Name extends MutationName>(
    name: Name, input: MutationInput<Name>, idempotency?: IdempotencyScope, rows = 1,
  ): Promise<MutationOutput<Name>> {
    return new Promise((resolve, reject) => {
      if (this.#closed || this.#failure || this.#waiting.length >= WRITE_QUEUE_LIMIT) {
        reject(this.#refusal());
        return;
      }
      const settle = (outcome: Outcome): void => {
        // The unit called `name` made this value: units.ts says of what type it is.
        if (outcome.isDone) resolve(outcome.value as MutationOutput<Name>);
        else reject(this.#explain(outcome));
      };
      this.#waiting.push({ rows, call: { name, input, idempotency }, settle });
      this.#schedule();
    });
  }

  readMetrics(): Omit<StoreMetrics, 'walBytes' | 'freeBytes'> {
    return {
      ...this.#metrics.read(),
      canWrite: !this.#failure,
      waitingChanges: this.#inFlight.length + this.#waiting.length,
    };
  }

  /**
   * Refuses what comes, commits what waits, and ends the thread. Its connection is closed after
   * those of `others` are, since the last one of all empties the WAL.
   */
  close(others: Promise<void>): Promise<void> {
    this.#closed ??= this.#close(others);
    return this.#closed;
  }

  async #close(others: Promise<void>): Promise<void> {
    if (this.#inFlight.length + this.#waiting.length > 0) {
      await new Promise<void>((resolve) => { this.#onIdle = resolve; });
    }
    await others;
    if (this.#failure) return;
    const ended = new Promise((resolve) => { this.#thread.once('exit', resolve); });
    this.#thread.postMessage('close');
    await ended;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight.length > 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#inFlight.length > 0 || this.#waiting.length === 0) return;
    this.#inFlight = this.#waiting.splice(0, this.#countNext());
    const batch: Batch = { at: this.#clock(), calls: this.#inFlight.map(({ call }) => call) };
    this.#sentAt = performance.now();
    this.#thread.postMessage(JSON.stringify(batch));
  }

  /** Units of many rows fill a batch sooner, so that nobody waits for long behind them. */
  #countNext(): number {
    let rows = 0;
    const end = this.#waiting.findIndex((pending, index) => {
      rows += pending.rows;
      return index > 0 && (rows > WRITE_BATCH_ROWS_LIMIT || index >= WRITE_BATCH_LIMIT);
    });
    return end < 0 ? this.#waiting.length : end;
  }

  #settle(text: string): void {
    const settled = this.#inFlight;
    const sentAt = this.#sentAt;
    this.#inFlight = [];
    this.#onCommit();
    this.#send(); // the thread works on, while this one reads what it did, and answers
    // The cast: writer-thread.ts answers each batch with its outcomes.
    const outcomes = JSON.parse(text) as Outcome[];
    this.#metrics.note(sentAt, outcomes);
    settled.forEach((pending, index) => {
      pending.settle(outcomes[index] ?? UNKNOWN);
    });
    if (this.#inFlight.length === 0 && this.#waiting.length === 0) this.#onIdle();
  }

  /** The thread is gone. What it had under way may or may not have been committed. */
  #fail(cause: Error): void {
    this.#failure ??= cause;
    const [lost, unsent] = [this.#inFlight, this.#waiting];
    this.#inFlight = [];
    this.#waiting = [];
    for (const pending of lost) pending.settle({ ...UNKNOWN, cause: cause.stack });
    for (const pending of unsent) pending.settle({ ...UNSENT, cause: cause.stack });
    this.#onIdle();
  }

  /** Whoever is refused for a broken disk would fill the log: one of them a second says why. */
  #explain({ code, detail, cause }: Outcome & { isDone: false }): AppError {
    if (code === 'internal') return new AppError(code, detail, { cause });
    const isTold = performance.now() - this.#explainedAt < FAILURE_LOG_INTERVAL_MS;
    if (isTold || cause === undefined) return new AppError(code, detail);
    this.#explainedAt = performance.now();
    return new AppError(code, detail, { cause });
  }

  #refusal(): AppError {
    if (this.#closed) return new AppError('unavailable', 'This server is stopping. Try again.');
    if (this.#failure) {
      const detail = 'This server cannot write until it is started again.';
      return new AppError('unavailable', detail, { cause: this.#failure });
    }
    return new AppError('unavailable', 'Too many changes wait for the disk. Try again soon.', {
      retryAfterSeconds: 1,
    });
  }
}
