/** The maintenance port: metrics, retention and shutdown. */
import type { AppError, ErrorCode } from '../domain/error.ts';
import type { Moment } from '../runtime/clock.ts';
import type { HistogramSnapshot } from '../runtime/histogram.ts';

export interface StoreMetrics {
  /** Why nothing can be written until the process is restarted, in a sentence. */
  readonly failure?: string | undefined;
  /** Why the last commit failed, and how long ago; undefined if it succeeded. */
  readonly lastFailure: { readonly code: ErrorCode; readonly agoMs: number } | undefined;
  /** Durations of this process's commits, failed ones included, in seconds. */
  readonly commits: HistogramSnapshot;
  readonly failedCommits: number;
  /** Mutations not yet committed. */
  readonly waitingChanges: number;
  /** What is not set as it should be, and what to do, as found when the store was opened. */
  readonly warnings?: readonly string[] | undefined;
  /** Undefined if the store is not on a disk of this machine. */
  readonly disk?: DiskMetrics | undefined;
  /** Changes that searches do not see yet; undefined without a readable projection. */
  readonly readSearchLag?: () => number | undefined;
  /** Undefined if the store needs no connections to a database server. */
  readonly pool?: PoolMetrics | undefined;
}

export interface DiskMetrics {
  /** Size of the write-ahead log. */
  readonly walBytes: number;
  /** Free space on the disk, for this user. */
  readonly freeBytes: number;
  /** Files that can still be created; undefined if the file system does not limit them. */
  readonly freeInodes: number | undefined;
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
  /**
   * Resolves if the store loses its files; the cause of the error says which, and what to do. Then
   * every call is rejected with `unavailable`, until the store is opened again.
   */
  readonly lost?: Promise<AppError>;
  /** Reads counters and file sizes; runs no query. */
  readMetrics(): Promise<StoreMetrics>;
  /**
   * How long the oldest transaction on the database server has been open, in seconds; 0 if there is
   * none. Counts those of this role, or of all with `pg_monitor`. Absent without such a server.
   */
  readOldestTransaction?(): Promise<number>;
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
  /** Now, by the wall clock and in lived time. */
  now(): Moment;
  /** Keeps the lived time for the next start. The store does so by itself, every minute. */
  keepLivedTime(): Promise<void>;
  /**
   * The time (milliseconds since 1970) at which the store had lived through this much less, or up
   * to a day earlier; 0 if it has not lived for so long.
   */
  findTimeLivedAgo(livedMs: number): Promise<number>;
  /** Removes expired idempotency records, in small steps. */
  pruneIdempotency(): Promise<void>;
  /** Finishes calls in flight; later calls are rejected. */
  close(): Promise<void>;
}
