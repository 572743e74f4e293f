/**
 * Opens connections. Every setting that matters for safety is explicit, even if equal to the
 * default (https://www.sqlite.org/pragma.html, /limits.html).
 */
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import {
  READER_BUSY_TIMEOUT_MS, READER_CACHE_KIB, WAL_CHECKPOINT_PAGES, WAL_SIZE_LIMIT_BYTES,
  WRITER_BUSY_TIMEOUT_MS, WRITER_CACHE_KIB,
} from '../limits.ts';
import {
  EXPORT_CACHE_KIB, SEARCH_BUSY_TIMEOUT_MS, SEARCH_CACHE_KIB, SEARCH_CHECKPOINT_PAGES,
} from '../search/limits.ts';

const sqlite = process.getBuiltinModule('node:sqlite'); // see embed/supported-node.ts

// What the statements of this project need, with some margin; the defaults are far larger.
const LIMITS = {
  length: 4_000_000,
  sqlLength: 20_000,
  column: 64,
  exprDepth: 64,
  compoundSelect: 8,
  vdbeOp: 25_000,
  functionArg: 16,
  attach: 0,
  likePatternLength: 256,
  variableNumber: 256,
  triggerDepth: 4,
};

const SAFE_PRAGMAS = `
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
  PRAGMA mmap_size = 0;
  PRAGMA temp_store = MEMORY;
`;

/**
 * A writable connection: every commit is on disk when it returns (`synchronous = FULL`).
 * `pageLimit` is the maximum file size in pages of 4 KiB.
 */
export function openWriter(file: string, pageLimit = 0xfffffffe): DatabaseSync {
  return openDatabase(file, WRITER_BUSY_TIMEOUT_MS, `
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA cache_size = -${WRITER_CACHE_KIB};
    PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES};
    PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES};
    PRAGMA max_page_count = ${pageLimit};
  `);
}

/** A read-only connection. */
export function openReader(file: string): DatabaseSync {
  return openReadOnly(file, READER_BUSY_TIMEOUT_MS, `PRAGMA cache_size = -${READER_CACHE_KIB}`);
}

/** A connection that only rolls back an interrupted write. */
export function openToRecover(file: string): DatabaseSync {
  return openDatabase(file, READER_BUSY_TIMEOUT_MS, 'SELECT count(*) FROM sqlite_schema');
}

/**
 * One snapshot for `doctor`, which reads all of it: sorts larger than the cache use a temporary
 * file. A file that `isAtRest` has no writers: nothing is created beside it, so its folder may be
 * read-only.
 */
export function openForChecks(file: string, isAtRest: boolean): DatabaseSync {
  const url = pathToFileURL(file);
  if (isAtRest) url.searchParams.set('immutable', '1');
  return openReadOnly(url, READER_BUSY_TIMEOUT_MS, `
    PRAGMA cache_size = -${READER_CACHE_KIB};
    PRAGMA temp_store = FILE;
    BEGIN;
    SELECT count(*) FROM sqlite_schema;
  `);
}

/** A connection to a private copy: one file without a WAL. */
export function openCopy(file: string): DatabaseSync {
  return openDatabase(file, 0, `
    PRAGMA journal_mode = DELETE;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA cache_size = -${READER_CACHE_KIB};
  `);
}

/**
 * Locks a database exclusively; throws if another connection is open. Checkpoints the WAL first, so
 * that the database is one file. A process that opens the file during its renaming cannot write to
 * it: it must switch it to WAL mode first, and SQLite detects the rename.
 */
export function openExclusive(file: string): DatabaseSync {
  return openDatabase(file, 0, 'PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
}

/**
 * A connection to the search projection. Commits do not wait for the disk: what a power cut
 * destroys is rebuilt from the catalogue. Checkpoints do wait, since a silently corrupted file
 * would give wrong answers.
 */
export function openProjection(file: string): DatabaseSync {
  return openDatabase(file, SEARCH_BUSY_TIMEOUT_MS, `
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA secure_delete = ON;
    PRAGMA cache_size = -${SEARCH_CACHE_KIB};
    PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES};
    PRAGMA wal_autocheckpoint = ${SEARCH_CHECKPOINT_PAGES};
  `);
}

/** A connection that holds one projection snapshot for an export. */
export function openProjectionSnapshot(file: string): DatabaseSync {
  const begin = `PRAGMA cache_size = -${EXPORT_CACHE_KIB}; BEGIN`;
  return openReadOnly(file, SEARCH_BUSY_TIMEOUT_MS, begin);
}

/**
 * Takes an exclusive lock until the connection is closed or its process ends, even by kill -9.
 * Throws if the holder does not release it in time. Nothing is ever committed, so the journal can
 * be in memory and leaves no file behind.
 */
export function openLock(file: string, timeoutMs: number): DatabaseSync {
  return openDatabase(file, timeoutMs, 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
}

function openReadOnly(file: string | URL, timeoutMs: number, begin: string): DatabaseSync {
  return openDatabase(file, timeoutMs, begin, true);
}

/** `begin` runs first; `file` is empty for a private database. */
export function openDatabase(
  file: string | URL, timeoutMs: number, begin: string, isReadOnly = false,
): DatabaseSync {
  const db = new sqlite.DatabaseSync(file, {
    readOnly: isReadOnly,
    timeout: timeoutMs,
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
    allowExtension: false,
    allowUnknownNamedParameters: false,
    defensive: true,
    limits: LIMITS,
  });
  try {
    db.exec(SAFE_PRAGMAS);
    db.exec(begin);
    return db;
  } catch (error) {
    db.close(); // it may be damaged, or busy
    throw error;
  }
}
