/**
 * How a connection to the database file is opened: every setting that matters for safety is written
 * out, even where it is the default (https://www.sqlite.org/pragma.html, /limits.html).
 */
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import {
  READER_BUSY_TIMEOUT_MS, READER_CACHE_KIB, WAL_CHECKPOINT_PAGES, WAL_SIZE_LIMIT_BYTES,
  DRY_RUN_CACHE_KIB, WRITER_BUSY_TIMEOUT_MS, WRITER_CACHE_KIB,
} from '../limits.ts';
import {
  EXPORT_CACHE_KIB, SEARCH_BUSY_TIMEOUT_MS, SEARCH_CACHE_KIB, SEARCH_CHECKPOINT_PAGES,
} from '../search/limits.ts';

// What the statements of this project need, with some room; the defaults are far larger.
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

export interface WriterOptions {
  /** The file never grows past this many pages of 4 KiB; undefined: as far as the disk goes. */
  readonly pageLimit?: number | undefined;
}

/** A connection that writes. Every commit is on the disk when it returns (`synchronous = FULL`). */
export function openWriter(file: string, options: WriterOptions = {}): DatabaseSync {
  return open(file, { readOnly: false, timeout: WRITER_BUSY_TIMEOUT_MS }, `
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA cache_size = -${WRITER_CACHE_KIB};
    PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES};
    PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES};
    PRAGMA max_page_count = ${options.pageLimit ?? 0xfffffffe};
  `);
}

/** A connection that cannot write. */
export function openReader(file: string): DatabaseSync {
  const how = { readOnly: true, timeout: READER_BUSY_TIMEOUT_MS };
  return open(file, how, `PRAGMA cache_size = -${READER_CACHE_KIB}`);
}

/** A connection that rolls back an interrupted write, and does nothing else. */
export function openToRecover(file: string): DatabaseSync {
  const how = { readOnly: false, timeout: READER_BUSY_TIMEOUT_MS };
  return open(file, how, 'SELECT count(*) FROM sqlite_schema');
}

/**
 * One snapshot for `doctor`, which reads all of it: what it sorts goes to a temporary file where it
 * does not fit into the cache. A file that `isAtRest` is one that nobody writes to: it is read as
 * it is, and nothing is made beside it, even where its folder cannot be written to.
 */
export function openForChecks(file: string, isAtRest: boolean): DatabaseSync {
  const how = { readOnly: true, timeout: READER_BUSY_TIMEOUT_MS };
  const url = pathToFileURL(file);
  if (isAtRest) url.searchParams.set('immutable', '1');
  return open(url, how, `
    PRAGMA cache_size = -${READER_CACHE_KIB};
    PRAGMA temp_store = FILE;
    BEGIN;
    SELECT count(*) FROM sqlite_schema;
  `);
}

/** A connection to a copy that nobody else uses: all of it is in one file, without a log. */
export function openCopy(file: string): DatabaseSync {
  return open(file, { readOnly: false, timeout: 0 }, `
    PRAGMA journal_mode = DELETE;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA cache_size = -${READER_CACHE_KIB};
  `);
}

/**
 * Keeps everybody else out of a database; throws where somebody has it open. Its log is moved into
 * it first, so that all of it is in one file. Whoever opens that file while it gets another name
 * cannot write to it: it has to be written to before it has a log again, and SQLite notices.
 */
export function openExclusive(file: string): DatabaseSync {
  return open(file, { readOnly: false, timeout: 0 }, `
    PRAGMA journal_mode = DELETE;
    BEGIN EXCLUSIVE;
  `);
}

/** A database of one connection: in memory while it is small, in a temporary file when it grows. */
export function openTemporary(): DatabaseSync {
  return open('', { readOnly: false, timeout: 0 }, `PRAGMA cache_size = -${DRY_RUN_CACHE_KIB}`);
}

/**
 * A connection to the projection that searches are answered from. Its commits do not wait for the
 * disk: what a power cut takes away is made again from the catalogue. But it waits when the log is
 * moved, for a file that was spoilt unnoticed would give wrong answers.
 */
export function openProjection(file: string): DatabaseSync {
  return open(file, { readOnly: false, timeout: SEARCH_BUSY_TIMEOUT_MS }, `
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -${SEARCH_CACHE_KIB};
    PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES};
    PRAGMA wal_autocheckpoint = ${SEARCH_CHECKPOINT_PAGES};
  `);
}

/** A connection to the projection that holds one snapshot, for an export. */
export function openProjectionSnapshot(file: string): DatabaseSync {
  const how = { readOnly: true, timeout: SEARCH_BUSY_TIMEOUT_MS };
  return open(file, how, `PRAGMA cache_size = -${EXPORT_CACHE_KIB}; BEGIN`);
}

/**
 * Takes an exclusive lock until the connection is closed or its process ends, however it ends.
 * Throws if the holder of the lock does not release it in time. Nothing is ever committed, so no
 * journal has to be on the disk, where kill -9 would leave it behind.
 */
export function openLock(file: string, timeoutMs: number): DatabaseSync {
  const how = { readOnly: false, timeout: timeoutMs };
  return open(file, how, 'PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
}

function open(
  file: string | URL, how: { readOnly: boolean; timeout: number }, begin: string,
): DatabaseSync {
  const db = new DatabaseSync(file, {
    ...how,
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
