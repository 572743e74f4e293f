/**
 * Runs test files in a few worker processes, each file after the other, and prints a line per
 * file, each failure as it happens, the slowest files, and the CPU time. No result can get lost:
 * the run fails unless every file has reported its end and every worker has ended by itself.
 *
 * Usage: node test/run.ts [--jobs N] [--timeout MS] [--alone] [--list FILE] [--failures FILE]
 *   PATTERN...
 *
 * `--alone` gives each file a process of its own. `--list` writes the name and the result of each
 * test to a file. `--failures` appends the start of each failure to a file, which `make test-all`
 * prints at its end.
 */
import { appendFileSync, globSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { readCpuMs } from './support/runner/cpu-time.ts';
import { runFiles } from './support/runner/run-files.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: String(availableParallelism() * 2) },
    timeout: { type: 'string', default: '180000' },
    alone: { type: 'boolean', default: false },
    list: { type: 'string' },
    failures: { type: 'string' },
  },
});
const EXCERPT_LINES = 12;
/** Start first: the run would wait for them at its end. */
const LONGEST = /\/(?:\w+\.contract|audit-segments|properties|move|executable)\./;
const matches = positionals.flatMap((pattern) => {
  const found = globSync(pattern);
  if (found.length === 0) throw new Error(`No file matches ${pattern}.`);
  return found;
});
if (matches.length === 0) throw new Error('Name the files to run.');
const files = [...new Set(matches)].sort((one, other) =>
  Number(LONGEST.test(other)) - Number(LONGEST.test(one)) || (one < other ? -1 : 1));

/** Each failure is printed whole when it happens; its start again where the reader looks first. */
const excerpt = (why: string): string =>
  why.split('\n').slice(0, EXCERPT_LINES).map((line) => `    ${line}`).join('\n');

const startedAt = performance.now();
const run = await runFiles(files, {
  jobs: Number(values.jobs), testTimeoutMs: Number(values.timeout), isAlone: values.alone,
  print: (text) => void process.stdout.write(text),
});

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const slowest = run.files.toSorted((one, other) => other.durationMs - one.durationMs).slice(0, 10);
const failures = run.failures.map(({ what, why }) => `✖ ${what}\n${excerpt(why)}`);
const lines = [
  'The slowest files:',
  ...slowest.map(({ file, durationMs, cpuMs }) =>
    `  ${file}  ${seconds(durationMs)} s, ${seconds(cpuMs)} s of CPU time`),
  ...[...run.skipReasons].map((reason) => `- ${reason}`),
  ...failures,
  `${run.tests.length} tests in ${run.files.length} of ${files.length} files: `
    + `${run.tests.filter(({ result }) => result === 'passed').length} passed, `
    + `${run.failures.length} failed, `
    + `${run.tests.filter(({ result }) => result === 'skipped').length} skipped, `
    + `${seconds(performance.now() - startedAt)} s, ${seconds(readCpuMs())} s of CPU time`,
];
process.stdout.write(`${lines.join('\n')}\n`);
if (values.failures !== undefined) {
  appendFileSync(values.failures, failures.map((failure) => `${failure}\n`).join(''));
}
if (values.list !== undefined) {
  const names = run.tests.map(({ file, name, result }) => `${result} ${file} > ${name}\n`);
  writeFileSync(values.list, names.sort().join(''));
}
process.exitCode = run.failures.length === 0 ? 0 : 1;
