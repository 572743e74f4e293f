/**
 * Fuzzes for FUZZ_SECONDS (180), a sixth of it on the parsers alone, or for FUZZ_CASES requests.
 * FUZZ_SEED repeats a run. Prints the seed first, and each finding with its input.
 */
import { randomInt } from 'node:crypto';
import { routes } from '../support/routes.ts';
import { routes as pages } from '../../src/features/portal/routes.ts';
import { findParserFailure } from './parse-run.ts';
import { runCases } from './run.ts';

const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 180);
const CASES = Number(process.env['FUZZ_CASES'] ?? Infinity);
const SEED = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31));
const SHOWN_LIMIT = 10;

const startedAt = performance.now();
const hasTime = (share: number): boolean =>
  performance.now() - startedAt < SECONDS * 1_000 * share;

console.log(`FUZZ_SEED=${SEED}`);
const findings = await runParsers() + await runServer();
console.log(`${findings} findings with FUZZ_SEED=${SEED}`);
process.exitCode = findings > 0 ? 1 : 0;

async function runParsers(): Promise<number> {
  let [cases, found] = [0, 0];
  // Each case has its own seed, which repeats this case alone.
  for (; hasTime(1 / 6) && found < SHOWN_LIMIT; cases += 1) {
    const failure = await findParserFailure(SEED + cases);
    if (failure === undefined) continue;
    found += 1;
    console.log(failure);
  }
  console.log(`${cases} inputs parsed`);
  return found;
}

async function runServer(): Promise<number> {
  const cleanups: (() => unknown)[] = [];
  try {
    const { cases, findings, statuses, reached } = await runCases(
      // The cast: the hooks are functions, and none of them uses the test context.
      { after: (cleanup) => { cleanups.push(cleanup as () => unknown); } },
      {
        seed: SEED,
        shouldContinue: (number) => number < CASES && (CASES < Infinity || hasTime(1)),
      },
    );
    for (const { number, what, reproduction } of findings) {
      console.log(`\nrequest ${number}: ${what}\n  ${reproduction}`);
    }
    const all = [...routes, ...pages.map(({ method, path }) =>
      ({ method, path: path === '/' ? '/portal' : `/portal${path}` }))];
    const labels = all.map(({ method, path }) => `${method} ${path}`);
    const missed = labels.filter((label) => reached.get(label) !== true);
    console.log(`${cases} requests to ${labels.length} routes; responses by status:`, statuses);
    console.log('Routes without a successful response:', missed.join(', ') || 'none');
    return findings.length;
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}
