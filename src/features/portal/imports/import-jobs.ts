/**
 * The server's import jobs, kept in memory only: a restart loses the jobs, but not the products
 * they wrote. A seller never sees another seller's jobs.
 */
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { ConcurrencyLimiter } from '../../../http/concurrency-limiter.ts';
import type { Actor } from '../../../store/write.ts';
import {
  CONCURRENT_UPLOADS_LIMIT, CONCURRENT_UPLOADS_PER_SELLER_LIMIT, IMPORT_LIFE_MS,
  IMPORT_SWEEP_INTERVAL_MS, IMPORTS_KEPT_LIMIT, IMPORTS_KEPT_PER_SELLER_LIMIT, UPLOAD_LIMIT_BYTES,
  UPLOADS_KEPT_LIMIT_BYTES,
} from '../limits.ts';
import { type ImportContext, ImportJob, type ImportTask } from './import-job.ts';
import { openFileImport } from './import-tasks.ts';
import type { Importer } from './products/product-import.ts';
import { TemporaryFile } from './temporary-file.ts';
import { readFileHead, UploadedFile } from './uploaded-file.ts';

export class ImportJobs {
  readonly #context: ImportContext;
  readonly #keptLimitBytes: number;
  /** In upload order. */
  readonly #jobs = new Map<string, ImportJob>();
  readonly #uploads = new ConcurrencyLimiter<SellerId>('uploads', {
    total: CONCURRENT_UPLOADS_LIMIT, perOwner: CONCURRENT_UPLOADS_PER_SELLER_LIMIT,
  });
  readonly #sweepTimer: NodeJS.Timeout;
  #isClosed = false;

  /** @param keptLimitBytes Limit on the total size of the uploaded files. */
  constructor(context: ImportContext, keptLimitBytes = UPLOADS_KEPT_LIMIT_BYTES) {
    this.#context = context;
    this.#keptLimitBytes = keptLimitBytes;
    this.#sweepTimer = setInterval(() => this.#sweep(), IMPORT_SWEEP_INTERVAL_MS).unref();
  }

  /**
   * Receives a file and starts its dry run.
   * @throws AppError `invalid_data`, `body_too_large`, `storage_full`; `unavailable` if there are
   * too many uploads, or the server is shutting down
   */
  async receive(
    importer: Importer, name: string, content: AsyncIterable<Buffer>,
  ): Promise<ImportJob> {
    const release = this.#uploads.acquire(importer.sellerId);
    try {
      const file = await TemporaryFile.create(this.#context.uploadFolder);
      try {
        await fill(file, content);
        const head = await readFileHead(() => file.read());
        const { uploadFolder, store } = this.#context;
        const upload = new UploadedFile(name, file, head, uploadFolder);
        return this.start(importer, await openFileImport(head.kind, { importer, upload, store }));
      } catch (error) {
        await file.close();
        throw error;
      }
    } finally {
      release();
    }
  }

  /** Starts the dry run of a task. @throws AppError `unavailable` if the server shuts down */
  start(actor: Actor, task: ImportTask): ImportJob {
    if (this.#isClosed) throw new AppError('unavailable', 'The server is shutting down.');
    const job = new ImportJob(actor, task, this.#context);
    while (this.#deleteExcess(job));
    this.#jobs.set(job.id, job);
    job.dryRun(task);
    return job;
  }

  /** @throws AppError `not_found` */
  get(sellerId: SellerId, id: string): ImportJob {
    this.#sweep();
    const job = this.#jobs.get(id);
    if (job?.actor.sellerId === sellerId) return job;
    const what = 'This import no longer exists. Its imported products are kept.';
    throw new AppError('not_found', `${what} To continue, upload the file again.`);
  }

  /** Newest first. */
  list(sellerId: SellerId): readonly ImportJob[] {
    this.#sweep();
    return [...this.#jobs.values()].reverse()
      .filter(({ actor }) => actor.sellerId === sellerId);
  }

  /** Stops a job and deletes it. @throws AppError `not_found` */
  async discard(sellerId: SellerId, id: string): Promise<void> {
    await this.#delete(this.get(sellerId, id));
  }

  /** Stops all jobs and deletes their files. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweepTimer);
    await Promise.all([...this.#jobs.values()].map((job) => this.#delete(job)));
  }


  /** Deletes the least recently used job if adding this one would exceed a limit. */
  #deleteExcess({ actor, diskBytes }: ImportJob): boolean {
    const all = [...this.#jobs.values()];
    const own = this.list(actor.sellerId);
    const totalBytes = all.reduce((sum, job) => sum + job.diskBytes, diskBytes);
    // More jobs are kept than may run, so an idle one exists unless only file sizes exceed a limit.
    const [excess = []] = [
      own.length >= IMPORTS_KEPT_PER_SELLER_LIMIT && own,
      all.length >= IMPORTS_KEPT_LIMIT && all,
      totalBytes > this.#keptLimitBytes && all.filter((job) => job.diskBytes > 0),
    ].filter((jobs) => jobs !== false);
    const [oldest] = excess.filter(({ isRunning }) => !isRunning)
      .sort((one, other) => one.state.updatedAt - other.state.updatedAt);
    if (oldest) void this.#delete(oldest);
    return oldest !== undefined;
  }

  #sweep(): void {
    const before = this.#context.clock() - IMPORT_LIFE_MS;
    for (const job of this.#jobs.values()) {
      if (!job.isRunning && job.state.updatedAt < before) void this.#delete(job);
    }
  }

  async #delete(job: ImportJob): Promise<void> {
    this.#jobs.delete(job.id);
    try {
      await job.close();
    } catch (error) {
      this.#context.report({ id: 'import', error });
    }
  }
}

async function fill(file: TemporaryFile, content: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of content) {
    if (file.sizeBytes + chunk.length > UPLOAD_LIMIT_BYTES) {
      const limit = `${UPLOAD_LIMIT_BYTES / 1024 / 1024} MiB`;
      throw new AppError('body_too_large', `The file is larger than ${limit}. `
        + 'Split it, or use the command line, which accepts files of any size.');
    }
    await file.append(chunk);
  }
}
