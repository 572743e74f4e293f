/** DNS lookups: how many run concurrently, and which wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SellerId } from '../../../src/domain/id.ts';
import { DnsResolver } from '../../../src/features/webhooks/dns-resolver.ts';

const FOUND = [{ address: '93.184.215.14', family: 4 }];
const NEVER = new AbortController().signal;

/** Of a seller of his own for each number. */
function ask(seller: number, isFailing = false) {
  return { sellerId: seller as SellerId, isFailing };
}

/** Look-ups that end when the test says so. */
function makeLookups() {
  const inFlight = new Map<string, (isFound: boolean) => void>();
  const lookups = new DnsResolver((name) => new Promise((resolve, reject) => {
    inFlight.set(name, (isFound) => {
      inFlight.delete(name);
      if (isFound) resolve(FOUND);
      else reject(new Error(name));
    });
  }));
  return { lookups, inFlight };
}

test('looks up three names concurrently, and the others as these end', async () => {
  const { lookups, inFlight } = makeLookups();
  const found = ['a', 'b', 'c', 'd', 'e'].map((name, seller) =>
    lookups.resolve(name, ask(seller), NEVER));
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

test('looks up one name of failing endpoints at a time', async () => {
  const { lookups, inFlight } = makeLookups();
  const failing = ['x', 'y', 'z'].map((name, seller) =>
    lookups.resolve(name, ask(seller, true), NEVER));
  const other = lookups.resolve('a', ask(9), NEVER);
  assert.deepEqual([...inFlight.keys()], ['x', 'a']);
  inFlight.get('a')?.(true);
  assert.deepEqual(await other, FOUND);
  for (const name of ['x', 'y', 'z']) {
    inFlight.get(name)?.(true);
    await nextTurn();
  }
  await Promise.all(failing);
});

test('looks up one name of a seller at a time', async () => {
  const { lookups, inFlight } = makeLookups();
  const own = ['a', 'b', 'c'].map((name) => lookups.resolve(name, ask(1), NEVER));
  const others = ['d', 'e'].map((name, n) => lookups.resolve(name, ask(2 + n), NEVER));
  assert.deepEqual([...inFlight.keys()], ['a', 'd', 'e']);
  for (const name of ['d', 'e', 'a', 'b', 'c']) {
    inFlight.get(name)?.(true);
    await nextTurn();
  }
  await Promise.all([...own, ...others]);
});

test('stops waiting when it is aborted, and does not look that name up', async () => {
  const { lookups, inFlight } = makeLookups();
  const others = ['a', 'b', 'c'].map((name, seller) =>
    lookups.resolve(name, ask(seller), NEVER));
  const controller = new AbortController();
  const late = lookups.resolve('late', ask(9), controller.signal);
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
