/**
 * The file of the projection, `search.db`: all that is in it can be made again from the catalogue.
 * So it is never migrated or mended: where it is damaged, foreign or of another version, it is
 * removed and made anew. Processes that share a folder open and remove it one after the other, or
 * one could come upon the log of the other's new file.
 */
import { rmSync, statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SEARCH_BUSY_TIMEOUT_MS } from './limits.ts';
import { STORED_FIELDS } from '../../../domain/catalogue/product-fields.ts';
import { createEmpty } from '../files/durable-files.ts';
import { openLock, openProjection, openProjectionSnapshot } from '../engine/connection.ts';
import { resultCodeOf, SQLITE_CORRUPT, SQLITE_NOTADB } from '../engine/disk-failure.ts';
import { readInteger } from '../engine/row.ts';

/** "SPAs": written into the header of the file. */
const APPLICATION_ID = 0x53504173;
/** Count this up with each change of what is in the file, such as a field of products. */
const VERSION = 2;

/**
 * `row` is the seller's ordinal * 2^32 + n, where n counts the products of one seller in the order
 * of their ids: what is ordered by row is ordered by id, and a seller is a range of rows. Every
 * index ends with the row, as SQLite's indexes do.
 */
const SCHEMA = `
  CREATE TABLE seller (
    -- Below 2^21, so that every row is below 2^53.
    ordinal     INTEGER PRIMARY KEY CHECK (ordinal BETWEEN 1 AND 2097151),
    seller_id   INTEGER NOT NULL UNIQUE,
    -- All changes up to this position were taken over.
    position    INTEGER NOT NULL CHECK (position >= 0),
    -- The product up to which the first build has come; NULL once it has read them all.
    built_to    INTEGER,
    -- No product is of a later position than this.
    seen        INTEGER NOT NULL CHECK (seen >= position),
    -- The change at that position, to know it again.
    mark        TEXT    NOT NULL,
    -- The n of the last row.
    rows        INTEGER NOT NULL CHECK (rows BETWEEN 0 AND 4294967294),
    -- What the products come to: how many, units in stock, and their value. The last two are whole
    -- numbers as text, which 2^63 is no limit to.
    products    INTEGER NOT NULL DEFAULT 0 CHECK (products BETWEEN 0 AND rows),
    units       TEXT    NOT NULL DEFAULT '0',
    value_minor TEXT    NOT NULL DEFAULT '0'
  ) STRICT;

  CREATE TABLE product (
    row         INTEGER PRIMARY KEY,
    seller      INTEGER NOT NULL REFERENCES seller (ordinal) CHECK (seller = row >> 32),
    ${STORED_FIELDS.map(({ column, isText, isRequired }) =>
    `${column} ${isText ? 'TEXT' : 'INTEGER'}${isRequired ? ' NOT NULL' : ''}`).join(', ')},
    -- The folded name; and folded name, SKU and category, one a line.
    name_key    TEXT    NOT NULL,
    text        TEXT    NOT NULL
  ) STRICT;

  CREATE INDEX product_id ON product (seller, id);
  CREATE INDEX product_name ON product (seller, name_key);
  CREATE INDEX product_sku ON product (seller, sku);
  CREATE INDEX product_category ON product (seller, category);
  CREATE INDEX product_price ON product (seller, price_minor);
  CREATE INDEX product_stock ON product (seller, stock);
  CREATE INDEX product_updated ON product (seller, updated_at);
  CREATE INDEX product_position ON product (seller, position);

  -- Every three characters in a row of product.text, which itself is not kept once more.
  CREATE VIRTUAL TABLE product_text USING fts5(
    folded, tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1
  );
  -- Parts of it are put together late while it grows, and as far as they can be when asked: with
  -- 300,000 products a build takes a sixth less, and a search of few matches half.
  INSERT INTO product_text (product_text, rank)
  VALUES ('automerge', 8), ('hashsize', 8388608), ('usermerge', 2);

  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

/** Opens the projection, making it where there is none that can be gone on with. */
export function openProjectionFile(file: string): DatabaseSync {
  return alone(file, () => openSound(file) ?? replace(file));
}

/** Removes the projection and makes it anew; connections to the old one must be closed. */
export function replaceProjectionFile(file: string): DatabaseSync {
  return alone(file, () => replace(file));
}

/** Opens one snapshot of the projection. */
export function openSnapshotFile(file: string): DatabaseSync {
  return alone(file, () => openProjectionSnapshot(file));
}

/**
 * A statement to `run`. Each is told the last rowid of the connection, and those of the tables that
 * FTS5 keeps for itself are above what a number can be.
 */
export function prepareWrite(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

/** By what a file is known again; undefined where there is none. */
export function readInode(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

/** Whether SQLite found the file to be damaged, or to be none of its own. */
export function isDamage(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** Whether it has the tables of this version: its header is written along with them. */
export function isCurrentProjection(db: DatabaseSync): boolean {
  return readPragma(db, 'application_id') === APPLICATION_ID
    && readPragma(db, 'user_version') === VERSION;
}

function alone(file: string, work: () => DatabaseSync): DatabaseSync {
  const name = `${file}.lock`;
  createEmpty(name);
  const lock = openLock(name, SEARCH_BUSY_TIMEOUT_MS);
  try {
    return work();
  } finally {
    lock.close();
  }
}

/** Makes the file itself where there is none: SQLite gives its mode to its -wal and -shm. */
function openSound(file: string): DatabaseSync | undefined {
  // Without the file, a log that was left beside it is worth nothing.
  if (createEmpty(file)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = openProjection(file);
    if (isCurrentProjection(db)) {
      db.prepare('SELECT rowid FROM product_text'); // reads the schema, and FTS5 its own
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
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
  createEmpty(file);
  const db = openProjection(file);
  db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`);
  return db;
}

function readPragma(db: DatabaseSync, name: string): number {
  return readInteger(db.prepare(`PRAGMA ${name}`).get() ?? {}, name);
}
