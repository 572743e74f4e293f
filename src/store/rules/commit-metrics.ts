/** Metrics of commits: their durations, and the last failure. */
import type { ErrorCode } from '../../domain/error.ts';
import { Histogram } from '../../runtime/histogram.ts';
import type { StoreMetrics } from '../maintenance-store.ts';
import { COMMIT_DURATION_BUCKETS_SECONDS } from '../limits.ts';

export class CommitMetrics {
  readonly #commits = new Histogram(COMMIT_DURATION_BUCKETS_SECONDS);
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
    const code = codes.findLast((one) => one === 'storage_full' || one === 'unavailable');
    this.#lastFailure = code && { code, at };
    if (code) this.#failed += 1;
  }

  read(): Pick<StoreMetrics, 'commits' | 'failedCommits' | 'lastFailure'> {
    const last = this.#lastFailure;
    const lastFailure = last && { code: last.code, agoMs: performance.now() - last.at };
    return { commits: this.#commits.read(), failedCommits: this.#failed, lastFailure };
  }
}
