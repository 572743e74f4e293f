/**
 * One background job: a dry run, repeated whenever the seller changes the settings, then the same
 * for real. Both run in the background on the node that started them, one after the other, and each
 * start and end replaces the job in the store. What was written is kept, however the job ends.
 *
 * The store keeps the state in versions. Each change replaces the version that it is based on: of
 * several requests and nodes that change the same one, one succeeds.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { includesRole } from '../../../domain/access/account.ts';
import { describeProblem } from '../../../http/response/problem.ts';
import type { ImportJobKey, ImportJobStore } from '../../../store/nodes/import-job-store.ts';
import { IMPORT_END_ATTEMPTS, IMPORT_PROGRESS_INTERVAL_MS } from '../limits.ts';
import type { Portal } from '../route.ts';
import {
  type Importer, isRunning, type JobDescription, type TaskRun,
} from './job-kind.ts';
import { type JobTask, kindOf, noteCounts, withoutProgress } from './job-kinds.ts';
import type { UploadedFile } from './uploaded-file.ts';

type Description = JobDescription<JobTask>;
type JobState = Omit<Description, 'id'>;

/** What the store keeps of a job: plain data. */
export interface JobContent {
  readonly importer: Importer;
  readonly description: Description;
}

/** Services that all jobs share; portal and API imports share the limiter `imports`. */
export type ImportContext =
  Pick<Portal, 'store' | 'imports' | 'uploadFolder' | 'report' | 'clock'>;

/** What the jobs of one node share. */
export interface JobContext extends ImportContext {
  readonly jobs: ImportJobStore;
  /** Jobs with a run on this node, by id. */
  readonly runs: Map<string, ImportJob>;
  /** Aborted, as `VOID`, when this node stops: a run that starts after that ends at once. */
  readonly stopping: AbortSignal;
}

/** How a run ends. */
type End = Pick<JobState, 'phase' | 'problem'>;

/** Aborts a run that is void: its server stops, or the job was replaced or deleted. */
export const VOID = Symbol('void');
const STOPPED: End = { phase: 'failed', problem: 'The server stopped.' };
/** Aborts an import whose account may no longer change products. */
const UNAUTHORIZED = Symbol('unauthorized');
const LOCKED_OUT: End = {
  phase: 'failed', problem: 'The account that started this may no longer change products.',
};

export class ImportJob {
  readonly key: ImportJobKey;
  /** The file that the job imports. */
  readonly upload: UploadedFile | undefined;
  readonly #context: JobContext;
  #importer: Importer;
  #version: number;
  #state: JobState;
  #stored: Description | undefined;
  #abort = new AbortController();
  #running = Promise.resolve();

  /** @param version Of this state in the store. */
  constructor(
    { id, importer, version, state, upload }: {
      readonly id: string;
      readonly importer: Importer;
      readonly version: number;
      readonly state: JobState;
      readonly upload: UploadedFile | undefined;
    },
    context: JobContext,
  ) {
    this.key = { sellerId: importer.sellerId, id };
    this.upload = upload;
    this.#importer = importer;
    this.#version = version;
    this.#state = state;
    this.#context = context;
  }

  get id(): string {
    return this.key.id;
  }

  /** Who uploaded or previewed it, until it starts; then who started it. */
  get importer(): Importer {
    return this.#importer;
  }

  get version(): number {
    return this.#version;
  }

  get state(): JobState {
    return this.#state;
  }

  /** As the store has it: all nodes show the same progress. */
  get description(): Description {
    return this.#stored ?? this.#toContent(this.#state).description;
  }

  /** For a run of its task. */
  get run(): TaskRun {
    return { importer: this.#importer, store: this.#context.store, upload: this.upload };
  }

  /** @param description What the store has of this version. */
  noteStored(description: Description): void {
    this.#stored = description;
  }

  /**
   * Starts the dry run of a task, which replaces the last one. Returns false and does nothing after
   * `commit`, or if another request was first.
   */
  async dryRun(task: JobTask): Promise<boolean> {
    const { phase, revision } = this.state;
    if (phase !== 'checking' && phase !== 'ready') return false;
    const start = { phase: 'checking', task, revision: revision + 1, problem: undefined } as const;
    return this.#start(start, async (signal) => {
      const isEvaluated = !signal.aborted && kindOf(task).isUsable(task);
      const problem = isEvaluated ? await this.#evaluate(task, signal) : undefined;
      return signal.aborted ? undefined : { phase: 'ready', problem };
    });
  }

  /**
   * Starts the import, in the name of `importer`. Returns false and does nothing if the dry run has
   * no result, the settings have changed since `revision`, or another request was first.
   * @throws AppError `unavailable` if too many imports are running
   */
  async commit(revision: number | undefined, importer: Importer): Promise<boolean> {
    const { phase, task: previewed, revision: current } = this.state;
    const canStart = phase === 'ready' && kindOf(previewed).canStart(previewed);
    if (!canStart || revision !== current) return false;
    const task = withoutProgress(previewed);
    const release = this.#context.imports.acquire(this.key.sellerId);
    using slot = new DisposableStack();
    slot.defer(release);
    const hasStarted = await this.#start({ phase: 'importing', task }, (signal) =>
      this.#write(task, signal).finally(release), importer);
    if (hasStarted) slot.move(); // which its end releases
    return hasStarted;
  }

  /** Stops the import after the current batch, whichever node runs it. */
  async cancel(): Promise<void> {
    this.#abort.abort();
    await this.#context.jobs.cancelJob(this.key);
  }

  /** Takes over from a node that stopped: repeats a dry run, or ends an import. */
  async recover(): Promise<void> {
    const { phase, task } = this.state;
    if (phase === 'checking') {
      await this.dryRun(withoutProgress(task));
      return;
    }
    const { importId } = task.progress;
    const record = importId === undefined ? undefined
      : await this.#context.store.findImport(this.key.sellerId, importId);
    noteCounts(task, record?.counts);
    this.upload?.noteIncomplete();
    const isDone = record?.finishedAt !== undefined;
    const isOurs = await this.#replace(this.version, isDone ? { phase: 'done' } : STOPPED);
    if (isOurs) await this.upload?.end();
  }

  /** Resolves when nothing is running on this node or the timeout has passed. */
  async waitUntilIdle(timeoutMs: number): Promise<void> {
    await Promise.race([this.#running, wait(timeoutMs, undefined, { ref: false })]);
  }

  /** Ends the run on this node. */
  stop(): Promise<void> {
    this.#abort.abort(VOID);
    return this.#running;
  }

  async #start(
    change: Partial<JobState>, work: (signal: AbortSignal) => Promise<End | undefined>,
    importer = this.importer,
  ): Promise<boolean> {
    const { version } = this;
    if (!await this.#replace(version, change, importer)) return false;
    this.#abort.abort(VOID);
    const abort = this.#abort = new AbortController();
    const { runs, stopping } = this.#context;
    const signal = AbortSignal.any([abort.signal, stopping]);
    runs.set(this.id, this);
    const running = this.#running.then(async () => {
      const timer = setInterval(() => {
        void this.#noteProgress(version + 1, abort);
      }, IMPORT_PROGRESS_INTERVAL_MS).unref();
      const end = await work(signal).finally(() => clearInterval(timer));
      if (end) await this.#end(version + 1, end, signal);
      if (this.#running === running && runs.get(this.id) === this) runs.delete(this.id);
    });
    this.#running = running;
    return true;
  }

  /** Keeps the run going while the store cannot be reached. */
  async #noteProgress(version: number, abort: AbortController): Promise<void> {
    try {
      const content = this.#toContent(this.#state);
      const noted = await this.#context.jobs.noteProgress({ ...this.key, version, content });
      if (!noted) abort.abort(VOID);
      else if (noted.isCancelled) abort.abort();
      else if (!await this.#isAuthorized()) abort.abort(UNAUTHORIZED);
    } catch { /* the next one tries again */ }
  }

  /** A dry run changes nothing. An import needs what the route of its start needs. */
  async #isAuthorized(): Promise<boolean> {
    if (this.state.phase !== 'importing') return true;
    const { importer } = this;
    const { store } = this.#context;
    const account = await store.findAccount(importer);
    const seller = await store.findSeller(importer.sellerId);
    return account !== undefined && includesRole(account.role, 'editor')
      && seller !== undefined && seller.disabledAt === undefined;
  }

  /** The store may be unreachable for some seconds: what the run did must not be lost. */
  async #end(version: number, end: End, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#replace(version, end);
        return;
      } catch (error) {
        if (attempt >= IMPORT_END_ATTEMPTS || signal.reason === VOID) {
          this.#context.report({ id: 'import', error });
          return;
        }
      }
      await wait(IMPORT_PROGRESS_INTERVAL_MS, undefined, { ref: false });
    }
  }

  /** Returns why the dry run has no result. */
  async #evaluate(task: JobTask, signal: AbortSignal): Promise<string | undefined> {
    try {
      const release = this.#context.imports.acquire(this.key.sellerId);
      await kindOf(task).dryRun(task, this.run, signal).finally(release);
      return undefined;
    } catch (error) {
      return this.#explain(error);
    }
  }

  async #write(task: JobTask, signal: AbortSignal): Promise<End> {
    try {
      const isComplete = !signal.aborted && await kindOf(task).write(task, this.run, signal);
      if (isComplete) return { phase: 'done' };
      if (signal.reason === UNAUTHORIZED) return LOCKED_OUT;
      return signal.reason === VOID ? STOPPED : { phase: 'cancelled' };
    } catch (error) {
      return { phase: 'failed', problem: this.#explain(error) };
    }
  }

  /** Returns false and does nothing if that version was replaced or deleted. */
  async #replace(
    version: number, change: Partial<JobState>, importer = this.#importer,
  ): Promise<boolean> {
    const { jobs, clock } = this.#context;
    const state = { ...this.#state, ...change, updatedAt: clock() };
    const hasFile = isRunning(state) || state.phase === 'ready';
    const isReplaced = await jobs.replaceJob({
      ...this.key, version, content: this.#toContent(state, importer),
      isRunning: isRunning(state), sizeBytes: hasFile ? this.upload?.file.sizeBytes ?? 0 : 0,
    });
    if (isReplaced) {
      [this.#version, this.#state, this.#stored] = [version + 1, state, undefined];
      this.#importer = importer;
    }
    return isReplaced;
  }

  #toContent(state: JobState, importer = this.#importer): JobContent {
    const file = this.upload?.description;
    // The cast: a task with a file is still one of its kind.
    const task = { ...state.task, ...(file && { file }) } as JobTask;
    return { importer, description: { id: this.key.id, ...state, task } };
  }

  #explain(error: unknown): string {
    const { detail, instance } = describeProblem(error, this.#context.report);
    return instance === undefined ? detail : `${detail} (${instance})`;
  }
}
