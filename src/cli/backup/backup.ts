/**
 * `backup` and `restore`. A backup copies the database to a file or a folder of backups, even while
 * a server runs; the file is named FILE.ID.part until the copy has been checked. A restore replaces
 * the catalogue while no server runs.
 */
import { join } from 'node:path';
import { BACKUPS_KEPT_LIMIT, DEFAULT_BACKUPS_KEPT } from '../limits.ts';
import { parseDuration } from '../../domain/time.ts';
import { type Backup, backUp } from '../../store/sqlite/backup/backup.ts';
import { backUpToFolder } from '../../store/sqlite/backup/backup-folder.ts';
import type { CopyState } from '../../store/sqlite/backup/database-copy.ts';
import { restore, type Restored } from '../../store/sqlite/backup/restore.ts';
import { CATALOGUE_FILE_NAME } from '../../store/sqlite/engine/database-file.ts';
import { AtomicFile } from '../../store/sqlite/files/atomic-file.ts';
import { type Command, type Input, UsageError } from '../command.ts';
import { getFolder } from '../location.ts';
import { Progress, withInterrupt } from '../progress.ts';
import { formatCount } from '../../domain/wording.ts';
import { formatCounted, formatMebibytes } from '../format.ts';
import { readNumber } from '../settings.ts';

const NO_BACKUP = 'Interrupted: no backup was made.';

export const backupCatalogue: Command = {
  summary: 'Copies the database to a file and checks the copy, even while a server runs.',
  operands: ['[FILE]'],
  flags: {
    folder: { value: 'DIR', help: 'instead of FILE: a file in this folder, named by the time' },
    every: {
      value: 'DURATION', help: 'with --folder: skip if the latest is more recent, such as 24h',
    },
    keep: {
      value: 'N', range: [1, BACKUPS_KEPT_LIMIT],
      help: `with --folder: how many to keep (default: ${DEFAULT_BACKUPS_KEPT})`,
    },
  },
  async run(input) {
    const { flags, operands: [path] } = input;
    const folder = flags['folder'];
    if ((path === undefined) === (folder === undefined)) {
      throw new UsageError('Give either FILE or --folder.');
    }
    if (folder !== undefined) return backUpIntoFolder(input, folder);
    if (flags['every'] !== undefined || flags['keep'] !== undefined) {
      throw new UsageError('--every and --keep need --folder.');
    }
    await backUpIntoFile(input, path ?? '');
  },
};

export const restoreCatalogue: Command = {
  summary: 'Replaces the catalogue with a backup, while no server runs.',
  operands: ['FILE'],
  flags: {
    replace: { help: 'replace an existing catalogue, which is kept under another name' },
  },
  async run(input) {
    const { operands: [file = ''], flags, location, isJson, out, note } = input;
    const folder = getFolder(location);
    const task = { file, folder, isReplacing: flags['replace'] !== undefined, at: Date.now() };
    const unchanged = `Interrupted: ${folder} is unchanged.`;
    const { result, seconds } = await runCopy(input, unchanged, (create, show) =>
      restore({ ...task, target: create(join(folder, CATALOGUE_FILE_NAME)) }, show));
    const { kept, secrets } = result;
    const summary = { folder, ...summarize(result, seconds), kept, secrets };
    out(isJson ? JSON.stringify(summary) : `Restored ${describeCopy(summary, folder)}`);
    for (const text of describeConsequences(result)) note(text);
  },
};

/** Runs a copy with progress and times it; an interruption removes the partial file. */
async function runCopy<Result>(
  input: Input, interrupted: string,
  copy: (
    create: (path: string) => AtomicFile, show: (state: CopyState) => void,
  ) => Promise<Result>,
): Promise<{ readonly result: Result; readonly seconds: number }> {
  const startedAt = performance.now();
  using progress = new Progress(input.io.stderr);
  let target: AtomicFile | undefined;
  let isCopied = false;
  const create = (path: string): AtomicFile => target = new AtomicFile(path);
  const show = (state: CopyState): void => {
    if (state.bytes < state.sizeBytes) return progress.show(state);
    if (isCopied) return;
    isCopied = true;
    progress.end(state);
    input.note('Checking the copy.');
  };
  const result = await withInterrupt(input.io, () => copy(create, show), () => {
    target?.discard();
    return interrupted;
  });
  return { result, seconds: Math.round(performance.now() - startedAt) / 1000 };
}

async function backUpIntoFile(input: Input, path: string): Promise<void> {
  // SQLite would treat it as part of another database; `-` is no file.
  if (/-(?:wal|shm|journal)$|^-?$/.test(path)) {
    throw new UsageError(`Choose another name than "${path}".`);
  }
  const { result, seconds } = await runCopy(input, NO_BACKUP, (create, show) =>
    backUp(getFolder(input.location), create(path), show));
  const summary = { file: path, ...summarize(result, seconds) };
  const text = `Backed up ${describeCopy(summary, path)}`;
  input.out(input.isJson ? JSON.stringify(summary) : text);
  noteKey(input);
}

async function backUpIntoFolder(input: Input, folder: string): Promise<void> {
  const { flags, isJson, out } = input;
  const keep = readNumber(flags, 'keep', DEFAULT_BACKUPS_KEPT);
  const intervalMs = flags['every'] === undefined ? 0 : parseDuration(flags['every']);
  const dataFolder = getFolder(input.location);
  const task = { dataFolder, folder, intervalMs, keep, at: Date.now() };
  const { result: { made, removed, dueInMs }, seconds } = await runCopy(
    input, NO_BACKUP, (create, show) => backUpToFolder(task, create, show),
  );
  const summary = made && { file: made.path, ...summarize(made, seconds) };
  if (isJson) {
    out(JSON.stringify({ made: summary ?? null, removed, due_in_ms: dueInMs ?? null }));
  } else {
    const why = dueInMs === undefined ? 'Another process is making a backup.'
      : 'No backup needed: the latest is recent enough.';
    out(summary ? `Backed up ${describeCopy(summary, summary.file)}` : why);
    for (const name of removed) out(`Removed ${name}, the oldest.`);
  }
  if (made) noteKey(input);
}

function summarize({ sellers, products, changes, version, bytes }: Backup, seconds: number) {
  return { sellers, products, changes, version, bytes, seconds };
}

function noteKey({ note }: Input): void {
  note('The backup does not contain server.key, which decrypts webhook secrets and two-factor'
    + ' secrets. Keep a copy of it elsewhere.');
}

function describeConsequences({ kept, secrets: { sealed, opened } }: Restored): string[] {
  const names = kept.join(', ');
  return [
    ...(kept.length === 0 ? [] : [`The previous catalogue is kept as ${names}.`]),
    'Changes since the backup are gone. Keys revoked since then are valid again: revoke them'
      + ' again. Clients that remember a later position must resync from a new export.'
      + ' Everyone must sign in to the portal again.',
    ...(opened === sealed ? [] : [
      `${formatCount(sealed - opened)} of ${formatCount(sealed)} webhook and two-factor secrets`
        + ' cannot be decrypted with the server.key in the folder, if there is one. Put the'
        + ' right one there before you start a server. Without it, rotate the webhook secrets and'
        + ' sign in with recovery codes.',
    ]),
  ];
}

/** Summarizes a copy for people. */
function describeCopy(
  { sellers, products, changes, bytes, seconds }: ReturnType<typeof summarize>, to: string,
): string {
  return `${formatCounted(sellers, 'seller')} with ${formatCounted(products, 'product')}`
    + ` after ${formatCounted(changes, 'change')} to ${to}: ${formatMebibytes(bytes)} in `
    + `${seconds.toFixed(1)} s, checked.`;
}
