/**
 * The SQLite adapter: composes the ports. Queries run in the main thread on a read-only connection,
 * mutations in the writer thread, searches and exports in a third one. Several processes may have
 * the same folder open.
 */
import { join } from 'node:path';
import type { ProductId, SellerId } from '../../domain/id.ts';
import type { IdempotencyScope } from '../rules/idempotency.ts';
import { decodeResults } from '../rules/stock-outcome.ts';
import type { StreamedStocktake } from '../catalogue-store.ts';
import type { Store } from '../store.ts';
import type { WriteContext } from '../write.ts';
import { secretMethods } from './accounts/account-store.ts';
import { deriveAuditKey } from './accounts/audit-segments.ts';
import type { WriteActor } from './catalogue/import-records.ts';
import { openImportDryRun, openStockDryRun } from './catalogue/dry-run.ts';
import { openStreamedStocktake } from './catalogue/streamed-stocktake.ts';
import { CommitSubscriptions } from './engine/commit-subscription.ts';
import { prepareCatalogueFile } from './engine/database-file.ts';
import { explainOpening } from './engine/disk-failure.ts';
import type { MutationInput, MutationName } from './engine/mutations.ts';
import { Reader } from './engine/reader.ts';
import { readDiskMetrics } from './engine/store-metrics.ts';
import { Writer } from './engine/writer.ts';
import { listCollapsedChanges } from './history/collapsed-changes.ts';
import { Ledger } from './history/ledger.ts';
import { PastCatalogue } from './history/past-catalogue.ts';
import { pruneHistory, pruneIdempotency } from './history/pruning-jobs.ts';
import { startRevert } from './history/revert.ts';
import { Search } from './search/search.ts';
import { webhookMethods } from './webhooks/webhook-store.ts';

interface SqliteStoreOptions {
  /** Data folder; created if missing, and closed to other users (mode 0700). */
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Maximum database size in pages of 4 KiB. Default: limited by the disk only. */
  readonly pageLimit?: number;
}

/**
 * Opens the database in `folder`, creating or migrating it if needed. Open a folder once per
 * process: closing any descriptor of a file drops the process's POSIX locks on it, and the file's
 * header is read before SQLite opens it.
 * @throws AppError `unavailable` for a folder or file that is foreign, or cannot be read or written
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
    const commits = new CommitSubscriptions(reader);
    writer.onCommit(() => {
      reader.endSnapshot();
      search.noteCommit();
      commits.poll();
    });
    return {
      cursorKey: reader.cursorKey,
      ...reader.methods,
      ...mutationMethods(writer),
      ...idempotentMethods(writer),
      ...historyMethods(reader),
      ...secretMethods(key, reader, writer),
      ...search.store,
      ...webhookMethods({ folder, key, writer, reader, clock, scopeOf }),
      findGrant: (hash) => reader.findGrant(hash),
      findInvitation: (hash) => reader.methods.findInvitationAt(hash, clock()),
      noteUsage: (usage) => writer.run('noteUsage', [usage], undefined, usage.length),
      dryRunImport: (sellerId, mode) =>
        openImportDryRun(mode, (target) => reader.snapshot().findProduct(sellerId, target)),
      dryRunStock: (actor, position, source) => openStockDryRun(actor, position, (changes) =>
        reader.snapshot().readLevels(actor.sellerId, changes, source)),
      openStocktake: (sellerId) => openStocktake(reader, sellerId),
      startRevert: (write, request) => startRevert({ reader, writer, write, request }),
      subscribeToCommits: (listener) => commits.add(listener),
      readMetrics: async () => ({ ...writer.readMetrics(), ...await readDiskMetrics(file) }),
      pruneHistory: (before) => pruneHistory(reader, writer, before),
      pruneIdempotency: () => pruneIdempotency(reader, writer, clock()),
      async close() {
        commits.close();
        reader.close();
        await writer.close(search.close());
      },
    };
  } catch (error) {
    await writer.close(Promise.resolve());
    throw error;
  }
}

/** The mutations that take their methods' arguments. */
const MUTATIONS = [
  'createSeller', 'setSellerDisabled', 'revokeKey', 'noteKeyUse', 'createInvitation', 'register',
  'removeAccount', 'setAccountSettings', 'setEmail', 'setPassword', 'resetPassword', 'disableTotp',
  'resetTotp', 'setRecoveryCodes', 'takeTotpStep', 'takeRecoveryCode', 'createSession',
  'noteSessionSeen', 'endSessions', 'noteAuditEvent', 'keepColumnMapping',
] as const satisfies readonly MutationName[];

function mutationMethods(writer: Writer): Pick<Store, (typeof MUTATIONS)[number]> {
  const methods = MUTATIONS.map((name) =>
    // The cast: the arguments of a method are the input of its mutation (`MutationsOf`).
    [name, (...args: unknown[]) => writer.run(name, args as MutationInput<typeof name>)] as const);
  // The cast: and the result of a method is the outcome.
  return Object.fromEntries(methods) as Pick<Store, (typeof MUTATIONS)[number]>;
}

/** Mutations that may take an idempotency key: the names in their input are hashed. */
function idempotentMethods(writer: Writer): Pick<Store,
  | 'createKey' | 'rotateKey' | 'createProduct' | 'putProduct' | 'patchProduct' | 'deleteProduct'
  | 'importProducts' | 'syncStock' | 'zeroStock'
> {
  return {
    createKey: (sellerId, hash, key, { address = '', idempotency } = {}) => writer.run(
      'createKey', { sellerId, hash, key, address }, scopeOf({ sellerId, idempotency }),
    ),
    rotateKey: (key, hash, overlapMs, { address = '', idempotency } = {}) => writer.run(
      'rotateKey', { key, hash, overlapMs, address },
      scopeOf({ sellerId: key.sellerId, idempotency }),
    ),
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
    async syncStock(write, sync, isDryRun) {
      const { changes } = sync;
      const synced = await writer.run(
        'syncStock', { actor: actorOf(write), sync, isDryRun }, scopeOf(write), changes.length,
      );
      return { ...synced, results: decodeResults(synced.results, changes) };
    },
    zeroStock: (write, { source, reason, zeroLimitPercent, products, total }) => writer.run(
      'zeroStock',
      { actor: actorOf(write), source, reason, zeroLimitPercent, generated: { products, total } },
      scopeOf(write), products.length,
    ),
  };
}

type HistoryMethods = Pick<Store,
  | 'listMovements' | 'listCollapsedChanges' | 'findPreviousSnapshots' | 'findPositionAt'
  | 'listStockAt' | 'listProductsAt' | 'findProductAt' | 'findNewestTime'
>;

function historyMethods(reader: Reader): HistoryMethods {
  const ledger = new Ledger(reader);
  const past = new PastCatalogue(reader);
  return {
    listMovements: (sellerId, query) => ledger.listMovements(sellerId, query),
    listCollapsedChanges: (sellerId, query) => listCollapsedChanges(reader, sellerId, query),
    findPreviousSnapshots: async (sellerId, positions) =>
      ledger.findPreviousSnapshots(sellerId, positions),
    findPositionAt: (sellerId, at) => ledger.findPositionAt(sellerId, at),
    listStockAt: (sellerId, position, query) => past.listStockAt(sellerId, position, query),
    listProductsAt: (sellerId, position, query) => past.listProductsAt(sellerId, position, query),
    findProductAt: (sellerId, target, position) => past.findProductAt(sellerId, target, position),
    findNewestTime: async () => reader.snapshot().findNewestTime() || undefined,
  };
}

function openStocktake(reader: Reader, sellerId: SellerId): StreamedStocktake {
  const past = new PastCatalogue(reader);
  return openStreamedStocktake({
    readLevels: (named) => reader.snapshot().readLevels(sellerId, named, undefined),
    listLevels: (after, limit) => reader.snapshot().listLevels(sellerId, { after, limit }),
    async existedAt(id, position) {
      // The cast: the products after the id before this one begin with it.
      const after = id - 1 as ProductId;
      const { levels: [level] } = await past.listStockAt(sellerId, position, { after, limit: 1 });
      return level?.id === id;
    },
  });
}

/** Everything here is copied to the writer thread, so an actor is reduced to what is needed. */
function actorOf({ sellerId, keyId, actorName, import: part }: WriteContext): WriteActor {
  return { sellerId, keyId, actorName, import: part };
}

function scopeOf(
  { sellerId, idempotency }: Omit<WriteContext, 'keyId'>,
): IdempotencyScope | undefined {
  return idempotency && { sellerId, ...idempotency };
}
