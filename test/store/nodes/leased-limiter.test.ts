/** A rate limit that several nodes share through leases of tokens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { LeasedLimiter } from '../../../src/store/nodes/leased-limiter.ts';
import { AppError } from '../../../src/domain/error.ts';
import type { KeyReference } from '../../../src/domain/id.ts';
import type { RateDecision } from '../../../src/runtime/rate-limiter.ts';
import { forRandomAsync } from '../../domain/random.ts';
import { makeClock } from '../../support/clock.ts';
import { makeSharedLeases } from './shared-leases.ts';

const KEY = { sellerId: 1, keyId: 2 } as KeyReference; // never looked up
const WINDOW_MS = 60_000;

function prepare(limit: number, nodes = 2) {
  const clock = makeClock();
  const shared = makeSharedLeases(nodes, clock);
  const limiters = Array.from({ length: nodes }, () =>
    new LeasedLimiter(() => ({ limit, windowMs: WINDOW_MS }), true, shared, clock));
  return { clock, shared, limiters };
}

async function take(limiter: LeasedLimiter, key = KEY): Promise<RateDecision> {
  for (;;) {
    const decision = limiter.tryTake(key);
    if (decision) return decision;
    await limiter.renew(key);
  }
}

/** Until a request is rejected. */
async function takeAll(limiter: LeasedLimiter, key = KEY): Promise<number> {
  let taken = 0;
  while ((await take(limiter, key)).isAllowed) taken += 1;
  return taken;
}

/**
 * Checks all windows together: a bucket of `size` that leaks at the rate of the limit never
 * overflows if and only if no window of T ms has more than size + T * rate requests.
 */
function makeMeter(size: number, limit: number, clock: () => number) {
  let [level, at] = [0, clock()];
  return (): void => {
    level = Math.max(0, level - (clock() - at) * limit / WINDOW_MS) + 1;
    at = clock();
    assert.ok(level <= size + 1e-6, `${level} of ${size}`);
  };
}

test('asks the store once per lease, not once per request', async () => {
  const { shared, limiters: [limiter = assert.fail()] } = prepare(1_000, 1);
  for (let n = 0; n < 500; n += 1) await take(limiter);
  assert.ok(shared.exchanges <= 11, `${shared.exchanges}`); // 50 tokens each, one ahead
});

test('leases more before its tokens run out, so that requests do not wait', async () => {
  const { limiters: [limiter = assert.fail()] } = prepare(1_000, 1);
  await take(limiter);
  for (let n = 0; n < 500; n += 1) {
    assert.ok(limiter.tryTake(KEY));
    await nextIteration();
  }
});

test('allows no more on two nodes than on one', async () => {
  const { clock, limiters: [one = assert.fail(), other = assert.fail()] } = prepare(600);
  assert.equal(await takeAll(one) + await takeAll(other), 600);
  assert.equal((await take(other)).isAllowed, false);
  clock.now += 1_000;
  assert.equal(await takeAll(one) + await takeAll(other), 10);
});

test('reports the tokens left for all nodes, and when there are more', async () => {
  const { clock, limiters: [one = assert.fail(), other = assert.fail()] } = prepare(60);
  assert.deepEqual(await take(one), {
    isAllowed: true, remaining: 59, resetSeconds: 1, retryAfterSeconds: 0,
  });
  assert.equal((await take(other)).remaining, 58);
  await takeAll(one);
  assert.deepEqual(await take(other), {
    isAllowed: false, remaining: 0, resetSeconds: 60, retryAfterSeconds: 1,
  });
  clock.now += 30_000;
  assert.equal((await take(other)).remaining, 29);
});

test('does not ask for each request while the bucket is empty', async () => {
  const { shared, limiters: [limiter = assert.fail()] } = prepare(600, 1);
  await takeAll(limiter);
  const { exchanges } = shared;
  for (let n = 0; n < 1_000; n += 1) assert.equal((await take(limiter)).isAllowed, false);
  assert.equal(shared.exchanges, exchanges);
});

test('returns tokens that it did not use, to the other nodes', async () => {
  const { limiters: [one = assert.fail(), other = assert.fail()] } = prepare(1_000);
  await take(one); // leases 25
  await one.returnUnused();
  assert.equal(await takeAll(other), 975, 'just leased');
  await one.returnUnused();
  const { clock, limiters: [first = assert.fail(), second = assert.fail()] } = prepare(1_000);
  await take(first);
  await first.returnUnused();
  await first.returnUnused();
  assert.equal(await takeAll(second), 999);
  clock.now += WINDOW_MS;
  assert.equal(await takeAll(second), 1_000);
});

test('returns everything when it closes', async () => {
  const { limiters: [one = assert.fail(), other = assert.fail()] } = prepare(1_000);
  await take(one);
  await one.close();
  assert.equal(await takeAll(other), 999);
});

test('returns a lease that is in flight when it closes', async () => {
  const { shared, limiters: [one = assert.fail(), other = assert.fail()] } = prepare(1_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  shared.delay = () => promise;
  const renewed = one.renew(KEY);
  const closed = one.close();
  shared.delay = async () => {};
  resolve();
  await Promise.all([renewed, closed]);
  assert.equal(await takeAll(other), 1_000);
});

test('takes a token back that another limit did not allow', async () => {
  const { limiters: [limiter = assert.fail()] } = prepare(3, 1);
  assert.equal(await takeAll(limiter), 3);
  limiter.refund(KEY);
  assert.equal(await takeAll(limiter), 1);
});

test('counts each key separately, or a seller with all its keys', async () => {
  const clock = makeClock();
  const shared = makeSharedLeases(1, clock);
  const other = { ...KEY, keyId: 3 } as KeyReference; // as KEY
  const limit = { limit: 3, windowMs: WINDOW_MS };
  const keys = new LeasedLimiter(() => limit, true, shared, clock);
  assert.equal(await takeAll(keys), 3);
  assert.equal(await takeAll(keys, other), 3);
  const sellers = new LeasedLimiter(() => limit, false, shared, clock);
  assert.equal(await takeAll(sellers), 3);
  assert.equal(await takeAll(sellers, other), 0);
});

test('limits each key by its own limit, however many nodes share it', async () => {
  const clock = makeClock();
  const shared = makeSharedLeases(3, clock);
  const limitOf = ({ keyId }: KeyReference) => ({ limit: Number(keyId), windowMs: WINDOW_MS });
  const nodes = [1, 2, 3].map(() => new LeasedLimiter(limitOf, true, shared, clock));
  for (const limit of [1, 2, 400]) {
    const key = { ...KEY, keyId: limit } as KeyReference; // as KEY
    let taken = 0;
    for (const node of [...nodes, ...nodes]) taken += await takeAll(node, key);
    assert.equal(taken, limit);
    clock.now += WINDOW_MS;
    const { resetSeconds } = await take(nodes[0] ?? assert.fail(), key);
    assert.equal(resetSeconds, Math.ceil(60 / limit));
  }
});

test('rejects with the error of the store, and asks again for the next request', async () => {
  const { shared, limiters: [limiter = assert.fail()] } = prepare(100, 1);
  shared.delay = async () => { throw new AppError('unavailable', 'No answer.'); };
  await assert.rejects(take(limiter), { code: 'unavailable' });
  shared.delay = async () => {};
  assert.equal((await take(limiter)).isAllowed, true);
});

test('continues when the clock steps back', async () => {
  const { clock, limiters: [limiter = assert.fail()] } = prepare(60, 1);
  await takeAll(limiter);
  clock.now -= 3_600_000;
  assert.equal((await take(limiter)).isAllowed, false);
  clock.now += 2_000;
  assert.equal(await takeAll(limiter), 2);
});

test('never allows more than the limit and 10 %, in any window and interleaving', async () => {
  await forRandomAsync(30, async (random) => {
    const nodes = 1 + random.below(6);
    const limit = 20 + random.below(500);
    const { clock, shared, limiters } = prepare(limit, nodes);
    const count = makeMeter(limit + Math.max(nodes, limit / 10), limit, clock);
    const waiting: (() => void)[] = [];
    shared.delay = () => new Promise((resolve) => { waiting.push(resolve); });
    const requests: Promise<unknown>[] = [];
    const settle = (index: number): void => waiting.splice(index, 1)[0]?.();
    for (let step = 0; step < 200; step += 1) {
      const limiter = random.pick(limiters);
      switch (random.below(5)) {
        case 0: clock.now += random.below(random.pick([10, 1_000, 20_000])); break;
        case 1: settle(random.below(waiting.length || 1)); break;
        case 2: requests.push(limiter.returnUnused()); break;
        default:
          for (let n = random.below(limit / 20); n >= 0; n -= 1) {
            requests.push(take(limiter).then(({ isAllowed }) => { if (isAllowed) count(); }));
          }
      }
      await nextIteration();
    }
    const isOver = Promise.all(requests).then(() => { shared.delay = async () => {}; });
    for (let isPending = true; isPending;) {
      while (waiting.length > 0) settle(0);
      isPending = await Promise.race([isOver.then(() => false), nextIteration(true)]);
    }
  });
});

test('gives a busy node at least 90 % of the limit, whatever the idle nodes hold', async () => {
  await forRandomAsync(40, async (random) => {
    const nodes = 2 + random.below(6);
    const limit = 60 + random.below(6_000);
    const { clock, limiters: [busy = assert.fail(), ...idle] } = prepare(limit, nodes);
    for (const limiter of idle) await take(limiter);
    const start = clock.now;
    let taken = await takeAll(busy);
    assert.ok(taken >= limit * 0.9, `${taken} of ${limit} immediately`);
    while (clock.now < start + 2 * WINDOW_MS) {
      clock.now += random.below(500);
      taken += await takeAll(busy);
      for (const limiter of idle) await limiter.returnUnused();
    }
    const most = limit * (1 + (clock.now - start) / WINDOW_MS);
    assert.ok(taken >= most * 0.9, `${taken} of ${most} in ${clock.now - start} ms`);
    assert.ok(taken <= most + 1e-6);
  });
});
