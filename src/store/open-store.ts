/** Opens the store of a location. Only this module knows which adapter a location needs. */
import { AppError } from '../domain/error.ts';
import type { DatabaseEngine, DatabaseLocation } from './database-engine.ts';
import { engines } from './engines.ts';
import { assertCatalogueExists } from './sqlite/engine/database-file.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Store } from './store.ts';

/** A data folder, or a database. */
export type StoreLocation = { readonly folder: string } | DatabaseLocation;

interface OpenOptions {
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly clock?: (() => number) | undefined;
  /** Whether to reject a folder without a catalogue, instead of creating one. */
  readonly mustExist?: boolean;
  /** Of a folder: a second high-water mark, outside of it. */
  readonly highWaterFile?: string | undefined;
}

/**
 * Updates the schema of a folder, but never that of a database.
 * @throws AppError `unavailable` for a location that cannot be used; `invalid_data` for a database
 *   URL that is invalid or contains a password; `not_found` for a folder that has no catalogue and
 *   `mustExist`
 */
export async function openStore(
  location: StoreLocation, { clock, mustExist = false, highWaterFile }: OpenOptions = {},
): Promise<Store> {
  if ('database' in location) return getEngine().open(location, clock);
  const { folder } = location;
  if (mustExist) assertCatalogueExists(folder);
  return openSqliteStore({ folder, highWaterFile, ...(clock && { clock }) });
}

/** @throws AppError `unavailable` in a program without an adapter for databases */
export function getEngine(): DatabaseEngine {
  const [engine] = engines;
  if (engine) return engine;
  throw new AppError('unavailable', 'This server has no adapter for databases: use a folder.');
}
