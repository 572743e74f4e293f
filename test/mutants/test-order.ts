/** Which tests a mutant gets, and in which order: those that are likely to find it soon. */
import { covers, type TestCoverage } from './coverage.ts';
import type { Finders } from './finders.ts';
import type { Mutant } from './find-mutants.ts';
import type { Operator } from './operators.ts';

/** After so many tests that execute a guard, another one will hardly find its mutant. */
const TESTS_LIMIT = 12;
/** For each source file that a test executes: one that executes few is about one of them. */
const BREADTH_COST_MS = 5;
/** The tests that are about an operator. */
const LIKELY: Partial<Record<Operator, readonly string[]>> = {
  'seller-dropped': ['test/store/twins.test.ts'],
  'seller-other': ['test/store/twins.test.ts'],
  'access-widened': ['test/api/scopes.test.ts', 'test/features/portal/page-roles.test.ts'],
};
/** Says the most about the store, but takes long: it runs last. */
const CONTRACT = 'test/store/sqlite.contract.test.ts';
/** Flushes show in the order of system calls, and after a simulated power cut. */
const FLUSH_TESTS = [
  'test/store/sqlite/engine/power-cut.faults.ts', 'test/faults/power-cut-files.faults.ts',
  'test/faults/power-cuts.faults.ts', 'test/faults/power-cut-watch.faults.ts',
];
const WATCH_FLUSH_TESTS = [
  'test/cli/watch/stock-watch-kill.faults.ts', 'test/faults/power-cut-watch.faults.ts',
];

export class TestOrder {
  readonly #coverage: readonly TestCoverage[];
  readonly #finders: Finders;

  /** @param coverage Empty if only the tests that have found mutants before are to run */
  constructor(coverage: readonly TestCoverage[], finders: Finders) {
    this.#coverage = coverage;
    this.#finders = finders;
  }

  testsOf({ path, original, operator, places }: Mutant): string[] {
    const finders = this.#finders.of(path);
    if (this.#coverage.length === 0) return [...finders];
    const words = wordsOf(path);
    const covering = this.#coverage.filter((coverage) => covers(coverage, path, original, places))
      .sort((one, other) => costOf(one, words) - costOf(other, words))
      .map(({ test }) => test);
    const flush = operator !== 'flush-skipped' ? []
      : path.startsWith('src/cli/') ? WATCH_FLUSH_TESTS : FLUSH_TESTS;
    const first = [...LIKELY[operator] ?? [], ...finders]
      .filter((test) => covering.includes(test) || flush.includes(test));
    const last = path.startsWith('src/store/') && covering.includes(CONTRACT) ? [CONTRACT] : [];
    return [...new Set([...first, ...covering.slice(0, TESTS_LIMIT), ...last, ...flush])];
  }
}

/** Less for a test that is quick, executes few files, and is named like the source file. */
function costOf({ test, durationMs, files }: TestCoverage, words: ReadonlySet<string>): number {
  const shared = wordsOf(test).intersection(words).size;
  return (durationMs + Object.keys(files).length * BREADTH_COST_MS) / 3 ** shared;
}

/** `store`, `sqlite`, `webhooks` of a path; the words of names in singular and plural are equal. */
function wordsOf(path: string): Set<string> {
  const names = path.replace(/^(?:src|test)\//, '').replace(/\.(?:test\.)?ts$/, '');
  return new Set(names.split(/[/.-]/).map((word) => word.replace(/s$/, '')));
}
