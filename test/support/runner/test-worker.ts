/** One worker process: gives it files, and watches that it reports each and ends. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { isSystemError } from '../../../src/runtime/system-error.ts';
import type { RunnerMessage, WorkerMessage } from './messages.ts';
import type { Run, RunOptions } from './run-files.ts';

const FOLDER = import.meta.dirname;
const DEFAULT_LIMIT_MS = 60_000;

export class TestWorker {
  /** Resolves when the process has ended, with whether it has run a file. */
  readonly ended: Promise<boolean>;
  readonly #run: Run;
  readonly #options: RunOptions;
  readonly #process: ChildProcess;
  /** The files assigned so far; the last one is in progress. */
  readonly #files: string[] = [];
  #isIdle = true;
  /** Tests of the file in progress. */
  #tests = 0;
  #hasFailed = false;
  #silence: NodeJS.Timeout | undefined;

  constructor(run: Run, options: RunOptions) {
    this.#run = run;
    this.#options = options;
    const isGroup = options.isLast !== undefined;
    this.#process = fork(join(FOLDER, 'worker.ts'), [], {
      execArgv: [
        `--test-timeout=${options.testTimeoutMs}`,
        `--test-reporter=${join(FOLDER, 'reporter.ts')}`, '--test-reporter-destination=stdout',
      ],
      env: { ...process.env, ...options.environment, TEST_WORKER: 'true' },
      // Such a run is about which tests fail, not about what their processes print.
      ...(isGroup && { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
    });
    this.#watchSilence();
    this.#process.on('message', (message: WorkerMessage) => {
      this.#watchSilence();
      this.#receive(message);
      if (run.isEnded) this.#kill();
    });
    this.ended = new Promise((resolve) => {
      this.#process.once('close', (status, signal) => {
        clearTimeout(this.#silence);
        if (isGroup) this.#kill();
        if (!run.isEnded) this.#assertEnd(status ?? signal);
        resolve(this.#files.length > 0);
      });
    });
  }

  #receive(message: WorkerMessage): void {
    const file = this.#files.at(-1) ?? '';
    switch (message.type) {
      case 'ready':
        this.#sendNext();
        break;
      case 'test':
        this.#tests += 1;
        this.#hasFailed ||= message.failure !== undefined;
        this.#run.noteTest(file, message);
        break;
      case 'failure':
        this.#fail(this.#isIdle ? this.#files.join(', ') : file, message.text);
        break;
      case 'file':
        this.#run.noteFile(file, message, this.#tests);
        this.#sendNext();
    }
  }

  #sendNext(): void {
    const { isAlone, exitLimitMs = DEFAULT_LIMIT_MS } = this.#options;
    const file = isAlone && this.#files.length > 0 ? undefined : this.#run.takeFile();
    this.#isIdle = file === undefined;
    this.#tests = 0;
    if (file !== undefined) this.#files.push(file);
    const message: RunnerMessage = file === undefined ? { exitLimitMs } : { file };
    this.#process.send(message, () => {}); // it may just have ended, which `close` reports
  }

  #watchSilence(): void {
    const { testTimeoutMs, silenceLimitMs = DEFAULT_LIMIT_MS } = this.#options;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      const name = this.#files.at(-1) ?? 'A worker';
      this.#fail(`${name} hangs: it has reported nothing for too long.`);
      this.#kill();
    }, testTimeoutMs + silenceLimitMs);
  }

  /** With the processes of its group, if it has one of its own. */
  #kill(): void {
    const { pid } = this.#process;
    if (this.#options.isLast === undefined || pid === undefined) {
      this.#process.kill('SIGKILL');
      return;
    }
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if (!isSystemError(error, 'ESRCH')) throw error; // none of them is left
    }
  }

  #assertEnd(status: number | NodeJS.Signals | null): void {
    if (!this.#isIdle) this.#fail(`${this.#files.at(-1)} ended its process early: ${status}`);
    else if (status !== 0 && !this.#hasFailed) {
      this.#fail(`A worker ended with ${status} after ${this.#files.join(', ')}.`);
    }
  }

  #fail(what: string, why?: string): void {
    this.#hasFailed = true;
    this.#run.fail(what, why);
  }
}
