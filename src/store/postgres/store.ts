/**
 * The PostgreSQL adapter: composes the ports. Any number of processes may have the same database
 * open. Reads of one event-loop iteration are pipelined on a few connections; each statement is one
 * snapshot.
 */
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import { NODE_INTERVALS, openDelivery } from '../nodes/webhook-leases.ts';
import { type AuditKey, deriveAuditKey } from '../rules/audit.ts';
import { historyMethods } from '../rules/history/history-methods.ts';
import { mutationMethods } from '../rules/mutations/mutation-methods.ts';
import { describeCall, familyOf, type RunMutation } from '../rules/mutations/registry.ts';
import { openWatching } from '../rules/watching/polled-commits.ts';
import type { ServerKey } from '../rules/server-key.ts';
import { CatalogueWriter } from '../rules/working-set/catalogue-writer.ts';
import { secretMethods } from '../sql/accounts/account-secrets.ts';
import { categoryQueries } from '../sql/categories.ts';
import { importJobs } from '../sql/import-jobs.ts';
import { readInteger, type Sql } from '../sql/sql.ts';
import { type SharedMutations, sharedMutations, sharedQueries } from '../sql/shared.ts';
import { webhookMethods } from '../sql/webhooks/webhook-methods.ts';
import type { Store } from '../store.ts';
import { prepareFindGrant } from './access/grants.ts';
import { productReads } from './catalogue/product-reads.ts';
import { type ConnectOptions, openConnection } from './connect/open-connection.ts';
import { CatalogueTransactions } from './engine/catalogue-transactions.ts';
import { explaining } from './engine/failures.ts';
import { openPlacement } from './engine/placement.ts';
import { prepareRunTransaction, type RunTransaction } from './engine/seller-transactions.ts';
import { chainQueries } from './history/chain-queries.ts';
import { historyReads } from './history/history-reads.ts';
import {
  POSTGRES_EXPORT_CONNECTIONS, POSTGRES_IDLE_TRANSACTION_TIMEOUT_MS, POSTGRES_LOCK_TIMEOUT_MS,
  POSTGRES_READ_CONNECTIONS, POSTGRES_STATEMENT_TIMEOUT_MS, POSTGRES_WRITE_CONNECTIONS,
} from './limits.ts';
import { announceMutation, webhookLeases } from './nodes/delivery.ts';
import { DATABASE_TIME, openNodeCount } from './nodes/node-table.ts';
import { makeRateLeases, makeThrottles } from './nodes/token-buckets.ts';
import { assertSchema, assertServerKey } from './schema/migrate.ts';
import { searchMethods } from './search/search.ts';
import { queryOf, sqlOf } from './sql.ts';
import { Pool } from './wire/pool.ts';

interface PostgresStoreOptions {
  readonly connect: ConnectOptions;
  /** The same on every node. */
  readonly key: ServerKey;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** How often it renews its leases, and when others take them over. */
  readonly nodeIntervals?: typeof NODE_INTERVALS;
}

/** So that a statement ends on the server, too, when nobody waits for it any more. */
const SESSION_SETTINGS = {
  statement_timeout: String(POSTGRES_STATEMENT_TIMEOUT_MS),
  lock_timeout: String(POSTGRES_LOCK_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(POSTGRES_IDLE_TRANSACTION_TIMEOUT_MS),
};

/**
 * @throws AppError `unavailable` for a database that cannot be reached, has another schema, or
 *   belongs to another key
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { connect, key, clock = Date.now, nodeIntervals = NODE_INTERVALS } = options;
  const pools = openPools(connect);
  const { reads, writes, exports } = pools;
  try {
    const reader = explaining(reads);
    const [query, sql] = [queryOf(reader), sqlOf(reader)];
    const { isDistributed } = await assertSchema(query);
    await assertServerKey(query, key);
    const queries = {
      ...sharedQueries(sql), ...chainQueries(query), ...historyReads(query, sql),
      ...productReads(query),
    };
    const watching = openWatching(queries.findPositions, queries.findSum);
    const transactions = new CatalogueTransactions(writes, clock, () => watching.noteCommit(),
      isDistributed ? openPlacement(query) : undefined);
    const writer = new CatalogueWriter(transactions);
    const runTransaction = prepareRunTransaction(writes, clock);
    const delivery = openDelivery(webhookLeases(writes), nodeIntervals);
    const auditKey = deriveAuditKey(key);
    const run = prepareRun({ writer, runTransaction, delivery, auditKey });
    const nodeCount = openNodeCount(writes, nodeIntervals);
    const limits = queryOf(explaining(writes));
    return {
      cursorKey: key.derive('cursor', 32),
      ...queries,
      ...mutationMethods(run),
      ...historyMethods({ queries, run, clock }),
      ...secretMethods({ key, queries, run }),
      ...searchMethods(query, exports), ...categoryQueries(sql),
      ...webhookMethods({ key, queries, clock, run }),
      joinDelivery: delivery.join,
      ...makeThrottles(limits),
      rateLeases: makeRateLeases(limits, nodeCount.read),
      importJobs: importJobs(sql, DATABASE_TIME),
      findGrant: prepareFindGrant(query),
      findInvitation: (hash) => queries.findInvitationAt(hash, clock()),
      watch: watching.watch,
      watchAll: watching.watchAll,
      readMetrics: async () =>
        ({ ...writer.readMetrics(), canWrite: true, pool: pools.readMetrics() }),
      async close() {
        watching.close();
        await Promise.all([writer.close(), delivery.close(), nodeCount.close()]);
        await pools.close();
      },
    };
  } catch (error) {
    await pools.close();
    throw error;
  }
}

/** Connections for reads, for writes and for exports, so that none waits for the others. */
function openPools(connect: ConnectOptions) {
  const settings = { ...SESSION_SETTINGS, ...connect.settings };
  const open = () => openConnection({ ...connect, settings });
  const [reads, writes, exports] = [
    POSTGRES_READ_CONNECTIONS, POSTGRES_WRITE_CONNECTIONS, POSTGRES_EXPORT_CONNECTIONS,
  ].map((max) => new Pool({ open, max })) as [Pool, Pool, Pool];
  return {
    reads, writes, exports,
    readMetrics() {
      const [readPool, writePool] = [reads.readMetrics(), writes.readMetrics()];
      return {
        connections: readPool.open + writePool.open, waiting: readPool.waiting + writePool.waiting,
        roundTrips: writePool.roundTrips,
      };
    },
    close: () => Promise.all([reads, writes, exports].map((pool) => pool.close())),
  };
}

interface RunOptions {
  readonly writer: CatalogueWriter;
  readonly runTransaction: RunTransaction;
  readonly delivery: ReturnType<typeof openDelivery>;
  readonly auditKey: AuditKey;
}

/** Mutations of catalogues share transactions; the others have one each. */
function prepareRun({ writer, runTransaction, delivery, auditKey }: RunOptions): RunMutation {
  return async (name, input, idempotency) => {
    const { sellerId, scope, rows } = describeCall(name, input, idempotency);
    const family = familyOf(name);
    // The casts: the family says which mutations these are, and a call has the input of its name.
    if (family === 'products' || family === 'stock') {
      return writer.run(name as never, input as never, scope, rows);
    }
    // Lets the nodes that deliver know of each mutation of webhooks.
    const announced = family === 'webhooks' ? sellerId : undefined;
    const outcome = await runTransaction<unknown>({
      name, input, idempotency: scope, sellerId,
      first: announced === undefined ? [] : announceMutation(name, announced),
      run: (sql, at) => {
        const mutations = sharedMutations(sql, {
          auditKey, positions: positionsIn(sql), noteKey: noteKeyIn(sql),
        });
        return mutations[name as keyof SharedMutations](input as never, at);
      },
    });
    if (announced !== undefined) delivery.noteMutation(name, announced);
    // The cast: a mutation has the outcome of its name.
    return outcome as never;
  };
}

/** Positions as a transaction sees them that has locked the seller. */
function positionsIn(sql: Sql) {
  const find = sql.prepare('SELECT position, disabled_at FROM seller WHERE id = :sellerId');
  return {
    async of(sellerId: SellerId): Promise<number> {
      const row = await find.get({ sellerId });
      if (!row) throw new AppError('not_found', 'There is no such seller.');
      if (row['disabled_at'] !== null) throw new AppError('key_unknown', 'This shop is disabled.');
      return readInteger(row, 'position');
    },
  };
}

function noteKeyIn(sql: Sql) {
  const insert = sql.prepare('INSERT INTO key_owner (hash, seller_id) VALUES (:hash, :sellerId)');
  return async (hash: string, sellerId: SellerId): Promise<void> => {
    await insert.run({ hash, sellerId });
  };
}
