/**
 * Scheduled backups of a server: their settings, and the process that makes each of them, so that
 * neither a slow disk nor the check of a copy delays requests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  BACKUP_INTERVAL_MIN_MS, BACKUP_STDERR_LIMIT_CHARACTERS, BACKUP_STOP_TIMEOUT_MS,
  BACKUPS_KEPT_LIMIT, DEFAULT_BACKUP_EVERY, DEFAULT_BACKUPS_KEPT,
} from '../limits.ts';
import { parseDuration } from '../../domain/time.ts';
import { type BackupRun, type BackupSchedule, scheduleBackups } from '../backup/backup-schedule.ts';
import type { Operator } from '../../feature.ts';
import { gauge, type MetricFamily } from '../../runtime/metric-family.ts';
import { type Flags, type Input, setting, UsageError } from '../command.ts';
import { readNumber } from '../settings.ts';

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url));
/** Requests have priority over backups. */
const NICENESS = 10;

export const backupFlags: Flags = {
  'backup-folder': setting('DIR', 'make scheduled backups in this existing folder'),
  'backup-every': setting('DURATION',
    `interval of scheduled backups (default: ${DEFAULT_BACKUP_EVERY})`),
  'backup-keep': setting('N', `number of backups to keep (default: ${DEFAULT_BACKUPS_KEPT})`),
};

/**
 * Returns what starts the schedule; it does nothing unless a folder is given.
 * @throws UsageError, AppError `invalid_data`
 */
export function readBackups(
  { flags, dataFolder }: Input,
): (operator: Operator) => BackupSchedule | undefined {
  const folder = flags['backup-folder'];
  const every = parseDuration(flags['backup-every'] ?? DEFAULT_BACKUP_EVERY);
  const keep = readNumber(flags, 'backup-keep', DEFAULT_BACKUPS_KEPT, BACKUPS_KEPT_LIMIT);
  if (every < BACKUP_INTERVAL_MIN_MS) throw new UsageError('--backup-every takes 1s or more.');
  if (keep === 0) throw new UsageError('--backup-keep takes 1 or more.');
  if (folder === undefined) return () => undefined;
  const seconds = `${every / 1000}s`;
  const args = [
    '--data', dataFolder, '--folder', folder, '--every', seconds, '--keep', String(keep),
  ];
  return ({ note, warn }) => scheduleBackups({
    intervalMs: every, note, warn, wait, clock: Date.now,
    run: (stop) => runBackup(args, stop),
  });
}

/** None without a schedule. */
export function listBackupMetrics(schedule: BackupSchedule | undefined): readonly MetricFamily[] {
  if (!schedule) return [];
  const { made, failed, newestAt } = schedule.readMetrics();
  return [
    {
      name: 'backups_total', type: 'counter', help: 'Scheduled backups by outcome.',
      samples: Object.entries({ made, failed }).map(([outcome, value]) =>
        ({ labels: { outcome }, value })),
    },
    gauge('backup_newest_timestamp_seconds',
      'Unix time of the latest backup in the folder, made by any process; 0 if there is none.',
      (newestAt ?? 0) / 1000),
  ];
}

async function wait(waitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(waitMs, undefined, { signal, ref: false });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Runs `backup` in a process of its own; rejects with the last line of its stderr if it fails. */
async function runBackup(args: readonly string[], stop: AbortSignal): Promise<BackupRun> {
  const child = spawn(process.execPath, [...process.execArgv, MAIN, 'backup', ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close'); // rejects if it cannot be started
  const [out, notes] = [child.stdout, child.stderr].map(collect);
  if (child.pid !== undefined) lowerPriority(child.pid);
  const end = (): void => endInTime(child);
  stop.addEventListener('abort', end);
  try {
    const [status, signal] = await closed;
    if (status === 0) return readRun(out?.() ?? '');
    const reason = notes?.().trimEnd().split('\n').at(-1);
    throw new Error(reason || `its process exited with ${status ?? signal}.`);
  } finally {
    stop.removeEventListener('abort', end);
  }
}

function lowerPriority(id: number): void {
  try {
    setPriority(id, NICENESS);
  } catch {
    // A systemd unit may forbid it; the backup then runs at normal priority.
  }
}

/** Returns the end of what was read. */
function collect(stream: NonNullable<ChildProcess['stdout']>): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (more: string) => {
    text = (text + more).slice(-BACKUP_STDERR_LIMIT_CHARACTERS);
  });
  return () => text;
}

/** On SIGTERM it removes its partial file; while it checks a copy, it may react too late. */
function endInTime(child: ChildProcess): void {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), BACKUP_STOP_TIMEOUT_MS);
  child.once('close', () => clearTimeout(timer));
}

function readRun(text: string): BackupRun {
  // The cast: our own `backup --json` wrote it.
  const { made, removed, due_in_ms: dueInMs } = JSON.parse(text) as {
    made: { file: string } | null; removed: string[]; due_in_ms: number | null;
  };
  return { made: made?.file, removed, dueInMs: dueInMs ?? undefined };
}
