/** What a test worker and the runner send each other over the IPC channel. */

export type RunnerMessage =
  /** The next file to run. */
  | { readonly file: string }
  /** No file is left: the worker must end by itself within this time. */
  | { readonly exitLimitMs: number };

/** A test has ended. */
export interface TestEnded {
  readonly type: 'test';
  /** The names of its suites and its own, joined by ` > `. */
  readonly name: string;
  readonly place: string;
  /** Why it was skipped, or that it was; undefined if it ran. */
  readonly skipped: string | undefined;
  /** Why it failed; undefined if it passed. */
  failure: string | undefined;
}

/** All tests of a file have ended, and the hooks of the file have run. */
export interface FileEnded {
  readonly type: 'file';
  readonly durationMs: number;
  /** CPU time of the worker and of the processes that it has waited for. */
  readonly cpuMs: number;
}

export type WorkerMessage =
  | TestEnded
  | FileEnded
  /** Something outside of a test failed, so the results of the worker are not reliable. */
  | { readonly type: 'failure'; readonly text: string }
  /** The worker waits for its first file. */
  | { readonly type: 'ready' };
