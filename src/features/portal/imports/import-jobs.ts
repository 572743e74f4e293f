/**
 * The import jobs that a node receives, shows and runs. They are kept in the store if several nodes
 * share it, and in the memory of the process otherwise. A seller never sees another seller's jobs.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { ConcurrencyLimiter } from '../../../domain/concurrency-limiter.ts';
import type {
  ImportFile, ImportJobKey, ImportJobStore, StoredImportJob,
} from '../../../store/nodes/import-job-store.ts';
import { monotonicOf } from '../../../runtime/clock.ts';
import {
  CONCURRENT_UPLOADS_LIMIT, CONCURRENT_UPLOADS_PER_SELLER_LIMIT, IMPORT_LIFE_MS,
  IMPORT_SILENCE_LIMIT_MS, IMPORT_SWEEP_INTERVAL_MS, IMPORTS_KEPT_PER_SELLER_LIMIT,
  UPLOAD_CHUNK_BYTES, UPLOAD_LIMIT_BYTES, UPLOADS_KEPT_LIMIT_BYTES,
} from '../limits.ts';
import {
  type ImportContext, ImportJob, type JobContent, type JobContext, VOID,
} from './import-job.ts';
import { type Importer, isRunning } from './job-kind.ts';
import { type JobTask, openFileTask } from './job-kinds.ts';
import { MemoryJobs } from './memory-jobs.ts';
import type { UploadOptions } from './csv-fields.ts';
import { readFileHead, UploadedFile } from './uploaded-file.ts';

/** The content of a new job. */
interface NewJob {
  readonly task: JobTask;
  readonly upload?: UploadedFile;
}

const ID = /^[\da-f-]{36}$/;

export class ImportJobs {
  readonly #context: JobContext;
  readonly #store: ImportJobStore;
  readonly #memory?: MemoryJobs;
  readonly #keptLimitBytes: number;
  readonly #uploads = new ConcurrencyLimiter<SellerId>('uploads', {
    total: CONCURRENT_UPLOADS_LIMIT, perOwner: CONCURRENT_UPLOADS_PER_SELLER_LIMIT,
  });
  readonly #sweepTimer: NodeJS.Timeout;
  readonly #stopping = new AbortController();

  readonly #reportError = (error: unknown): void => {
    this.#context.report({ id: 'import', error });
  };

  /** @param keptLimitBytes Limit on the total size of the uploaded files. */
  constructor(context: ImportContext, keptLimitBytes = UPLOADS_KEPT_LIMIT_BYTES) {
    const { store: { importJobs }, uploadFolder, clock } = context;
    const { signal: stopping } = this.#stopping;
    this.#store = importJobs ?? (this.#memory = new MemoryJobs(uploadFolder, monotonicOf(clock)));
    this.#context = { ...context, jobs: this.#store, runs: new Map(), stopping };
    this.#keptLimitBytes = keptLimitBytes;
    this.#sweepTimer = setInterval(() => void this.#sweep(), IMPORT_SWEEP_INTERVAL_MS).unref();
  }

  /**
   * Receives a file and starts its dry run.
   * @throws AppError `invalid_data`, `body_too_large`, `storage_full`; `unavailable` if there are
   * too many uploads, or the server is shutting down
   */
  async receive(
    importer: Importer, name: string, content: AsyncIterable<Buffer>, options?: UploadOptions,
  ): Promise<ImportJob> {
    using slot = new DisposableStack();
    slot.defer(this.#uploads.acquire(importer.sellerId));
    return await this.#create(importer, async (key) => {
      const file = await this.#store.createFile(key, 'upload');
      await fill(file, content);
      const head = await readFileHead(() => file.read(), options);
      const upload = new UploadedFile({ name, head, sizeBytes: file.sizeBytes }, {
        key, store: this.#store,
      });
      const run = { importer, upload, store: this.#context.store };
      return { task: await openFileTask(head.kind, run), upload };
    });
  }

  /** Starts the dry run of a task. @throws AppError `unavailable` if the server shuts down */
  start(importer: Importer, task: JobTask): Promise<ImportJob> {
    return this.#create(importer, async () => ({ task }));
  }

  /** @throws AppError `not_found` */
  async get(sellerId: SellerId, id: string): Promise<ImportJob> {
    const storedJob = ID.test(id) ? await this.#store.findJob({ sellerId, id }) : undefined;
    const job = storedJob && await this.#open(storedJob);
    if (job) return job;
    const problem = 'This import no longer exists. Its imported products are kept.';
    throw new AppError('not_found', `${problem} To continue, upload the file again.`);
  }

  /** Newest first. */
  async list(sellerId: SellerId): Promise<readonly ImportJob[]> {
    const jobs = (await this.#store.listJobs(sellerId)).map((storedJob) => this.#open(storedJob));
    return (await Promise.all(jobs)).filter((job) => job !== undefined);
  }

  /** Stops a job and deletes it. @throws AppError `not_found` */
  async discard(sellerId: SellerId, id: string): Promise<void> {
    await this.#delete((await this.get(sellerId, id)).key);
  }

  /** Stops all jobs of this process. The store keeps what it has, for other nodes. */
  async close(): Promise<void> {
    this.#stopping.abort(VOID);
    clearInterval(this.#sweepTimer);
    await Promise.all([...this.#context.runs.values()].map((job) => job.stop()));
    await this.#memory?.close();
  }

  /** @param open Receives the file of the job, if it has one, and returns its task. */
  async #create(
    importer: Importer, open: (key: ImportJobKey) => Promise<NewJob>,
  ): Promise<ImportJob> {
    const { sellerId } = importer;
    const key = { sellerId, id: randomUUID() };
    await this.#store.createJob(key);
    try {
      const { task, upload } = await open(key);
      await this.#deleteExcess(sellerId);
      if (this.#stopping.signal.aborted) {
        throw new AppError('unavailable', 'The server is shutting down.');
      }
      const state = { phase: 'ready', task, revision: 0, updatedAt: 0 } as const;
      const job = new ImportJob({ ...key, importer, version: 0, state, upload }, this.#context);
      await job.dryRun(task);
      void this.#sweep();
      return job;
    } catch (error) {
      await this.#store.deleteJob(key).catch(this.#reportError);
      throw error;
    }
  }

  /** The job that was stored; undefined for one that is no longer kept. */
  async #open(storedJob: StoredImportJob): Promise<ImportJob | undefined> {
    const { sellerId, id, version, content, idleMs } = storedJob;
    const { importer, description } = readContent(content);
    const own = this.#context.runs.get(id);
    if (own?.version === version) {
      own.noteStored(description);
      return own;
    }
    if (idleMs > IMPORT_LIFE_MS) return undefined;
    const { id: _, ...state } = description;
    const files = { key: { sellerId, id }, store: this.#store };
    const upload = 'file' in state.task ? new UploadedFile(state.task.file, files) : undefined;
    const job = new ImportJob({ id, importer, version, state, upload }, this.#context);
    if (isRunning(state) && idleMs > IMPORT_SILENCE_LIMIT_MS) await job.recover();
    return job;
  }

  /** Makes room for one more: deletes the longest idle jobs of a seller who has too many. */
  async #deleteExcess(sellerId: SellerId): Promise<void> {
    const own = await this.#store.listJobs(sellerId);
    const excess = own.length + 1 - IMPORTS_KEPT_PER_SELLER_LIMIT;
    // More jobs are kept than may run on one node.
    const idle = own.filter(({ content }) => !isRunning(readContent(content).description))
      .toReversed().sort((one, other) => other.idleMs - one.idleMs);
    for (const key of idle.slice(0, Math.max(0, excess))) await this.#delete(key);
  }

  async #sweep(): Promise<void> {
    const limits = { lifeMs: IMPORT_LIFE_MS, limitBytes: this.#keptLimitBytes };
    try {
      for (const key of await this.#store.listDisposableJobs(limits)) await this.#delete(key);
    } catch (error) {
      this.#reportError(error);
    }
  }

  async #delete(key: ImportJobKey): Promise<void> {
    await this.#context.runs.get(key.id)?.stop();
    await this.#store.deleteJob(key);
  }
}

/** Plain data of a job; only jobs of this class are stored. */
function readContent(content: unknown): JobContent {
  return content as JobContent;
}

async function fill(file: ImportFile, content: AsyncIterable<Buffer>): Promise<void> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const flush = async (): Promise<void> => {
    const [first, ...others] = pending;
    [pending, pendingBytes] = [[], 0];
    if (first) await file.append(others.length === 0 ? first : Buffer.concat([first, ...others]));
  };
  for await (const chunk of content) {
    pendingBytes += chunk.length;
    if (file.sizeBytes + pendingBytes > UPLOAD_LIMIT_BYTES) {
      const limit = `${UPLOAD_LIMIT_BYTES / 1024 / 1024} MiB`;
      throw new AppError('body_too_large', `The file is larger than ${limit}. `
        + 'Split it, or use the command line, which accepts files of any size.');
    }
    pending.push(chunk);
    if (pendingBytes >= UPLOAD_CHUNK_BYTES) await flush();
  }
  await flush();
}
