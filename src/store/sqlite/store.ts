/**
 * The SQLite adapter of the store port: queries run here, on a connection that cannot write; units
 * of work go to the writer's thread. Several processes may have the same folder open.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Store } from '../store.ts';
import { assertVersion, prepareCatalogueFile, readCursorKey } from './catalogue-file.ts';
import { openReader } from './connection.ts';
import { keyQueries } from './keys.ts';
import { productQueries } from './products.ts';
import { sellerQueries } from './sellers.ts';
import { Writer } from './writer.ts';

export interface SqliteStoreOptions {
  /** Folder of the database; it is created, and closed to other users (mode 0700). */
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** The database never grows past this many pages of 4 KiB; default: as far as the disk goes. */
  readonly pageLimit?: number;
}

/** Pages in the WAL after which the writer's thread moves them into the database file. */
const AUTO_CHECKPOINT_PAGES = 1_000;

/**
 * Opens the database in `folder`, making or migrating it where needed.
 * @throws AppError `unavailable` for a folder or file that is not this server's own
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const file = prepareCatalogueFile(options.folder);
  const clock = options.clock ?? Date.now;
  const { pageLimit } = options;
  const writer = await Writer.start(
    { file, pageLimit, autoCheckpointPages: AUTO_CHECKPOINT_PAGES }, clock,
  );
  const reader = openReader(file);
  try {
    assertVersion(reader, file);
    return createStore(writer, reader, readCursorKey(reader));
  } catch (error) {
    reader.close();
    await writer.close();
    throw error;
  }
}

function createStore(writer: Writer, reader: DatabaseSync, cursorKey: Uint8Array): Store {
  const sellers = sellerQueries(reader);
  const keys = keyQueries(reader);
  const products = productQueries(reader);
  return {
    cursorKey,
    createSeller: (seller) => writer.run('createSeller', seller),
    listSellers: async (query) => sellers.listSellers(query),
    createKey: (sellerId, hash, key) => writer.run('createKey', { sellerId, hash, key }),
    listKeys: async (sellerId, query) => keys.listKeys(sellerId, query),
    rotateKey: (key, hash, overlapMs) => writer.run('rotateKey', { key, hash, overlapMs }),
    revokeKey: (key) => writer.run('revokeKey', key),
    findGrant: async (hash) => keys.findGrant(hash),
    // What crosses to the thread is copied: no more of an author than it needs.
    noteKeyUse: ({ sellerId, keyId }, address) =>
      writer.run('noteKeyUse', { author: { sellerId, keyId }, address }),
    createProduct: ({ sellerId, keyId }, product) =>
      writer.run('createProduct', { author: { sellerId, keyId }, product }),
    findProduct: async (sellerId, id) => products.findProduct(sellerId, id),
    listProducts: async (sellerId, query) => products.listProducts(sellerId, query),
    async close() {
      if (reader.isOpen) reader.close();
      await writer.close();
    },
  };
}
