/**
 * The port of the portal's import jobs, for stores that several nodes share: a job that one node
 * received is shown, started, cancelled and deleted through any other. A store without it leaves
 * the jobs of each process to its memory, and their files to temporary ones.
 */
import type { SellerId } from '../../domain/id.ts';

export interface ImportJobKey {
  readonly sellerId: SellerId;
  /** A UUID. */
  readonly id: string;
}

/** A job as it was stored last. */
export interface StoredImportJob extends ImportJobKey {
  /** Increases with each `replaceJob`. */
  readonly version: number;
  /** Plain data that JSON keeps. */
  readonly content: unknown;
  /** Since the last change or progress, in milliseconds by the clock of the store. */
  readonly idleMs: number;
}

/** What is stored instead of a version of a job. */
type ImportJobChange = Omit<StoredImportJob, 'idleMs'>;

export interface ImportJobReplacement extends ImportJobChange {
  readonly isRunning: boolean;
  /** Space that its uploaded file needs; 0 once that is deleted. */
  readonly sizeBytes: number;
}

/** `upload`: what the seller sent. `rejected`: its rows that the import rejected. */
export type ImportFileName = 'upload' | 'rejected';

export interface ImportFile {
  readonly sizeBytes: number;
  /** Await each call before the next. @throws AppError `storage_full`, `unavailable` */
  append(bytes: Uint8Array): Promise<void>;
  /**
   * Reads from the beginning; several readers may run at the same time.
   * @throws AppError `not_found` if the file is deleted before its end is reached
   */
  read(): AsyncGenerator<Buffer, void, void>;
  /** Deletes the file. Later reads fail. */
  close(): Promise<void>;
}

export interface ImportJobStore {
  /** Adds a job without content, for the files of an upload. Nobody finds it until `replaceJob`. */
  createJob(key: ImportJobKey): Promise<void>;
  findJob(key: ImportJobKey): Promise<StoredImportJob | undefined>;
  /** Newest first. */
  listJobs(sellerId: SellerId): Promise<readonly StoredImportJob[]>;
  /**
   * Replaces a job and increments its version, unless its version is another one by now: of
   * several nodes that replace the same version, one succeeds. A new job has the version 0.
   */
  replaceJob(job: ImportJobReplacement): Promise<boolean>;
  /**
   * Stores how far the run of a version is, and that its node is alive. Returns whether the run was
   * cancelled, or undefined if that version was replaced or deleted, so that the run is void.
   */
  noteProgress(job: ImportJobChange): Promise<{ readonly isCancelled: boolean } | undefined>;
  /** Cancels the run of a job, if it has one. */
  cancelJob(key: ImportJobKey): Promise<void>;
  /** With its files. */
  deleteJob(key: ImportJobKey): Promise<void>;
  /** Jobs idle for longer than `lifeMs`, and the longest idle ones with files over the limit. */
  listDisposableJobs(limits: {
    readonly lifeMs: number;
    /** Of the uploaded files of all sellers. */
    readonly limitBytes: number;
  }): Promise<readonly ImportJobKey[]>;
  /** @throws AppError `storage_full`, `unavailable` */
  createFile(job: ImportJobKey, name: ImportFileName): Promise<ImportFile>;
  /** A file of this size that a node has created. */
  openFile(job: ImportJobKey, name: ImportFileName, sizeBytes: number): ImportFile;
}
