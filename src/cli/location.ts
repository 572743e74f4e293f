/**
 * Where a command finds the catalogue: a data folder, or a PostgreSQL database. A flag wins over a
 * variable; of two variables, the database wins, since images set the folder for their volume.
 */
import { AppError } from '../domain/error.ts';
import type { DatabaseLocation } from '../store/nodes/database-location.ts';
import type { StoreLocation } from '../store/open-store.ts';
import { DEFAULT_DATA_FOLDER } from './limits.ts';

const MAKE_KEY = '(umask 077; head -c 32 /dev/urandom > server.key)';

export const locationFlags = {
  data: {
    value: 'DIR', isSetting: true, help: `folder of the database (default: ${DEFAULT_DATA_FOLDER})`,
  },
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
 * @param flags The flags that were given.
 * @param values The same, and settings from variables.
 * @throws AppError `invalid_data`
 */
export function readLocation(
  flags: Readonly<Record<string, unknown>>, values: Readonly<Record<string, string | undefined>>,
  environment: Readonly<NodeJS.ProcessEnv>,
): StoreLocation {
  const { database, 'server-key-file': serverKeyFile } = values;
  const isFolder = flags['data'] !== undefined || database === undefined;
  if (flags['data'] !== undefined && flags['database'] !== undefined) {
    throw new AppError('invalid_data', 'Give either --data or --database.');
  }
  if (isFolder) {
    for (const name of ['server-key-file', 'database-password-file']) {
      if (flags[name] === undefined) continue;
      throw new AppError('invalid_data', `--${name} needs --database.`);
    }
    return readFolder(values);
  }
  if (serverKeyFile === undefined) {
    throw new AppError('invalid_data', 'A database needs --server-key-file FILE, with the same key '
      + `for every server. For a new database make one, and keep copies of it: ${MAKE_KEY}`);
  }
  const passwordFile = values['database-password-file'];
  return { database, serverKeyFile, passwordFile, environment };
}

/** For a command with no flags but those of a folder, if any. */
export function readFolder({ data }: Readonly<Record<string, string | undefined>>): StoreLocation {
  return { folder: data ?? DEFAULT_DATA_FOLDER };
}

/** The folder, for backups. @throws AppError `invalid_data` that says what databases have */
export function getFolder(location: StoreLocation): string {
  if ('folder' in location) return location.folder;
  throw new AppError('invalid_data', 'Backups and their flags are for data folders. For a database '
    + 'use pg_dump and pg_restore, or continuous archiving with point-in-time recovery.');
}

/** The flags that name a location again, for commands to copy. */
export function formatLocation(
  location: StoreLocation, quote: (text: string) => string,
): readonly string[] {
  if ('database' in location) return formatDatabase(location, quote);
  const { folder } = location;
  return folder === DEFAULT_DATA_FOLDER ? [] : ['--data', quote(folder)];
}

function formatDatabase(
  { database, serverKeyFile, passwordFile }: DatabaseLocation, quote: (text: string) => string,
): readonly string[] {
  return [
    '--database', quote(database), '--server-key-file', quote(serverKeyFile),
    ...(passwordFile === undefined ? [] : ['--database-password-file', quote(passwordFile)]),
  ];
}
