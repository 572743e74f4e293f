/**
 * Scheduled backups of a server: their settings, and the separate process that makes each, so that
 * neither a slow disk nor checking a copy delays requests.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { addAbortListener } from 'node:events';
import { setPriority } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  BACKUP_INTERVAL_MIN_MS, BACKUP_STOP_TIMEOUT_MS, BACKUPS_KEPT_LIMIT, DEFAULT_BACKUP_EVERY,
  DEFAULT_BACKUPS_KEPT,
} from '../limits.ts';
import { parseDuration } from '../../domain/time.ts';
import { type BackupRun, type BackupSchedule, scheduleBackups } from '../backup/backup-schedule.ts';
import type { Operator } from '../../feature.ts';
import { counter, gauge, type MetricFamily, samplesBy } from '../../runtime/metric-family.ts';
import { type Flags, type Input, setting, UsageError } from '../command.ts';
import { getFolder } from '../location.ts';
import { listProgram } from '../node-runtime.ts';
import { readNumber } from '../settings.ts';

const MAIN = join(import.meta.dirname, `../../main${extname(import.meta.filename)}`);
/** Requests have priority over backups. */
const NICENESS = 10;

export const backupFlags: Flags = {
  'backup-folder': setting('DIR', 'make scheduled backups in this existing folder'),
  'backup-every': setting('DURATION',
    `interval of scheduled backups (default: ${DEFAULT_BACKUP_EVERY})`),
  'backup-keep': setting('N', `number of backups to keep (default: ${DEFAULT_BACKUPS_KEPT})`,
    [1, BACKUPS_KEPT_LIMIT]),
};

/**
 * Returns a function that starts the schedule; without a backup folder it does nothing.
 * @throws UsageError, AppError `invalid_data`
 */
export function readBackups(
  { flags, location }: Input,
): (operator: Operator) => BackupSchedule | undefined {
  const folder = flags['backup-folder'];
  const every = parseDuration(flags['backup-every'] ?? DEFAULT_BACKUP_EVERY);
  const keep = readNumber(flags, 'backup-keep', DEFAULT_BACKUPS_KEPT);
  if (every < BACKUP_INTERVAL_MIN_MS) throw new UsageError('--backup-every takes 1s or more.');
  if (folder === undefined) return () => undefined;
  const dataFolder = getFolder(location);
  const args = [
    '--data', dataFolder, '--folder', resolve(folder),
    '--every', `${every / 1000}s`, '--keep', `${keep}`,
  ];
  return ({ note, warn }) => scheduleBackups({
    intervalMs: every, note, warn, clock: Date.now,
    wait: (ms, signal) => wait(ms, undefined, { signal, ref: false }).catch(() => {}), // aborted
    run: (stop) => runBackup(args, stop),
  });
}

/** Empty without a schedule. */
export function listBackupMetrics(schedule: BackupSchedule | undefined): readonly MetricFamily[] {
  if (!schedule) return [];
  const { made, damaged, failed, newestAt } = schedule.readMetrics();
  return [
    counter('backups_total', 'Scheduled backups by outcome; "damaged": doctor did not pass it.',
      samplesBy('outcome', { made: made - damaged, damaged, failed })),
    gauge('backup_newest_timestamp_seconds',
      'Unix time of the latest backup in the folder, made by any process; 0 if there is none.',
      (newestAt ?? 0) / 1000),
  ];
}

/** Makes a backup if one is due, and checks it. @throws Error why none was made */
async function runBackup(args: readonly string[], stop: AbortSignal): Promise<BackupRun> {
  const run = readRun(await runCommand(['backup', ...args, '--json'], stop));
  if (run.file === undefined || stop.aborted) return run;
  // A backup is a whole copy even of a catalogue whose content contradicts itself.
  const damage = await runCommand(['doctor', '--file', run.file], stop)
    .then(() => undefined, (error: Error) => error.message);
  return { ...run, damage };
}

/** Returns stdout; rejects with the last line of stderr if the command fails. */
async function runCommand(args: readonly string[], stop: AbortSignal): Promise<string> {
  const [file, ...words] = listProgram(MAIN, process.execArgv);
  const running = promisify(execFile)(file, [...words, ...args]);
  const { child } = running;
  using _listener = addAbortListener(stop, () => endInTime(child));
  try {
    lowerPriority(child.pid);
    return (await running).stdout;
  } catch (error) {
    if (!(error instanceof Error && 'stderr' in error)) throw error;
    throw new Error(String(error.stderr).trimEnd().split('\n').at(-1) || error.message);
  }
}

function lowerPriority(id: number | undefined): void {
  try {
    if (id !== undefined) setPriority(id, NICENESS);
  } catch {
    // A systemd unit may forbid it; the backup then runs at normal priority.
  }
}

/** On SIGTERM it removes its partial file; during the check of a copy it may react too late. */
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
  return { file: made?.file, removed, dueInMs: dueInMs ?? undefined };
}
