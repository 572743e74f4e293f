/**
 * The SQLite adapter: composes the ports. Queries run in the main thread on a read-only connection,
 * mutations in the writer thread, searches and exports in a third one. Several processes may have
 * the same folder open.
 */
import { stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { prepareWatch } from '../rules/watching/catalogue-watchers.ts';
import { historyMethods } from '../rules/history/history-methods.ts';
import { mutationMethods } from '../rules/mutations/mutation-methods.ts';
import type { RunMutation } from '../rules/mutations/registry.ts';
import { makeMemoryThrottles } from '../nodes/memory-throttles.ts';
import type { Store } from '../store.ts';
import { deriveAuditKey } from '../rules/audit.ts';
import { secretMethods } from '../sql/accounts/account-secrets.ts';
import { openCommitSubscriptions, Reader } from './engine/reader.ts';
import { prepareCatalogueFile } from './engine/database-file.ts';
import { explainOpening } from './engine/disk-failure.ts';
import { Writer } from './engine/writer.ts';
import { Search } from './search/search.ts';
import { openDelivery } from './webhooks/delivery.ts';
import { webhookMethods } from '../sql/webhooks/webhook-methods.ts';
import { isSystemError } from '../../runtime/system-error.ts';
import type { DiskMetrics } from '../maintenance-store.ts';

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
    const commits = openCommitSubscriptions(reader);
    const watchAll = commits.add;
    const run: RunMutation = (name, input, idempotency) => writer.run(name, input, idempotency);
    const webhooks = webhookMethods({ key, queries: reader.methods, clock, run });
    const delivery = openDelivery({ lockFile: join(folder, 'webhooks.lock'), reader, watchAll });
    writer.onCommit(() => {
      reader.endSnapshot();
      search.noteCommit();
      commits.poll();
    });
    return {
      cursorKey: reader.cursorKey,
      ...reader.methods,
      ...mutationMethods(run),
      ...historyMethods({ queries: reader.queries, run, clock }),
      ...secretMethods({ key, queries: reader.methods, run }),
      ...search.store,
      ...makeMemoryThrottles(clock),
      ...webhooks,
      createWebhook: (...args) => webhooks.createWebhook(...args).finally(delivery.noteWebhook),
      joinDelivery: delivery.join,
      findGrant: (hash) => reader.findGrant(hash),
      findInvitation: (hash) => reader.methods.findInvitationAt(hash, clock()),
      watch: prepareWatch({ findPositions: reader.queries.findPositions, watchAll }),
      watchAll,
      readMetrics: async () => ({ ...writer.readMetrics(), disk: await readDiskMetrics(file) }),
      async close() {
        delivery.close();
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

async function readDiskMetrics(file: string): Promise<DiskMetrics> {
  const [walBytes, disk] = await Promise.all([readSize(`${file}-wal`), statfs(dirname(file))]);
  return { walBytes, freeBytes: disk.bavail * disk.bsize };
}

async function readSize(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return 0; // created with the first mutation
    throw error;
  }
}
