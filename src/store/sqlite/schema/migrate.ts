/**
 * Creates the schema, or brings that of an earlier version up to date: applies schema.sql and the
 * migrations that a database lacks, one transaction each. Once released, these files are immutable;
 * there is no way back to an earlier version.
 */
import type { DatabaseSync } from 'node:sqlite';
import { readAsset } from '../../../runtime/asset.ts';
import { assertKnown, assertNotOld, FIRST_VERSION } from '../../sql/schema-version.ts';
import { readPragma } from '../sql.ts';

/** "SPAc", in the header of every database of this project. */
export const APPLICATION_ID = 0x53504163;
const SCHEMA = readAsset(new URL('schema.sql', import.meta.url));
/** In SQL. The first one migrates FIRST_VERSION to the next version. */
const MIGRATIONS = [
  readAsset(new URL('migration-25.sql', import.meta.url)),
  readAsset(new URL('migration-26.sql', import.meta.url)),
  readAsset(new URL('migration-27.sql', import.meta.url)),
  readAsset(new URL('migration-28.sql', import.meta.url)),
  readAsset(new URL('migration-29.sql', import.meta.url)),
];
/** The schema version of this program, `user_version` in the header of a database. */
export const SCHEMA_VERSION = FIRST_VERSION + MIGRATIONS.length;
/** Where the products of a database from before the first release can be imported. */
const NEW_PLACE = 'a new data folder';

interface Migration {
  /** Default: the newest version. */
  readonly to?: number;
  /** In SQL, for tests. */
  readonly migrations?: readonly string[];
}

/**
 * Applies what a database lacks up to a version, and checkpoints the WAL.
 * @throws AppError `unavailable` for a version that this program cannot read
 */
export function migrate(
  db: DatabaseSync, { to = Infinity, migrations = MIGRATIONS }: Migration = {},
): void {
  db.exec('PRAGMA temp_store = FILE'); // sorts a long history on disk, not in memory
  while (applyNext(db, [SCHEMA, ...migrations], to));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Returns whether there was one to apply. */
function applyNext(db: DatabaseSync, texts: readonly string[], to: number): boolean {
  db.exec('BEGIN IMMEDIATE');
  try {
    // Read inside the transaction: another process may be migrating the same file.
    const version = readPragma(db, 'user_version');
    const newest = FIRST_VERSION + texts.length - 1;
    if (version !== 0) assertKnown(version, newest, db.location() ?? 'The database', NEW_PLACE);
    const next = version === 0 ? FIRST_VERSION : version + 1;
    const text = texts[next - FIRST_VERSION];
    if (next > to || text === undefined) return false;
    db.exec(text);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${next}; COMMIT`);
    return true;
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}

/**
 * The version of a database, and the newest that this program supports. Reads it in SQL, so that a
 * write-ahead log left by a crash counts too.
 */
export function describeVersion(
  db: DatabaseSync,
): { readonly isOurs: boolean; readonly version: number; readonly newest: number } {
  return {
    isOurs: readPragma(db, 'application_id') === APPLICATION_ID,
    version: readPragma(db, 'user_version'),
    newest: SCHEMA_VERSION,
  };
}

/** @throws AppError `unavailable` for a version before the first or after the newest */
export function assertKnownVersion(version: number, file: string): void {
  assertKnown(version, SCHEMA_VERSION, file, NEW_PLACE);
}

/** @throws AppError `unavailable` for a version before the first */
export function assertNotOldVersion(version: number, file: string): void {
  assertNotOld(version, file, NEW_PLACE);
}
