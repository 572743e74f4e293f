/**
 * `migrate`: creates or updates the tables of a database, or updates those of a folder. One process
 * at a time does so; others wait for it. Servers reject another version. With `--after-restore` the
 * catalogue begins a generation, too.
 */
import { join } from 'node:path';
import { openStore, type StoreLocation } from '../../store/open-store.ts';
import { lockCatalogue } from '../../store/sqlite/backup/restore.ts';
import {
  CATALOGUE_FILE_NAME, findVersion, putGeneration,
} from '../../store/sqlite/engine/database-file.ts';
import { SCHEMA_VERSION } from '../../store/sqlite/schema/migrate.ts';
import type { Command } from '../command.ts';

export const migrate: Command = {
  summary: 'Creates or updates the tables of a database, once for all servers.',
  flags: {
    'after-restore': {
      help: 'also begin a generation: after point-in-time recovery, or for a copied data folder',
    },
  },
  async run({ location, flags }) {
    const isRestored = flags['after-restore'] !== undefined;
    const { from, to } = await migrateStore(location, isRestored);
    const subject = 'database' in location ? 'The database' : 'The data folder';
    const text = from === to ? `${subject} already has schema version ${to}.`
      : from === 0 ? `${subject} is ready, with schema version ${to}.`
        : `${subject} was updated from schema version ${from} to ${to}.`;
    const resync = isRestored ? ' A generation has begun: clients must resync from an export.' : '';
    return { document: { from, to }, text: text + resync };
  },
};

/** The schema versions before and after. @throws AppError as `openStore` */
async function migrateStore(
  location: StoreLocation, isRestored: boolean,
): Promise<{ readonly from: number; readonly to: number }> {
  if ('database' in location) {
    return (await import('../../store/postgres/database.ts')).migrateDatabase(location, isRestored);
  }
  const { folder } = location;
  const file = join(folder, CATALOGUE_FILE_NAME);
  const from = findVersion(file);
  if (isRestored && from !== undefined) {
    using db = lockCatalogue(folder, file);
    putGeneration(db);
    db.exec('COMMIT');
  }
  await (await openStore(location, { mustExist: true })).close();
  return { from: from ?? SCHEMA_VERSION, to: SCHEMA_VERSION };
}
