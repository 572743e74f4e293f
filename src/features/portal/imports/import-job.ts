/**
 * One background job: a dry run, repeated whenever the seller changes the settings, then the same
 * for real. Both run in the background, one after the other. What was written is kept, however the
 * job ends.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { describeProblem } from '../../../http/response/problem.ts';
import type { Actor } from '../../../store/write.ts';
import type { Portal } from '../route.ts';
import type { ProductImport } from './products/product-import.ts';
import type { RevertTask } from './revert/revert-task.ts';
import type { StockImport } from './stock/stock-import.ts';

/** Services that all jobs share; portal and API imports share the limiter `imports`. */
export type ImportContext =
  Pick<Portal, 'store' | 'imports' | 'uploadFolder' | 'report' | 'clock'>;

/** What a job does, with certain settings. Other settings are another task. */
export type ImportTask = ProductImport | StockImport | RevertTask;

interface ImportState {
  /** `checking` and `importing` are running, `ready` waits for the seller, the rest are final. */
  readonly phase: 'checking' | 'ready' | 'importing' | 'done' | 'cancelled' | 'failed';
  readonly task: ImportTask;
  /** Incremented when the settings change, so the seller imports only what the preview showed. */
  readonly revision: number;
  /** Why the latest run failed. */
  readonly problem?: string | undefined;
  /** When the phase changed, in milliseconds since 1970. */
  readonly updatedAt: number;
}

export class ImportJob {
  readonly id = randomUUID();
  readonly actor: Actor;
  readonly #context: ImportContext;
  #state: ImportState;
  #abort = new AbortController();
  #running = Promise.resolve();

  constructor(actor: Actor, task: ImportTask, context: ImportContext) {
    this.actor = actor;
    this.#context = context;
    this.#state = { phase: 'ready', task, revision: 0, updatedAt: context.clock() };
  }

  get state(): ImportState {
    return this.#state;
  }

  get isRunning(): boolean {
    return this.#state.phase === 'checking' || this.#state.phase === 'importing';
  }

  /** Disk space that the job needs; 0 once it has ended. */
  get diskBytes(): number {
    const { phase, task } = this.#state;
    return this.isRunning || phase === 'ready' ? task.diskBytes : 0;
  }

  /** Starts the dry run of a task, which replaces the last one. Does nothing after `commit`. */
  dryRun(task: ImportTask): void {
    const { phase, revision } = this.#state;
    if (phase !== 'checking' && phase !== 'ready') return;
    const signal = this.#start({
      phase: 'checking', task, revision: revision + 1, problem: undefined,
    });
    this.#running = this.#running.then(async () => {
      const result = !signal.aborted && task.isUsable ? await this.#evaluate(task, signal) : {};
      if (!signal.aborted) this.#update({ phase: 'ready', ...result });
    });
  }

  /**
   * Starts the import. Returns false and does nothing if the dry run has no result or the settings
   * have changed since `revision`.
   * @throws AppError `unavailable` if too many imports are running
   */
  commit(revision: number | undefined): boolean {
    const { phase, task, revision: current } = this.#state;
    if (phase !== 'ready' || !task.canStart || revision !== current) return false;
    const release = this.#context.imports.acquire(this.actor.sellerId);
    const signal = this.#start({ phase: 'importing' });
    this.#running = this.#write(task, signal).finally(release).then((end) => this.#update(end));
    return true;
  }

  /** Stops the current run after the current batch. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Resolves when nothing is running or the timeout has passed. */
  async waitUntilIdle(timeoutMs: number): Promise<void> {
    await Promise.race([this.#running, wait(timeoutMs, undefined, { ref: false })]);
  }

  /** Stops the current run and deletes its files. */
  async close(): Promise<void> {
    this.cancel();
    await this.#running;
    await this.#state.task.close();
  }

  #start(change: Partial<ImportState>): AbortSignal {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#update(change);
    return this.#abort.signal;
  }

  #update(change: Partial<ImportState>): void {
    this.#state = { ...this.#state, ...change, updatedAt: this.#context.clock() };
  }

  async #evaluate(task: ImportTask, signal: AbortSignal): Promise<Partial<ImportState>> {
    let release: (() => void) | undefined;
    try {
      release = this.#context.imports.acquire(this.actor.sellerId);
      await task.dryRun(signal);
      return {};
    } catch (error) {
      return { problem: this.#explain(error) };
    } finally {
      release?.();
    }
  }

  async #write(task: ImportTask, signal: AbortSignal): Promise<Partial<ImportState>> {
    try {
      return { phase: await task.write(signal) ? 'done' : 'cancelled' };
    } catch (error) {
      return { phase: 'failed', problem: this.#explain(error) };
    }
  }

  #explain(error: unknown): string {
    const { detail, instance } = describeProblem(error, this.#context.report);
    return instance === undefined ? detail : `${detail} (${instance})`;
  }
}
