/** Sellers take turns with reads that may be slow, each on a connection of its own. */
import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, test } from 'node:test';
import {
  POSTGRES_SEARCH_CONNECTIONS, POSTGRES_SEARCH_QUEUE_LIMIT, POSTGRES_SEARCHES_PER_SELLER_LIMIT,
  POSTGRES_SEARCHES_WAITING_PER_SELLER_LIMIT,
} from '../../../../src/store/postgres/limits.ts';
import { openSlowReads } from '../../../../src/store/postgres/search/slow-reads.ts';
import { countTo } from '../../contract/fixture.ts';

/** A limit, not an error to log: it has no cause. */
const TOO_MANY = {
  code: 'unavailable', message: /^Too many searches/, cause: undefined, retryAfterSeconds: 5,
};

describe('slow reads', () => {
  /** A pool whose reads end when the test says so; `started` has their owners. */
  function prepare(waitLimitMs?: number) {
    const ends: (() => void)[] = [];
    const started: unknown[] = [];
    const connection = {
      run: (_statements: unknown, { owner }: { readonly owner: unknown }) => {
        started.push(owner);
        return new Promise<never[]>((resolve) => { ends.push(() => resolve([])); });
      },
    };
    const pool = { use: (work: (own: unknown) => unknown) => work(connection) };
    const reads = openSlowReads(pool as never, waitLimitMs); // it needs nothing else of a pool
    const read = (owner: number) => reads.run([], { owner });
    const end = async (): Promise<void> => {
      ends.shift()?.();
      await nextIteration();
    };
    return { read, end, started };
  }

  test('one seller never has all connections, and others come first', async () => {
    const { read, end, started } = prepare();
    const all = [...countTo(6).map(() => 1), 2, 3, 2].map(read);
    await nextIteration();
    assert.deepEqual(started, [1, 1, 2]);
    for (let n = 0; n < all.length; n += 1) await end();
    assert.deepEqual(started.slice(3, 6), [3, 1, 2]);
    assert.equal(started.length, all.length);
    await Promise.all(all);
    assert.ok(POSTGRES_SEARCHES_PER_SELLER_LIMIT < POSTGRES_SEARCH_CONNECTIONS);
    assert.ok(POSTGRES_SEARCHES_WAITING_PER_SELLER_LIMIT < POSTGRES_SEARCH_QUEUE_LIMIT);
  });

  test('are rejected above the limits of one seller and of all', async () => {
    const { read, end, started } = prepare();
    const own = POSTGRES_SEARCHES_WAITING_PER_SELLER_LIMIT + POSTGRES_SEARCHES_PER_SELLER_LIMIT;
    const waiting = countTo(own).map(() => read(1));
    await assert.rejects(read(1), TOO_MANY);
    waiting.push(...countTo(POSTGRES_SEARCH_QUEUE_LIMIT).map((n) => read(2 + n % 10)));
    const outcomes = Promise.allSettled(waiting);
    await nextIteration();
    for (let ended = 0; ended < started.length; ended += 1) await end();
    const rejected = (await outcomes).filter(({ status }) => status === 'rejected').length;
    // One of the other sellers' has the last connection at once.
    assert.equal(rejected, POSTGRES_SEARCHES_WAITING_PER_SELLER_LIMIT - 1);
  });

  test('are rejected after the longest wait, and then no longer in the queue', async () => {
    const { read, end, started } = prepare(10);
    const running = countTo(POSTGRES_SEARCHES_PER_SELLER_LIMIT).map(() => read(1));
    await assert.rejects(read(1), TOO_MANY);
    for (const run of running) {
      await end();
      await run;
    }
    assert.equal(started.length, running.length);
  });
});
