/**
 * Schedules the backups of a running server. Each run, `backup --folder`, also decides whether a
 * backup is due. A failed backup is reported and retried.
 */
import { BACKUP_RETRY_MS, BACKUP_WAIT_LIMIT_MS } from '../limits.ts';

/** The result of a run. */
export interface BackupRun {
  /** Undefined if no backup was due. */
  readonly file: string | undefined;
  /** What `doctor` found wrong in the file, or why it could not check it. */
  readonly damage?: string | undefined;
  readonly removed: readonly string[];
  /** Time until the next backup is due; undefined if another process is making one. */
  readonly dueInMs: number | undefined;
}

export type BackupSchedule = ReturnType<typeof scheduleBackups>;

interface ScheduleOptions {
  readonly intervalMs: number;
  /** Rejects with the reason of a failure; ends early when aborted. */
  readonly run: (stop: AbortSignal) => Promise<BackupRun>;
  /** Resolves after this time, or when aborted. */
  readonly wait: (waitMs: number, stop: AbortSignal) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** Starts immediately. */
export function scheduleBackups(
  { intervalMs, run, wait, clock, note, warn }: ScheduleOptions,
) {
  const stopping = new AbortController();
  const stop = stopping.signal;
  /** `damaged`, among `made`: `doctor` found faults in these backups, or could not check them. */
  const counts = { made: 0, damaged: 0, failed: 0 };
  /** When any process made the latest backup, in milliseconds since 1970. */
  let newestAt: number | undefined;

  /** Time until the next backup is due; undefined while another process makes one. */
  async function runOnce(): Promise<number | undefined> {
    const { file, damage, removed, dueInMs } = await run(stop);
    const removalNote = removed.length === 0 ? '' : ` Removed the oldest: ${removed.join(', ')}.`;
    if (file !== undefined) {
      counts.made += 1;
      note(`Backed up to ${file}.${removalNote}`);
      if (damage !== undefined && !stop.aborted) {
        counts.damaged += 1;
        warn(`This backup did not pass its check: ${damage} Run doctor --file ${file}.`);
      }
    }
    if (dueInMs !== undefined) newestAt = clock() - (intervalMs - dueInMs);
    return dueInMs;
  }

  function reportFailure(error: unknown): undefined {
    if (stop.aborted) return;
    counts.failed += 1;
    warn(`The backup failed: ${error instanceof Error ? error.message : String(error)}`);
  }

  async function runUntilStopped(): Promise<void> {
    while (!stop.aborted) {
      const dueInMs = await runOnce().catch(reportFailure) ?? Math.min(BACKUP_RETRY_MS, intervalMs);
      if (!stop.aborted) await wait(Math.min(dueInMs, BACKUP_WAIT_LIMIT_MS), stop);
    }
  }

  const ended = runUntilStopped();
  return {
    readMetrics: () => ({ ...counts, newestAt }),
    /** Also stops a backup in progress. */
    stop() {
      stopping.abort();
      return ended;
    },
  };
}
