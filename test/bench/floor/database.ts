/** The database of a floor: as durable as the server, with its page cache and checkpoints. */
import { DatabaseSync } from 'node:sqlite';
import { WAL_CHECKPOINT_PAGES, WRITER_CACHE_KIB } from '../../../src/store/sqlite/limits.ts';

export function openBare(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    PRAGMA cache_size = -${WRITER_CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES}`);
  return db;
}
