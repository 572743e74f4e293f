/** Starts worker threads: the store's writer and its search. */
import { isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts the thread whose module is `entry`. It does not inherit the options of this process: some,
 * such as `--input-type`, are for the program of the process. The single executable has no options
 * but its own, by which the thread finds its module (`executable/threads.ts`).
 */
export function startThread(entry: URL, options: WorkerOptions): Worker {
  return new Worker(entry, isSea() ? options : { ...options, execArgv: [] });
}
