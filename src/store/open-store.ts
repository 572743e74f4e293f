/** Opens the store of a location. Only this module knows which adapter a location needs. */
import { join } from 'node:path';
import type { DatabaseLocation } from './nodes/database-location.ts';
import {
  assertCatalogueExists, CATALOGUE_FILE_NAME, findVersion,
} from './sqlite/engine/database-file.ts';
import { SCHEMA_VERSION } from './sqlite/schema/migrate.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Store } from './store.ts';

/** A data folder. */
interface FolderLocation {
  readonly folder: string;
}

export type StoreLocation = FolderLocation | DatabaseLocation;

interface OpenOptions {
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly clock?: (() => number) | undefined;
  /** Whether to reject a folder without a catalogue, instead of creating one. */
  readonly mustExist?: boolean;
}

/**
 * Updates the schema of a folder, but never that of a database.
 * @throws AppError `unavailable` for a location that cannot be used; `invalid_data` for a database
 *   URL that is invalid or contains a password; `not_found` for a folder that has no catalogue and
 *   `mustExist`
 */
export async function openStore(
  location: StoreLocation, { clock, mustExist = false }: OpenOptions = {},
): Promise<Store> {
  if ('database' in location) {
    // Only then is any code for PostgreSQL loaded.
    return (await import('./postgres/database.ts')).openDatabase(location, clock);
  }
  const { folder } = location;
  if (mustExist) assertCatalogueExists(folder);
  return openSqliteStore({ folder, ...(clock && { clock }) });
}

/** The schema versions of a database, before and after. */
interface Migrated {
  readonly from: number;
  readonly to: number;
}

/**
 * Creates or updates the tables of a database, or updates those of a folder. One process
 * at a time does so; others wait for it.
 * @throws AppError as `openStore`; `unavailable` for a version that this program cannot read
 */
export async function migrateStore(location: StoreLocation): Promise<Migrated> {
  if ('database' in location) {
    return (await import('./postgres/database.ts')).migrateDatabase(location);
  }
  const from = findVersion(join(location.folder, CATALOGUE_FILE_NAME));
  await (await openStore(location, { mustExist: true })).close();
  return { from: from ?? SCHEMA_VERSION, to: SCHEMA_VERSION };
}
