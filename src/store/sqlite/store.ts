/**
 * The SQLite adapter of the store port: queries run here, on a connection that cannot write; units
 * of work go to the writer's thread, searches and exports to another one. Several processes may
 * have the same folder open.
 */
import { join } from 'node:path';
import type { PortalStore } from '../account-store.ts';
import type { Store } from '../store.ts';
import type { Actor, WriteContext } from '../write.ts';
import { deriveAuditKey } from './accounts/audit-segments.ts';
import { prepareCatalogueFile } from './engine/database-file.ts';
import { CommitSubscriptions } from './engine/commit-subscription.ts';
import { explainOpening } from './engine/disk-failure.ts';
import { readDiskMetrics } from './files/disk-metrics.ts';
import { pruneHistory } from './history/history-pruner.ts';
import type { IdempotencyScope } from './catalogue/idempotency.ts';
import { pruneIdempotency } from './catalogue/idempotency-pruner.ts';
import { openImportDryRun } from './history/import-dry-run.ts';
import { Ledger } from './history/ledger.ts';
import { portalStore } from './accounts/account-store.ts';
import { Reader } from './engine/reader.ts';
import { Search } from './search/search.ts';
import { openStockDryRun } from './history/stock-dry-run.ts';
import { webhookStore } from './webhooks/webhook-store.ts';
import { Writer } from './engine/writer.ts';

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
 * @throws AppError `unavailable` for a folder or file that is not this server's own, and for one
 *   that cannot be read or written
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  try {
    return await open(options);
  } catch (error) {
    throw explainOpening(error, options.folder);
  }
}

async function open(options: SqliteStoreOptions): Promise<Store> {
  const { file, key } = prepareCatalogueFile(options.folder);
  const clock = options.clock ?? Date.now;
  const { folder, pageLimit } = options;
  const writer = await Writer.start(
    { file, pageLimit, auditKey: deriveAuditKey(key) }, clock,
  );
  try {
    const search = new Search({ catalogue: file, search: join(folder, 'search.db') });
    const reader = new Reader(file);
    return {
      ...createStore(
        writer, reader, search, new CommitSubscriptions(file, () => reader.endSnapshot()),
      ),
      ...webhookStore({ folder, key, writer, reader, clock, actorOf, scopeOf }),
      ...portalStore({ key, writer, reader, clock }),
      pruneIdempotency: () => pruneIdempotency(reader, writer, clock()),
      readMetrics: async () => ({ ...writer.readMetrics(), ...await readDiskMetrics(file) }),
    };
  } catch (error) {
    await writer.close(Promise.resolve());
    throw error;
  }
}

/** What is put together beside it. */
type OtherParts = ReturnType<typeof webhookStore> & PortalStore
  & Pick<Store, 'pruneIdempotency' | 'readMetrics'>;

function createStore(
  writer: Writer, reader: Reader, search: Search, commits: CommitSubscriptions,
): Omit<Store, keyof OtherParts> {
  const ledger = new Ledger(reader);
  writer.onCommit(() => {
    reader.endSnapshot();
    search.noteCommit();
    commits.noteCommit();
  });
  return {
    cursorKey: reader.cursorKey,
    ...sellersOf(reader, writer),
    ...changesOf(writer),
    dryRunImport: (sellerId, mode) =>
      openImportDryRun(mode, (target) => reader.snapshot().findProduct(sellerId, target)),
    dryRunStock: (actor, position, source) => openStockDryRun(actor, position, (changes) =>
      reader.snapshot().readLevels(actor.sellerId, changes, source)),
    findProduct: async (sellerId, target) => reader.snapshot().findProduct(sellerId, target),
    listProducts: async (sellerId, query) => reader.snapshot().listProducts(sellerId, query),
    searchProducts: (sellerId, query, position) => search.search(sellerId, query, position),
    readTotals: (sellerId, position) => search.readTotals(sellerId, position),
    countLowStock: (sellerId, stockMax, position, limit) =>
      search.countLowStock(sellerId, stockMax, position, limit),
    exportProducts: (sellerId, filter, sort, position) =>
      search.export(sellerId, filter, sort, position),
    listChanges: async (sellerId, query) => reader.snapshot().listChanges(sellerId, query),
    listMovements: (sellerId, query) => ledger.listMovements(sellerId, query),
    findPreviousSnapshots: async (sellerId, positions) =>
      ledger.findPreviousSnapshots(sellerId, positions),
    findPositionAt: (sellerId, at) => ledger.findPositionAt(sellerId, at),
    listStockAt: (sellerId, position, query) => ledger.listStockAt(sellerId, position, query),
    listStockDays: async (sellerId, query) => reader.snapshot().listStockDays(sellerId, query),
    subscribeToCommits: (listener) => commits.add(listener),
    findNewestTime: async () => reader.snapshot().findNewestTime() || undefined,
    pruneHistory: (before) => pruneHistory(reader, writer, before),
    async close() {
      reader.close();
      commits.close();
      await writer.close(search.close());
    },
  };
}

type Part<Name extends keyof Store> = Pick<Store, Name>;

/** Sellers and their keys. */
function sellersOf(reader: Reader, writer: Writer): Part<
  | 'createSeller' | 'findSeller' | 'listSellers' | 'setSellerDisabled' | 'createKey' | 'findKey'
  | 'listKeys' | 'rotateKey' | 'revokeKey' | 'findGrant' | 'noteKeyUse' | 'noteUsage' | 'readUsage'
> {
  return {
    createSeller: (seller) => writer.run('createSeller', seller),
    findSeller: async (id) => reader.snapshot().findSeller(id),
    listSellers: async (query) => reader.snapshot().listSellers(query),
    setSellerDisabled: (id, isDisabled) => writer.run('setSellerDisabled', { id, isDisabled }),
    createKey: (sellerId, hash, key, address = '', idempotency) => writer.run(
      'createKey', { sellerId, hash, key, address }, idempotency && { sellerId, ...idempotency },
    ),
    findKey: async (key) => reader.snapshot().findKey(key),
    listKeys: async (sellerId, query, isNewestFirst = false) =>
      reader.snapshot().listKeys(sellerId, query, isNewestFirst),
    rotateKey: (key, hash, overlapMs, address = '', idempotency) => writer.run(
      'rotateKey', { key, hash, overlapMs, address },
      idempotency && { sellerId: key.sellerId, ...idempotency },
    ),
    revokeKey: (key, address = '') => writer.run('revokeKey', { key, address }),
    findGrant: async (hash) => reader.findGrant(hash),
    noteKeyUse: (actor, address) =>
      writer.run('noteKeyUse', { actor: actorOf(actor), address }),
    noteUsage: (usage) => writer.run('noteUsage', usage, undefined, usage.length),
    readUsage: async (sellerId, query) => reader.snapshot().readUsage(sellerId, query),
  };
}

/** All that changes a catalogue. */
function changesOf(writer: Writer): Part<
  | 'createProduct' | 'putProduct' | 'patchProduct' | 'deleteProduct' | 'importProducts'
  | 'syncStock'
> {
  return {
    createProduct: (write, product) =>
      writer.run('createProduct', { actor: actorOf(write), product }, scopeOf(write)),
    putProduct: (write, product, precondition) =>
      writer.run('putProduct', { actor: actorOf(write), product, precondition }, scopeOf(write)),
    patchProduct: (write, target, patch, precondition) => writer.run(
      'patchProduct', { actor: actorOf(write), target, patch, precondition }, scopeOf(write),
    ),
    deleteProduct: (write, target, precondition) => writer.run(
      'deleteProduct', { actor: actorOf(write), target, precondition }, scopeOf(write),
    ),
    importProducts: (write, products, mode) => writer.run(
      'importProducts', { actor: actorOf(write), products, mode }, scopeOf(write),
      products.length,
    ),
    syncStock: (write, sync, isDryRun) => writer.run(
      'syncStock', { actor: actorOf(write), sync, isDryRun }, scopeOf(write),
      sync.changes.length,
    ),
  };
}

/** What crosses to the thread is copied: no more of an actor than it needs. */
function actorOf({ sellerId, keyId }: Actor): Actor {
  return { sellerId, keyId };
}

function scopeOf({ sellerId, idempotency }: WriteContext): IdempotencyScope | undefined {
  return idempotency && { sellerId, ...idempotency };
}
