/**
 * Backups while a server runs: each is made by a process of its own, `backup --folder`, which also
 * knows whether it is time. So neither a slow disk nor the checks of a copy hold up a request, and
 * a backup that fails takes nothing with it: it is told of and tried again.
 */
import { BACKUP_RETRY_MS, BACKUP_WAIT_LIMIT_MS } from '../config.ts';

/** What a process that was started has done. */
export interface BackupRun {
  /** The file; undefined where it was not time for one. */
  readonly made: string | undefined;
  readonly removed: readonly string[];
  /** Undefined where another process makes one now. */
  readonly dueInMs: number | undefined;
}

interface ScheduleOptions {
  readonly intervalMs: number;
  /** Rejects with what the operator is told; ends early where it is told to stop. */
  readonly run: (stop: AbortSignal) => Promise<BackupRun>;
  /** Resolves after so long, or once it is told to stop. */
  readonly wait: (waitMs: number, stop: AbortSignal) => Promise<void>;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** Begins at once. Call what it returns to end, and what is under way with it. */
export function scheduleBackups(options: ScheduleOptions): () => Promise<void> {
  const stop = new AbortController();
  const over = goOn(options, stop.signal);
  return () => {
    stop.abort();
    return over;
  };
}

async function goOn(options: ScheduleOptions, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const dueInMs = await runOnce(options, stop) ?? Math.min(options.intervalMs, BACKUP_RETRY_MS);
    if (!stop.aborted) await options.wait(Math.min(dueInMs, BACKUP_WAIT_LIMIT_MS), stop);
  }
}

/** When it is time again; undefined where there is nothing to go by. */
async function runOnce(
  { run, note, warn }: ScheduleOptions, stop: AbortSignal,
): Promise<number | undefined> {
  try {
    const { made, removed, dueInMs } = await run(stop);
    const gone = removed.length === 0 ? '' : ` Removed the oldest: ${removed.join(', ')}.`;
    if (made !== undefined) note(`Backed up to ${made}.${gone}`);
    return dueInMs;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!stop.aborted) warn(`The backup failed: ${reason}`);
    return undefined;
  }
}
