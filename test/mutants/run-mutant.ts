/** Runs the tests of a mutant until one finds it. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT } from '../audit/places.ts';
import { type Failure, runFiles } from '../support/runner/run-files.ts';
import type { Mutant } from './find-mutants.ts';
import type { MutatedModules } from './mutated-modules.ts';

/** A test takes a few seconds at most, so one that takes longer waits for what never happens. */
const TEST_TIMEOUT_MS = 15_000;
/** Those of power cuts take longer. */
const FLUSH_TEST_TIMEOUT_MS = 180_000;
/** After so many failures of a crash, the rest of the tests will hardly fail otherwise. */
const CRASHES_LIMIT = 6;
/** A timeout counts as so many. */
const TIMEOUT_CRASHES = 3;

export interface MutantResult {
  readonly mutant: Mutant;
  /** Crashed: no test found it, and the mutated code failed by itself, or was never done. */
  readonly outcome: 'found' | 'survived' | 'crashed';
  /** The test file that found it. */
  readonly test: string | undefined;
  /** Why it counts as found or crashed. */
  readonly failure: Failure | undefined;
  /** How many test files ran. */
  readonly runs: number;
}

/** @param tests Paths from the root, in the order in which they run. */
export async function runMutant(
  mutant: Mutant, tests: readonly string[], modules: MutatedModules,
): Promise<MutantResult> {
  const folder = mkdtempSync(join(tmpdir(), 'mutant-'));
  try {
    chmodSync(folder, 0o755); // some tests run commands as another user
    const environment = await modules.write(join(folder, 'modules'), mutant);
    const files = tests.map((test) => join(ROOT, test));
    let crashes = 0;
    const testTimeoutMs = mutant.operator === 'flush-skipped' ? FLUSH_TEST_TIMEOUT_MS
      : TEST_TIMEOUT_MS;
    const run = await runFiles(files, {
      jobs: 1, testTimeoutMs, isAlone: false, print: () => {},
      environment: { ...environment, TMPDIR: folder },
      silenceLimitMs: TEST_TIMEOUT_MS, exitLimitMs: TEST_TIMEOUT_MS,
      isLast(failure) {
        crashes += TIMEOUT.test(failure.why) ? TIMEOUT_CRASHES : 1;
        return isFinding(failure) || crashes >= CRASHES_LIMIT;
      },
    });
    const finding = run.failures.find(isFinding);
    const test = finding && relative(ROOT, run.tests.at(-1)?.file ?? '');
    return {
      mutant, test, failure: finding ?? run.failures[0],
      runs: test === undefined ? run.files.length : tests.indexOf(test) + 1,
      outcome: finding ? 'found' : run.failures.length > 0 ? 'crashed' : 'survived',
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const failure = { what: 'It is no TypeScript.', why: error.message };
    return { mutant, outcome: 'crashed', test: undefined, failure, runs: 0 };
  } finally {
    removeFolder(folder);
  }
}

/** A test that was killed may have left a small disk mounted there. */
function removeFolder(folder: string): void {
  const mounts = process.platform === 'linux' ? readFileSync('/proc/mounts', 'utf8') : '';
  for (const [, path = ''] of mounts.split('\n').map((line) => line.split(' '))) {
    if (path.startsWith(`${folder}/`)) spawnSync('umount', [path]);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Errors of code that does not work at all. */
const CRASH = /\b(?:TypeError|ReferenceError|SyntaxError|RangeError|ERR_SQLITE_ERROR)\b/;
/** An internal error of the server, instead of what a test expects. */
const INTERNAL_ERROR =
  /\b500 !== \d|^\s*actual: (?:\[\s*)?500\b|^\s*status: 500\b|['"]internal['"]/m;
const TIMEOUT = /timed out/;
/** The place of a test; failures of files and workers have none. */
const OF_A_TEST = /\(\S+:\d+\)$/;

/** Whether a test failed because of what the code does, and not because the code crashed. */
export function isFinding({ what, why }: Failure): boolean {
  if (!OF_A_TEST.test(what) || TIMEOUT.test(why)) return false;
  const [, actual = ''] = /^\s*actual: ([^]*?)^\s*expected: /m.exec(why) ?? [];
  return !CRASH.test(why.includes('AssertionError') ? actual : why) && !INTERNAL_ERROR.test(why);
}
