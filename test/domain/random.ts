/** Random values from a seed, so that a failed random test can be repeated exactly. */
import { randomInt } from 'node:crypto';

export interface Random {
  /** An integer from 0, below `limit`. */
  below(limit: number): number;
  pick<Value>(values: readonly Value[]): Value;
}

/** mulberry32: small, and good enough to choose test data. */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor((next() + next() / 2 ** 32) * limit) % limit;
  return {
    below,
    pick(values) {
      if (values.length === 0) throw new Error('Nothing to pick from.');
      // The cast: the index is below the length.
      return values[below(values.length)] as (typeof values)[number];
    },
  };
}

/**
 * Runs a check several times, each with a new seed, which a failure names. To repeat a failed run,
 * set TEST_SEED=<seed>.
 */
export function forRandom(runs: number, check: (random: Random) => void): void {
  for (let run = 0; run < runs; run += 1) {
    const seed = chooseSeed();
    try {
      check(makeRandom(seed));
    } catch (cause) {
      throw explain(seed, cause);
    }
  }
}

/** The same for an asynchronous check. */
export async function forRandomAsync(
  runs: number, check: (random: Random) => Promise<void>,
): Promise<void> {
  for (let run = 0; run < runs; run += 1) {
    const seed = chooseSeed();
    try {
      await check(makeRandom(seed));
    } catch (cause) {
      throw explain(seed, cause);
    }
  }
}

function chooseSeed(): number {
  const given = process.env['TEST_SEED'];
  return given === undefined ? randomInt(2 ** 32) : Number(given);
}

function explain(seed: number, cause: unknown): Error {
  return new Error(`Failed with TEST_SEED=${seed}: ${String(cause)}`, { cause });
}
