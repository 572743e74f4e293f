/** Commits: which mutations are written together, how long that takes, and the last failure. */
import type { ErrorCode } from '../../domain/error.ts';
import { makeHistogram } from '../../runtime/histogram.ts';
import type { StoreMetrics } from '../maintenance-store.ts';
import {
  COMMIT_DURATION_BUCKETS_SECONDS, WRITE_BATCH_LIMIT, WRITE_BATCH_ROWS_LIMIT,
} from '../limits.ts';

export class CommitMetrics {
  readonly #commits = makeHistogram(COMMIT_DURATION_BUCKETS_SECONDS);
  #failed = 0;
  #lastFailure: { readonly code: ErrorCode; readonly at: number } | undefined;

  /**
   * Counts a commit.
   * @param startedAt By `performance.now`.
   * @param codes Of the mutations that failed for a reason which is not their own. `internal` is
   *   our bug: what stores the data is fine.
   */
  note(startedAt: number, codes: readonly ErrorCode[]): void {
    const at = performance.now();
    this.#commits.add((at - startedAt) / 1_000);
    const code = codes.findLast((candidate) =>
      candidate === 'storage_full' || candidate === 'unavailable');
    this.#lastFailure = code && { code, at };
    if (code) this.#failed += 1;
  }

  read(): Pick<StoreMetrics, 'commits' | 'failedCommits' | 'lastFailure'> {
    const last = this.#lastFailure;
    const lastFailure = last && { code: last.code, agoMs: performance.now() - last.at };
    return { commits: this.#commits.read(), failedCommits: this.#failed, lastFailure };
  }
}

/**
 * How many of the waiting mutations one transaction takes: up to the first that it may not have.
 * Mutations of many rows fill a batch sooner, so that others do not wait long for them.
 */
export function countBatch<Pending extends { readonly rows: number }>(
  waiting: readonly Pending[], isExcluded: (pending: Pending) => boolean = () => false,
): number {
  let rows = 0;
  const end = waiting.findIndex((pending, index) => {
    rows += pending.rows;
    return index > 0 && (rows > WRITE_BATCH_ROWS_LIMIT || index >= WRITE_BATCH_LIMIT
      || isExcluded(pending));
  });
  return end < 0 ? waiting.length : end;
}
