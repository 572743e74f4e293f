/** Backups that a server makes of its own accord: where, how often, and how many are kept. */
import { setTimeout } from 'node:timers/promises';
import {
  BACKUP_INTERVAL_MIN_MS, BACKUPS_KEPT_LIMIT, DEFAULT_BACKUP_EVERY, DEFAULT_BACKUPS_KEPT,
} from '../limits.ts';
import { parseDuration } from '../../domain/time.ts';
import { runBackup } from '../backup/backup-process.ts';
import { type BackupSchedule, scheduleBackups } from '../backup/backup-schedule.ts';
import type { Operator } from '../../feature.ts';
import { gauge, type MetricFamily } from '../../runtime/metric-family.ts';
import { type Flags, type Input, UsageError } from '../command.ts';
import { readNumber } from './settings.ts';

export const backupFlags: Flags = {
  'backup-folder': {
    value: 'DIR', isSetting: true, help: 'make backups in this folder, which has to be there',
  },
  'backup-every': {
    value: 'DURATION', isSetting: true, help: `how often (default: ${DEFAULT_BACKUP_EVERY})`,
  },
  'backup-keep': {
    value: 'N', isSetting: true, help: `how many are kept (default: ${DEFAULT_BACKUPS_KEPT})`,
  },
};

/** Starts them; undefined where no folder is named. @throws UsageError, AppError `invalid_data` */
export function readBackups(
  { flags, dataFolder }: Input,
): (operator: Operator) => BackupSchedule | undefined {
  const folder = flags['backup-folder'];
  const every = parseDuration(flags['backup-every'] ?? DEFAULT_BACKUP_EVERY);
  const keep = readNumber(
    'backup-keep', flags['backup-keep'], DEFAULT_BACKUPS_KEPT, BACKUPS_KEPT_LIMIT,
  );
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
    await setTimeout(waitMs, undefined, { signal, ref: false });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
