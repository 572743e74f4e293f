/**
 * The PostgreSQL adapter: composes the ports. Any number of processes may have the same database
 * open. Reads of one event-loop iteration are pipelined on a few connections; each statement is one
 * snapshot.
 */
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import { toGeneration } from '../../domain/revision.ts';
import { makeLivedTime } from '../../runtime/clock.ts';
import { NODE_INTERVALS, openDelivery } from '../nodes/webhook-leases.ts';
import { deriveAuditKey } from '../rules/audit.ts';
import { historyMethods } from '../rules/history/history-methods.ts';
import { deleteSeller } from '../rules/history/pruning-jobs.ts';
import { openLivedTime } from '../rules/kept-lived-time.ts';
import { mutationMethods } from '../rules/mutations/mutation-methods.ts';
import { reviewing } from '../rules/mutations/mutation-review.ts';
import { describeCall, familyOf, type RunMutation } from '../rules/mutations/registry.ts';
import { openWatching } from '../rules/watching/polled-commits.ts';
import type { ServerKey } from '../rules/server-key.ts';
import { CatalogueWriter } from '../rules/working-set/catalogue-writer.ts';
import { secretMethods } from '../sql/accounts/account-secrets.ts';
import { categoryQueries } from '../sql/categories.ts';
import { importJobs } from '../sql/import-jobs.ts';
import { readInteger, type Sql } from '../sql/sql.ts';
import {
  reportQueries, type SharedMutations, sharedMutations, sharedQueries,
} from '../sql/shared.ts';
import { webhookMethods } from '../sql/webhooks/webhook-methods.ts';
import type { Store } from '../store.ts';
import { prepareFindGrant } from './access/grants.ts';
import { findUnlimited } from './check/database-checks.ts';
import { productReads } from './catalogue/product-reads.ts';
import {
  type ConnectOptions, openConnection, SESSION_LIMITS,
} from './connect/open-connection.ts';
import { CatalogueTransactions } from './engine/catalogue-transactions.ts';
import { explaining } from './engine/failures.ts';
import { openPlacement } from './engine/placement.ts';
import { prepareRunTransaction, type RunTransaction } from './engine/seller-transactions.ts';
import { chainQueries } from './history/chain-queries.ts';
import { historyReads } from './history/history-reads.ts';
import {
  POSTGRES_EXPORT_CONNECTIONS, POSTGRES_READ_CONNECTIONS, POSTGRES_SEARCH_CONNECTIONS,
  POSTGRES_WRITE_CONNECTIONS,
} from './limits.ts';
import { announceMutation, webhookLeases } from './nodes/delivery.ts';
import { DATABASE_TIME, openNodeCount } from './nodes/node-table.ts';
import { makeRateLeases, makeThrottles } from './nodes/token-buckets.ts';
import { assertSchema, assertServerKey, findGeneration, SCHEMA_VERSION } from './schema/migrate.ts';
import { searchMethods } from './search/search.ts';
import { openSlowReads } from './search/slow-reads.ts';
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

/** Of other sessions; those of another role show no time without `pg_monitor`. */
const FIND_OLDEST_TRANSACTION = `
  SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint AS seconds
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

/**
 * @throws AppError `unavailable` for a database that cannot be reached, has another schema, or
 *   belongs to another key
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { connect, key, clock = Date.now, nodeIntervals = NODE_INTERVALS } = options;
  const { reads, searches, writes, exports, ...pools } = openPools(connect);
  const lived = makeLivedTime(clock);
  try {
    const [reader, slowReader] = [explaining(reads), explaining(openSlowReads(searches))];
    const [query, sql] = [queryOf(reader), sqlOf(reader)];
    const [slowQuery, slowSql] = [queryOf(slowReader), sqlOf(slowReader)];
    const { isDistributed } = await assertSchema(query);
    await assertServerKey(query, key);
    const unlimited = await findUnlimited(query, connect);
    const warnings = unlimited ? [`${unlimited.what} ${unlimited.advice}`] : [];
    const queries = {
      ...sharedQueries(sql), ...reportQueries(slowSql), ...chainQueries(slowQuery),
      ...historyReads(query, slowSql), ...productReads(query),
    };
    const watching = openWatching(queries.findPositions, queries.findSum);
    const transactions = new CatalogueTransactions(writes, lived.now, () => watching.noteCommit(),
      isDistributed ? openPlacement(query) : undefined);
    const writer = new CatalogueWriter(transactions);
    const delivery = openDelivery(webhookLeases(writes), nodeIntervals);
    const nodes = openNodeCount(writes, SCHEMA_VERSION, nodeIntervals);
    const runTransaction = prepareRunTransaction(writes, lived.now);
    const run = reviewing(
      prepareRun({ writer, runTransaction, delivery, key, nodes }), queries);
    const livedTime = await openLivedTime(lived, queries, run);
    const limits = queryOf(explaining(writes));
    return {
      cursorKey: key.derive('cursor', 32),
      generation: toGeneration(await findGeneration(query)),
      ...queries,
      ...mutationMethods(run),
      ...historyMethods(queries, run, lived), ...livedTime.methods,
      ...secretMethods(key, queries, run),
      ...searchMethods(slowQuery, exports), ...categoryQueries(slowSql),
      ...webhookMethods(key, queries, run, clock),
      joinDelivery: delivery.join, deleteSeller: (sellerId) => deleteSeller(run, sellerId),
      ...makeThrottles(limits),
      rateLeases: makeRateLeases(limits, nodes.read),
      importJobs: importJobs(sql, DATABASE_TIME),
      findGrant: prepareFindGrant(reader),
      findInvitation: (hash) => queries.findInvitationAt(hash, lived.now()),
      watch: watching.watch, watchAll: watching.watchAll,
      readMetrics: async () => ({
        ...writer.readMetrics(), failure: nodes.findProblem(), pool: pools.readMetrics(), warnings,
      }),
      readOldestTransaction: async () =>
        readInteger((await query(FIND_OLDEST_TRANSACTION))[0] ?? {}, 'seconds'),
      async close() {
        watching.close();
        livedTime.stop();
        await Promise.all([writer.close(), delivery.close(), nodes.close()]);
        await pools.close();
      },
    };
  } catch (error) {
    await pools.close();
    throw error;
  }
}

/** Connections for reads, slow ones, writes and exports, so that none waits for the others. */
function openPools(connect: ConnectOptions) {
  const settings = { ...SESSION_LIMITS, ...connect.settings };
  const open = () => openConnection({ ...connect, settings });
  const [reads, searches, writes, exports] = [
    POSTGRES_READ_CONNECTIONS, POSTGRES_SEARCH_CONNECTIONS, POSTGRES_WRITE_CONNECTIONS,
    POSTGRES_EXPORT_CONNECTIONS,
  ].map((max) => new Pool({ open, max })) as [Pool, Pool, Pool, Pool];
  return {
    reads, searches, writes, exports,
    readMetrics() {
      const [readPool, writePool] = [reads.readMetrics(), writes.readMetrics()];
      return {
        connections: readPool.open + writePool.open, waiting: readPool.waiting + writePool.waiting,
        roundTrips: writePool.roundTrips,
      };
    },
    close: () => Promise.all([reads, searches, writes, exports].map((pool) => pool.close())),
  };
}

interface RunOptions {
  readonly writer: CatalogueWriter;
  readonly runTransaction: RunTransaction;
  readonly delivery: ReturnType<typeof openDelivery>;
  readonly key: ServerKey;
  /** Knows why nothing may be written. */
  readonly nodes: Pick<ReturnType<typeof openNodeCount>, 'findProblem'>;
}

/** Mutations of catalogues share transactions; the others have one each. */
function prepareRun(options: RunOptions): RunMutation {
  const { writer, runTransaction, delivery, key, nodes } = options;
  const auditKey = deriveAuditKey(key);
  return async (name, input, idempotency) => {
    const problem = nodes.findProblem();
    if (problem !== undefined) throw new AppError('unavailable', problem);
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
      run: (sql, { wall: at, lived }) => {
        const mutations = sharedMutations(sql, {
          auditKey, positions: positionsIn(sql), noteKey: noteKeyIn(sql), lived: () => lived,
          ownTables: ['import_job', 'key_owner', 'rate_lease', 'webhook_seller'],
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
