/**
 * Runs reads that may be slow, such as searches: each has a connection to itself, so that nobody's
 * statement waits behind it, and none of others is lost when it is ended. The sellers take turns,
 * and none has all connections.
 */
import { FairQueue } from '../../../runtime/fair-queue.ts';
import { searchQueueFull } from '../../rules/search-rejections.ts';
import {
  POSTGRES_SEARCH_CONNECTIONS, POSTGRES_SEARCH_QUEUE_LIMIT, POSTGRES_SEARCH_WAIT_LIMIT_MS,
  POSTGRES_SEARCHES_PER_SELLER_LIMIT, POSTGRES_SEARCHES_WAITING_PER_SELLER_LIMIT,
} from '../limits.ts';
import type { Runner } from '../sql.ts';
import type { Pool } from '../wire/pool.ts';

const PER_SELLER_LIMIT
  = POSTGRES_SEARCHES_PER_SELLER_LIMIT + POSTGRES_SEARCHES_WAITING_PER_SELLER_LIMIT;

/** @param waitLimitMs For tests */
export function openSlowReads(pool: Pool, waitLimitMs = POSTGRES_SEARCH_WAIT_LIMIT_MS): Runner {
  const queue = new FairQueue({
    concurrent: POSTGRES_SEARCH_CONNECTIONS,
    concurrentPerLane: POSTGRES_SEARCHES_PER_SELLER_LIMIT,
    total: POSTGRES_SEARCH_CONNECTIONS + POSTGRES_SEARCH_QUEUE_LIMIT,
    perLane: PER_SELLER_LIMIT, perOwner: PER_SELLER_LIMIT,
  });
  return {
    async run(statements, options = {}) {
      const seller = String(options.owner);
      const signal = AbortSignal.timeout(waitLimitMs);
      const results = queue.run({ lane: seller, owner: seller, signal }, () =>
        pool.use((connection) => connection.run(statements, options)));
      if (!results) throw searchQueueFull();
      return results.catch((error: unknown) => {
        throw error === signal.reason ? searchQueueFull() : error;
      });
    },
  };
}
