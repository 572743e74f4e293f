/**
 * Loaded into a measured server by `--import`. Responds to every IPC message with the longest
 * iteration of the main thread's event loop since the last message. Wall time includes what other
 * processes take from the machine; the thread's CPU time does not.
 */
import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Milliseconds. */
export interface LongestIteration {
  readonly wallMs: number;
  readonly cpuMs: number;
}

const TICK_MS = 1;

if (isMainThread) watch();

function watch(): void {
  let last = read();
  let longest: LongestIteration = { wallMs: 0, cpuMs: 0 };
  setInterval(() => {
    const now = read();
    longest = {
      wallMs: Math.max(longest.wallMs, now.wallMs - last.wallMs - TICK_MS),
      cpuMs: Math.max(longest.cpuMs, now.cpuMs - last.cpuMs),
    };
    last = now;
  }, TICK_MS).unref();
  process.on('message', () => {
    // The iteration that sent the response may not have been measured yet.
    setTimeout(() => {
      process.send?.(longest);
      longest = { wallMs: 0, cpuMs: 0 };
    }, 2 * TICK_MS);
  });
  process.channel?.unref();
}

function read(): LongestIteration {
  const { user, system } = process.threadCpuUsage();
  return { wallMs: performance.now(), cpuMs: (user + system) / 1000 };
}
