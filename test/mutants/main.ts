/**
 * `make mutants`: weakens one guard at a time, and runs the tests that execute it until one fails.
 * Fails if a mutant survives that `accepted.txt` does not list, and for an entry of that file which
 * no longer matches. A crash does not count as found.
 *
 * Usage: node test/mutants/main.ts [--pattern REGEXP] [--subset] [--since COMMIT] [--resume]
 *   [--list] [--jobs N]
 *
 * `--subset` runs the mutants that `subset.txt` names and the guards changed since a commit, with
 * the tests of `finders.txt`, so it needs no coverage. A run without it writes that file.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../audit/places.ts';
import { readCpuMs } from '../support/runner/cpu-time.ts';
import { readAccepted } from './accepted.ts';
import { findChanges } from './changes.ts';
import { loadCoverage } from './coverage.ts';
import { findMutants, type Mutant } from './find-mutants.ts';
import { Finders } from './finders.ts';
import { listGuardFiles } from './guards.ts';
import { MutatedModules } from './mutated-modules.ts';
import { describeResult, formatTable, listProblems } from './report.ts';
import { Results } from './results.ts';
import { runMutant } from './run-mutant.ts';
import { TestOrder } from './test-order.ts';

const { values } = parseArgs({
  options: {
    pattern: { type: 'string', default: '' },
    subset: { type: 'boolean', default: false },
    since: { type: 'string' },
    list: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
  },
});

const print = (text: string): void => { process.stdout.write(text); };
const guardFiles = listGuardFiles();
const all = findMutants(ROOT, guardFiles);
const hasStrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;
const pattern = new RegExp(values.pattern);
const mutants = (values.subset ? selectSubset(all) : all).filter(({ id, operator }) =>
  pattern.test(id) && (hasStrace || operator !== 'flush-skipped'));
if (!hasStrace) print('NOT TESTED: flushes, since strace is missing or may not trace.\n');
if (values.list) {
  print(mutants.map(({ id }) => `${id}\n`).join(''));
  process.exit();
}
const finders = new Finders(join(import.meta.dirname, 'finders.txt'));
const order = new TestOrder(values.subset ? [] : await loadCoverage(print), finders);
const modules = await MutatedModules.create();
const stored = new Results(
  join(ROOT, '.node/mutants/results.jsonl'), { isResumed: values.resume });
const results = mutants.flatMap((mutant) => stored.find(mutant) ?? []);
for (const { mutant, test } of results) if (test !== undefined) finders.add(mutant.path, test);
const done = new Set(results.map(({ mutant }) => mutant.id));
const waiting = mutants.filter(({ id }) => !done.has(id)).values();
try {
  await Promise.all(Array.from({ length: Number(values.jobs) }, runWaiting));
} finally {
  await modules.close();
}
if (!values.subset) finders.write();
const accepted = readAccepted(readFileSync(join(import.meta.dirname, 'accepted.txt'), 'utf8'));
const problems = listProblems(results, all, accepted);
print(formatTable(results, accepted));
print(`${(readCpuMs() / 1000).toFixed(0)} s of CPU time\n`);
for (const problem of problems) print(`✖ ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** The workers share one iterator. */
async function runWaiting(): Promise<void> {
  for (const mutant of waiting) {
    const result = await runMutant(mutant, order.testsOf(mutant), modules);
    if (result.test !== undefined) finders.add(mutant.path, result.test);
    results.push(result);
    if (!values.subset) stored.add(result);
    print(`${results.length}/${mutants.length} ${describeResult(result)}\n`);
  }
}

function selectSubset(candidates: readonly Mutant[]): Mutant[] {
  const named = readFileSync(join(import.meta.dirname, 'subset.txt'), 'utf8').split('\n');
  const ids = new Set(named.filter(Boolean));
  const isChanged = values.since === undefined ? () => false
    : findChanges(ROOT, guardFiles, values.since);
  if (!isChanged) print(`NOT TESTED: guards changed since ${values.since}: no such commit here.\n`);
  const subset = candidates.filter((mutant) => ids.delete(mutant.id) || isChanged?.(mutant));
  for (const id of ids) throw new Error(`subset.txt names a mutant that does not exist: ${id}`);
  return subset;
}
