/**
 * The projection's file, `search.db`. It is never migrated or repaired: if damaged, foreign or of
 * another version, it is deleted and rebuilt from the catalogue. Processes that share a folder lock
 * it to open or delete the file; otherwise one could find the log of another's new file.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SEARCH_BUSY_TIMEOUT_MS } from './limits.ts';
import { STORED_FIELDS } from '../../../domain/catalogue/product-fields.ts';
import { openBeside } from '../files/open-files.ts';
import { createEmpty, removeDatabase } from '../files/durable-files.ts';
import { openLock, openProjection, openProjectionSnapshot } from '../engine/connection.ts';
import { resultCodeOf, SQLITE_CORRUPT, SQLITE_NOTADB } from '../engine/disk-failure.ts';
import { readPragma } from '../sql.ts';
import type { SearchFiles } from './protocol.ts';

/** "SPAs", in the header of the file. */
const APPLICATION_ID = 0x53504173;
/** Increment this whenever the contents of the file change, such as a product field. */
const VERSION = 7;

/**
 * `row` is the seller's ordinal * 2^32 + n, where n counts the seller's products in id order. So
 * rows are ordered by id, and a seller is a range of rows. Every SQLite index ends with the row.
 * Deleted products keep their row vacant, since a revert may create them again with their id.
 */
const SCHEMA = `
  CREATE TABLE seller (
    -- Below 2^21, so that every row is below 2^53.
    ordinal     INTEGER PRIMARY KEY CHECK (ordinal BETWEEN 1 AND 2097151),
    seller_id   INTEGER NOT NULL UNIQUE,
    -- All changes up to this position are applied.
    position    INTEGER NOT NULL CHECK (position >= 0),
    -- The last product that the first build has read; NULL when it is complete.
    built_to    INTEGER,
    -- No product is of a later position than this.
    seen        INTEGER NOT NULL CHECK (seen >= position),
    -- Identifies the change at that position.
    mark        TEXT    NOT NULL,
    -- The n of the last row.
    rows        INTEGER NOT NULL CHECK (rows BETWEEN 0 AND 4294967294),
    -- Totals of the products that are not archived: their number, units in stock, and value. The
    -- last two are integers as text, since they may exceed 2^63.
    products    INTEGER NOT NULL DEFAULT 0 CHECK (products BETWEEN 0 AND all_products),
    units       TEXT    NOT NULL DEFAULT '0',
    value_minor TEXT    NOT NULL DEFAULT '0',
    -- The same of all products.
    all_products    INTEGER NOT NULL DEFAULT 0 CHECK (all_products BETWEEN 0 AND rows),
    all_units       TEXT    NOT NULL DEFAULT '0',
    all_value_minor TEXT    NOT NULL DEFAULT '0'
  ) STRICT;

  CREATE TABLE product (
    row         INTEGER PRIMARY KEY,
    seller      INTEGER NOT NULL REFERENCES seller (ordinal) CHECK (seller = row >> 32),
    ${STORED_FIELDS.map(({ column, isText, isFlag, isRequired }) =>
    `${column} ${isText ? 'TEXT' : 'INTEGER'}${isRequired || isFlag ? ' NOT NULL' : ''}`)
    .join(', ')},
    -- The folded name; and the lines that are searched (searchTextsOf).
    name_key    TEXT    NOT NULL,
    text        TEXT    NOT NULL
  ) STRICT;

  CREATE TABLE vacant_row (
    row         INTEGER PRIMARY KEY,
    seller      INTEGER NOT NULL REFERENCES seller (ordinal) CHECK (seller = row >> 32),
    id          INTEGER NOT NULL,
    UNIQUE (seller, id)
  ) STRICT;

  -- The metadata of products.
  CREATE TABLE metadata_pair (
    name  TEXT    NOT NULL,
    value TEXT    NOT NULL,
    row   INTEGER NOT NULL,
    PRIMARY KEY (name, value, row)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX product_id ON product (seller, id);
  -- Archived products are in the same indexes, apart from the others.
  CREATE INDEX product_archived ON product (seller, archived);
  CREATE INDEX product_name ON product (seller, archived, name_key);
  CREATE INDEX product_sku ON product (seller, archived, sku);
  CREATE INDEX product_barcode ON product (seller, archived, CAST(barcode AS bigint))
    WHERE barcode IS NOT NULL;
  CREATE INDEX product_category ON product (seller, archived, category);
  CREATE INDEX product_price ON product (seller, archived, price_minor);
  -- Rows of equal stock in order, and what a count of low stock needs.
  CREATE INDEX product_stock ON product (seller, archived, stock, row, low_stock);
  CREATE INDEX product_low ON product (seller, archived, stock) WHERE stock <= low_stock;
  CREATE INDEX product_updated ON product (seller, archived, updated_at);
  CREATE INDEX product_position ON product (seller, archived, position);

  -- The trigrams of product.text, without another copy of the text.
  CREATE VIRTUAL TABLE product_text USING fts5(
    folded, tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1
  );
  -- Segments are merged late while the index grows, and as far as possible on request: with
  -- 300,000 products this saves a sixth of a build, and half of a search with few matches.
  INSERT INTO product_text (product_text, rank)
  VALUES ('automerge', 8), ('hashsize', 8388608), ('usermerge', 2);

  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

/** Whose projection it is, and where. */
export type OpenedBy = Pick<SearchFiles, 'search' | 'openFiles'>;

/**
 * Opens the projection; creates it if there is no usable one.
 * @throws AppError `unavailable`, as the functions below, if the catalogue is lost
 */
export function openProjectionFile(files: OpenedBy): DatabaseSync {
  return withLock(files, (file) => openCurrent(file) ?? replace(file));
}

/** Deletes the projection and creates an empty one. Close connections to the old one first. */
export function replaceProjectionFile(files: OpenedBy): DatabaseSync {
  return withLock(files, replace);
}

/** Opens one snapshot of the projection. */
export function openSnapshotFile(files: OpenedBy): DatabaseSync {
  return withLock(files, openProjectionSnapshot);
}

/** A statement to `run`: its last rowid may be one of FTS5's, beyond a safe integer. */
export function prepareWrite(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

/** Whether SQLite reported a damaged file, or one that is not a database. */
export function isDamage(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** Whether it has this version's tables: its header is written with them. */
export function isCurrentProjection(db: DatabaseSync): boolean {
  return readPragma(db, 'application_id') === APPLICATION_ID
    && readPragma(db, 'user_version') === VERSION;
}

function withLock(
  { search: file, openFiles }: OpenedBy, open: (file: string) => DatabaseSync,
): DatabaseSync {
  return openBeside(openFiles, () => {
    createEmpty(`${file}.lock`);
    using _lock = openLock(`${file}.lock`, SEARCH_BUSY_TIMEOUT_MS);
    return open(file);
  });
}

/** Creates a missing file first, because SQLite copies its mode to -wal and -shm. */
function openCurrent(file: string): DatabaseSync | undefined {
  // A log without its file is useless.
  if (createEmpty(file)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = openProjection(file);
    if (isCurrentProjection(db)) {
      db.prepare('SELECT rowid FROM product_text'); // reads its schema and that of FTS5
      return db;
    }
    db.close();
  } catch (error) {
    db?.close();
    if (!isDamage(error)) throw error;
  }
  return undefined;
}

function replace(file: string): DatabaseSync {
  removeDatabase(file);
  createEmpty(file);
  const db = openProjection(file);
  db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`);
  return db;
}
