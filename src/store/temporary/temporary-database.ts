/** Temporary databases of SQLite, which hold what any adapter must not keep in memory. */
import type { DatabaseSync } from 'node:sqlite';
import { DRY_RUN_CACHE_KIB } from '../limits.ts';
import { openDatabase } from '../sqlite/engine/connection.ts';

/** A private database: in memory while it is small, in a temporary file once it grows. */
export function openTemporary(cacheKib = DRY_RUN_CACHE_KIB): DatabaseSync {
  return openDatabase('', 0, `PRAGMA cache_size = -${cacheKib}`);
}
