/**
 * Schedules the backups of a running server. Each run, `backup --folder`, also decides whether a
 * backup is due. A failed backup is reported and retried.
 */
import { retryDelayMs } from '../../runtime/backoff.ts';
import { BACKUP_RETRY_MS, BACKUP_WAIT_LIMIT_MS } from '../limits.ts';

/** The result of a run. */
export interface BackupRun {
  /** The file; undefined if no backup was due. */
  readonly made: string | undefined;
  readonly removed: readonly string[];
  /** Time until the next backup is due; undefined if another process is making one. */
  readonly dueInMs: number | undefined;
}

interface BackupMetrics {
  readonly made: number;
  readonly failed: number;
  /** When the latest backup was made, by any process, in milliseconds since 1970. */
  readonly newestAt: number | undefined;
}

export interface BackupSchedule {
  readMetrics(): BackupMetrics;
  /** Also ends a backup in progress. */
  stop(): Promise<void>;
}

interface ScheduleOptions {
  readonly intervalMs: number;
  /** Rejects with the reason of a failure; ends early if it is aborted. */
  readonly run: (stop: AbortSignal) => Promise<BackupRun>;
  /** Resolves after this time, or when it is aborted. */
  readonly wait: (waitMs: number, stop: AbortSignal) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** Starts at once. */
export function scheduleBackups(options: ScheduleOptions): BackupSchedule {
  const stop = new AbortController();
  const metrics = { made: 0, failed: 0, newestAt: undefined };
  const ended = runUntilStopped(options, stop.signal, metrics);
  return {
    readMetrics: () => ({ ...metrics }),
    stop() {
      stop.abort();
      return ended;
    },
  };
}

type Counters = { -readonly [Name in keyof BackupMetrics]: BackupMetrics[Name] };

async function runUntilStopped(
  options: ScheduleOptions, stop: AbortSignal, counters: Counters,
): Promise<void> {
  const { intervalMs } = options;
  const retryMs = retryDelayMs({ firstMs: BACKUP_RETRY_MS, limitMs: intervalMs }, 0);
  while (!stop.aborted) {
    const dueInMs = await runOnce(options, stop, counters) ?? retryMs;
    if (!stop.aborted) await options.wait(Math.min(dueInMs, BACKUP_WAIT_LIMIT_MS), stop);
  }
}

/** Time until the next backup is due; undefined after a failure or while another one runs. */
async function runOnce(
  { run, clock, intervalMs, note, warn }: ScheduleOptions, stop: AbortSignal, counters: Counters,
): Promise<number | undefined> {
  try {
    const { made, removed, dueInMs } = await run(stop);
    const gone = removed.length === 0 ? '' : ` Removed the oldest: ${removed.join(', ')}.`;
    if (made !== undefined) {
      counters.made += 1;
      note(`Backed up to ${made}.${gone}`);
    }
    if (dueInMs !== undefined) counters.newestAt = clock() - (intervalMs - dueInMs);
    return dueInMs;
  } catch (error) {
    if (stop.aborted) return undefined;
    counters.failed += 1;
    const reason = error instanceof Error ? error.message : String(error);
    warn(`The backup failed: ${reason}`);
    return undefined;
  }
}
