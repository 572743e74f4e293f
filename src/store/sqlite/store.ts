/**
 * The SQLite adapter: composes the ports. Queries run in the main thread on a read-only connection,
 * mutations in the writer thread, searches and exports in a third one. Several processes may have
 * the same folder open.
 */
import { stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { prepareWatch } from '../rules/watching/catalogue-watchers.ts';
import { historyMethods } from '../rules/history/history-methods.ts';
import { deleteSeller } from '../rules/history/pruning-jobs.ts';
import { openLivedTime } from '../rules/kept-lived-time.ts';
import { mutationMethods } from '../rules/mutations/mutation-methods.ts';
import { reviewing } from '../rules/mutations/mutation-review.ts';
import { makeMemoryThrottles } from '../nodes/memory-throttles.ts';
import type { Store } from '../store.ts';
import { deriveAuditKey } from '../rules/audit.ts';
import { secretMethods } from '../sql/accounts/account-secrets.ts';
import { openCommitSubscriptions, Reader } from './engine/reader.ts';
import { prepareCatalogueFile } from './engine/database-file.ts';
import { explainOpening, freeInodesOf } from './engine/disk-failure.ts';
import { checkHighWater, HIGH_WATER_FILE_NAME, openHighWater } from './engine/high-water.ts';
import { Writer } from './engine/writer.ts';
import { Search } from './search/search.ts';
import { openDelivery } from './webhooks/delivery.ts';
import { webhookMethods } from '../sql/webhooks/webhook-methods.ts';
import { makeLivedTime } from '../../runtime/clock.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import type { DiskMetrics } from '../maintenance-store.ts';

interface SqliteStoreOptions {
  /** Data folder; created if missing, and closed to other users (mode 0700). */
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** A second high-water mark, outside of the folder. */
  readonly highWaterFile?: string | undefined;
  /** Maximum database size in pages of 4 KiB. Default: limited by the disk only. */
  readonly pageLimit?: number;
}

/**
 * Opens the database in `folder`, creating or migrating it if needed. Open a folder once per
 * process (`store/shared-store.ts` does that for shops): closing any descriptor of a file drops the
 * process's POSIX locks on it, and the file's header is read before SQLite opens it.
 * @throws AppError `unavailable` for a folder or file that is foreign, or cannot be read or written
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  try {
    // Absolute: the process may change its working directory.
    return await open({ ...options, folder: resolve(options.folder) });
  } catch (error) {
    throw explainOpening(error, options.folder);
  }
}

async function open(
  { folder, highWaterFile, pageLimit, clock = Date.now }: SqliteStoreOptions,
): Promise<Store> {
  const { file, key } = prepareCatalogueFile(folder);
  const marks = [join(folder, HIGH_WATER_FILE_NAME), ...highWaterFile ? [highWaterFile] : []];
  await checkHighWater(file, marks);
  const lived = makeLivedTime(clock);
  const auditKey = deriveAuditKey(key);
  const writer = await Writer.start({ folder, file, pageLimit, auditKey }, lived.now);
  try {
    const { files: openFiles } = writer;
    const search = new Search({ catalogue: file, search: join(folder, 'search.db'), openFiles });
    const reader = new Reader(file, writer);
    const highWater = openHighWater(reader.queries.readMark, marks);
    const commits = openCommitSubscriptions(reader);
    const run = reviewing((...call) => writer.run(...call), reader.queries);
    const livedTime = await openLivedTime(lived, reader.methods, run);
    const webhooks = webhookMethods(key, reader.methods, run, clock);
    const delivery = openDelivery({
      lockFile: join(folder, 'webhooks.lock'), openFiles, reader, watchAll: commits.add,
    });
    writer.onCommit(() => {
      reader.endSnapshot();
      search.noteCommit();
      commits.poll();
      highWater.noteCommit();
    });
    return {
      lost: writer.lost, cursorKey: reader.cursorKey, generation: reader.generation,
      ...reader.methods,
      ...mutationMethods(run),
      ...historyMethods(reader.queries, run, lived), ...livedTime.methods,
      ...secretMethods(key, reader.methods, run),
      ...search.store,
      ...makeMemoryThrottles(clock),
      ...webhooks,
      createWebhook: (...args) => webhooks.createWebhook(...args).finally(delivery.noteWebhook),
      deleteSeller: (sellerId) => deleteSeller(run, sellerId, () => search.forget(sellerId)),
      findGrant: (hash) => reader.findGrant(hash),
      findInvitation: (hash) => reader.methods.findInvitationAt(hash, lived.now()),
      watch: prepareWatch({ findPositions: reader.queries.findPositions, watchAll: commits.add }),
      watchAll: commits.add, joinDelivery: delivery.join,
      readMetrics: async () => ({
        ...writer.readMetrics(), disk: await readDiskMetrics(file),
        readSearchLag: () => search.readLag(reader.queries.countChanges),
      }),
      async close() {
        livedTime.stop();
        delivery.close();
        commits.close();
        const marked = highWater.close();
        reader.close();
        await Promise.all([marked, writer.close(search.close())]);
      },
    };
  } catch (error) {
    await writer.close(Promise.resolve());
    throw error;
  }
}

/** Undefined if the folder is lost. */
async function readDiskMetrics(file: string): Promise<DiskMetrics | undefined> {
  try {
    const [{ size }, disk] = await Promise.all([stat(`${file}-wal`), statfs(dirname(file))]);
    return {
      walBytes: size, freeBytes: disk.bavail * disk.bsize, freeInodes: freeInodesOf(disk),
    };
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
