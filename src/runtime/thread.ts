/** Starts worker threads: the store's writer and its search. */
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a thread. It does not inherit the options of this process: some, such as `--input-type`,
 * are for the program of the process.
 * @param entry The URL of its module; in the package, a script, which bundlers leave as it is.
 */
export function startThread(entry: URL | string, options: WorkerOptions): Worker {
  return new Worker(entry, { ...options, execArgv: [], eval: typeof entry === 'string' });
}
