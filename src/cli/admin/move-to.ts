/**
 * `move-to`: moves everything from a data folder to a PostgreSQL database, or from a database to a
 * data folder. An interrupted move is continued by the same command.
 */
import type { MoveProgress, ProvenTable } from '../../store/move/move.ts';
import type { MoveTask } from '../../store/move/to-postgres.ts';
import { databaseSettings } from '../../store/nodes/database-settings.ts';
import { formatCount } from '../../domain/wording.ts';
import { type Command, type Input, UsageError } from '../command.ts';
import { formatCounted } from '../format.ts';
import { dataFlag, getFolder } from '../location.ts';
import { Progress, withInterrupt } from '../progress.ts';

const DATABASE_URL = /^postgres(?:ql)?:\/\//;
const INTERRUPTED = 'Interrupted. The source is unchanged; run the same command to continue.';

export const moveTo: Command = {
  summary: 'Moves everything to a PostgreSQL database, or from one to a data folder.',
  operands: ['TARGET'],
  flags: {
    data: dataFlag,
    'database-password-file': databaseSettings['database-password-file'],
    database: {
      value: 'URL', isSetting: true,
      help: 'move from this database to the data folder TARGET: postgres://user@host/database',
    },
  },
  isRemote: true,
  async run(input) {
    const { operands: [target = ''] } = input;
    const startedAt = performance.now();
    const isToDatabase = DATABASE_URL.test(target);
    const folder = isToDatabase ? getFolder(input.location) : target;
    const connect = await parseUrl(input, isToDatabase ? target : findSource(input));
    if (isToDatabase) assertNoSource(input);
    const task = { folder, connect, ...showProgress(input) };
    const tables = await withInterrupt(
      input.io, () => move(task, isToDatabase).finally(task.close), () => INTERRUPTED);
    const seconds = Math.round(performance.now() - startedAt) / 1000;
    const count = tables.reduce((sum, table) => sum + table.rows, 0);
    const moved = `${formatCounted(count, 'row')} of ${formatCount(tables.length)} tables`;
    return {
      document: { tables, rows: count, seconds },
      rows: tables,
      text: `Moved ${moved} in ${seconds.toFixed(1)} s. Source and target are equal.`,
      note: isToDatabase ? describeServers(folder)
        : `${folder} contains a complete catalogue. Start no server on the database any more.`,
    };
  },
};

/** Loads PostgreSQL only for this command. */
async function move(task: MoveTask, isToDatabase: boolean): Promise<readonly ProvenTable[]> {
  return isToDatabase ? (await import('../../store/move/to-postgres.ts')).moveToPostgres(task)
    : (await import('../../store/move/to-sqlite.ts')).moveToSqlite(task);
}

async function parseUrl({ flags, environment }: Input, database: string) {
  const { readConnectOptions } = await import('../../store/postgres/database.ts');
  const passwordFile = flags['database-password-file'];
  return readConnectOptions({ database, passwordFile, environment });
}

function findSource({ flags }: Input): string {
  const url = flags['database'];
  if (url !== undefined) return url;
  throw new UsageError('Name a database as the target: postgres://user@host/database. Or move from '
    + 'one to this folder with --database URL.');
}

/** A database that only the environment names is for other commands. */
function assertNoSource({ flags, environment }: Input): void {
  const url = flags['database'];
  if (url === undefined || url === environment['SELLER_API_DATABASE']) return;
  throw new UsageError('--database is the source of a move to a folder. A move to a database takes '
    + 'its source from --data.');
}

/** One progress for each phase. */
function showProgress({ io, note }: Input) {
  let progress = new Progress(io.stderr);
  let phase: MoveProgress['phase'] = 'copy';
  let state = { rows: 0, bytes: 0, sizeBytes: 0 };
  return {
    onNote(text: string): void {
      progress[Symbol.dispose]();
      note(text);
    },
    onProgress({ rows, totalRows, phase: current }: MoveProgress): void {
      if (current !== phase) {
        progress.end(state);
        note('Proving that source and target are equal.');
        [phase, progress] = [current, new Progress(io.stderr)];
      }
      state = { rows, bytes: rows, sizeBytes: totalRows };
      progress.show(state);
    },
    close: () => progress[Symbol.dispose](),
  };
}

function describeServers(folder: string): string {
  return `Copy ${folder}/server.key to every server that uses the database, readable by its user `
    + 'only, and name it with --server-key-file: it decrypts the secrets in the database, and is '
    + 'not in it. Keep the data folder until the servers run, and start none on it.';
}
