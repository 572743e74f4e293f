/**
 * Is loaded into a server that is measured, by `--import`: tells by IPC how long the longest turn
 * of its event loop was since it was asked last. Wall time counts what other processes take from a
 * machine, too; the time of its own thread on a processor does not.
 */
import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** The longest turn, milliseconds. */
export interface LongestTurn {
  readonly wallMs: number;
  readonly cpuMs: number;
}

const TICK_MS = 1;

if (isMainThread) watch();

function watch(): void {
  let last = read();
  let longest: LongestTurn = { wallMs: 0, cpuMs: 0 };
  setInterval(() => {
    const now = read();
    longest = {
      wallMs: Math.max(longest.wallMs, now.wallMs - last.wallMs - TICK_MS),
      cpuMs: Math.max(longest.cpuMs, now.cpuMs - last.cpuMs),
    };
    last = now;
  }, TICK_MS).unref();
  process.on('message', () => {
    // The turn in which an answer is sent may not have been looked at.
    setTimeout(() => {
      process.send?.(longest);
      longest = { wallMs: 0, cpuMs: 0 };
    }, 2 * TICK_MS);
  });
  process.channel?.unref();
}

function read(): LongestTurn {
  const { user, system } = process.threadCpuUsage();
  return { wallMs: performance.now(), cpuMs: (user + system) / 1000 };
}
