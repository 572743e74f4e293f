/**
 * Migrations: applies the SQL files of `migrations/` that a database lacks, one transaction each.
 * They are immutable and forward-only; a database of a newer version is rejected.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { splitAuditChain, startOldSegments } from './audit-upgrade.ts';
import type { AuditKey } from '../../rules/audit.ts';
import { readInteger } from '../../sql/row.ts';

/** "SPAc", in the header of every database of this project. */
export const APPLICATION_ID = 0x53504163;
/** A file's position in this list, from 1, is the `user_version` that it results in. */
const MIGRATIONS = [
  '001-initial.sql', '002-idempotency.sql', '003-stock.sql', '004-webhooks.sql', '005-portal.sql',
  '006-stock-days.sql', '007-key-usage.sql', '008-disabled-sellers.sql',
  '009-idempotency-hash.sql', '010-audit-segments.sql', '011-actor.sql', '012-imports.sql',
  '013-column-mappings.sql', '014-change-type.sql', '015-per-seller.sql',
  '016-low-stock.sql', '017-key-suffix.sql', '018-webhook-attempts.sql',
  '019-people.sql', '020-saved-filters.sql',
  '021-webhook-delivery.sql', '022-passkeys.sql',
  '023-product-fields.sql',
];
/** What else migrations do, with the server's key. */
const AUDIT_STEPS: Readonly<Record<
  string, (db: DatabaseSync, key: AuditKey | undefined) => void
>> = {
  '010-audit-segments.sql': startOldSegments,
  '015-per-seller.sql': splitAuditChain,
};
/** The schema version of this program. */
export const SCHEMA_VERSION = MIGRATIONS.length;

interface Migration {
  readonly to?: number;
  /** Not needed for a schema that gets no events. */
  readonly auditKey?: AuditKey;
}

/** Applies the missing migrations up to a version, and checkpoints the WAL. */
export function migrate(
  db: DatabaseSync, { to = SCHEMA_VERSION, auditKey }: Migration = {},
): void {
  db.exec('PRAGMA temp_store = FILE'); // sorts a long history on disk, not in memory
  registerSha256(db);
  for (;;) {
    db.exec('BEGIN IMMEDIATE');
    try {
      // Read inside the transaction: another process may be migrating the same file.
      const row = db.prepare('PRAGMA user_version').get() ?? {};
      const version = readInteger(row, 'user_version');
      const name = MIGRATIONS[version];
      if (name === undefined || version >= to) break;
      db.enableDefensive(!name.startsWith('014')); // which edits the text of the schema
      db.exec(readFileSync(new URL(`../migrations/${name}`, import.meta.url), 'utf8'));
      AUDIT_STEPS[name]?.(db, auditKey);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version + 1};`);
      db.exec('COMMIT');
    } finally {
      if (db.isTransaction) db.exec('ROLLBACK');
      db.enableDefensive(true);
    }
  }
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** For migrations that hash what earlier versions stored in plain text. */
function registerSha256(db: DatabaseSync): void {
  db.function('sha256', { deterministic: true, directOnly: true }, (text) =>
    createHash('sha256').update(String(text)).digest());
}

/** Reads the version in SQL, so a WAL left by a crash counts too. @throws AppError */
export function assertVersion(db: DatabaseSync, file: string): void {
  const row = db.prepare('PRAGMA user_version').get() ?? {};
  if (readInteger(row, 'user_version') !== SCHEMA_VERSION) throw writtenByNewerVersion(file);
}

/** The version of a database, and the newest that this program supports. */
export function describeVersion(
  db: DatabaseSync,
): { readonly isOurs: boolean; readonly version: number; readonly newest: number } {
  const read = (name: string): number =>
    readInteger(db.prepare(`PRAGMA ${name}`).get() ?? {}, name);
  return {
    isOurs: read('application_id') === APPLICATION_ID,
    version: read('user_version'),
    newest: SCHEMA_VERSION,
  };
}

/** @throws AppError `unavailable` for a database of a newer program */
export function assertKnown(version: number, file: string): void {
  if (version > SCHEMA_VERSION) throw writtenByNewerVersion(file);
}

function writtenByNewerVersion(file: string): AppError {
  const hint = 'It was left unchanged: run that version, or a newer one.';
  return new AppError('unavailable', `${file} was written by a newer version. ${hint}`);
}
