/**
 * The settings that say where a database is, and which files have the secrets that its nodes
 * share. They are flags of every local command.
 */
import { AppError } from '../../domain/error.ts';
import type { DatabaseLocation, LocationInput } from '../database-engine.ts';

const MAKE_KEY = '(umask 077; head -c 32 /dev/urandom > server.key)';

export const databaseSettings = {
  database: {
    value: 'URL', isSetting: true,
    help: 'PostgreSQL database instead of a folder: postgres://user@host/name',
  },
  'server-key-file': {
    value: 'FILE', isSetting: true,
    help: 'with --database: the key that all nodes share, 32 random bytes',
  },
  'database-password-file': {
    value: 'FILE', isSetting: true,
    help: 'with --database: its password (default: PGPASSWORD, then ~/.pgpass)',
  },
} as const;

/**
 * A flag wins over a variable; of two variables, the database wins, since images set the folder for
 * their volume.
 */
export function readDatabaseLocation(
  { flags, values, environment }: LocationInput,
): DatabaseLocation | undefined {
  const { database, 'server-key-file': serverKeyFile } = values;
  if (flags['data'] !== undefined && flags['database'] !== undefined) {
    throw new AppError('invalid_data', 'Give either --data or --database.');
  }
  if (flags['data'] !== undefined || database === undefined) {
    for (const name of ['server-key-file', 'database-password-file']) {
      if (flags[name] === undefined) continue;
      throw new AppError('invalid_data', `--${name} needs --database.`);
    }
    return undefined;
  }
  if (serverKeyFile === undefined) {
    throw new AppError('invalid_data', 'A database needs --server-key-file FILE, with the same key '
      + `for every server. For a new database make one, and keep copies of it: ${MAKE_KEY}`);
  }
  const passwordFile = values['database-password-file'];
  return { database, serverKeyFile, passwordFile, environment };
}

/** The flags that name a location again, for commands to copy. */
export function formatDatabaseLocation(
  { database, serverKeyFile, passwordFile }: DatabaseLocation, quote: (text: string) => string,
): readonly string[] {
  return [
    '--database', quote(database), '--server-key-file', quote(serverKeyFile),
    ...(passwordFile === undefined ? [] : ['--database-password-file', quote(passwordFile)]),
  ];
}
