/**
 * Distributes test files over worker processes and collects the results. A file that does not
 * report its end fails the run, as does a worker that ends early, hangs or stays alive; the files
 * that are left go to a new worker.
 */
import type { FileEnded, TestEnded } from './messages.ts';
import { TestWorker } from './test-worker.ts';

export interface RunOptions {
  /** How many workers run concurrently. */
  readonly jobs: number;
  /** For each test. */
  readonly testTimeoutMs: number;
  /** Whether each file gets a process of its own. */
  readonly isAlone: boolean;
  /** How long a worker may be silent after a test should have timed out. Default: a minute. */
  readonly silenceLimitMs?: number;
  /** How long a worker may take to end after its last test. Default: a minute. */
  readonly exitLimitMs?: number;
  /** Variables of the workers in addition to those of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /**
   * Whether a failure ends the run: no other file starts, and the worker is killed with all
   * processes that it has started. Without it every file runs.
   */
  readonly isLast?: (failure: Failure) => boolean;
  readonly print: (text: string) => void;
}

interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'skipped';
}

interface FileResult {
  readonly file: string;
  readonly durationMs: number;
  readonly cpuMs: number;
}

export interface Failure {
  /** The test and its place, or what happened to its file or worker. */
  readonly what: string;
  /** The error with its stack; '' if `what` says all. */
  readonly why: string;
}

export interface RunResult {
  readonly tests: readonly TestResult[];
  /** Those that have reported their end. */
  readonly files: readonly FileResult[];
  /** One for each failed test, and for each file or worker that did not end as it should. */
  readonly failures: readonly Failure[];
  /** Why tests were skipped. */
  readonly skipReasons: ReadonlySet<string>;
}

export async function runFiles(
  files: readonly string[], options: RunOptions,
): Promise<RunResult> {
  const run = new Run(files, options);
  await Promise.all(Array.from({ length: options.jobs }, () => run.work()));
  run.assertComplete(files);
  return run;
}

/** The results so far, and the files that no worker has taken. */
export class Run implements RunResult {
  readonly tests: TestResult[] = [];
  readonly files: FileResult[] = [];
  readonly failures: Failure[] = [];
  readonly skipReasons = new Set<string>();
  /** Whether a failure has ended the run. */
  isEnded = false;
  readonly #waiting: string[];
  readonly #options: RunOptions;

  constructor(files: readonly string[], options: RunOptions) {
    this.#waiting = [...files];
    this.#options = options;
  }

  /** Runs one worker after the other, until no file is left or a worker does not start. */
  async work(): Promise<void> {
    let hasStarted = true;
    while (hasStarted && this.#waiting.length > 0) {
      hasStarted = await new TestWorker(this, this.#options).ended;
    }
  }

  /** Adds a failure for each file that has not reported its end. */
  assertComplete(files: readonly string[]): void {
    const ended = new Set(this.files.map(({ file }) => file));
    for (const file of files) {
      if (!ended.has(file)) this.fail(`${file} has not reported its end.`);
    }
  }

  /** The file that a worker runs next. */
  takeFile(): string | undefined {
    return this.#waiting.shift();
  }

  noteTest(file: string, { name, place, skipped, failure }: TestEnded): void {
    const result = failure !== undefined ? 'failed' : skipped !== undefined ? 'skipped' : 'passed';
    if (skipped !== undefined) this.skipReasons.add(skipped);
    this.tests.push({ file, name, result });
    if (failure !== undefined) this.fail(`${name} (${place})`, failure);
  }

  noteFile(file: string, { durationMs, cpuMs }: FileEnded, tests: number): void {
    this.files.push({ file, durationMs, cpuMs });
    if (tests === 0) this.fail(`${file} has no tests.`);
    const count = String(this.files.length).padStart(4);
    const [seconds, cpu] = [durationMs, cpuMs].map((ms) => (ms / 1000).toFixed(1));
    this.#options.print(`${count}  ${file}  ${tests} tests, ${seconds} s, ${cpu} s of CPU\n`);
  }

  fail(what: string, why = ''): void {
    this.failures.push({ what, why });
    if (this.#options.isLast?.({ what, why })) {
      this.isEnded = true;
      this.#waiting.length = 0;
    }
    this.#options.print(`\n✖ ${what}\n${why}\n\n`);
  }
}
