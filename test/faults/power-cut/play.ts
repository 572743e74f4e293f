/** Cuts the power of a recorded run many times, and checks what each cut has left. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeRandom, type Random } from '../../domain/random.ts';
import type { Receipt } from './claim.ts';
import { type CutCounts, drawLosses, hashTree, listCuts, writeTree } from './crash-states.ts';
import type { Manner } from './check-data-folder.ts';
import type { Recording } from './record.ts';

/** The state to check: the folder as the cut has left it, and the claims from before. */
export interface CrashState {
  /** A copy of the recorded folder. */
  readonly folder: string;
  readonly receipts: readonly Receipt[];
  readonly manner: Manner;
}

/** Returns a sentence for each problem; an empty list if the cut did no harm. */
export type Checker = (state: CrashState) => Promise<string[]>;

export interface Played {
  readonly states: number;
  /** Each problem, with the number of states that have it. */
  readonly failures: ReadonlyMap<string, number>;
}

interface Playing extends CutCounts {
  /** A folder in which the states are created. */
  readonly scratch: string;
}

/** The seed is printed; pass it in to repeat a run. */
export async function play(
  t: TestContext, recording: Recording, check: Checker, { scratch, ...counts }: Playing,
): Promise<Played> {
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
  const random = makeRandom(seed);
  const { root, disk, receipts } = recording;
  const failures = new Map<string, number>();
  const seen = new Set<string>();
  for (const cut of listCuts(recording, random, counts)) {
    const { at, model } = cut;
    const tree = disk.crash(at, drawLosses(random, cut));
    const read = receipts.filter((receipt) => receipt.at < at);
    const name = `${hashTree(tree)} ${read.length}`;
    if (seen.has(name)) continue;
    seen.add(name);
    const folder = join(scratch, 'state');
    writeTree(tree, root, folder);
    const found = await check({ folder, receipts: read, manner: drawManner(random) });
    for (const text of new Set(found.map((one) => `${model}: ${one.replaceAll(scratch, '')}`))) {
      failures.set(text, (failures.get(text) ?? 0) + 1);
    }
    rmSync(folder, { recursive: true });
  }
  t.diagnostic(`${seen.size} crash states, CRASH_SEED=${seed}: `
    + (failures.size === 0 ? 'no failure in any' : `${failures.size} kinds of failures`));
  return { states: seen.size, failures };
}

/** Counts the crash states of the runs of a test file. */
export class Total {
  #runs = 0;
  #states = 0;

  /** Fails with every problem, the most frequent first. */
  assertUnharmed({ states, failures }: Played): void {
    const sorted = [...failures].sort(([, one], [, other]) => other - one);
    assert.deepEqual(sorted.map(([text, count]) => `${count} times: ${text}`), []);
    this.#runs += 1;
    this.#states += states;
  }

  assertEnough(t: TestContext, states: number): void {
    t.diagnostic(`${this.#states} crash states of ${this.#runs} recorded runs, without failures`);
    assert.ok(this.#states >= states, `only ${this.#states} states`);
  }
}

function drawManner(random: Random): Manner {
  return { isDoctorFirst: random.below(2) === 0, isServed: random.below(6) === 0 };
}
