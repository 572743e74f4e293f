/** How a store is doing: what its operator, and whoever sends requests to it, should know. */
import type { ErrorCode } from '../domain/error.ts';
import type { HistogramSnapshot } from '../runtime/histogram.ts';

export interface StoreMetrics {
  /** False once no change can be made any more until the process is started again. */
  readonly canWrite: boolean;
  /** Why the last commit failed, and when; undefined where it did not. */
  readonly lastFailure: { readonly code: ErrorCode; readonly agoMs: number } | undefined;
  /** The commits of this process, failed ones among them: how many seconds each took. */
  readonly commits: HistogramSnapshot;
  readonly failedCommits: number;
  /** Changes that are not committed yet. */
  readonly waitingChanges: number;
  /** Of the log that commits are written to first. */
  readonly walBytes: number;
  /** What the disk has left for this user. */
  readonly freeBytes: number;
}
