/**
 * Backups while a server runs: each is made by a process of its own, `backup --folder`, which also
 * knows whether it is time. So neither a slow disk nor the checks of a copy hold up a request, and
 * a backup that fails takes nothing with it: it is told of and tried again.
 */
import { retryDelayMs } from '../../runtime/backoff.ts';
import { BACKUP_RETRY_MS, BACKUP_WAIT_LIMIT_MS } from '../limits.ts';

/** What a process that was started has done. */
export interface BackupRun {
  /** The file; undefined where it was not time for one. */
  readonly made: string | undefined;
  readonly removed: readonly string[];
  /** Undefined where another process makes one now. */
  readonly dueInMs: number | undefined;
}

interface BackupMetrics {
  readonly made: number;
  readonly failed: number;
  /** Milliseconds since 1970: of the newest one, whoever made it; undefined until one is found. */
  readonly newestAt: number | undefined;
}

export interface BackupSchedule {
  readMetrics(): BackupMetrics;
  /** Ends what is under way, too. */
  stop(): Promise<void>;
}

interface ScheduleOptions {
  readonly intervalMs: number;
  /** Rejects with what the operator is told; ends early where it is told to stop. */
  readonly run: (stop: AbortSignal) => Promise<BackupRun>;
  /** Resolves after so long, or once it is told to stop. */
  readonly wait: (waitMs: number, stop: AbortSignal) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** Begins at once. */
export function scheduleBackups(options: ScheduleOptions): BackupSchedule {
  const stop = new AbortController();
  const figures = { made: 0, failed: 0, newestAt: undefined };
  const over = goOn(options, stop.signal, figures);
  return {
    readMetrics: () => ({ ...figures }),
    stop() {
      stop.abort();
      return over;
    },
  };
}

type Counted = { -readonly [Name in keyof BackupMetrics]: BackupMetrics[Name] };

async function goOn(
  options: ScheduleOptions, stop: AbortSignal, counted: Counted,
): Promise<void> {
  const { intervalMs } = options;
  const retryMs = retryDelayMs({ firstMs: BACKUP_RETRY_MS, limitMs: intervalMs }, 0);
  while (!stop.aborted) {
    const dueInMs = await runOnce(options, stop, counted) ?? retryMs;
    if (!stop.aborted) await options.wait(Math.min(dueInMs, BACKUP_WAIT_LIMIT_MS), stop);
  }
}

/** When it is time again; undefined where there is nothing to go by. */
async function runOnce(
  { run, clock, intervalMs, note, warn }: ScheduleOptions, stop: AbortSignal, counted: Counted,
): Promise<number | undefined> {
  try {
    const { made, removed, dueInMs } = await run(stop);
    const gone = removed.length === 0 ? '' : ` Removed the oldest: ${removed.join(', ')}.`;
    if (made !== undefined) {
      counted.made += 1;
      note(`Backed up to ${made}.${gone}`);
    }
    if (dueInMs !== undefined) counted.newestAt = clock() - (intervalMs - dueInMs);
    return dueInMs;
  } catch (error) {
    if (stop.aborted) return undefined;
    counted.failed += 1;
    const reason = error instanceof Error ? error.message : String(error);
    warn(`The backup failed: ${reason}`);
    return undefined;
  }
}
