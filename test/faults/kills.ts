/** Kills a working server repeatedly, and checks the data after each kill. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { makeRandom, type Random } from '../domain/random.ts';
import type { Serving } from '../support/command.ts';
import type { Clerk } from './clerk.ts';
import { check, checkFiles, checkWebhook, openShop, serve, type Shop, work } from './shop.ts';

/** Works until the server is gone; returns the number of responses. */
export type End = (shop: Shop, serving: Serving, random: Random) => Promise<number>;

/** How many unacknowledged changes took effect, and how many did not. */
type Found = Clerk['found'];

/**
 * Kills the server `kills` times, and then up to `most` times, until one kill came before and one
 * after the change that it interrupted. The seed is printed, and can be set to repeat a run.
 */
export async function survive(
  t: TestContext, kills: number, end: End, most = kills,
): Promise<Found> {
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}; CRASH_SEED=${seed} repeats its kills`);
  const random = makeRandom(seed);
  const shop = await openShop(t, random);
  let answers = 0;
  let count = 0;
  while (count < kills || (count < most && !isBetween(sumFound(shop)))) {
    count += 1;
    const serving = await serve(t, shop);
    await check(shop, serving);
    answers += await end(shop, serving, random);
    assert.equal(await serving.stop('SIGKILL'), null);
  }
  const serving = await serve(t, shop);
  await check(shop, serving);
  await checkWebhook(shop);
  assert.equal(await serving.stop('SIGTERM'), 0);
  checkFiles(shop);
  const found = sumFound(shop);
  t.diagnostic(`${count} kills; all ${answers} responses were kept, of ${shop.seen.position} `
    + `changes, ${shop.receiver.received.length} messages and `
    + `${shop.signInClient.answered} sign-ins; `
    + `${found.done} unacknowledged changes were done, ${found.undone} not, none half`);
  return found;
}

function sumFound({ clerks }: Shop): Found {
  const found = { done: 0, undone: 0 };
  for (const clerk of clerks) {
    found.done += clerk.found.done;
    found.undone += clerk.found.undone;
  }
  return found;
}

function isBetween({ done, undone }: Found): boolean {
  return done > 0 && undone > 0;
}

/** Asserts that kills came both before and after a change: otherwise they prove nothing. */
export function assertBetween(found: Found): void {
  assert.ok(isBetween(found), 'no kill came between a change and its response');
}

/** A random moment: some responses later, plus up to 10 ms. */
export const killAtRandom: End = (shop, serving, random) => {
  const target = 1 + random.below(300);
  const lateMs = random.below(10);
  return work(shop, serving, { onAnswer(count) {
    if (count === target) setTimeout(() => serving.child.kill('SIGKILL'), lateMs);
  } });
};
