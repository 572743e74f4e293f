/**
 * `backup`: copies the database of the data folder to a file, or to a folder of backups, with or
 * without a running server. The file appears once it is checked; until then it is FILE.ID.part.
 */
import { BACKUPS_KEPT_LIMIT, DEFAULT_BACKUPS_KEPT } from '../limits.ts';
import { parseDuration } from '../../domain/time.ts';
import { type Backup, backUp } from '../../store/sqlite/backup/backup.ts';
import { backUpToFolder } from '../../store/sqlite/backup/backup-folder.ts';
import { AtomicFile } from '../../store/sqlite/files/atomic-file.ts';
import { type Command, type Input, UsageError } from '../command.ts';
import { CopyProgress, describeCatalogue } from './copy-progress.ts';
import { withInterrupt } from '../progress.ts';
import { formatMebibytes } from '../format.ts';
import { readNumber } from '../serve/settings.ts';

export const backupCatalogue: Command = {
  summary: 'Copies the database to a file and checks the copy, while a server serves or not.',
  operands: ['[FILE]'],
  flags: {
    folder: { value: 'DIR', help: 'instead of FILE: one named by the time, in this folder' },
    every: {
      value: 'DURATION', help: 'with --folder: none while the newest there is younger, such as 24h',
    },
    keep: {
      value: 'N', help: `with --folder: how many stay there (default: ${DEFAULT_BACKUPS_KEPT})`,
    },
  },
  async run(input) {
    const { flags, operands: [path] } = input;
    const folder = flags['folder'];
    if ((path === undefined) === (folder === undefined)) {
      throw new UsageError('Give FILE, or --folder.');
    }
    if (folder !== undefined) return intoFolder(input, folder);
    if (flags['every'] !== undefined || flags['keep'] !== undefined) {
      throw new UsageError('--every and --keep go with --folder.');
    }
    await intoFile(input, path ?? '');
  },
};

/** Runs the work, and removes what it has begun where it is interrupted. */
async function watch<Result>(
  note: Input['note'],
  work: (begin: (target: AtomicFile) => void, progress: CopyProgress) => Promise<Result>,
): Promise<Result> {
  const progress = new CopyProgress(note);
  let target: AtomicFile | undefined;
  const begin = (begun: AtomicFile): void => { target = begun; };
  return withInterrupt(() => work(begin, progress).finally(() => progress.close()), () => {
    target?.discard();
    return 'Interrupted: no backup was made.';
  });
}

async function intoFile(input: Input, path: string): Promise<void> {
  // SQLite would take it for a part of another database; and a copy is no stream.
  if (/-(?:wal|shm|journal)$|^-?$/.test(path)) {
    throw new UsageError(`Choose another name than "${path}".`);
  }
  const startedAt = performance.now();
  const made = await watch(input.note, (begin, progress) => {
    const target = new AtomicFile(path);
    begin(target);
    return backUp(input.dataFolder, target, (state) => progress.show(state));
  });
  const summary = summarize({ ...made, path }, startedAt);
  input.out(input.isJson ? JSON.stringify(summary) : describe(summary));
  noteKey(input);
}

async function intoFolder(input: Input, folder: string): Promise<void> {
  const { flags, isJson, out } = input;
  const keep = readNumber('keep', flags['keep'], DEFAULT_BACKUPS_KEPT, BACKUPS_KEPT_LIMIT);
  if (keep === 0) throw new UsageError('--keep takes 1 or more.');
  const intervalMs = flags['every'] === undefined ? 0 : parseDuration(flags['every']);
  const startedAt = performance.now();
  const task = { dataFolder: input.dataFolder, folder, intervalMs, keep, at: Date.now() };
  const { made, removed, dueInMs } = await watch(input.note, (begin, progress) =>
    backUpToFolder(task, begin, (state) => progress.show(state)));
  const summary = made && summarize(made, startedAt);
  if (isJson) {
    out(JSON.stringify({ made: summary ?? null, removed, due_in_ms: dueInMs ?? null }));
  } else {
    const why = dueInMs === undefined ? 'Another process makes a backup now.'
      : 'The newest backup is young enough: none was made.';
    out(summary ? describe(summary) : why);
    for (const name of removed) out(`Removed the oldest, ${name}.`);
  }
  if (made) noteKey(input);
}

function summarize(made: Backup & { readonly path: string }, startedAt: number) {
  const { path: file, sellers, products, changes, version, bytes } = made;
  const seconds = Math.round(performance.now() - startedAt) / 1000;
  return { file, sellers, products, changes, version, bytes, seconds };
}

function describe(summary: ReturnType<typeof summarize>): string {
  const { file, bytes, seconds } = summary;
  return `Backed up ${describeCatalogue(summary)} to ${file}: `
    + `${formatMebibytes(bytes)} in ${seconds.toFixed(1)} s, read back and found whole.`;
}

function noteKey({ note }: Input): void {
  note('server.key, which opens the secrets of webhooks and of one-time codes, is not in it:'
    + ' keep a copy of it elsewhere.');
}
