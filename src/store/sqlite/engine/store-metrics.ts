/** Store metrics: commits and their durations, the last failure, and sizes on disk. */
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ErrorCode } from '../../../domain/error.ts';
import { Histogram } from '../../../runtime/histogram.ts';
import { isSystemError } from '../../../runtime/system-error.ts';
import type { StoreMetrics } from '../../maintenance-store.ts';
import { COMMIT_DURATION_BUCKETS_SECONDS } from '../limits.ts';
import type { Outcome } from './group-commit.ts';

export class CommitMetrics {
  readonly #commits = new Histogram(COMMIT_DURATION_BUCKETS_SECONDS);
  #failed = 0;
  #lastFailure: { readonly code: ErrorCode; readonly at: number } | undefined;

  /** Counts a batch sent at this time (`performance.now`). */
  note(sentAt: number, outcomes: readonly Outcome[]): void {
    const at = performance.now();
    this.#commits.add((at - sentAt) / 1_000);
    // No cause means a rejection, and `internal` is our bug: the disk is fine.
    const code = outcomes.map((one) => (one.isDone || !one.cause ? undefined : one.code))
      .findLast((one) => one === 'storage_full' || one === 'unavailable');
    this.#lastFailure = code && { code, at };
    if (code) this.#failed += 1;
  }

  read(): Pick<StoreMetrics, 'commits' | 'failedCommits' | 'lastFailure'> {
    const last = this.#lastFailure;
    const lastFailure = last && { code: last.code, agoMs: performance.now() - last.at };
    return { commits: this.#commits.read(), failedCommits: this.#failed, lastFailure };
  }
}

export async function readDiskMetrics(
  file: string,
): Promise<Pick<StoreMetrics, 'walBytes' | 'freeBytes'>> {
  const [walBytes, disk] = await Promise.all([readSize(`${file}-wal`), statfs(dirname(file))]);
  return { walBytes, freeBytes: disk.bavail * disk.bsize };
}

async function readSize(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return 0; // created with the first mutation
    throw error;
  }
}
