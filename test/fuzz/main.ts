/**
 * Fuzzes for FUZZ_SECONDS (180), a sixth of it on the parsers alone, or for FUZZ_CASES requests.
 * FUZZ_SEED repeats a run. Prints the seed first, and each finding with its input.
 */
import { randomInt } from 'node:crypto';
import { routes } from '../support/routes.ts';
import { routes as pages } from '../../src/features/portal/routes.ts';
import { findParserFault } from './parse-run.ts';
import { runCases } from './run.ts';

const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 180);
const CASES = Number(process.env['FUZZ_CASES'] ?? Infinity);
const SEED = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31));
const SHOWN_LIMIT = 10;

const startedAt = performance.now();
const hasTime = (share: number): boolean =>
  performance.now() - startedAt < SECONDS * 1_000 * share;

console.log(`FUZZ_SEED=${SEED}`);
const faults = await runParsers() + await runServer();
console.log(`${faults} findings with FUZZ_SEED=${SEED}`);
process.exitCode = faults > 0 ? 1 : 0;

async function runParsers(): Promise<number> {
  let [cases, found] = [0, 0];
  // Each case has a seed of its own, which repeats it alone.
  for (; hasTime(1 / 6) && found < SHOWN_LIMIT; cases += 1) {
    const fault = await findParserFault(SEED + cases);
    if (fault === undefined) continue;
    found += 1;
    console.log(fault);
  }
  console.log(`${cases} texts given to parsers`);
  return found;
}

async function runServer(): Promise<number> {
  const cleanups: (() => unknown)[] = [];
  try {
    const { cases, findings, statuses, reached } = await runCases(
      // The cast: what is called after a test is a function, and none here asks for its test.
      { after: (cleanup) => { cleanups.push(cleanup as () => unknown); } },
      { seed: SEED, goesOn: (number) => number < CASES && (CASES < Infinity || hasTime(1)) },
    );
    for (const { number, what, reproduction } of findings) {
      console.log(`\nrequest ${number}: ${what}\n  ${reproduction}`);
    }
    const all = [...routes, ...pages.map(({ method, path }) =>
      ({ method, path: path === '/' ? '/portal' : `/portal${path}` }))];
    const labels = all.map(({ method, path }) => `${method} ${path}`);
    const missed = labels.filter((label) => reached.get(label) !== true);
    console.log(`${cases} requests to ${labels.length} routes, answered`, statuses);
    console.log('Not answered with success in this run:', missed.join(', ') || 'none');
    return findings.length;
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}
