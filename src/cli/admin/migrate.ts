/**
 * `migrate`: creates or updates the tables of a database, or updates those of a folder. One process
 * at a time does so; others wait for it. Servers reject another version.
 */
import { join } from 'node:path';
import { openStore, type StoreLocation } from '../../store/open-store.ts';
import { CATALOGUE_FILE_NAME, findVersion } from '../../store/sqlite/engine/database-file.ts';
import { SCHEMA_VERSION } from '../../store/sqlite/schema/migrate.ts';
import type { Command } from '../command.ts';

export const migrate: Command = {
  summary: 'Creates or updates the tables of a database, once for all servers.',
  async run({ location }) {
    const { from, to } = await migrateStore(location);
    const subject = 'database' in location ? 'The database' : 'The data folder';
    const text = from === to ? `${subject} already has schema version ${to}.`
      : from === 0 ? `${subject} is ready, with schema version ${to}.`
        : `${subject} was updated from schema version ${from} to ${to}.`;
    return { document: { from, to }, text };
  },
};

/** The schema versions before and after. @throws AppError as `openStore` */
async function migrateStore(
  location: StoreLocation,
): Promise<{ readonly from: number; readonly to: number }> {
  if ('database' in location) {
    return (await import('../../store/postgres/database.ts')).migrateDatabase(location);
  }
  const from = findVersion(join(location.folder, CATALOGUE_FILE_NAME));
  await (await openStore(location, { mustExist: true })).close();
  return { from: from ?? SCHEMA_VERSION, to: SCHEMA_VERSION };
}
