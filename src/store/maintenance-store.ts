/** The maintenance port: metrics, retention and shutdown. */
import type { ErrorCode } from '../domain/error.ts';
import type { HistogramSnapshot } from '../runtime/histogram.ts';

export interface StoreMetrics {
  /** False if nothing can be written until the process is restarted. */
  readonly canWrite: boolean;
  /** Why the last commit failed, and how long ago; undefined if it succeeded. */
  readonly lastFailure: { readonly code: ErrorCode; readonly agoMs: number } | undefined;
  /** Durations of this process's commits, failed ones included, in seconds. */
  readonly commits: HistogramSnapshot;
  readonly failedCommits: number;
  /** Mutations not yet committed. */
  readonly waitingChanges: number;
  /** Undefined if the store is not on a disk of this machine. */
  readonly disk?: DiskMetrics | undefined;
  /** Undefined if the store needs no connections to a database server. */
  readonly pool?: PoolMetrics | undefined;
}

export interface DiskMetrics {
  /** Size of the write-ahead log. */
  readonly walBytes: number;
  /** Free space on the disk, for this user. */
  readonly freeBytes: number;
}

/** This process's connections to a database server. */
interface PoolMetrics {
  readonly connections: number;
  /** Queries and transactions that wait for a connection. */
  readonly waiting: number;
  /** Durations of the server's answers, in seconds. */
  readonly roundTrips: HistogramSnapshot;
}

export interface MaintenanceStore {
  /** Reads counters and file sizes; runs no query. */
  readMetrics(): Promise<StoreMetrics>;
  /**
   * The time of the newest change or audit event of any seller, which shows whether a clock is far
   * ahead; undefined if there is none.
   */
  findNewestTime(): Promise<number | undefined>;
  /**
   * Removes changes before a time (milliseconds since 1970), in small steps. Keeps the changes
   * needed to derive the catalogue from the history.
   */
  pruneHistory(before: number): Promise<void>;
  /** Removes expired idempotency records, in small steps. */
  pruneIdempotency(): Promise<void>;
  /** Finishes calls in flight; later calls are rejected. */
  close(): Promise<void>;
}
