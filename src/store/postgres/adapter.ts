/**
 * PostgreSQL in the composition: its settings, and the functions that open and check a database.
 * Their code is loaded only with a `postgres://` URL.
 */
import type { DatabaseEngine } from '../database-engine.ts';
import {
  databaseSettings, formatDatabaseLocation, readDatabaseLocation,
} from '../nodes/database-settings.ts';

export const postgres: DatabaseEngine = {
  settings: databaseSettings,
  backupAdvice: 'For a database use pg_dump and pg_restore, or continuous archiving with'
    + ' point-in-time recovery.',
  readLocation: readDatabaseLocation,
  formatLocation: formatDatabaseLocation,
  async open(location, clock) {
    return (await import('./database.ts')).openDatabase(location, clock);
  },
  async* check(location) {
    yield* (await import('./check/doctor.ts')).checkDatabase(location);
  },
};
