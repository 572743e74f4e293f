/**
 * The SQLite adapter: composes the ports. Queries run in this thread, on a connection that cannot
 * write; mutations go to the writer thread, searches and exports to another one. Several processes
 * may have the same folder open.
 */
import { join } from 'node:path';
import type { AccessStore } from '../access-store.ts';
import type { CatalogueStore } from '../catalogue-store.ts';
import type { HistoryStore } from '../history-store.ts';
import type { MaintenanceStore } from '../maintenance-store.ts';
import type { IdempotencyScope } from '../rules/idempotency.ts';
import type { Store } from '../store.ts';
import type { UsageStore } from '../usage-store.ts';
import type { Actor, WriteContext } from '../write.ts';
import { accountStore } from './accounts/account-store.ts';
import { deriveAuditKey } from './accounts/audit-segments.ts';
import { openImportDryRun, openStockDryRun } from './catalogue/dry-run.ts';
import { CommitSubscriptions } from './engine/commit-subscription.ts';
import { prepareCatalogueFile } from './engine/database-file.ts';
import { explainOpening } from './engine/disk-failure.ts';
import { Reader } from './engine/reader.ts';
import { readDiskMetrics } from './engine/store-metrics.ts';
import { Writer } from './engine/writer.ts';
import { Ledger } from './history/ledger.ts';
import { pruneHistory, pruneIdempotency } from './history/pruning-jobs.ts';
import { Search } from './search/search.ts';
import { webhookStore } from './webhooks/webhook-store.ts';

export interface SqliteStoreOptions {
  /** Data folder; it is created if missing, and closed to other users (mode 0700). */
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Maximum size of the database in pages of 4 KiB. Default: as much as the disk has. */
  readonly pageLimit?: number;
}

/** What the ports are made from. */
interface Engine {
  readonly file: string;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly search: Search;
  readonly commits: CommitSubscriptions;
  readonly clock: () => number;
}

/**
 * Opens the database in `folder`, and creates or migrates it if needed. Open a folder once per
 * process: closing any descriptor of a file drops the process's POSIX locks on it, and the file's
 * header is read before SQLite opens it.
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

async function open({ folder, pageLimit, clock = Date.now }: SqliteStoreOptions): Promise<Store> {
  const { file, key } = prepareCatalogueFile(folder);
  const writer = await Writer.start({ file, pageLimit, auditKey: deriveAuditKey(key) }, clock);
  try {
    const search = new Search({ catalogue: file, search: join(folder, 'search.db') });
    const reader = new Reader(file);
    const commits = new CommitSubscriptions(file, () => reader.endSnapshot());
    writer.onCommit(() => {
      reader.endSnapshot();
      search.noteCommit();
      commits.noteCommit();
    });
    const engine = { file, reader, writer, search, commits, clock };
    return {
      cursorKey: reader.cursorKey,
      ...accessStore(engine),
      ...catalogueStore(engine),
      ...historyStore(engine),
      ...search.store,
      ...maintenanceStore(engine),
      ...webhookStore({ folder, key, writer, reader, clock, scopeOf }),
      ...accountStore({ key, writer, reader, clock }),
    };
  } catch (error) {
    await writer.close(Promise.resolve());
    throw error;
  }
}

function accessStore({ reader, writer }: Engine): AccessStore & UsageStore {
  return {
    createSeller: (seller) => writer.run('createSeller', seller),
    findSeller: async (id) => reader.snapshot().findSeller(id),
    listSellers: async (query) => reader.snapshot().listSellers(query),
    setSellerDisabled: (id, isDisabled) => writer.run('setSellerDisabled', { id, isDisabled }),
    createKey: (sellerId, hash, key, { address = '', idempotency } = {}) => writer.run(
      'createKey', { sellerId, hash, key, address }, scopeOf({ sellerId, idempotency }),
    ),
    findKey: async (key) => reader.snapshot().findKey(key),
    listKeys: async (sellerId, query, isNewestFirst = false) =>
      reader.snapshot().listKeys(sellerId, query, isNewestFirst),
    rotateKey: (key, hash, overlapMs, { address = '', idempotency } = {}) => writer.run(
      'rotateKey', { key, hash, overlapMs, address },
      scopeOf({ sellerId: key.sellerId, idempotency }),
    ),
    revokeKey: (key, address = '') => writer.run('revokeKey', { key, address }),
    findGrant: async (hash) => reader.findGrant(hash),
    noteKeyUse: (actor, address) => writer.run('noteKeyUse', { actor: actorOf(actor), address }),
    noteUsage: (usage) => writer.run('noteUsage', usage, undefined, usage.length),
    readUsage: async (sellerId, query) => reader.snapshot().readUsage(sellerId, query),
  };
}

function catalogueStore({ reader, writer }: Engine): CatalogueStore {
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
    dryRunImport: (sellerId, mode) =>
      openImportDryRun(mode, (target) => reader.snapshot().findProduct(sellerId, target)),
    syncStock: (write, sync, isDryRun) => writer.run(
      'syncStock', { actor: actorOf(write), sync, isDryRun }, scopeOf(write),
      sync.changes.length,
    ),
    dryRunStock: (actor, position, source) => openStockDryRun(actor, position, (changes) =>
      reader.snapshot().readLevels(actor.sellerId, changes, source)),
    findProduct: async (sellerId, target) => reader.snapshot().findProduct(sellerId, target),
    listProducts: async (sellerId, query) => reader.snapshot().listProducts(sellerId, query),
  };
}

function historyStore({ reader, commits }: Engine): HistoryStore {
  const ledger = new Ledger(reader);
  return {
    listChanges: async (sellerId, query) => reader.snapshot().listChanges(sellerId, query),
    listMovements: (sellerId, query) => ledger.listMovements(sellerId, query),
    findPreviousSnapshots: async (sellerId, positions) =>
      ledger.findPreviousSnapshots(sellerId, positions),
    findPositionAt: (sellerId, at) => ledger.findPositionAt(sellerId, at),
    listStockAt: (sellerId, position, query) => ledger.listStockAt(sellerId, position, query),
    listStockDays: async (sellerId, query) => reader.snapshot().listStockDays(sellerId, query),
    subscribeToCommits: (listener) => commits.add(listener),
  };
}

function maintenanceStore(
  { file, reader, writer, search, commits, clock }: Engine,
): MaintenanceStore {
  return {
    readMetrics: async () => ({ ...writer.readMetrics(), ...await readDiskMetrics(file) }),
    findNewestTime: async () => reader.snapshot().findNewestTime() || undefined,
    pruneHistory: (before) => pruneHistory(reader, writer, before),
    pruneIdempotency: () => pruneIdempotency(reader, writer, clock()),
    async close() {
      reader.close();
      commits.close();
      await writer.close(search.close());
    },
  };
}

/** Everything here is copied to the writer thread, so an actor is reduced to what it needs. */
function actorOf({ sellerId, keyId }: Actor): Actor {
  return { sellerId, keyId };
}

function scopeOf(
  { sellerId, idempotency }: Omit<WriteContext, 'keyId'>,
): IdempotencyScope | undefined {
  return idempotency && { sellerId, ...idempotency };
}
