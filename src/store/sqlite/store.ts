/**
 * The SQLite adapter of the store port: queries run here, on a connection that cannot write;
 * units of work go to the writer's thread. Several processes may have the same folder open.
 */
import type { Store } from '../store.ts';
import { prepareCatalogueFile } from './catalogue-file.ts';
import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

export interface SqliteStoreOptions {
  /** Folder of the database; it is created, and closed to other users (mode 0700). */
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** The database never grows past this many pages of 4 KiB; default: as far as the disk goes. */
  readonly pageLimit?: number;
}

/**
 * Opens the database in `folder`, making or migrating it where needed. Open a folder once in a
 * process: POSIX gives up a process's locks on a file when any descriptor of it is closed, and the
 * header of the file is read before SQLite opens it.
 * @throws AppError `unavailable` for a folder or file that is not this server's own
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const file = prepareCatalogueFile(options.folder);
  const clock = options.clock ?? Date.now;
  const { pageLimit } = options;
  const writer = await Writer.start({ file, pageLimit }, clock);
  try {
    return createStore(writer, new Reader(file));
  } catch (error) {
    await writer.close();
    throw error;
  }
}

function createStore(writer: Writer, reader: Reader): Store {
  writer.onCommit(() => reader.endSnapshot());
  return {
    cursorKey: reader.cursorKey,
    createSeller: (seller) => writer.run('createSeller', seller),
    findSeller: async (id) => reader.snapshot().findSeller(id),
    listSellers: async (query) => reader.snapshot().listSellers(query),
    createKey: (sellerId, hash, key) => writer.run('createKey', { sellerId, hash, key }),
    listKeys: async (sellerId, query) => reader.snapshot().listKeys(sellerId, query),
    rotateKey: (key, hash, overlapMs) => writer.run('rotateKey', { key, hash, overlapMs }),
    revokeKey: (key) => writer.run('revokeKey', key),
    findGrant: async (hash) => reader.findGrant(hash),
    // What crosses to the thread is copied: no more of an author than it needs.
    noteKeyUse: ({ sellerId, keyId }, address) =>
      writer.run('noteKeyUse', { author: { sellerId, keyId }, address }),
    createProduct: ({ sellerId, keyId }, product) =>
      writer.run('createProduct', { author: { sellerId, keyId }, product }),
    findProduct: async (sellerId, id) => reader.snapshot().findProduct(sellerId, id),
    listProducts: async (sellerId, query) => reader.snapshot().listProducts(sellerId, query),
    async close() {
      reader.close();
      await writer.close();
    },
  };
}
