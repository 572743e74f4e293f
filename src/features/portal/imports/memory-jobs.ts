/**
 * Import jobs in the memory of one process, with their files in temporary ones: a restart loses the
 * jobs, but not the products that they wrote.
 */
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type {
  ImportFileName, ImportJobKey, ImportJobReplacement, ImportJobStore, StoredImportJob,
} from '../../../store/nodes/import-job-store.ts';
import { IMPORTS_KEPT_LIMIT } from '../limits.ts';
import { TemporaryFile } from '../../../store/temporary/temporary-file.ts';

type Limits = Parameters<ImportJobStore['listDisposableJobs']>[0];

interface MemoryJob extends ImportJobReplacement {
  readonly isCancelled: boolean;
  readonly usedAt: number;
}

export class MemoryJobs implements ImportJobStore {
  readonly #folder: string;
  readonly #clock: () => number;
  /** In upload order. */
  readonly #jobs = new Map<string, MemoryJob>();
  readonly #files = new Map<string, Map<ImportFileName, TemporaryFile>>();

  /** @param folder For temporary files. @param clock Monotonic, in milliseconds. */
  constructor(folder: string, clock: () => number) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async createJob(key: ImportJobKey): Promise<void> {
    this.#files.set(key.id, new Map());
    this.#put({ ...key, version: 0, content: undefined, isRunning: true, sizeBytes: 0 });
  }

  async findJob({ sellerId, id }: ImportJobKey): Promise<StoredImportJob | undefined> {
    return (await this.listJobs(sellerId)).find((job) => job.id === id);
  }

  async listJobs(sellerId: SellerId): Promise<readonly StoredImportJob[]> {
    const now = this.#clock();
    return [...this.#jobs.values()].reverse()
      .filter((job) => job.sellerId === sellerId && job.content !== undefined)
      .map((job) => ({ ...job, idleMs: now - job.usedAt }));
  }

  async replaceJob(job: ImportJobReplacement): Promise<boolean> {
    if (this.#jobs.get(job.id)?.version !== job.version) return false;
    this.#put({ ...job, version: job.version + 1 });
    return true;
  }

  async noteProgress({ id, version, content }: Pick<MemoryJob, 'id' | 'version' | 'content'>) {
    const job = this.#jobs.get(id);
    if (job?.version !== version) return undefined;
    this.#put({ ...job, content }, job.isCancelled);
    return job;
  }

  async cancelJob({ id }: ImportJobKey): Promise<void> {
    const job = this.#jobs.get(id);
    if (job?.isRunning) this.#put(job, true);
  }

  async deleteJob({ id }: ImportJobKey): Promise<void> {
    this.#jobs.delete(id);
    const files = [...this.#files.get(id)?.values() ?? []];
    this.#files.delete(id);
    await Promise.all(files.map((file) => file.close()));
  }

  /** Also the longest idle ones beyond the number that is kept: each has an open file. */
  async listDisposableJobs({ lifeMs, limitBytes }: Limits): Promise<readonly ImportJobKey[]> {
    const before = this.#clock() - lifeMs;
    let keptBytes = 0;
    return [...this.#jobs.values()].sort((one, other) => other.usedAt - one.usedAt)
      .filter(({ isRunning, sizeBytes, usedAt }, index) => {
        keptBytes += sizeBytes;
        const isExcess = index >= IMPORTS_KEPT_LIMIT || (sizeBytes > 0 && keptBytes > limitBytes);
        return !isRunning && (isExcess || usedAt < before);
      });
  }

  async createFile({ id }: ImportJobKey, name: ImportFileName): Promise<TemporaryFile> {
    const file = await TemporaryFile.create(this.#folder);
    this.#files.get(id)?.set(name, file);
    return file;
  }

  openFile({ id }: ImportJobKey, name: ImportFileName): TemporaryFile {
    const file = this.#files.get(id)?.get(name);
    if (!file) throw new AppError('not_found', 'This file no longer exists.');
    return file;
  }

  /** Deletes all jobs but those that are being uploaded. */
  async close(): Promise<void> {
    const jobs = [...this.#jobs.values()].filter(({ content }) => content !== undefined);
    await Promise.all(jobs.map((job) => this.deleteJob(job)));
  }

  #put(job: ImportJobReplacement, isCancelled = false): void {
    this.#jobs.set(job.id, { ...job, isCancelled, usedAt: this.#clock() });
  }
}
