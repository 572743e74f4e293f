/** Concurrency limits of DNS lookups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SellerId } from '../../../src/domain/id.ts';
import { DnsResolver } from '../../../src/features/webhooks/dns-resolver.ts';

const FOUND = [{ address: '93.184.215.14', family: 4 }];
const NEVER = new AbortController().signal;

/** A request of the seller with this number. */
function ask(seller: number, isFailing = false) {
  return { sellerId: seller as SellerId, isFailing };
}

/** A resolver whose lookups the test completes. */
function makeResolver() {
  const inFlight = new Map<string, (isFound: boolean) => void>();
  const resolver = new DnsResolver((name) => new Promise((resolve, reject) => {
    inFlight.set(name, (isFound) => {
      inFlight.delete(name);
      if (isFound) resolve(FOUND);
      else reject(new Error(name));
    });
  }));
  return { resolver, inFlight };
}

test('looks up three names concurrently, and queues the others', async () => {
  const { resolver, inFlight } = makeResolver();
  const found = ['a', 'b', 'c', 'd', 'e'].map((name, seller) =>
    resolver.resolve(name, ask(seller), NEVER));
  assert.deepEqual([...inFlight.keys()], ['a', 'b', 'c']);
  inFlight.get('b')?.(true);
  assert.deepEqual(await found[1], FOUND);
  await nextTurn();
  assert.deepEqual([...inFlight.keys()], ['a', 'c', 'd']);
  inFlight.get('a')?.(false);
  await assert.rejects(found[0] ?? assert.fail(), { message: 'a' });
  await nextTurn();
  assert.deepEqual([...inFlight.keys()], ['c', 'd', 'e']);
  for (const end of inFlight.values()) end(true);
  await Promise.all(found.slice(1));
});

test('looks up the names of failing endpoints one at a time', async () => {
  const { resolver, inFlight } = makeResolver();
  const failing = ['x', 'y', 'z'].map((name, seller) =>
    resolver.resolve(name, ask(seller, true), NEVER));
  const other = resolver.resolve('a', ask(9), NEVER);
  assert.deepEqual([...inFlight.keys()], ['x', 'a']);
  inFlight.get('a')?.(true);
  assert.deepEqual(await other, FOUND);
  for (const name of ['x', 'y', 'z']) {
    inFlight.get(name)?.(true);
    await nextTurn();
  }
  await Promise.all(failing);
});

test('looks up the names of one seller one at a time', async () => {
  const { resolver, inFlight } = makeResolver();
  const own = ['a', 'b', 'c'].map((name) => resolver.resolve(name, ask(1), NEVER));
  const others = ['d', 'e'].map((name, n) => resolver.resolve(name, ask(2 + n), NEVER));
  assert.deepEqual([...inFlight.keys()], ['a', 'd', 'e']);
  for (const name of ['d', 'e', 'a', 'b', 'c']) {
    inFlight.get(name)?.(true);
    await nextTurn();
  }
  await Promise.all([...own, ...others]);
});

test('removes an aborted lookup from the queue', async () => {
  const { resolver, inFlight } = makeResolver();
  const others = ['a', 'b', 'c'].map((name, seller) =>
    resolver.resolve(name, ask(seller), NEVER));
  const controller = new AbortController();
  const late = resolver.resolve('late', ask(9), controller.signal);
  controller.abort();
  await assert.rejects(late, /aborted/);
  for (const end of [...inFlight.values()]) end(true);
  await Promise.all(others);
  await nextTurn();
  assert.equal(inFlight.size, 0);
});

test("uses the system's resolver", async () => {
  const found = await new DnsResolver().resolve('localhost', ask(1), NEVER);
  assert.ok(found.length > 0);
  for (const { address } of found) assert.match(address, /^(?:127\.|::1$)/);
});
