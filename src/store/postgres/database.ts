/** Opens and migrates the database of a URL, with the secrets that its settings name. */
import { resolve } from 'node:path';
import { AppError } from '../../domain/error.ts';
import type { DatabaseLocation } from '../database-engine.ts';
import { readPasswordFile, readServerKeyFile } from '../nodes/secret-files.ts';
import type { Store } from '../store.ts';
import { parseDatabaseUrl } from './connect/database-url.ts';
import { type ConnectOptions, openConnection } from './connect/open-connection.ts';
import { explainOpening } from './connect/opening-failures.ts';
import { beginGeneration, makePatientRunner, migrate } from './schema/migrate.ts';
import { queryOf } from './sql.ts';
import { openPostgresStore } from './store.ts';

/** @throws AppError `invalid_data` for the URL; `unavailable` */
export async function openDatabase(
  location: DatabaseLocation, clock?: () => number,
): Promise<Store> {
  const connect = readConnectOptions(location);
  const key = readServerKeyFile(location.serverKeyFile);
  return openPostgresStore({ connect, key, ...(clock && { clock }) }).catch(explainOpening);
}

/**
 * @param isRestored Whether to begin a generation.
 * @throws AppError `invalid_data` for the URL; `unavailable`
 */
export async function migrateDatabase(location: DatabaseLocation, isRestored = false) {
  const connect = readConnectOptions(location);
  const key = readServerKeyFile(location.serverKeyFile);
  // No time limits: an update takes as long as it takes.
  const connection = await openConnection(connect).catch(explainOpening);
  try {
    const versions = await migrate(connection, key);
    if (isRestored) await beginGeneration(queryOf(makePatientRunner(connection)));
    return versions;
  } catch (error) {
    return explainOpening(error);
  } finally {
    connection.close();
  }
}

/** @throws AppError `invalid_data` */
export function readConnectOptions(
  { database, passwordFile, environment = process.env }: Omit<DatabaseLocation, 'serverKeyFile'>,
): ConnectOptions {
  try {
    const options = parseDatabaseUrl(database, environment);
    if (passwordFile === undefined) return options;
    // Read for each connection, so that a new password needs no restart.
    const file = resolve(passwordFile);
    return { ...options, findPassword: async () => readPasswordFile(file) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new AppError('invalid_data', `${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  }
}
