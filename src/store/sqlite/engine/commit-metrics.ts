/** Counts commits, how long they take, and whether the last one failed. */
import { COMMIT_DURATION_BUCKETS_SECONDS } from '../limits.ts';
import { Histogram } from '../../../runtime/histogram.ts';
import type { StoreMetrics } from '../../maintenance-store.ts';
import type { Outcome } from './group-commit.ts';

export class CommitMetrics {
  readonly #commits = new Histogram(COMMIT_DURATION_BUCKETS_SECONDS);
  #failed = 0;
  #lastFailure: { readonly code: 'storage_full' | 'unavailable'; readonly at: number } | undefined;

  /** Notes what became of a batch that was sent at this time (`performance.now`). */
  note(sentAt: number, outcomes: readonly Outcome[]): void {
    const at = performance.now();
    this.#commits.add((at - sentAt) / 1_000);
    this.#lastFailure = undefined;
    for (const outcome of outcomes) {
      // Without a cause it is a refusal, and `internal` is a bug of one unit: the disk is well.
      if (outcome.isDone || outcome.cause === undefined) continue;
      const { code } = outcome;
      if (code === 'storage_full' || code === 'unavailable') this.#lastFailure = { code, at };
    }
    if (this.#lastFailure) this.#failed += 1;
  }

  read(): Pick<StoreMetrics, 'commits' | 'failedCommits' | 'lastFailure'> {
    const { code, at } = this.#lastFailure ?? {};
    const isFailed = code !== undefined && at !== undefined;
    return {
      commits: this.#commits.read(),
      failedCommits: this.#failed,
      lastFailure: isFailed ? { code, agoMs: performance.now() - at } : undefined,
    };
  }
}
