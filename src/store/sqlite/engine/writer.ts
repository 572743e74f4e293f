/**
 * The main thread's side of all writes: collects the mutations of one event-loop iteration, sends
 * them to the writer thread as one batch, and settles their promises after the commit. While a
 * batch is in flight, the next one is collected. Batches and outcomes cross threads as JSON.
 */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { WRITE_QUEUE_LIMIT } from '../../limits.ts';
import { FAILURE_LOG_INTERVAL_MS } from '../limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { Moment } from '../../../runtime/clock.ts';
import { startThread } from '../../../runtime/thread.ts';
import type { StoreMetrics } from '../../maintenance-store.ts';
import { CommitMetrics, countBatch } from '../../rules/commit-metrics.ts';
import type { Batch, MutationCall, Outcome } from './group-commit.ts';
import {
  describeCall, type MutationInput, type MutationName, type MutationOutput,
} from '../../rules/mutations/registry.ts';
import type { Idempotency } from '../../write.ts';
import { catalogueLost, LOST, type OpenFile } from '../files/open-files.ts';
import type { WriterThreadData } from './writer-thread.ts';

const failed = (detail: string) => ({ isDone: false, code: 'unavailable', detail }) as const;
const UNKNOWN_OUTCOME
  = failed('The outcome is unknown. Check whether the change exists before retrying.');
const NO_WRITES = 'This server cannot write until it is restarted.';
const NOT_SENT = failed(`${NO_WRITES} Nothing was changed.`);

interface Pending {
  /** Rows that the mutation writes. */
  readonly rows: number;
  readonly call: MutationCall;
  settle(outcome: Outcome): void;
}

export class Writer {
  /** The files that the writer has open. */
  readonly files: readonly OpenFile[];
  readonly #lost = Promise.withResolvers<AppError>();
  /** Resolves if the files lose their names; then nothing is read or written any more. */
  readonly lost = this.#lost.promise;
  readonly #thread: Worker;
  readonly #now: () => Moment;
  readonly #waiting: Pending[] = [];
  #inFlight: Pending[] = [];
  #scheduled: NodeJS.Immediate | undefined;
  /** When the batch in flight was sent (`performance.now`). */
  #sentAt = 0;
  readonly #metrics = new CommitMetrics();
  #closed: Promise<void> | undefined;
  #failure: Error | undefined;
  #isLost = false;
  #explainedAt = -Infinity;
  #onIdle: () => void = () => {};
  #onCommit: () => void = () => {};

  private constructor(thread: Worker, files: readonly OpenFile[], now: () => Moment) {
    this.files = files;
    this.#thread = thread;
    this.#now = now;
    thread.on('message', (message: string | { readonly loss: string }) => {
      if (typeof message === 'string') this.#settle(message);
      else this.#lose(message.loss);
    });
    thread.on('error', (error: Error) => this.#fail(error));
    thread.on('exit', () => this.#fail(new Error('The writer thread has ended.')));
  }

  /** Starts the thread and waits until its connection is open. */
  static async start(data: WriterThreadData, now: () => Moment): Promise<Writer> {
    const thread = startThread(new URL('writer-thread.ts', import.meta.url), {
      workerData: data, name: 'writer',
    });
    // Rejects if the thread fails to start. The cast: its first message is the files.
    const [files] = await once(thread, 'message') as [readonly OpenFile[]];
    return new Writer(thread, files, now);
  }

  /** `listener` is called after each commit, before its mutations are acknowledged. */
  onCommit(listener: () => void): void {
    this.#onCommit = listener;
  }

  /** Runs a mutation, or finds its recorded outcome. Resolves when it is durable. */
  run<Name extends MutationName>(
    name: Name, input: MutationInput<Name>, idempotency?: Idempotency,
  ): Promise<MutationOutput<Name>> {
    const rejection = this.#findRejection();
    if (rejection) return Promise.reject(rejection);
    if (this.#inFlight.length === 0) this.#scheduled ??= setImmediate(() => this.#send());
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome): void => {
        // The mutation called `name` produced this value: the registry has its type.
        if (outcome.isDone) resolve(outcome.value as MutationOutput<Name>);
        else reject(this.#explain(outcome));
      };
      const { rows, scope } = describeCall(name, input, idempotency);
      this.#waiting.push({ rows, call: { name, input, idempotency: scope }, settle });
    });
  }

  /** @throws AppError `unavailable` if the catalogue is lost */
  assertNotLost(): void {
    if (this.#isLost) throw new AppError('unavailable', LOST);
  }

  readMetrics(): Omit<StoreMetrics, 'disk'> {
    return {
      ...this.#metrics.read(),
      failure: this.#isLost ? LOST : this.#failure && !this.#closed ? NO_WRITES : undefined,
      waitingChanges: this.#inFlight.length + this.#waiting.length,
    };
  }

  /**
   * Rejects new mutations, commits waiting ones, and ends the thread. Its connection is closed
   * after `others`, since the last connection to close empties the WAL.
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

  #send(): void {
    this.#scheduled = undefined;
    if (this.#inFlight.length > 0 || this.#waiting.length === 0) return;
    this.#inFlight = this.#waiting.splice(0, countBatch(this.#waiting));
    const { wall: at, lived } = this.#now();
    const batch: Batch = { at, lived, calls: this.#inFlight.map(({ call }) => call) };
    this.#sentAt = performance.now();
    this.#thread.postMessage(JSON.stringify(batch));
  }

  #settle(text: string): void {
    const batch = this.#inFlight;
    const sentAt = this.#sentAt;
    this.#inFlight = [];
    this.#onCommit();
    // One iteration later, so that clients acknowledged in this one can write in the next batch.
    const wait = (): void => { this.#scheduled = setImmediate(() => this.#send()); };
    if (this.#waiting.length > 0) this.#scheduled = setImmediate(wait);
    // The cast: writer-thread.ts answers each batch with its outcomes.
    const outcomes = JSON.parse(text) as Outcome[];
    // Without a cause, a mutation was rejected.
    this.#metrics.note(sentAt, outcomes.flatMap((outcome) =>
      (outcome.isDone || !outcome.cause ? [] : outcome.code)));
    batch.forEach((pending, index) => pending.settle(outcomes[index] ?? UNKNOWN_OUTCOME));
    if (this.#inFlight.length === 0 && this.#waiting.length === 0) this.#onIdle();
  }

  #lose(loss: string): void {
    this.#isLost = true;
    this.#lost.resolve(catalogueLost(loss));
    for (const waiting of this.#waiting.splice(0)) {
      waiting.settle(failed(`${LOST} Nothing was changed.`));
    }
    if (this.#inFlight.length === 0) this.#onIdle();
  }

  /** The thread has ended. Its in-flight batch may or may not have been committed. */
  #fail(cause: Error): void {
    this.#failure ??= cause;
    const inFlight = this.#inFlight.splice(0);
    const waiting = this.#waiting.splice(0);
    for (const pending of inFlight) pending.settle({ ...UNKNOWN_OUTCOME, cause: cause.stack });
    for (const pending of waiting) pending.settle({ ...NOT_SENT, cause: cause.stack });
    this.#onIdle();
  }

  /** A broken disk rejects every mutation; the cause is logged only once a second. */
  #explain({ code, detail, cause }: Outcome & { isDone: false }): AppError {
    if (code === 'internal') return new AppError(code, detail, { cause });
    const now = performance.now();
    const isLogged = now - this.#explainedAt < FAILURE_LOG_INTERVAL_MS;
    if (isLogged || cause === undefined) return new AppError(code, detail);
    this.#explainedAt = now;
    return new AppError(code, detail, { cause });
  }

  #findRejection(): AppError | undefined {
    if (this.#closed) return new AppError('unavailable', 'This server is stopping. Try again.');
    if (this.#isLost) return new AppError('unavailable', `${LOST} Nothing was changed.`);
    if (this.#failure) return new AppError('unavailable', NO_WRITES, { cause: this.#failure });
    if (this.#waiting.length < WRITE_QUEUE_LIMIT) return undefined;
    const detail = 'Too many changes are waiting for the disk. Try again soon.';
    return new AppError('unavailable', detail, { retryAfterSeconds: 1 });
  }
}
