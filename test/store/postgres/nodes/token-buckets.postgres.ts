/** Throttles and rate limits that nodes share on PostgreSQL. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { KeyId, SellerId } from '../../../../src/domain/id.ts';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import { explaining } from '../../../../src/store/postgres/engine/failures.ts';
import { openNodeCount } from '../../../../src/store/postgres/nodes/node-table.ts';
import { SCHEMA_VERSION } from '../../../../src/store/postgres/schema/migrate.ts';
import {
  makeRateLeases, makeThrottles,
} from '../../../../src/store/postgres/nodes/token-buckets.ts';
import { queryOf } from '../../../../src/store/postgres/sql.ts';
import { Pool } from '../../../../src/store/postgres/wire/pool.ts';
import { bucketOf } from '../../../../src/store/nodes/throttle-store.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { borrowDatabase } from '../../../support/postgres/shared-server.ts';
import { countTo, eventually } from '../../contract/fixture.ts';

const HOUR = { windowMs: 3_600_000 };
const INTERVALS = { renewMs: 20, expiryMs: 300 };
// No seller or key has these ids.
const KEY = { sellerId: 1 as SellerId, keyId: 7 as KeyId };

describe('token buckets on PostgreSQL', { skip: NO_POSTGRES }, () => {
  async function prepare(t: TestContext) {
    const options = await borrowDatabase(t);
    const open = () => {
      const pool = new Pool({ open: () => openConnection(options), max: 4 });
      t.after(() => pool.close());
      const query = queryOf(explaining(pool));
      const throttles = makeThrottles(query);
      return { pool, query, throttles, leases: makeRateLeases(query, () => 1) };
    };
    return { one: open(), two: open(), open };
  }

  test('allows no more guesses on two nodes concurrently than on one', async (t) => {
    const { one, two } = await prepare(t);
    for (const limit of [1, 3, 7, 11]) {
      const bucket = bucketOf({ kind: `of ${limit}`, limit, ...HOUR }, 'one');
      const taken = await Promise.all(countTo(40).map((n) =>
        (n % 2 > 0 ? one : two).throttles.takeThrottle(bucket)));
      assert.equal(taken.filter(({ isAllowed }) => isAllowed).length, limit);
      const waits = taken.filter(({ isAllowed }) => !isAllowed)
        .map(({ retryAfterSeconds }) => retryAfterSeconds);
      const tokenSeconds = 3_600 / limit;
      assert.ok(waits.every((wait) => wait > tokenSeconds - 60 && wait <= tokenSeconds + 1));
      await one.throttles.refundThrottle(bucket);
      assert.equal((await one.throttles.takeThrottle(bucket)).isAllowed, true);
    }
  });

  test('queries the database at most once a second while a throttle is empty', async (t) => {
    const { one, two } = await prepare(t);
    let asked = 0;
    const throttles = makeThrottles((...args) => {
      asked += 1;
      return one.query(...args);
    });
    const bucket = bucketOf({ kind: 'test', limit: 1, ...HOUR }, 'one');
    await two.throttles.takeThrottle(bucket);
    for (const _ of countTo(50)) {
      const { isAllowed, retryAfterSeconds } = await throttles.takeThrottle(bucket);
      assert.ok(!isAllowed && retryAfterSeconds > 3_500);
    }
    assert.equal(asked, 1);
  });

  test('decides by the stored state if a clock was ahead', async (t) => {
    const { one } = await prepare(t);
    const bucket = bucketOf({ kind: 'test', limit: 4, ...HOUR }, 'one');
    await one.throttles.takeThrottle(bucket);
    await one.query('UPDATE throttle SET full_at = full_at + 1e12');
    const { isAllowed, retryAfterSeconds } = await one.throttles.takeThrottle(bucket);
    assert.deepEqual([isAllowed, retryAfterSeconds], [false, 900]);
  });

  test('leases tokens of a key and of a seller to two nodes, up to the limit', async (t) => {
    const { one, two } = await prepare(t);
    for (const keyId of [KEY.keyId, undefined]) {
      const bucket = { ...KEY, keyId, limit: 23, ...HOUR };
      const exchange = (requestedTokens: number, returnedTokens = 0, node = one) =>
        node.leases.exchange(bucket, { requestedTokens, returnedTokens });
      const leased = await Promise.all(countTo(8).map((n) => exchange(5, 0, n % 2 ? one : two)));
      assert.deepEqual(leased.map(({ granted }) => granted).sort((a, b) => b - a),
        [5, 5, 5, 5, 3, 0, 0, 0]);
      assert.ok(leased.every(({ tokens }) => tokens >= 0 && tokens < 18.5));
      assert.equal((await exchange(0, 4)).granted, 0);
      assert.equal((await exchange(9, 2, two)).granted, 6);
      assert.ok((await exchange(0, 23)).tokens <= 23);
      assert.equal((await exchange(23, 23)).granted, 23);
    }
  });

  test('refills a bucket of requests for the time that has passed', async (t) => {
    const { one } = await prepare(t);
    const bucket = { ...KEY, limit: 10, windowMs: 500 };
    const take = () => one.leases.exchange(bucket, { requestedTokens: 10, returnedTokens: 0 });
    assert.equal((await take()).granted, 10);
    let total = 0;
    await eventually(async () => {
      total += (await take()).granted;
      assert.ok(total >= 5);
    });
  });

  test('explains why it cannot exchange tokens', async (t) => {
    const { one } = await prepare(t);
    await one.pool.close();
    await assert.rejects(one.leases.exchange({ ...KEY, limit: 1, ...HOUR },
      { requestedTokens: 1, returnedTokens: 0 }), { code: 'unavailable' });
  });

  test('counts the nodes that are alive', async (t) => {
    const { one, two, open } = await prepare(t);
    let hasVanished = false;
    const counts = [one, two, open()].map(({ pool }, n) => openNodeCount({
      run: (...args) => (n === 1 && hasVanished ? new Promise(() => {}) : pool.run(...args)),
    }, SCHEMA_VERSION, INTERVALS));
    t.after(() => Promise.all([counts[0]?.close(), counts[2]?.close()]));
    assert.equal(counts[0]?.read(), 1);
    for (const count of counts) count.read();
    await eventually(() => assert.deepEqual(counts.map((count) => count.read()), [3, 3, 3]));
    hasVanished = true;
    await eventually(() => assert.equal(counts[0]?.read(), 2));
    await counts[2]?.close();
    const nodes = await queryOf(one.pool)(`SELECT id FROM node WHERE role = 'limits'`);
    assert.equal(nodes.length, 1, 'a node that closes removes its row immediately');
    await eventually(() => assert.equal(counts[0]?.read(), 1));
  });
});
